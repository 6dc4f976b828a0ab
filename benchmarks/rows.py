"""Rows of `bench_generate`, with the reference figures for comparison.

- budget: what this project sets itself, on two cores; a target may be missed for a reason given.
  Seconds are those of the forest without its physical paths, which are found when asked for.
- prototype: an earlier throwaway implementation of the same method, one thread, CPU seconds,
  verification left out. Where a row's network is described in words only, it is built here by the
  function named in it and need not be the same one.
- paper: ForestColl table 3, on 128 cores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from benchmarks.topologies import (
    dead_nics,
    jittered_nics,
    loose_boxes,
    mixed_boxes,
    pods,
    random_regular,
    unequal_mesh,
)
from forestcoll.topology import Topology, load_topology

__all__ = ["ROWS", "VERIFY_BUDGET_S", "Row", "Work"]

Work = Literal["explicit", "factored", "few links", "optimum", "command"]

VERIFY_BUDGET_S = 0.5
"""For an explicit forest of up to 1024 GPUs."""


@dataclass(frozen=True, slots=True)
class Row:
    """A network, what is done with it, and the figures beside it; None where there is none."""

    name: str
    make: Callable[[], Topology]  # makes the topology object anew
    # "explicit" or "factored", from the object to such a forest; "few links", an explicit one with
    # few logical links; "optimum", the bottleneck cut alone; "command", the whole process of the
    # command line, with the file written
    work: Work = "explicit"
    budget_s: float | None = None
    prototype_s: float | None = None
    paper_s: float | None = None
    target: bool = False  # whether the budget is one that may be missed
    budget_height: int | None = None  # hops from GPU to GPU in the deepest tree
    budget_mb: float | None = None  # peak of the whole process, in MB
    prototype_trees: int | None = None  # distinct trees, and the deepest
    prototype_height: int | None = None  # distinct trees, and the deepest
    large: bool = False  # whether it is left out unless asked for
    series: str = ""  # rows of one network in growing sizes, for which the bench fits an exponent


def _spec(text: str) -> Callable[[], Topology]:
    return partial(load_topology, text)


ROWS = (
    Row("A100 256", _spec("dgx_a100:boxes=32"), series="A100"),
    Row(
        "A100 1024", _spec("dgx_a100:boxes=128"), series="A100", budget_s=0.04, prototype_s=0.056,
        paper_s=2190, budget_height=3, budget_mb=300, prototype_trees=1024, prototype_height=2,
        target=True,
    ),
    Row(
        "H100 1024", _spec("dgx_h100:boxes=128"), budget_s=0.04, prototype_s=0.055, budget_height=3,
        budget_mb=300, prototype_trees=1024, prototype_height=2, target=True,
    ),
    Row(
        "MI250 1024", _spec("mi250:boxes=64"), budget_s=0.04, prototype_s=0.06, paper_s=2262,
        budget_height=8, budget_mb=300, prototype_trees=1192, prototype_height=7, target=True,
        series="MI250",
    ),
    Row(
        "A100 4096", _spec("dgx_a100:boxes=512"), budget_s=0.25, prototype_s=0.98, budget_height=3,
        prototype_trees=4096, prototype_height=2, target=True, series="A100",
    ),
    Row("H100 4096", _spec("dgx_h100:boxes=512"), budget_s=0.25, target=True, budget_height=3),
    Row(
        "MI250 4096", _spec("mi250:boxes=256"), budget_s=0.25, prototype_s=1.05, budget_height=8,
        prototype_trees=4226, prototype_height=7, target=True, series="MI250",
    ),
    Row(
        "A100 8192", _spec("dgx_a100:boxes=1024"), prototype_s=12.3, budget_height=3,
        prototype_trees=8192, prototype_height=2, large=True,
    ),
    Row("A100 1024 few links", _spec("dgx_a100:boxes=128"), work="few links", budget_height=3),
    Row("MI250 1024 few links", _spec("mi250:boxes=64"), work="few links", budget_height=7),
    Row("MI250 256", _spec("mi250:boxes=16"), series="MI250"),
    Row("A100 256 factored", _spec("dgx_a100:boxes=32"), work="factored", series="A100 factored"),
    Row("A100 1024 factored", _spec("dgx_a100:boxes=128"), work="factored", series="A100 factored"),
    Row("A100 4096 factored", _spec("dgx_a100:boxes=512"), work="factored", series="A100 factored"),
    Row("MI250 256 factored", _spec("mi250:boxes=16"), work="factored", series="MI250 factored"),
    Row("MI250 1024 factored", _spec("mi250:boxes=64"), work="factored", series="MI250 factored"),
    Row("MI250 4096 factored", _spec("mi250:boxes=256"), work="factored", series="MI250 factored"),
    Row(
        "A100 65536 factored", _spec("dgx_a100:boxes=8192"), work="factored", budget_s=12,
        target=True, budget_mb=4000, large=True, series="A100 factored",
    ),
    Row(
        "MI250 65536 factored", _spec("mi250:boxes=4096"), work="factored", budget_s=12,
        target=True, budget_mb=4000, large=True, series="MI250 factored",
    ),
    Row("A100 131072 factored", _spec("dgx_a100:boxes=16384"), work="factored", large=True),
    Row(
        "A100 16384 factored", _spec("dgx_a100:boxes=2048"), work="factored", budget_s=1.0,
        target=True, budget_height=4, budget_mb=8000, large=True, series="A100 factored",
    ),
    Row(
        "MI250 16384 factored", _spec("mi250:boxes=1024"), work="factored", budget_height=8,
        budget_mb=8000, large=True, budget_s=1.0, target=True, series="MI250 factored",
    ),
    Row(
        "A100 16384 explicit", _spec("dgx_a100:boxes=2048"), budget_s=4.5, target=True,
        budget_height=4, budget_mb=8000, large=True, series="A100",
    ),
    Row(
        "optimum of A100 1024", _spec("dgx_a100:boxes=128"), work="optimum", budget_s=0.02,
        prototype_s=0.003, paper_s=2.2,
    ),
    Row(
        "optimum of MI250 1024", _spec("mi250:boxes=64"), work="optimum", budget_s=0.03,
        prototype_s=0.015, paper_s=3.8,
    ),
    Row(
        "optimum of A100 16384", _spec("dgx_a100:boxes=2048"), work="optimum", budget_s=0.12,
        target=True,
    ),
    Row(
        "torus 32x32", _spec("torus:dims=32x32"), budget_s=0.04, prototype_s=0.18, budget_height=32,
        prototype_trees=1083, prototype_height=33, target=True,
    ),
    Row("torus 64x64", _spec("torus:dims=64x64"), budget_s=0.4, target=True, budget_height=64),
    Row("torus 128x128", _spec("torus:dims=128x128"), budget_height=128, large=True),
    Row(
        "hypercube 1024", _spec("hypercube:dimension=10"), budget_s=0.1, prototype_s=0.35,
        prototype_trees=1251, prototype_height=10, target=True,
    ),
    Row(
        "torus 10x10x10", _spec("torus:dims=10x10x10"), prototype_s=0.27, budget_height=17,
        prototype_trees=1039, prototype_height=15,
    ),
    Row(
        "random 4-regular 1024", partial(random_regular, 1024, 4, seed=1), budget_s=0.3,
        prototype_s=0.62, prototype_trees=1076, prototype_height=7, target=True,
    ),
    Row("one dead NIC 1024", partial(dead_nics, 128, 1, seed=0), budget_s=0.08, target=True),
    Row(
        "dead NICs 1024 (40 of them)", partial(dead_nics, 128, 40, seed=0), budget_s=0.1,
        prototype_s=0.1, prototype_trees=1574, prototype_height=3, target=True,
    ),
    Row(
        "random link speeds 1024 (NICs of 20 to 25)", partial(jittered_nics, 128, 20, 25, seed=0),
        budget_s=0.18, prototype_s=0.15, prototype_trees=3985, prototype_height=3, target=True,
    ),
    Row(
        "mixed boxes 1024 (A100, H100, MI250)", partial(mixed_boxes, 43, 43, 21), budget_s=0.5,
        prototype_s=0.6, prototype_trees=6854, prototype_height=16, target=True,
    ),
    Row(
        "fat-tree 1024 (64 leaves, 8 spines)", _spec("fat_tree:leaves=64,hosts=16,spines=8"),
        prototype_s=0.11, prototype_trees=1024, prototype_height=3,
    ),
    Row(
        "pods 4096 (32 of 16 boxes)", partial(pods, 32, 16, 8), prototype_s=0.53,
        prototype_trees=4096, prototype_height=3,
    ),
    Row(
        "flat undecomposable 1024 (loose boxes)", partial(loose_boxes, 128), budget_s=0.6,
        target=True, prototype_s=28, prototype_trees=7136, prototype_height=17,
    ),
    Row(
        "flat, every NIC unequal 264 (loose boxes)",
        partial(jittered_nics, 33, 7919, 10069, seed=1, nvswitch=53057), series="flat, unequal",
    ),
    Row(
        "flat, every NIC unequal 352 (loose boxes)",
        partial(jittered_nics, 44, 7919, 10069, seed=1, nvswitch=53057), series="flat, unequal",
    ),
    Row(
        "flat, every NIC unequal 440 (loose boxes)",
        partial(jittered_nics, 55, 7919, 10069, seed=1, nvswitch=53057), series="flat, unequal",
    ),
    Row("mesh of unequal cables 264", partial(unequal_mesh, 264, seed=1)),
    Row("mesh of unequal cables 440", partial(unequal_mesh, 440, seed=1)),
    Row("command line, A100 1024", _spec("dgx_a100:boxes=128"), work="command", budget_s=1),
)  # fmt: skip
"""Names are unique; ``--only`` looks for its text in them."""
