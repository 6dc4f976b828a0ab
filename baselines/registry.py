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
    """Methods by name; modules are loaded until one has the requested name.

    Some methods take longer to load than others to run. Most have the name of their module, which
    is loaded first.
    """

    def __init__(self, modules: Sequence[str]) -> None:
        self._modules = tuple(modules)
        self._loaded: dict[str, dict[str, Method]] = {}
        self._lock = RLock()

    def __getitem__(self, name: str) -> Method:
        stem = name.replace("-", "_")
        with self._lock:
            for module in sorted(self._modules, key=lambda one: one.rpartition(".")[2] != stem):
                if name in (found := self._methods(module)):
                    return found[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter([name for module in self._modules for name in self._methods(module)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _methods(self, module: str) -> dict[str, Method]:
        if module not in self._loaded:
            known = {name for found in self._loaded.values() for name in found}
            made: dict[str, Method] = {}
            for method in import_module(module).METHODS:
                if method.name in known or method.name in made:
                    raise ValueError(f"{module} names a second method {method.name!r}")
                made[method.name] = replace(method, generate=on_planes(method.generate))
            self._loaded[module] = made
        return self._loaded[module]


METHODS: Mapping[str, Method] = _Registry(MODULES)
"""Every baseline by its name."""
