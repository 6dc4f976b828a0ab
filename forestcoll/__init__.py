"""Throughput-optimal schedules for collective communication on GPU networks, with their proofs.

>>> import forestcoll
>>> forest = forestcoll.generate("dgx_a100:boxes=4")
>>> float(forest.algbw_gb_s)
266.6666666666667
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # importing typing takes longer than the rest of this
if TYPE_CHECKING:
    from typing import Any

    from forestcoll import draw as draw
    from forestcoll import networkx as networkx
    from forestcoll.api import latency, optimum, simulate, verify
    from forestcoll.best_k import best_k
    from forestcoll.certificate import certify
    from forestcoll.core.assembly import expand
    from forestcoll.core.fixed_k import FixedK, fixed_k
    from forestcoll.generate import generate, generate_factored, generate_multicast, generate_timed
    from forestcoll.low_height.rate_by_height import rate_by_height
    from forestcoll.lowering import lower
    from forestcoll.multicast.pruning import multicast
    from forestcoll.problem.optimum import Optimum
    from forestcoll.schedule import (
        Allreduce,
        Certificate,
        FactoredForest,
        Forest,
        MulticastForest,
        cost,
        read_certificate,
        read_schedule,
        verify_certificate,
        write_certificate,
        write_schedule,
    )
    from forestcoll.schedule.program import Program
    from forestcoll.topology import (
        Topology,
        group,
        load_topology,
        read_topology,
        validate,
        write_topology,
    )
    from forestcoll.what_if.replanning import replan
    from forestcoll.what_if.single_changes import failures, upgrades
    from forestcoll.what_if.tightest_cuts import tightest_cuts

__all__ = [
    "Allreduce",
    "Certificate",
    "FactoredForest",
    "FixedK",
    "Forest",
    "MulticastForest",
    "Optimum",
    "Program",
    "Topology",
    "best_k",
    "certify",
    "cost",
    "draw",
    "expand",
    "failures",
    "fixed_k",
    "generate",
    "generate_factored",
    "generate_multicast",
    "generate_timed",
    "group",
    "latency",
    "load_topology",
    "lower",
    "multicast",
    "networkx",
    "optimum",
    "rate_by_height",
    "read_certificate",
    "read_schedule",
    "read_topology",
    "replan",
    "simulate",
    "tightest_cuts",
    "upgrades",
    "validate",
    "verify",
    "verify_certificate",
    "write_certificate",
    "write_schedule",
    "write_topology",
]

_NAMES = {
    "forestcoll.api": ("latency", "optimum", "simulate", "verify"),
    "forestcoll.best_k": ("best_k",),
    "forestcoll.certificate": ("certify",),
    "forestcoll.core.assembly": ("expand",),
    "forestcoll.core.fixed_k": ("FixedK", "fixed_k"),
    "forestcoll.generate": (
        "generate",
        "generate_factored",
        "generate_multicast",
        "generate_timed",
    ),
    "forestcoll.lowering": ("lower",),
    "forestcoll.multicast.pruning": ("multicast",),
    "forestcoll.problem.certificate_document": (
        *("Certificate", "read_certificate", "write_certificate"),
    ),
    "forestcoll.problem.optimum": ("Optimum",),
    "forestcoll.low_height.rate_by_height": ("rate_by_height",),
    "forestcoll.schedule.allreduce": ("Allreduce",),
    "forestcoll.schedule.cost": ("cost",),
    "forestcoll.schedule.factored": ("FactoredForest",),
    "forestcoll.schedule.files": ("read_schedule", "write_schedule"),
    "forestcoll.schedule.forest": ("Forest",),
    "forestcoll.schedule.multicast": ("MulticastForest",),
    "forestcoll.schedule.program": ("Program",),
    "forestcoll.schedule.verify": ("verify_certificate",),
    "forestcoll.topology": (
        *("Topology", "group", "load_topology", "read_topology", "validate", "write_topology"),
    ),
    "forestcoll.what_if.replanning": ("replan",),
    "forestcoll.what_if.single_changes": ("failures", "upgrades"),
    "forestcoll.what_if.tightest_cuts": ("tightest_cuts",),
}
"""Where each name is from; loaded when first asked for, so that the command starts quickly."""

_HOME = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in ("draw", "networkx"):
        return import_module(f"forestcoll.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("forestcoll")
    if name not in _HOME:
        raise AttributeError(f"module 'forestcoll' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_HOME[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


class _Package(ModuleType):
    """A package in which ``generate`` is the function, also after its module of that name loads."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _HOME):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
