"""Forests hop by hop."""

import pytest

from baselines import METHODS
from forestcoll import generate
from forestcoll.schedule import Allreduce, Forest, cost, lockstep, synchronous, verify
from forestcoll.topology import Topology, load_topology
from tests.random_topologies import random_topology
from tests.schedule.made.steps import slowest_links


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "broadcast", "allreduce"])
def test_a_single_gpu_in_lockstep_has_nothing_to_send(collective: str) -> None:
    """And all of the data."""
    alone = load_topology("complete:nodes=2")
    alone = Topology("alone", alone.nodes[:1], ())
    root = 0 if collective == "broadcast" else None
    steps = lockstep(generate(alone, collective=collective, root=root).schedule)
    assert (verify(steps).sends, verify(steps).time_s_per_gb) == (0, 0)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("kind", ["directed", "bidirectional"])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.each_value_once
def test_lockstep_delivers_no_faster(seed: int, kind: str, collective: str) -> None:
    """Hop by hop the same data crosses the same links, but the steps wait for each other."""
    forest = generate(random_topology(seed, kind), collective=collective).schedule
    phases = forest.phases if isinstance(forest, Allreduce) else (forest,)
    steps = lockstep(forest)
    verdict = verify(steps)
    assert verdict.steps == sum(int(phase.tree_depths().max()) for phase in phases)
    assert verdict.synchronous_s_per_gb == slowest_links(steps) >= cost(forest).time_s_per_gb
    if isinstance(forest, Forest):
        assert verdict.time_s_per_gb == cost(forest).time_s_per_gb
        assert verdict.synchronous_s_per_gb == synchronous(forest).time_s_per_gb


def test_rings_lose_nothing_in_lockstep() -> None:
    """Every link of a ring is busy in every step; T_L = N - 1 steps (BFB section 6)."""
    forest = METHODS["ring"].run(load_topology("ring:nodes=7"))
    assert isinstance(forest, Forest)
    steps = lockstep(forest)
    assert synchronous(steps).time_s_per_gb == forest.time_s_per_gb
    assert steps.num_steps == 6
