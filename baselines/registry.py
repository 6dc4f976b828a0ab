"""Registry of all baselines by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from threading import RLock

from baselines.building.over_planes import on_planes
from baselines.interface.method import Method

__all__ = ["METHODS", "MODULES"]

MODULES = (
    "baselines.libraries.ring",
    "baselines.libraries.nccl_tree",
    "baselines.libraries.nccl_nvls",
    "baselines.libraries.nccl_collnet",
    "baselines.libraries.direct",
    "baselines.synthesizers.multitree.multitree",
    "baselines.libraries.recursive",
    "baselines.libraries.bruck",
    "baselines.libraries.pat",
    "baselines.libraries.bine",
    "baselines.libraries.blueconnect",
    "baselines.libraries.hierarchical",
    "baselines.libraries.sum_exchange",
    "baselines.direct_connect.torus",
    "baselines.direct_connect.tto",
    "baselines.direct_connect.swing",
    "baselines.direct_connect.trivance",
    "baselines.direct_connect.shifted_ring",
    "baselines.direct_connect.bfb.bfb",
    "baselines.direct_connect.bfb.construction",
    "baselines.direct_connect.all_to_all_lp",
    "baselines.synthesizers.tacos.tacos",
    "baselines.synthesizers.blink.blink",
    "baselines.synthesizers.blink.blink_switch",
    "baselines.synthesizers.unwound",
    "baselines.synthesizers.sccl.sccl",
    "baselines.synthesizers.teccl.teccl",
    "baselines.synthesizers.taccl.taccl",
    "baselines.synthesizers.syccl.syccl",
    "baselines.synthesizers.fast_reading",
)
"""Modules with methods: each has its own ``METHODS``."""


class _Registry(Mapping[str, Method]):
    """Methods by name; a module is loaded when no earlier module has the requested name.

    Some methods take longer to load than others to run.
    """

    def __init__(self, modules: Sequence[str]) -> None:
        self._left = list(modules)
        self._found: dict[str, Method] = {}
        self._lock = RLock()

    def __getitem__(self, name: str) -> Method:
        with self._lock:
            while name not in self._found and self._left:
                self._load(self._left[0])
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Method]:
        with self._lock:
            while self._left:
                self._load(self._left[0])
        return self._found

    def _load(self, module: str) -> None:
        found = {}
        for method in import_module(module).METHODS:
            if method.name in self._found or method.name in found:
                raise ValueError(f"{module} names a second method {method.name!r}")
            found[method.name] = replace(method, generate=on_planes(method.generate))
        self._found.update(found)
        self._left.remove(module)


METHODS: Mapping[str, Method] = _Registry(MODULES)
"""Every baseline by its name."""
