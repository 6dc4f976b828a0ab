"""Schedules carried over to larger networks take what the theorems say."""

from fractions import Fraction

import pytest

from baselines.direct_connect.bfb.bfb import generate
from baselines.direct_connect.bfb.expansions import (
    on_both_ways,
    on_degree_expansion,
    on_line_graph,
    on_power,
)
from baselines.direct_connect.bfb.reverse_symmetry import carried_over, mirrored
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import StepSchedule, verify
from forestcoll.schedule.cost_model import synchronous
from forestcoll.topology import load_topology
from tests.baselines.direct_connect.bfb.networks import random_network

PARALLEL = ["circulant:nodes=8,offsets=1+1+4", "circulant:nodes=6,offsets=1+2+2"]
"""Bases with links of one unit and of two."""

BASES = [
    "complete_bipartite:degree=2",
    "circulant:nodes=16,offsets=3+4",
    "complete:nodes=5",
    "generalized_kautz:degree=2,nodes=6",
    "ring:nodes=5,bidirectional=false",
]


def runtime(schedule: StepSchedule) -> Fraction:
    """T_B times M / B, where B is what one GPU sends."""
    topology = schedule.topology
    return synchronous(schedule).time_s_per_gb * topology.egress_gb_s[0]


def size(schedule: StepSchedule) -> int:
    return schedule.topology.num_compute


@pytest.mark.parametrize("spec", BASES[:-1])
def test_a_line_graph_takes_a_step_more_and_a_shard_s_time(spec: str) -> None:
    """Corollary 10.1, with equality for a broadcast that is breadth first: + (M / B) / N."""
    base = generate(load_topology(spec))
    made = base
    for _ in range(2):
        larger = on_line_graph(made)
        verify(larger)
        assert larger.num_steps == made.num_steps + 1
        assert runtime(larger) == runtime(made) + Fraction(1, size(made))
        made = larger


def test_a_ring_one_way_is_its_own_line_graph() -> None:
    """Corollary 10.1 asks for two neighbours; here a shard that has come round is not sent on."""
    base = generate(load_topology("ring:nodes=5,bidirectional=false"))
    made = on_line_graph(base)
    verify(made)
    assert (size(made), made.num_steps, runtime(made)) == (5, base.num_steps, runtime(base))


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("spec", [*BASES, *PARALLEL])
def test_a_degree_expansion_has_the_steps_and_time_of_theorem_11(spec: str, times: int) -> None:
    """Theorem 11: one step more, and (n - 1) / (n N) M / B."""
    base = generate(load_topology(spec))
    made = on_degree_expansion(base, times)
    verify(made)
    assert made.num_steps == base.num_steps + 1
    assert runtime(made) == runtime(base) + Fraction(times - 1, times * size(base))


@pytest.mark.parametrize("exponent", [2, 3])
@pytest.mark.parametrize("spec", [*BASES[:1], *BASES[2:]])
@pytest.mark.each_value_once
def test_a_power_takes_as_many_times_the_steps(spec: str, exponent: int) -> None:
    """Theorem 12: T_B grows by N / (N - 1) (N^n - 1) / N^n, so what was optimal stays so."""
    base = generate(load_topology(spec))
    made, nodes = on_power(base, exponent), size(base)
    verify(made)
    assert made.num_steps == exponent * base.num_steps
    grown = Fraction(nodes, nodes - 1) * Fraction(nodes**exponent - 1, nodes**exponent)
    assert runtime(made) == runtime(base) * grown


@pytest.mark.parametrize("spec", [*BASES[:3], BASES[4]])
def test_two_ways_take_as_long_as_one(spec: str) -> None:
    """Appendix A.6: half of the data each way, over half of the bandwidth of a GPU."""
    base = generate(load_topology(spec))
    place = mirrored(base.topology)
    assert place is not None
    made = on_both_ways(base, carried_over(base, place, base.topology.reversed()))
    verify(made)
    assert (made.num_steps, runtime(made)) == (base.num_steps, runtime(base))


def test_parallel_links_become_gpus_of_their_own() -> None:
    """A ring of four with two links to the next has a line graph of eight, of degree two.

    Four steps; in the last only the twin of each link is still to come: 1 + 1 + 1 + 1 / 2 shards
    over each link, of eight, times 2.
    """
    base = generate(load_topology("ring:nodes=4,bandwidth=2,bidirectional=false"))
    made = on_line_graph(base, unit_gb_s=1)
    verify(made)
    assert (size(made), made.num_steps) == (8, base.num_steps + 1)
    assert runtime(made) == Fraction(7, 8) < runtime(base) + Fraction(1, 4)  # Theorem 7


@pytest.mark.parametrize("seed", range(8))
def test_any_network_s_schedule_is_carried_over(seed: int) -> None:
    """Unequal degrees and links: what comes out is an allgather, if not a balanced one."""
    base = generate(random_network(seed))
    for made in (on_degree_expansion(base, 2), on_power(base, 2)):
        verify(made)


def test_only_allgathers_of_whole_shards_are_carried_over() -> None:
    topology = load_topology("ring:nodes=4")
    with pytest.raises(UnsupportedError, match="allgathers in steps"):
        on_line_graph(generate(topology, "reduce-scatter"))
    base = generate(topology)
    with pytest.raises(UnsupportedError, match="not on the reverse network"):
        on_both_ways(base, generate(load_topology("ring:nodes=5")))
