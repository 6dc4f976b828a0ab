"""Exchanges of ends of links: what they find is computed, and takes less."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from baselines.direct_connect.bfb.bfb import generate
from baselines.topology_finder.edge_swaps import improved
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import verify
from forestcoll.schedule.cost_model import synchronous
from forestcoll.topology import load_topology


def cost(hops: int, time: Fraction) -> Fraction:
    return hops + time


@pytest.mark.parametrize("spec", ["random_regular:nodes=14,degree=3,seed=2", "ring:nodes=12"])
def test_links_both_ways_stay_so_and_degrees_stay(spec: str) -> None:
    topology = load_topology(spec)
    found = improved(topology, cost, tries=200, seed=1)
    if spec.startswith("ring"):
        assert found is None  # the only connected network of degree 2
        return
    assert found is not None
    pairs = {(link.tail, link.head) for link in found.topology.links}
    assert pairs == {(b, a) for a, b in pairs}
    assert len(pairs) == len(topology.links)
    for end in ("tail", "head"):
        old, new = (
            Counter(getattr(link, end) for link in each.links)
            for each in (topology, found.topology)
        )
        assert old == new


def test_what_is_found_takes_less_and_its_schedule_proves_it() -> None:
    topology = load_topology("generalized_kautz:degree=3,nodes=20")
    found = improved(topology, cost, tries=300)
    assert found is not None
    takes = [synchronous(generate(topology, each)) for each in ("allgather", "reduce-scatter")]
    for each, hops, time in (
        ("allgather", found.hops, found.time),
        ("reduce-scatter", found.reverse_hops, found.reverse_time),
    ):
        made = generate(found.topology, each)
        verify(made)
        after = synchronous(made)
        assert (after.steps, after.time_s_per_gb * 3) == (hops, time)
    before = cost(
        sum(one.steps for one in takes),
        sum((one.time_s_per_gb * 3 for one in takes), Fraction(0)),
    )
    assert cost(found.hops + found.reverse_hops, found.time + found.reverse_time) < before


def test_the_same_seed_gives_the_same_network() -> None:
    topology = load_topology("random_regular:nodes=14,degree=3,seed=2")
    one, other = (improved(topology, cost, tries=100, seed=3) for _ in range(2))
    assert one is not None
    assert one == other


def test_parallel_links_and_switches_are_refused() -> None:
    wide = "cartesian_product:of=(bi_ring:degree=4,nodes=3)(ring:nodes=3)"
    for spec in (wide, "dgx_a100:boxes=1"):
        with pytest.raises(UnsupportedError, match="exchanges of ends are of single links"):
            improved(load_topology(spec), cost, tries=1)
