"""The peers by name, all called alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType

from baselines.building.over_planes import on_planes
from baselines.interface.method import Method

__all__ = ["METHODS", "MODULES"]

MODULES = (
    "baselines.libraries.ring",
    "baselines.libraries.nccl_tree",
    "baselines.libraries.nccl_nvls",
    "baselines.libraries.direct",
    "baselines.synthesizers.multitree.multitree",
    "baselines.libraries.recursive",
    "baselines.libraries.bruck",
    "baselines.libraries.blueconnect",
    "baselines.direct_connect.torus",
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
    "baselines.synthesizers.not_reimplemented",
)
"""Where methods are: each has its own ``METHODS``."""


def _collected() -> dict[str, Method]:
    found: dict[str, Method] = {}
    for module in MODULES:
        for method in import_module(module).METHODS:
            if method.name in found:
                raise ValueError(f"{module} names a second method {method.name!r}")
            found[method.name] = replace(method, generate=on_planes(method.generate))
    return found


METHODS: Mapping[str, Method] = MappingProxyType(_collected())
"""Every baseline by its name."""
