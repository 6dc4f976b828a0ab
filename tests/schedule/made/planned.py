"""Forests with time plans, made by hand."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.schedule.time_plan import PARTS, Slots, TimePlan
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology import Topology
from tests.forest_over_time.on_paths import path_of_three
from tests.hand_networks import network_of


def slots(*rows: tuple[int, int, list[int]], width: Fraction | int = 1) -> Slots:
    """Rows of a tree, its parts of 720,720, and slots."""
    return Slots(
        Fraction(width),
        np.array([tree for tree, _, _ in rows], dtype=np.int32),
        np.array([parts for _, parts, _ in rows], dtype=np.int64),
        np.array([slot for _, _, slot in rows], dtype=np.int32),
    )


def path_forest() -> Forest:
    """The only trees on a - b - c: those of a, b and c."""
    hops = {(0, 1): 1, (1, 2): 2, (1, 0): 2, (2, 1): 1}
    return Forest(
        topology=path_of_three(),
        method="by hand",
        k=1,
        congestion=Fraction(2),
        root=np.array([0, 1, 2], dtype=np.int32),
        multiplicity=np.ones(3, dtype=np.int64),
        parent=np.array([[-1, 0, 1], [1, -1, 1], [1, 2, -1]], dtype=np.int32),
        routes=Routes.from_paths({ends: (Path(ends, many),) for ends, many in hops.items()}),
    )


def slotted_path() -> Forest:
    """3 us for 3000 bytes: b sends its own in the first slot of 1 us, the others' in the second."""
    rows = slots((0, PARTS, [-1, 0, 1]), (1, PARTS, [0, -1, 0]), (2, PARTS, [1, 0, -1]))
    return with_plan(path_forest(), rows)


def slotted_sum() -> Forest:
    """The same backwards in time: the ends send to b in the second slot what it sums for itself."""
    rows = slots((0, PARTS, [-1, 1, 0]), (1, PARTS, [1, -1, 1]), (2, PARTS, [0, 1, -1]))
    return with_plan(transposed(path_forest(), path_of_three()), rows)


def common_sum() -> Allreduce[Forest]:
    """1000 bytes in 3 us: b gets the data of a and c in the first slot, and sends in the second."""
    gather = Forest(
        topology=path_of_three(),
        method="by hand",
        k=1,
        congestion=Fraction(1),
        root=np.array([1], dtype=np.int32),
        multiplicity=np.ones(1, dtype=np.int64),
        parent=np.array([[1, -1, 1]], dtype=np.int32),
        routes=Routes.from_paths({(1, 0): (Path((1, 0), 1),), (1, 2): (Path((1, 2), 1),)}),
        weights=(0, 1, 0),
    )
    reduce = transposed(gather, path_of_three())
    first, then = (replace(slots((0, PARTS, [slot, -1, slot])), common=True) for slot in (0, 1))
    return Allreduce(
        with_plan(reduce, first, time=2, size_bytes=1000), with_plan(gather, then, size_bytes=1000)
    )


def at_rates() -> Forest:
    """4 us for 3000 bytes: b -> a carries 1 / (4 - 2) GB/s of c's and 1 / (4 - 1) of b's data."""
    return with_plan(path_forest(), None, time=4)


def with_plan(forest: Forest, rows: Slots | None, time: int = 3, **given: Any) -> Forest:
    """Add a plan of 3000 bytes without alpha, or as given."""
    plan = {"size_bytes": 3000, "alpha_us": Fraction(0), "time_us": Fraction(time), **given}
    return replace(forest, plan=TimePlan(**plan, slots=rows))


def two_ways(network: Topology | None = None, *, multiplicity: int = 2) -> Forest:
    """GPU a sends b a tree over v (node 2) and one over w (node 3), as one batch; b has no data."""
    network = network or network_of("a b [v] [w]", "a b - v: 1 1, a b - w: 1 1")
    paths = [Path((0, 2, 1), 1), Path((0, 3, 1), 1)][:multiplicity]
    return Forest(
        topology=network,
        method="by hand",
        k=multiplicity,
        congestion=Fraction(1),
        root=np.array([0], dtype=np.int32),
        multiplicity=np.array([multiplicity], dtype=np.int64),
        parent=np.array([[-1, 0]], dtype=np.int32),
        routes=Routes.from_paths({(0, 1): paths}),
        weights=(1, 0),
    )
