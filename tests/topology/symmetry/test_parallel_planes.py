"""Parallel planes: what is merged, and how each merged link splits into the real ones."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll import load_topology, optimum
from forestcoll.topology import Topology
from forestcoll.topology.symmetry.parallel_planes import Planes, merged_capacities, merged_planes
from tests.hand_networks import network_of


def h100_by_cables() -> Topology:
    """8 GPUs with 5, 5, 4 and 4 NVLinks of 25 GB/s to four multicast NVSwitches: 450 GB/s each."""
    return network_of(
        "[nv0..3*] g0..7", "g0..7 - nv0 nv1: 125, g0..7 - nv2 nv3: 100", "H100 by cables"
    )


def check_exact(planes: Planes) -> None:
    """Shares add up to 1, and each times the merged bandwidth is the real one."""
    real, merged = planes.topology, planes.merged
    split = planes.link_shares()
    assert sorted(i for parts in split for i, _ in parts) == list(range(len(real.links)))
    for link, parts in zip(merged.links, split, strict=True):
        assert sum(share for _, share in parts) == 1
        for i, share in parts:
            assert real.links[i].bandwidth_gb_s == share * link.bandwidth_gb_s
            assert planes.node[real.links[i].tail] == link.tail
            assert planes.node[real.links[i].head] == link.head
    for number, members in enumerate(planes.members):
        assert sum(planes.share[v] for v in members) == 1
        assert {planes.node[v] for v in members} == {number}
    assert [merged.nodes[v] for v in merged.compute] == [real.nodes[v] for v in real.compute]


def test_planes_of_any_proportions_become_one_switch() -> None:
    """125 + 125 + 100 + 100 = 450 GB/s; shares 5/18, 5/18, 4/18, 4/18."""
    planes = merged_planes(h100_by_cables())
    check_exact(planes)
    (switch,) = planes.merged.switches
    assert planes.merged.nodes[switch].name == "nv0"
    assert planes.merged.nodes[switch].multicast
    assert [planes.share[v] for v in planes.members[switch]] == [
        Fraction(5, 18),
        Fraction(5, 18),
        Fraction(4, 18),
        Fraction(4, 18),
    ]
    assert {link.bandwidth_gb_s for link in planes.merged.links} == {Fraction(450)}


@pytest.mark.first_rows(2)
@pytest.mark.parametrize(
    ("spec", "switches"),
    [("nvl72:racks=2", 3), ("nvl72:gpus_per_rack=4,planes=3", 1), ("dgx_h100:boxes=2", 3)],
)
def test_merging_keeps_every_optimum(spec: str, switches: int) -> None:
    """What the planes carry the merged switch carries, and the other way."""
    planes = merged_planes(load_topology(spec))
    check_exact(planes)
    assert len(planes.merged.switches) == switches
    for reduction in (False, True):
        best = optimum(planes.topology, reduction=reduction)
        assert optimum(planes.merged, reduction=reduction).time_s_per_gb == best.time_s_per_gb


def test_networks_without_parallel_switches_stay_unchanged() -> None:
    """Of two NVSwitches in two boxes none are parallel: their neighbours differ."""
    topology = load_topology("dgx_a100:boxes=2")
    planes = merged_planes(topology)
    check_exact(planes)
    assert planes.is_trivial
    assert planes.merged is topology


@pytest.mark.parametrize("copies", [(True, True), (True, False)])
def test_only_switches_of_one_kind_are_merged(copies: tuple[bool, bool]) -> None:
    s, t = (f"[s{number}{'*' * copy}]" for number, copy in enumerate(copies))
    planes = merged_planes(network_of(f"g0..2 {s} {t}", "g0..2 - s0 s1: 10", "two planes"))
    assert planes.is_trivial == (copies[0] != copies[1])


@pytest.mark.parametrize("widths", [((10, 10), (10, 20)), ((10, 20), (20, 10))])
def test_other_proportions_are_no_planes(widths: tuple[tuple[int, int], ...]) -> None:
    """10 and 10 GB/s beside 10 and 20: no factor carries one switch's links to the other's."""
    links = [f"g{gpu} - s{s}: {row[gpu]}" for s, row in enumerate(widths) for gpu in range(2)]
    assert merged_planes(network_of("g0 g1 [s0] [s1]", ", ".join(links), "unlike")).is_trivial


def test_one_direction_in_other_proportions_is_no_plane() -> None:
    """Equal links out of two switches, unequal ones into them."""
    assert merged_planes(
        network_of(
            "g0 g1 [s0] [s1]", "g0 g1 > s0: 20, s0 s1 > g0 g1: 20, g0 g1 > s1: 30", "unlike inwards"
        )
    ).is_trivial


def test_links_between_two_merged_switches_split_by_the_product_of_their_shares() -> None:
    """2 leaf planes (1/3, 2/3) and 2 spines (1/4, 3/4): 12 GB/s splits into 1, 3, 2 and 6."""
    planes = merged_planes(
        network_of(
            "[leaf0] [leaf1] [spine0] [spine1] g0 g1 far",
            "g0 g1 - leaf0: 3, g0 g1 - leaf1: 6, far leaf1 - spine0: 2, far leaf1 - spine1: 6, "
            "leaf0 - spine0, leaf0 - spine1: 3",
            "two layers of planes",
        )
    )
    check_exact(planes)
    place = planes.merged.position_of
    between = planes.merged.link_between[place["leaf0"], place["spine0"]]
    assert between.bandwidth_gb_s == 12
    shares = planes.link_shares()[planes.merged.links.index(between)]
    assert [share * 12 for _, share in shares] == [1, 3, 2, 6]


def test_a_merged_link_has_the_greatest_latency() -> None:
    merged = merged_planes(
        network_of("g0 g1 [s0] [s1]", "g0 g1 - s0: 10 1, g0 g1 - s1: 10 5", "far planes")
    ).merged
    assert {(link.bandwidth_gb_s, link.latency_us) for link in merged.links} == {(20, 5)}


def test_switches_with_shared_capacities_stay_apart() -> None:
    """The common limit of one plane of four holds for that plane; the other three are merged."""
    topology = h100_by_cables().with_shared("slow plane", "nv1", 800)
    planes = merged_planes(topology)
    check_exact(planes)
    assert [planes.merged.nodes[v].name for v in planes.merged.switches] == ["nv0", "nv1"]
    (group,) = planes.merged.shared
    assert {v for ends in group.links for v in ends} == {*planes.merged.compute, 1}
    assert group.bandwidth_gb_s == 800


def test_capacities_that_are_no_shares_are_not_merged() -> None:
    """Planes of 1 and 2 GB/s: 0 and 1 trees, as floor(b / 2), are not a third and two thirds."""
    planes = merged_planes(network_of("g0 g1 [s1] [s2]", "g0 g1 - s1, g0 g1 - s2: 2", "1 and 2"))
    links = planes.topology.links
    half = np.array([int(link.bandwidth_gb_s // 2) for link in links])
    assert merged_capacities(planes, half) is None
    whole = np.array([5 * int(link.bandwidth_gb_s) for link in links])
    found = merged_capacities(planes, whole)
    assert found is not None
    assert found.tolist() == [15] * 4


def test_planes_are_kept_for_a_network_and_not_for_its_equals() -> None:
    """Merging is linear in the links, and comparing two equal networks takes longer than that."""
    network, equal = load_topology("nvl72:racks=1"), load_topology("nvl72:racks=1")
    assert network == equal
    planes = merged_planes(network)
    assert merged_planes(network) is planes
    assert merged_planes(equal).topology is equal
    assert merged_planes(equal) == planes
