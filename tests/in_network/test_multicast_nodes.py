"""Switches as nodes of the trees: what they become, and what is cut off again."""

from dataclasses import replace
from fractions import Fraction

from forestcoll.in_network.mixing import with_used_walks
from forestcoll.in_network.multicast_nodes import as_gpus, from_spanning
from forestcoll.schedule import Forest, verify
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology import NodeKind, Topology, load_topology
from tests.in_network.multicast_switches import marked, walks
from tests.schedule.made import hand


def star(marks: str = "wx") -> Topology:
    """GPUs a, b and c on switches w and x, 6 GB/s."""
    links = [(gpu, switch, 6) for gpu in "abc" for switch in "wx"]
    return marked(hand.topology("star", "abc", "wx", links), marks)


def branched(forest: Forest, net: Topology) -> MulticastForest:
    return with_used_walks(from_spanning(forest, net)).measured()


def spanning(net: Topology, edges: list[tuple[int, int]], paths: list[str]) -> Forest:
    """One tree from a that spans GPUs and marked switches, whose ranks follow."""
    made = hand.forest(as_gpus(net), [(0, 1, edges)], dict.fromkeys(paths, 1), k=1, congestion=1)
    return replace(made, weights=(1, *[0] * (as_gpus(net).num_compute - 1)))


def test_marked_switches_become_gpus_in_place() -> None:
    """The NVSwitches of two H100 boxes; InfiniBand stays what it is, and so do all links."""
    net = load_topology("dgx_h100:boxes=2")
    found = as_gpus(net)
    assert found.links == net.links
    changed = [i for i, (a, b) in enumerate(zip(net.nodes, found.nodes, strict=True)) if a != b]
    assert [net.nodes[i].name for i in changed] == ["b0.nvswitch", "b1.nvswitch"]
    assert all(found.nodes[i].kind is NodeKind.COMPUTE for i in changed)
    assert not any(node.multicast for node in found.nodes)
    assert as_gpus(load_topology("dgx_a100:boxes=2")) == load_topology("dgx_a100:boxes=2")


def test_a_tree_that_branches_at_a_switch_is_physical() -> None:
    """A -> w -> b and c; the branch to x serves nobody and goes; a tree over 6 GB/s: 1/6."""
    net = star()
    made = branched(spanning(net, [(0, 3), (3, 1), (3, 2), (2, 4)], ["aw", "wb", "wc", "cx"]), net)
    assert walks(made) == ["aw", "wb", "wc"]
    assert (made.topology, made.weights, made.root.tolist()) == (net, (1, 0, 0), [0])
    assert made.congestion == Fraction(1, 6)
    assert verify(made).collective == "broadcast"


def test_a_branch_that_leads_to_a_gpu_in_the_end_is_kept() -> None:
    """A -> w -> b -> x -> c: x is needed for c."""
    net = star()
    edges = [(0, 3), (3, 1), (1, 4), (4, 2)]
    made = branched(spanning(net, edges, ["aw", "wb", "bx", "xc"]), net)
    assert walks(made) == ["aw", "wb", "bx", "xc"]


def test_roots_keep_their_places_among_the_gpus() -> None:
    """Where the marked switch comes first among the nodes, GPU a is rank 1 with it, 0 without."""
    net = star("w").relabelled([3, 0, 1, 2, 4])
    wide = as_gpus(net)
    assert wide.rank_of[net.position_of["a"]] == 1
    made = hand.forest(
        wide,
        [(1, 1, [(1, 0), (0, 2), (0, 3)])],
        dict.fromkeys(["aw", "wb", "wc"], 1),
        k=1,
        congestion=1,
    )
    found = branched(replace(made, weights=(0, 1, 0, 0)), net)
    assert (found.root.tolist(), found.weights) == ([0], (1, 0, 0))
    assert verify(found).deliveries == 2
