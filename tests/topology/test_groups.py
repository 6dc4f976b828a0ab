"""Process groups: who takes part, by name or by box, and what is refused."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll import optimum
from forestcoll.draw import draw_topology
from forestcoll.errors import DisconnectedError, InvalidParameterError, InvalidTopologyError
from forestcoll.topology import (
    Link,
    Node,
    NodeKind,
    Topology,
    group,
    load_topology,
    members_from_text,
    read_topology,
    write_topology,
)
from forestcoll.topology.describe import nodes_in_words
from tests.hand_networks import network_of

CLUSTER = load_topology("dgx_a100:boxes=2")


def test_gpus_outside_the_group_become_relays() -> None:
    """Nodes, links and their order stay; ranks count the members in that order."""
    pair = group(CLUSTER, ["b1.gpu2", "b0.gpu5"])
    assert pair.links == CLUSTER.links
    assert [pair.nodes[v].name for v in pair.compute] == ["b0.gpu5", "b1.gpu2"]
    kinds = {(old.kind, new.kind) for old, new in zip(CLUSTER.nodes, pair.nodes, strict=True)}
    assert kinds == {
        (NodeKind.COMPUTE, NodeKind.COMPUTE),
        (NodeKind.COMPUTE, NodeKind.RELAY),
        (NodeKind.SWITCH, NodeKind.SWITCH),
    }
    relay = pair.nodes[pair.position_of["b0.gpu0"]]
    assert (relay.is_switch, relay.is_gpu) == (True, True)
    assert len(pair.switches) == 3 + 14


def test_a_group_of_all_is_the_network_and_a_group_of_a_group_is_smaller() -> None:
    names = [CLUSTER.nodes[v].name for v in CLUSTER.compute]
    assert group(CLUSTER, names) == CLUSTER
    half = group(CLUSTER, names[:8])
    assert group(half, names[:2]) == group(CLUSTER, names[:2])
    with pytest.raises(InvalidParameterError, match=r"'b1\.gpu0', which is a relay"):
        group(half, ["b1.gpu0"])


def test_networks_and_members_may_be_texts() -> None:
    """As every other function takes them, and as the command line writes them."""
    assert group("dgx_a100:boxes=2", "*/0") == group(CLUSTER, ["b0.gpu0", "b1.gpu0"])


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "the group is empty; name at least one"),
        (["b0.gpu8"], "'b0.gpu8', which is not a node of dgx_a100:boxes=2; did you mean 'b0.gpu"),
        (["b0.gpu1", "b0.gpu1"], "names 'b0.gpu1' twice"),
        (["ib"], "'ib', which is a switch; only compute nodes take part"),
    ],
)
def test_bad_groups_are_refused(members: list[str], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        group(CLUSTER, members)


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("b0.gpu1, b1.gpu1", ["b0.gpu1", "b1.gpu1"]),
        ("*/0", ["b0.gpu0", "b1.gpu0"]),
        ("1/*", [f"b1.gpu{i}" for i in range(8)]),
        ("0-1/6-7", ["b0.gpu6", "b0.gpu7", "b1.gpu6", "b1.gpu7"]),
        ("0/0,b1.gpu3,", ["b0.gpu0", "b1.gpu3"]),
        ("", []),
    ],
)
def test_groups_can_be_reported_by_boxes_and_indices(text: str, members: list[str]) -> None:
    assert members_from_text(CLUSTER, text) == members


@pytest.mark.parametrize(
    ("spec", "text", "message"),
    [
        (
            "dgx_a100:boxes=2",
            "0-5/*",
            "'0-5/*', but no GPU has box 2; the boxes of dgx_a100:boxes=2",
        ),
        ("dgx_a100:boxes=2", "0-5/*", "are 0-1"),
        ("dgx_a100:boxes=2", "2/0", "no GPU has box 2"),
        ("dgx_a100:boxes=2", "*/6-8", "no GPU has index 8; the indices of these boxes of dgx_a100"),
        ("dgx_a100:boxes=2", "0/*,1/7-999999999", "no GPU has index 8"),
        ("dgx_a100:boxes=2", "1-0/*", "whose range is reversed; turn it"),
        (
            "ring:nodes=3",
            "*/*",
            "no GPU of ring:nodes=3 has a number of its box; name GPUs instead",
        ),
    ],
)
def test_slices_that_name_missing_boxes_or_gpus_are_refused(
    spec: str, text: str, message: str
) -> None:
    """With what is there, however far the range goes on."""
    with pytest.raises(InvalidParameterError, match=re.escape(message)):
        members_from_text(load_topology(spec), text)


def test_boxes_may_lack_numbers_and_differ_in_size() -> None:
    """Boxes 0, 1 and 3; box 3 has one GPU: every number named is that of some GPU."""
    places = [(0, 0), (0, 1), (1, 0), (1, 1), (3, 0)]
    gpus = tuple(Node(f"{b}.{i}", NodeKind.COMPUTE, b, i) for b, i in places)
    network = Topology("uneven", gpus, ())
    assert members_from_text(network, "*/0-1") == [f"{b}.{i}" for b, i in places]
    assert members_from_text(network, "1/1,3/*") == ["1.1", "3.0"]
    with pytest.raises(InvalidParameterError, match=r"no GPU has box 2; .* are 0-1, 3$"):
        members_from_text(network, "0-3/0")
    with pytest.raises(InvalidParameterError, match=r"no GPU has index 1; .* are 0$"):
        members_from_text(network, "3/0-1")


def test_names_come_before_slices() -> None:
    """A node may be named like a slice."""
    odd = Topology("odd", (Node("0/0", NodeKind.COMPUTE), Node("g", NodeKind.COMPUTE, 0, 0)), ())
    assert members_from_text(odd, "0/0") == ["0/0"]


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_files_keep_relays(suffix: str, tmp_path: Path) -> None:
    pair = group(CLUSTER, ["b1.gpu2", "b0.gpu5"])
    write_topology(pair, tmp_path / f"pair.{suffix}")
    assert read_topology(tmp_path / f"pair.{suffix}") == pair


def test_networkx_keeps_relays() -> None:
    pair = group(CLUSTER, ["b1.gpu2", "b0.gpu5"])
    assert Topology.from_networkx(pair.to_networkx()) == pair


def test_a_relay_cannot_multicast() -> None:
    with pytest.raises(InvalidTopologyError, match="relay node 'r' is marked multicast"):
        Topology("t", (Node("r", NodeKind.RELAY, multicast=True),), ())


def test_relays_are_named_apart_from_gpus_and_switches() -> None:
    """A box is whole with its relays; alone, relays are named."""
    pair = group(CLUSTER, ["b0.gpu0", "b0.gpu1", "b1.gpu0"])
    box = [v for v, node in enumerate(pair.nodes) if node.box == 0]
    assert nodes_in_words(pair, box) == "box 0 (2 GPUs)"
    some = [pair.position_of[name] for name in ("b0.gpu0", "b0.gpu2", "b0.gpu3", "b0.gpu4", "ib")]
    assert nodes_in_words(pair, some) == ("GPU 0 of box 0, relays b0.gpu2-b0.gpu4 and switch ib")


def test_relays_are_drawn_as_gpus() -> None:
    """Each node has one shape, where it is without the group."""
    pair = group(CLUSTER, ["b0.gpu0", "b1.gpu0"])
    whole, part = draw_topology(CLUSTER), draw_topology(pair)
    assert len(whole.axes[0].patches) == len(part.axes[0].patches)
    texts = [sorted(text.get_text() for text in f.axes[0].texts) for f in (whole, part)]
    assert texts[0] == texts[1]


def test_idle_gpus_are_absent_with_their_links() -> None:
    """Of a box of 8 and a box of 8, one GPU each: two, the switches, and the links between."""
    pair = group(CLUSTER, ["b0.gpu0", "b1.gpu0"], idle="absent")
    names = [node.name for node in pair.nodes]
    assert [name for name in names if "gpu" in name] == ["b0.gpu0", "b1.gpu0"]
    ends = {(names[link.tail], names[link.head]) for link in pair.links}
    kept = {
        (CLUSTER.nodes[link.tail].name, CLUSTER.nodes[link.head].name) for link in CLUSTER.links
    }
    assert ends == {(a, b) for a, b in kept if {a, b} <= set(names)}
    assert pair.num_compute == 2
    assert pair.name == CLUSTER.name


def test_relays_and_switches_of_the_network_itself_stay() -> None:
    """Only compute nodes are idle: a relay that a file declares goes on forwarding."""
    nodes = (
        Node("a", NodeKind.COMPUTE),
        Node("r", NodeKind.RELAY),
        Node("b", NodeKind.COMPUTE),
        Node("c", NodeKind.COMPUTE),
    )
    links = tuple(
        Link(a, b, Fraction(1)) for a, b in ((0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2))
    )
    left = group(Topology("t", nodes, links), ["a", "b"], idle="absent")
    assert [node.name for node in left.nodes] == ["a", "r", "b"]
    assert [(link.tail, link.head) for link in left.links] == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_a_network_that_falls_apart_without_the_idle_is_refused_with_the_remedy() -> None:
    """Around a ring of four, gpu0 and gpu2 meet through the others only; one way, too."""
    for spec in ("ring:nodes=4", "ring:nodes=4,bidirectional=false"):
        with pytest.raises(
            DisconnectedError, match=r"GPU 'gpu0' cannot reach GPU 'gpu2'.*--idle f"
        ):
            group(load_topology(spec), ["gpu0", "gpu2"], idle="absent")
    one_way = load_topology("ring:nodes=4,bidirectional=false")
    with pytest.raises(DisconnectedError, match="GPU 'gpu1' cannot reach GPU 'gpu0' without"):
        group(one_way, ["gpu0", "gpu1"], idle="absent")
    pair = group(load_topology("ring:nodes=4"), ["gpu0", "gpu1"], idle="absent")
    assert [(link.tail, link.head) for link in pair.links] == [(0, 1), (1, 0)]


def test_idle_is_one_of_two_words() -> None:
    with pytest.raises(InvalidParameterError, match="idle is 'help'; it must be forward or absent"):
        group(CLUSTER, ["b0.gpu0"], idle="help")  # type: ignore[arg-type]


def test_shared_capacities_hold_for_the_links_that_are_left() -> None:
    """Eight GPUs whose data all pass 140 GB/s of memory: 20 for 7 shards each, 140/3 for 4 GPUs."""
    box = network_of("[memory] g0..7", "memory - g0..7: 100", "box").with_shared(
        "bus", ["* -> memory"], 140
    )
    half = group(box, [f"g{i}" for i in range(1, 8, 2)], idle="absent")
    (limit,) = half.shared
    ends = {(half.nodes[u].name, half.nodes[v].name) for u, v in limit.links}
    assert ends == {(f"g{i}", "memory") for i in range(1, 8, 2)}
    assert optimum(half).algbw_gb_s == Fraction(140, 3)
    assert optimum(box).algbw_gb_s == Fraction(140, 7)
