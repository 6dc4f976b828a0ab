"""SCCL's Algorithm 1: what is tried, in which order, and where it ends."""

import pytest

from baselines.synthesizers.sccl import pareto
from forestcoll.errors import (
    InvalidParameterError,
)
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.topology import load_topology
from tests.baselines.dgx1 import dgx1
from tests.baselines.synthesizers.sccl.rounds import shard_rounds


def test_pareto_frontier_of_dgx1() -> None:
    """SCCL's Algorithm 1 with k = 2, to 3 steps: 4/3 rounds a chunk are too few in 2 steps."""
    points = list(pareto(dgx1(), extra_rounds=2, most_steps=3))
    tried = [(p.chunks, p.steps, p.rounds, p.outcome) for p in points]
    assert tried == [(3, 2, 4, "unsat"), (2, 2, 3, "sat"), (4, 3, 5, "sat")]
    for point in points:
        if point.schedule is not None:
            assert verify(point.schedule).steps == point.steps
            assert shard_rounds(point.schedule) <= point.rounds_per_chunk


def test_pareto_takes_an_end() -> None:
    """With R = S on a one-way ring of 3 the bound of 2 is met at once; on DGX-1 not in 4 steps."""
    ring = list(pareto(load_topology("ring:nodes=3,bidirectional=false")))
    assert [(p.chunks, p.steps, p.rounds, p.outcome) for p in ring] == [(1, 2, 2, "sat")]
    frontier = [p for p in pareto(dgx1(), most_steps=4) if p.outcome == "sat"]
    assert [(p.chunks, p.steps, p.rounds) for p in frontier] == [(1, 2, 2), (2, 3, 3), (3, 4, 4)]


def test_pareto_points_without_time_are_unknown() -> None:
    """With no time every outcome is unknown, and nothing is called proved."""
    points = list(pareto(dgx1(), most_steps=3, limits=Limits(seconds=0)))
    assert [p.outcome for p in points] == ["unknown"] * 3
    assert all(p.schedule is None for p in points)


def test_a_negative_k_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="extra_rounds is -1"):
        next(pareto(dgx1(), extra_rounds=-1))
