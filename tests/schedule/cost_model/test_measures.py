"""Theoretical time: pipelined, max load / bandwidth over N k, from paths alone; synchronous."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines.libraries import ring
from forestcoll.core.assembly import expand
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.generation import generate
from forestcoll.schedule.cost_model.measures import Steps, cost, makespan_s_per_gb, synchronous
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.topology import group, load_topology
from tests.schedule.made.hand import FORESTS, leaves4, rails2, slow_ring3
from tests.schedule.mutations_of.multicast import star


def test_cost_by_hand() -> None:
    """Two leaves: each GPU sends and receives 3 trees, the leaves exchange 2 each way.

    3 / 3 = 2 / 2 = 1 tree per GB/s, over N k = 4 trees: 1/4 s/GB, 4 GB/s.
    """
    found = cost(leaves4())
    net = leaves4().topology
    by_name = {
        net.nodes[e.tail].name + net.nodes[e.head].name: load
        for e, load in zip(net.links, found.loads, strict=True)
    }
    gpus = ("ax", "bx", "cy", "dy")
    assert by_name == {
        **dict.fromkeys(gpus, 3),
        **dict.fromkeys((link[::-1] for link in gpus), 3),
        "xy": 2,
        "yx": 2,
    }
    assert found.time_s_per_gb == Fraction(1, 4)
    assert found.algbw_gb_s == 4
    assert found.busiest_link == ("a", "x")


def test_fractional_bandwidth_is_exact() -> None:
    """Two trees over 1/2 GB/s, N k = 6: 4 / 6 s/GB."""
    assert cost(slow_ring3()).time_s_per_gb == Fraction(2, 3)


def test_time_of_a_size_in_bytes() -> None:
    """6 GB/s: 12 GB take 2 s, a byte 1/6 ns."""
    found = cost(rails2())
    assert found.time_s(12 * 10**9) == 2
    assert found.time_s(1) == Fraction(1, 6 * 10**9)
    assert found.time_s(0) == 0


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_cost_equals_the_measures_of_verify(make: Callable[[], Forest]) -> None:
    """Two ways to add up the same loads, neither believing the congestion claimed."""
    loose = replace(make(), congestion=Fraction(10**6), optimum=None)
    verdict, found = verify(loose), cost(loose)
    assert found.time_s_per_gb == verdict.time_s_per_gb
    assert found.algbw_gb_s == verdict.algbw_gb_s
    assert found.busiest_link == verdict.busiest_link


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_scaling_bandwidths_scales_the_time(make: Callable[[], Forest]) -> None:
    """Three times the bandwidth takes a third of the time."""
    forest = make()
    faster = replace(forest, topology=forest.topology.scaled("*", 3))
    assert cost(faster).time_s_per_gb == cost(forest).time_s_per_gb / 3


def test_loads_beyond_64_bits_are_exact() -> None:
    """Paths of 2^62 trees: GPU a receives and sends 3 * 2^62, more than 64 bits hold."""
    forest = leaves4()
    routes = replace(forest.routes, multiplicity=forest.routes.multiplicity * 2**61)
    assert max(cost(replace(forest, routes=routes)).loads) == 3 * 2**61
    routes = replace(forest.routes, multiplicity=np.full(8, 2**62))
    assert max(cost(replace(forest, routes=routes)).loads) == 2 * 2**62


def test_paths_outside_the_topology_cannot_be_costed() -> None:
    forest = leaves4()
    hop = forest.routes.hop.copy()
    hop[1] = forest.topology.position_of["y"]  # a has no link to y
    with pytest.raises(VerificationError, match="not in the topology"):
        cost(replace(forest, routes=replace(forest.routes, hop=hop)))


def test_no_paths_cannot_be_costed() -> None:
    forest = leaves4()
    with pytest.raises(VerificationError, match="empty"):
        cost(replace(forest, routes=Routes.from_paths({})))


# --- in steps ----------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", [False, True])
def test_switches_that_copy_are_steps_by_hand(reduction: bool) -> None:
    """Four stars around w, 9 GB/s a link: a tree from each GPU in, then three out to each.

    Of four trees a GB: 1/9/4 + 3/9/4 = 1/9 s. Flowing, the 3/9/4 alone.
    """
    assert synchronous(star(reduction)) == Steps(Fraction(1, 9), 2)
    assert cost(star(reduction)).time_s_per_gb == Fraction(1, 12)


def test_an_allreduce_gathers_after_its_reduction() -> None:
    """A ring of 4, one way round: 3 steps there and 3 back; pipelined, both share the links."""
    both = ring.generate(load_topology("ring:nodes=4,bidirectional=false"), "allreduce")
    assert synchronous(both) == Steps(Fraction(2 * 3, 4), 6)
    assert synchronous(both.gather) == Steps(Fraction(3, 4), 3)


def test_a_factored_forest_must_be_expanded_for_its_steps() -> None:
    """Its sets say how many trees take a link, but not at which depth."""
    factored = generate(load_topology("dgx_a100:boxes=2"), factored=True).schedule
    with pytest.raises(UnsupportedError, match="expand it first"):
        synchronous(factored)
    forest = expand(factored)
    assert cost(factored).time_s_per_gb == cost(forest).time_s_per_gb
    assert synchronous(forest).time_s_per_gb > cost(forest).time_s_per_gb


def test_nothing_takes_no_steps() -> None:
    """A single GPU has it all; a rate of nothing is undefined."""
    alone = synchronous(generate(group(load_topology("ring:nodes=3"), ["gpu0"])).schedule)
    assert alone == Steps(Fraction(0), 0)
    with pytest.raises(UnsupportedError):
        _ = alone.algbw_gb_s


def test_without_a_clock_there_is_no_finish() -> None:
    assert makespan_s_per_gb(leaves4()) is None
