"""Times of workloads, against the numbers of the BFB paper."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.finder import Question, find
from baselines.topology_finder.workload import Fabric, Workload, read_workload
from forestcoll.errors import InvalidParameterError

FABRIC = Fabric(Fraction(10, 10**6), Fraction(100 * 10**9, 8))


def test_table_4_of_the_paper_comes_out() -> None:
    """1024 nodes of degree 4, 10 us a hop, 1 MB over 100 Gb/s: printed to a tenth of a us."""
    found = find(Question(1024, 4, printed=True), BaseTable())
    times = {
        one.name: float(read_workload(["1MB"]).seconds(one, "allreduce", FABRIC) * 10**6)
        for one in found
    }
    printed = {
        "DBJ(4,5)": 323.5,  # T_L and T_B of Pi_{4,1024}
        "L^3(C(16,{3,4}))": 291.0,
        "L^2(C(64,{6,7}))": 328.4,  # as L^2(Diamond^[]2)
        "L(DBJMod(2,4)^[]2)": 387.8,
        "UniRing(1,4)[]UniRing(1,4)[]UniRing(1,8)[]UniRing(1,8)": 567.6,
    }
    assert {name: round(time, 1) for name, time in times.items()} == printed


def test_each_collective_has_its_own_direction() -> None:
    (one,) = find(Question(5, 4), BaseTable())
    lopsided = replace(one, reverse_hops=3, reverse_time=Fraction(2))
    load = Workload(((10**6, Fraction(2)), (1000, Fraction(1))))
    per = Fraction(2 * 10**6 + 1000) / FABRIC.bytes_s
    gather = 3 * 1 * FABRIC.alpha_s + Fraction(4, 5) * per
    scatter = 3 * 3 * FABRIC.alpha_s + 2 * per
    assert load.seconds(lopsided, "allgather", FABRIC) == gather
    assert load.seconds(lopsided, "reduce-scatter", FABRIC) == scatter
    assert load.seconds(lopsided, "allreduce", FABRIC) == gather + scatter


def test_an_all_to_all_takes_the_time_of_the_paper() -> None:
    """Its bound at 1024 nodes: 382.3 us for 1 MB of each node."""
    (one, *_) = find(Question(1024, 4), BaseTable())
    seconds = read_workload(["1MB"]).all_to_all_seconds(one, Fraction(4, 4667), FABRIC)
    assert round(float(seconds) * 10**6, 1) == 382.3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "the workload is empty"),
        (["many"], "size has 'many'"),
        (["1MB:0"], "has '0' calls"),
        (["1MB:-2"], "has '-2' calls"),
        (["1MB:x"], "has 'x' calls"),
        (["1MB:1/0"], "has '1/0' calls"),
        (["1MB:1e20"], "has '1e20' calls"),
        (["0"], "which is 0 bytes"),
    ],
)
def test_wrong_workloads_are_refused(given: list[str], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        read_workload(given)
