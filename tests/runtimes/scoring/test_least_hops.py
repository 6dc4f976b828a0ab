"""Loads of transfers over paths of fewest links, by hand."""

from fractions import Fraction

import pytest

from forestcoll.errors import CapacityOverflowError, UnsupportedError
from forestcoll.runtimes.scoring.least_hops import loads_between, paths_between
from forestcoll.topology import Topology
from forestcoll.topology.builder import TopologyBuilder
from tests.hand_networks import network_of


def network(switches: str, *links: tuple[str, str, int]) -> Topology:
    drawn = " ".join(f"[{switch}]" for switch in switches)
    return network_of(f"a b c {drawn}", ", ".join(f"{u} - {v}: {width}" for u, v, width in links))


def loads(topology: Topology, sent: dict[tuple[int, int], int]) -> dict[str, Fraction]:
    found = loads_between(topology, {pair: Fraction(amount) for pair, amount in sent.items()})
    names = [node.name for node in topology.nodes]
    return {
        names[link.tail] + names[link.head]: load
        for link, load in zip(topology.links, found, strict=True)
        if load
    }


def test_equal_ways_share_evenly_and_transfers_add_up() -> None:
    """GPU a sends 4 to b over s and t, c sends 2 to b over t alone."""
    topology = network(
        "st", *(("a", way, 1) for way in "st"), *(("b", way, 1) for way in "st"), ("c", "t", 1)
    )
    assert loads(topology, {(0, 1): 4, (2, 1): 2}) == {"as": 2, "sb": 2, "at": 2, "tb": 4, "ct": 2}


def test_a_gpu_leaves_by_its_widest_link_of_those_on_a_way() -> None:
    """GPU a has 3 GB/s to s and 1 to t, as NVLink and a NIC; b takes either."""
    topology = network(
        "st", ("a", "s", 3), ("a", "t", 1), ("b", "s", 1), ("b", "t", 1), ("c", "t", 1)
    )
    assert loads(topology, {(0, 1): 1}) == {"as": 1, "sb": 1}
    assert loads(topology, {(0, 2): 1}) == {"at": 1, "tc": 1}


def pcie_box() -> TopologyBuilder:
    """Return GPUs a and b on PCIe switches p and q, which meet at sockets s, t and at leaf l."""
    builder = TopologyBuilder()
    for name in "ab":
        builder.gpu(name, box=0)
    for name in "pqst":
        builder.switch(name, box=0)
    builder.switch("l")
    builder.gpu("c", box=1)
    for one, other in ("ap", "bq", "pl", "ql", "cl", "ps", "qt"):
        builder.link(one, other, 1)
    return builder


def test_transfers_of_a_box_stay_in_it_though_a_leaf_is_nearer() -> None:
    """From a to b there are 5 links over the sockets and 4 over the leaf, which leads to c."""
    builder = pcie_box()
    assert loads(builder.build("apart"), {(0, 1): 1}) == {"ap": 1, "pl": 1, "lq": 1, "qb": 1}
    builder.link("s", "t", 1)
    joined = builder.build("joined")
    within = {"ap": 1, "ps": 1, "st": 1, "tq": 1, "qb": 1}
    assert loads(joined, {(0, 1): 1}) == within
    assert loads(joined, {(0, 1): 1, (2, 1): 1}) == within | {"qb": 2, "cl": 1, "lq": 1}
    for through in (False, True):
        ((path,),) = paths_between(joined, [(0, 1)], through=through).values()
        assert [joined.nodes[v].name for v in path.nodes] == list("apstqb")


def test_a_path_through_switches_may_leave_the_box() -> None:
    """GPUs a and b of a box have a link, and no switch but one between boxes."""
    builder = TopologyBuilder()
    for name in "ab":
        builder.gpu(name, box=0)
    builder.switch("l")
    for one, other in ("ab", "al", "bl"):
        builder.link(one, other, 1)
    topology = builder.build("linked")
    for through, nodes in ((False, "ab"), (True, "alb")):
        ((path,),) = paths_between(topology, [(0, 1)], through=through).values()
        assert [topology.nodes[v].name for v in path.nodes] == list(nodes)


def planes(**boxes: int | None) -> Topology:
    """Return GPUs a, b and c of box 0 on switch s by 5 GB/s, all on t, and a and b on p, by 4."""
    builder = TopologyBuilder()
    gpus = {name: builder.gpu(name, box=0) for name in "abc"}
    switches = {name: builder.switch(name, box=box) for name, box in boxes.items()}
    for name, gpu in gpus.items():
        builder.link(gpu, switches["s"], 5)
        if "t" in switches:
            builder.link(gpu, switches["t"], 4)
        if "p" in switches and name != "c":
            builder.link(gpu, switches["p"], 4)
    return builder.build("planes")


def test_a_gpu_stripes_over_unequal_planes_of_its_box_by_their_bandwidth() -> None:
    assert loads(planes(s=0, t=0), {(0, 1): 9}) == {"as": 5, "sb": 5, "at": 4, "tb": 4}


@pytest.mark.parametrize("boxes", [{"s": 0, "t": None}, {"s": None, "t": None}, {"s": 0, "p": 0}])
def test_thinner_switches_between_boxes_or_of_fewer_gpus_are_no_planes(
    boxes: dict[str, int | None],
) -> None:
    assert loads(planes(**boxes), {(0, 1): 9}) == {"as": 9, "sb": 9}


def test_a_direct_link_is_shorter_than_a_switch_however_thin() -> None:
    topology = network("s", ("a", "b", 1), *((gpu, "s", 9) for gpu in "abc"))
    assert loads(topology, {(0, 1): 1, (1, 2): 1}) == {"ab": 1, "bs": 1, "sc": 1}


def test_no_gpu_passes_on_for_others() -> None:
    """On the line a, b, c the file itself has to go over b."""
    line = network("", ("a", "b", 1), ("b", "c", 1))
    with pytest.raises(UnsupportedError, match="no path from a to c through switches alone"):
        loads(line, {(0, 2): 1})


def test_ways_part_and_meet_between_switches() -> None:
    """A - s - (t or u) - v - b: half of it each way, all of it at the ends."""
    pairs = ("as", "st", "su", "tv", "uv", "vb", "cs")
    topology = network("stuv", *((one, other, 1) for one, other in pairs))
    half = Fraction(1, 2)
    assert loads(topology, {(0, 1): 1}) == {
        "as": 1,
        "vb": 1,
        **dict.fromkeys(("st", "su", "tv", "uv"), half),
    }


def ways(topology: Topology, tail: int, head: int, **more: bool) -> dict[str, int]:
    names = [node.name for node in topology.nodes]
    (found,) = paths_between(topology, [(tail, head)], **more).values()
    return {"".join(names[node] for node in path.nodes): path.multiplicity for path in found}


def test_paths_have_weights_by_their_flow() -> None:
    """Over s to v and on over three, over t directly: 1/6 each, and 1/2."""
    pairs = ("as", "at", "sv", "sw", "sx", *(f"{one}b" for one in "vwx"), "ty", "yb", "cs")
    topology = network("stvwxy", *((one, other, 1) for one, other in pairs))
    assert ways(topology, 0, 1) == {"asvb": 1, "aswb": 1, "asxb": 1, "atyb": 3}
    pipelined = loads(topology, {(0, 1): 6})
    assert [pipelined[link] for link in ("as", "sv", "at")] == [3, 1, 3]


def test_through_switches_leaves_out_direct_links() -> None:
    topology = network("s", ("a", "b", 1), *((gpu, "s", 9) for gpu in "abc"))
    assert ways(topology, 0, 1) == {"ab": 1}
    assert ways(topology, 0, 1, through=True) == {"asb": 1}
    assert ways(topology, 0, 2, through=True) == {"asc": 1}
    line = network("", ("a", "b", 1), ("b", "c", 1))
    with pytest.raises(UnsupportedError, match="no path from a to b through switches alone"):
        paths_between(line, [(0, 1)], through=True)


def test_weights_beyond_31_bits_are_refused() -> None:
    """One after the other 2, 3, 5, .. 29 ways: the shares have no smaller common denominator."""
    builder, before = TopologyBuilder(), "a"
    for gpu in "ab":
        builder.gpu(gpu)
    for stage, many in enumerate((2, 3, 5, 7, 11, 13, 17, 19, 23, 29)):
        start, end = (builder.switch(f"s{stage}{side}") for side in ("in", "out"))
        builder.link(before, start, 1)
        for way in range(many):
            inner = builder.switch(f"s{stage}.{way}")
            builder.link(start, inner, 1)
            builder.link(inner, end, 1)
        before = end
    builder.link(before, "b", 1)
    with pytest.raises(CapacityOverflowError, match="beyond 31 bits"):
        paths_between(builder.build("chain"), [(0, 1)])
