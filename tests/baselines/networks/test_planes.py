"""Parallel planes, merged by hand and at random."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines import METHODS
from baselines.networks.planes import Planes, _Merging, find_planes
from forestcoll import optimum
from forestcoll.schedule import cost, verify
from forestcoll.topology import Link, Topology, TopologyBuilder, load_topology
from tests.baselines.planes import split
from tests.hand_networks import network_of
from tests.random_topologies import rounds

H100 = (125, 125, 100, 100)
"""GB/s of a GPU to its four NVSwitches: 5, 5, 4 and 4 links of 25 GB/s."""


def box(*gb_s: int, gpus: int = 8) -> Topology:
    """GPUs that are all linked to several switches."""
    switches = " ".join(f"[nvswitch{i}]@0" for i in range(len(gb_s)))
    links = (f"gpu0..{gpus - 1} - nvswitch{i}: {each}" for i, each in enumerate(gb_s))
    numbered = " ".join(f"gpu{i}@0.{i}" for i in range(gpus))
    return network_of(f"{switches} {numbered}", ", ".join(links), "box")


def check(planes: Planes) -> None:
    """Every link gets the share of its merged link that it has of that one's bandwidth."""
    carried: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    whole = planes.merged.link_between
    for one in planes.selections:
        for ends, link in whole.items():
            carried[one.node[ends[0]], one.node[ends[1]]] += one.share * link.bandwidth_gb_s
    assert sum(one.share for one in planes.selections) == 1
    found = {ends: link.bandwidth_gb_s for ends, link in planes.topology.link_between.items()}
    assert dict(carried) == found


def test_four_switches_of_an_h100_are_one_of_450() -> None:
    """5 + 5 + 4 + 4 of 18 links: 125 + 125 + 100 + 100 GB/s."""
    planes = find_planes(box(*H100))
    assert {link.bandwidth_gb_s for link in planes.merged.links} == {450}
    assert len(planes.merged.switches) == 1
    assert [one.share * 18 for one in planes.selections] == [5, 5, 4, 4]
    check(planes)


@pytest.mark.parametrize(
    "spec", ["dgx_a100:boxes=2", "mi250:boxes=2", "torus:dims=3x3", "rail_optimized:boxes=2"]
)
def test_networks_without_parallel_switches_stay_the_same_object(spec: str) -> None:
    """Each rail is of other GPUs, each NVSwitch of another box."""
    topology = load_topology(spec)
    planes = find_planes(topology)
    assert planes.merged is planes.topology is topology
    assert [one.share for one in planes.selections] == [1]


def test_spines_of_the_same_leaves_are_parallel() -> None:
    """Three spines of four leaves: one, with three selections; the leaves stay four."""
    planes = find_planes(load_topology("fat_tree:leaves=4,hosts=4,spines=3"))
    assert len(planes.merged.switches) == 4 + 1
    assert [one.share for one in planes.selections] == [Fraction(1, 3)] * 3
    check(planes)


def test_leaf_and_spine_of_a_plane_are_merged_with_those_of_another() -> None:
    """Two planes, 1:3, of two leaves and a spine each; planes are linked nowhere."""
    whole = load_topology("fat_tree:leaves=2,hosts=2,spines=1")
    planes = find_planes(split(whole, (1, 3)))
    assert [link.bandwidth_gb_s for link in planes.merged.links] == [
        link.bandwidth_gb_s for link in whole.links
    ]
    assert [one.share for one in planes.selections] == [Fraction(1, 4), Fraction(3, 4)]
    for one in planes.selections:
        names = {planes.topology.nodes[v].name[-2:] for v in one.node[-3:]}
        assert len(names) == 1  # leaves and spine of the same plane
    check(planes)


def test_boxes_may_have_different_planes() -> None:
    """1:1 in one box and 1:3 in the other: the traffic is cut at 1/4 and 1/2."""
    whole = load_topology("dgx_a100:boxes=2")
    topology = split(split(whole, (1, 1), "b0.nvswitch"), (1, 3), "b1.nvswitch")
    planes = find_planes(topology)
    assert len(planes.merged.switches) == 3
    assert [one.share for one in planes.selections] == [
        Fraction(1, 4),
        Fraction(1, 4),
        Fraction(1, 2),
    ]
    check(planes)


def test_a_network_beside_the_nvswitch_is_no_plane_of_it() -> None:
    """All GPUs of the box are linked to it too, in one proportion; but it is in no box."""
    topology = network_of(
        "[nvswitch]@0 [ib] gpu0@0.0 gpu1@0.1 gpu2@0.2 gpu3@0.3",
        "gpu0..3 - nvswitch: 450, gpu0..3 - ib: 50",
        "box with NICs",
    )
    assert find_planes(topology).merged is topology


@pytest.mark.parametrize("mark", ["multicast", "stores"])
def test_switches_that_do_different_things_are_no_planes(mark: str) -> None:
    """Data could not go over either."""
    topology = box(1, 1)
    nodes = tuple(replace(n, **{mark: n.name == "nvswitch0"}) for n in topology.nodes)
    other = replace(topology, nodes=nodes)
    assert find_planes(topology).merged is not topology
    assert find_planes(other).merged is other


@pytest.mark.parametrize("wrong", ["proportion", "latency", "missing"])
def test_one_link_out_of_proportion_keeps_switches_apart(wrong: str) -> None:
    """A link twice as wide, of another latency, or dead."""
    topology = box(1, 1, 1, gpus=4)
    first, *others = topology.links
    change = {
        "proportion": [replace(first, bandwidth_gb_s=Fraction(2)), *others],
        "latency": [replace(first, latency_us=Fraction(1)), *others],
        "missing": others,
    }
    made = replace(topology, links=tuple(change[wrong]))
    assert len(find_planes(made).merged.switches) == 2  # the other two are alike


def test_planes_that_are_linked_to_each_other_stay_apart() -> None:
    """What is between them has no place in the merged network."""
    topology = box(1, 1)
    a, b = topology.switches
    links = (*topology.links, Link(a, b, Fraction(1)), Link(b, a, Fraction(1)))
    joined = replace(topology, links=links)
    assert find_planes(joined).merged is joined


def leaves_of_two_planes() -> tuple[TopologyBuilder, list[list[int]]]:
    """Three pairs of parallel leaves, with two GPUs each."""
    builder = TopologyBuilder()
    leaves = [[builder.switch(f"leaf{i}.{plane}") for plane in range(2)] for i in range(3)]
    for i, pair in enumerate(leaves):
        for number in range(2):
            gpu = builder.gpu(f"gpu{i}.{number}")
            for leaf in pair:
                builder.link(gpu, leaf, 1)
    return builder, leaves


def test_names_do_not_matter() -> None:
    """Leaves 2.0 and 2.1 have changed places at the spines: one plane is 0.0, 1.0 and 2.1."""
    builder, leaves = leaves_of_two_planes()
    spines = [builder.switch(f"spine{plane}") for plane in range(2)]
    for i, pair in enumerate(leaves):
        for plane, leaf in enumerate(pair):
            builder.link(leaf, spines[plane if i < 2 else 1 - plane], 2)
    planes = find_planes(builder.build("changed places"))
    assert len(planes.merged.switches) == 3 + 1
    check(planes)


def test_planes_without_a_consistent_selection_stay_apart() -> None:
    """From 0.0 over 1.0 and 2.0 one comes back to 0.1: no switch of each pair has all its links."""
    builder, leaves = leaves_of_two_planes()
    for plane in range(2):
        builder.link(leaves[0][plane], leaves[1][plane], 2)
        builder.link(leaves[1][plane], leaves[2][plane], 2)
        builder.link(leaves[2][plane], leaves[0][1 - plane], 2)
    topology = builder.build("twisted")
    assert find_planes(topology).merged is topology


def test_a_limit_of_all_planes_limits_the_merged_link() -> None:
    """And what limits a GPU's links to one of two planes keeps them apart."""
    whole = box(1, 3, gpus=4)
    both = whole.with_shared("copy engine", ["gpu0 -> nvswitch0", "gpu0 -> nvswitch1"], 2)
    planes = find_planes(both)
    (group,) = planes.merged.shared
    assert (group.name, group.links, group.bandwidth_gb_s) == ("copy engine", ((1, 0),), 2)
    made = METHODS["ring"].run(both)
    verify(made)
    assert made.topology.shared == both.shared
    assert cost(made).busiest_link == ("copy engine",)
    assert cost(made).algbw_gb_s == Fraction(2 * 4, 3)
    one = whole.with_shared("half duplex", ["gpu0 -> nvswitch0", "nvswitch0 -> gpu0"], 1)
    assert find_planes(one).merged is one


@settings(max_examples=rounds(40), deadline=None)
@given(
    parts=st.lists(st.integers(1, 7), min_size=2, max_size=4),
    spec=st.sampled_from(
        ["dgx_h100:boxes=2", "fat_tree:leaves=3,hosts=2,spines=2", "rail_optimized:boxes=3"]
    ),
)
def test_any_split_is_undone(parts: list[int], spec: str) -> None:
    """The merged network has the links of the one that was split, its own planes merged too."""
    whole = find_planes(load_topology(spec)).merged
    planes = find_planes(split(load_topology(spec), parts))
    assert planes.merged.links == whole.links
    assert optimum(planes.merged).algbw_gb_s == optimum(planes.topology).algbw_gb_s
    check(planes)


@pytest.mark.parametrize("unit", [2**55, 2**62, Fraction(1, 3**50)])
def test_numbers_beyond_64_bits_are_merged_exactly(unit: Fraction | int) -> None:
    topology = box(*H100)
    links = (replace(link, bandwidth_gb_s=link.bandwidth_gb_s * unit) for link in topology.links)
    planes = find_planes(replace(topology, links=tuple(links)))
    assert [one.share * 18 for one in planes.selections] == [5, 5, 4, 4]
    assert {link.bandwidth_gb_s for link in planes.merged.links} == {450 * unit}
    check(planes)


@pytest.mark.parametrize("wide", [1, 2**62 - 1])
def test_linked_switches_are_no_planes(wide: int) -> None:
    """No traffic of merged planes would use the link, which may be wider than all others."""
    topology = box(1, 1, gpus=2)
    one, other = (topology.position_of[f"nvswitch{i}"] for i in range(2))
    between = [Link(*ends, Fraction(wide)) for ends in ((one, other), (other, one))]
    linked = replace(topology, links=(*topology.links, *between))
    assert find_planes(topology).merged is not topology
    assert find_planes(linked).merged is linked


def test_no_link_objects_of_the_real_network_are_made() -> None:
    """A rack has 18 planes: thousands of links, which merged are few."""
    columns = load_topology("nvl72:racks=2,gpus_per_rack=4")
    topology = Topology.of_columns(columns.name, columns.nodes, columns.columns, columns.shared)
    assert len(find_planes(topology).selections) == 18
    assert "links" not in vars(topology)


def test_proportions_are_compared_beyond_64_bits() -> None:
    """Links out of proportion by 2^44, of 2^20 parts of all traffic: by 2^64 in whole parts.

    As if all three switches had one colour, and the same bandwidth in all.
    """
    wide, narrow, off = 2**49, 2**30, 2**44
    widths = {0: (wide - off, narrow, wide - narrow + off), 1: (wide, narrow, wide - narrow)}
    other = {0: widths[1], 1: (wide + off, narrow, wide - narrow - off)}
    nodes = box(1, 1, 1, gpus=2).nodes
    switches = [v for v, node in enumerate(nodes) if node.is_switch]
    gpus = [v for v, node in enumerate(nodes) if node.is_gpu]
    links = [
        link
        for i, gpu in enumerate(gpus)
        for v, there, back in zip(switches, widths[i], other[i], strict=True)
        for link in (Link(gpu, v, Fraction(there)), Link(v, gpu, Fraction(back)))
    ]
    topology = Topology("three planes", nodes, tuple(links))
    colour = [0 if v in switches else v + 1 for v in range(len(nodes))]
    merging = _Merging(topology, colour, {0: switches})
    assert merging.selections[0].share == Fraction(1, 2)
    assert merging.unlike() == set(switches)


def test_links_of_one_merged_link_need_one_latency() -> None:
    """As if both switches had one colour, though a link of one is slower."""
    topology = box(1, 1, gpus=2)
    switches = list(topology.switches)
    colour = [0 if v in switches else v + 1 for v in range(len(topology.nodes))]
    assert _Merging(topology, colour, {0: switches}).unlike() == set()
    first, *others = topology.links
    late = replace(topology, links=(replace(first, latency_us=Fraction(1)), *others))
    assert _Merging(late, colour, {0: switches}).unlike() == set(switches)
