"""Exchanges of ends of links: what they find is computed, and takes less."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.direct_connect.bfb.bfb import generate
from baselines.topology_finder import edge_swaps
from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import search
from baselines.topology_finder.building import built
from baselines.topology_finder.candidate import Candidate
from baselines.topology_finder.edge_swaps import improved, swapped
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule import verify
from forestcoll.schedule.cost_model import synchronous
from forestcoll.topology import Topology, load_topology


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


def test_swaps_reduce_the_time_as_the_schedule_proves() -> None:
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


def of(nodes: int, degree: int, name: str) -> Candidate:
    sizes = [size for size in range(2, nodes + 1) if nodes % size == 0]
    table = BaseTable()
    found = search(sizes, degree, lambda base: table.times_of(base) if base.printed else None)
    return next(one for one in found[nodes, degree] if one.name == name)


def test_a_candidate_with_swaps_is_built_and_has_the_predicted_time() -> None:
    one = of(20, 3, "Pi_{3,20}")
    made = swapped(one, cost, tries=500)
    assert made is not None
    assert made.swapped is not None
    assert made.swaps > 1
    assert made.name == f"Pi_{{3,20}}, {made.swaps} swaps"
    assert made.spec == one.spec
    for collective, hops, time in (
        ("allgather", made.hops, made.time),
        ("reduce-scatter", made.reverse_hops, made.reverse_time),
    ):
        schedule = built(made, collective)
        takes = synchronous(schedule)
        assert schedule.topology.links == made.swapped.links
        assert (takes.steps, takes.time_s_per_gb * 3) == (hops, time)
    assert made.hops + made.reverse_hops + made.time + made.reverse_time < (
        one.hops + one.reverse_hops + one.time + one.reverse_time
    )


def test_ports_of_self_loops_stay_unused() -> None:
    """Pi_{3,17} has three self-loops, so 48 of 51 ports have links, and T_B counts all 51."""
    made = swapped(of(17, 3, "Pi_{3,17}"), cost, tries=300)
    assert made is not None
    assert made.swapped is not None
    assert len(made.swapped.links) == 48
    assert synchronous(built(made, "allgather")).time_s_per_gb * 3 == made.time


def test_degrees_stay_even_in_a_search_for_worse_networks() -> None:
    """Two links that become one would be slower."""
    topology = load_topology("generalized_kautz:degree=3,nodes=12")
    found = improved(topology, lambda hops, time: -hops - time, tries=200)
    assert found is not None
    assert Counter(link.tail for link in found.topology.links) == dict.fromkeys(range(12), 3)
    assert Counter(link.head for link in found.topology.links) == dict.fromkeys(range(12), 3)


def test_networks_without_a_better_swap_have_no_candidate() -> None:
    assert swapped(of(12, 4, "C(12,{2,3})"), cost, tries=50) is None  # both at their bounds
    ring = of(12, 2, "UniRing(2,12)")
    assert swapped(replace(ring, hops=1, reverse_hops=1), cost, tries=50) is None
    mixed = load_topology("cartesian_product:of=(bi_ring:degree=4,nodes=3)(ring:nodes=3)")
    wide = replace(of(9, 4, "UniRing(2,3)^[]2"), swapped=mixed)
    assert swapped(wide, cost, tries=50) is None


def test_swapped_networks_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_fast(topology: Topology, *_: object, **__: object) -> edge_swaps.Improved:
        return edge_swaps.Improved(topology, 2, Fraction(1), 2, Fraction(1), 1)

    monkeypatch.setattr(edge_swaps, "improved", too_fast)
    with pytest.raises(VerificationError, match="1 swap: the allgather takes 3 steps"):
        swapped(of(20, 3, "Pi_{3,20}"), cost)
