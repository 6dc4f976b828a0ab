"""Switches that multicast: what is no longer sent, what stays, and that nobody misses anything."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.generation import generate
from forestcoll.in_network.pruning import multicast, traffic
from forestcoll.schedule import Forest, Path, Routes, cost, verify
from forestcoll.topology import load_topology
from tests.hand_networks import network_of
from tests.in_network.broadcasts import broadcast
from tests.in_network.multicast_switches import loads_by_hand, marked, walks, with_marks
from tests.random_topologies import rounds
from tests.schedule.made import hand
from tests.strategies import topologies


def by_name(forest: Forest, loads: Sequence[int]) -> dict[str, int]:
    """Loads that are not 0, by the letters of their links."""
    nodes, links = forest.topology.nodes, forest.topology.links
    names = (nodes[link.tail].name + nodes[link.head].name for link in links)
    return {name: load for name, load in zip(names, loads, strict=True) if load}


# --- by hand -----------------------------------------------------------------------------------


@pytest.mark.parametrize("collective", ["reduce", "allreduce"])
def test_prices_of_forwarding_switches_are_no_bound_for_multicast(collective: str) -> None:
    """Switch s receives 1/3 and sends 3/4: its price is that of a switch that forwards."""
    net = network_of(
        "[u] [s*] [v*] a [t*] b c",
        "u > c: 1/4, s > a: 1/3, v > b: 4/5, a > t: 3/4, t > v, b > u, c > s: 3",
        "one way",
    )
    plain = generate(net, collective=collective, root=1, lp_time_limit_s=0).schedule
    forest = plain if isinstance(plain, Forest) else plain.reduce
    assert forest.optimum is not None
    assert not forest.optimum.bound.multicast
    verify(multicast(plain))
    made = generate(net, collective=collective, root=1, lp_time_limit_s=0, multicast=True)
    verify(made.schedule)


def figure_8() -> Forest:
    """The paper's figure 8: boxes abcd on v and efgh on w, joined by x; v and w can multicast.

    The tree of a runs a -> b -> c -> d in its own box and a -> e -> f -> g -> h through the other.
    """
    duplex = [(gpu, "v" if gpu < "e" else "w", 10) for gpu in "abcdefgh"]
    duplex += [(gpu, "x", 1) for gpu in "abcdefgh"]
    net = marked(hand.topology("figure 8", "abcdefgh", "vwx", duplex), "vw")
    edges = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 6), (6, 7)]
    paths = ["avb", "bvc", "cvd", "axe", "ewf", "fwg", "gwh"]
    return broadcast(net, edges, dict.fromkeys(paths, 1))


def test_figure_8_keeps_one_sender_into_each_switch() -> None:
    """The senders a and e stay; b, c, f and g no longer send: v and w deliver. x cannot copy."""
    forest = figure_8()
    result = multicast(forest)
    assert walks(result) == ["av", "vb", "axe", "vc", "ew", "wf", "vd", "wg", "wh"]
    before, after = (by_name(forest, loads) for loads in (cost(forest).loads, result.loads()))
    assert before.keys() - after.keys() == {"bv", "cv", "fw", "gw"}
    assert set(after.values()) == {1}
    assert verify(result).depth == 3  # a -> x -> e, e -> w, w -> f


def test_without_marked_switches_all_paths_stay() -> None:
    """Every path is one walk, of the same load, and every edge is as it was."""
    forest = with_marks(figure_8(), "")
    result = multicast(forest)
    assert walks(result) == ["avb", "axe", "bvc", "ewf", "cvd", "fwg", "gwh"]
    assert result.loads() == cost(forest).loads


def test_links_to_a_second_arrival_are_dropped() -> None:
    """A sends to b and c through x and then w. Only w copies, and a sends into x once."""
    net = hand.topology("row", "abc", "xw", [(c, n, 1) for c, n in ("ax", "xw", "wb", "wc")])
    forest = broadcast(marked(net, "w"), [(0, 1), (0, 2)], {"axwb": 1, "axwc": 1})
    assert walks(multicast(forest)) == ["axw", "wb", "wc"]
    assert walks(multicast(with_marks(forest, "x"))) == ["ax", "xwb", "xwc"]
    assert walks(multicast(with_marks(forest, "xw"))) == ["ax", "xw", "wb", "wc"]


def test_leaves_and_spine_get_the_data_once_each() -> None:
    """a, b on leaf u, c, d on leaf v, spine s: the data climb once and come down once."""
    net = hand.topology(
        "leaves", "abcd", "uvs", [("a", "u", 1), ("b", "u", 1), ("c", "v", 1), ("d", "v", 1),
                                  ("u", "s", 1), ("v", "s", 1)]
    )  # fmt: skip
    paths = {"aub": 1, "ausvc": 1, "busvd": 1}
    forest = broadcast(marked(net, "uvs"), [(0, 1), (0, 2), (1, 3)], paths)
    assert walks(multicast(forest)) == ["au", "ub", "us", "sv", "vc", "vd"]
    assert walks(multicast(with_marks(forest, "us"))) == ["au", "ub", "us", "svc", "svd"]
    assert walks(multicast(with_marks(forest, "v"))) == ["aub", "ausv", "vc", "vd"]


def test_data_that_came_through_a_switch_need_not_go_back_into_it() -> None:
    """B got its data from w, so what b sends into w for c is not sent."""
    net = hand.topology("star", "abc", "w", [(c, "w", 1) for c in "abc"])
    forest = broadcast(marked(net, "w"), [(0, 1), (1, 2)], {"awb": 1, "bwc": 1})
    assert walks(multicast(forest)) == ["aw", "wb", "wc"]


def test_a_path_that_passes_a_switch_twice_enters_it_once() -> None:
    """A -> w -> x -> w -> b becomes a -> w -> b, and x is left out."""
    net = hand.topology("loop", "ab", "wx", [(c, "w", 1) for c in "abx"])
    forest = broadcast(marked(net, "wx"), [(0, 1)], {"awxwb": 1})
    assert walks(multicast(forest)) == ["aw", "wb"]
    assert walks(multicast(with_marks(forest, "x"))) == ["awx", "xwb"]


def test_a_further_marked_switch_may_cost_traffic() -> None:
    """The rule takes paths as they are: with x marked too, c is served by x and y gets nothing.

    a sends to b through x, to c through y and x; c sends to d through u, v and y. With y alone
    marked these are 2, 3 and 1 hops; with x too, 2, 1 and 4.
    """
    duplex = [(g, n, 1) for g, n in ("ax", "xb", "ay", "yx", "xc", "cu", "uv", "vy", "yd")]
    net = hand.topology("more is more", "abcd", "xyuv", duplex)
    paths = {"axb": 1, "ayxc": 1, "cuvyd": 1}
    forest = broadcast(net, [(0, 1), (0, 2), (2, 3)], paths)
    totals = [sum(multicast(with_marks(forest, s)).loads()) for s in ("", "y", "xy")]
    assert totals == [9, 6, 7]


# --- refusals ----------------------------------------------------------------------------------


def test_numbers_of_trees_beyond_64_bits_are_exact() -> None:
    """2^62 trees of each of three GPUs: each link carries 2^63."""
    huge = 2**62
    base = with_marks(hand.star3(), "")
    many = {
        link: tuple(Path(path.nodes, huge) for path in paths for _ in range(path.multiplicity))
        for link, paths in base.routes.paths().items()
    }
    forest = replace(
        base,
        k=huge,
        multiplicity=base.multiplicity * huge,
        congestion=base.congestion * huge,
        routes=Routes.from_paths(many),
        optimum=None,
    )
    result = multicast(forest)
    assert result.loads() == (2 * huge,) * 6 == cost(forest).loads
    assert verify(result).congestion == huge


# --- families ----------------------------------------------------------------------------------


def test_nvswitch_of_an_h100_takes_every_shard_once() -> None:
    """One box: 7 bytes a byte from GPUs into the NVSwitch become 1; what comes out stays 7."""
    forest = generate(load_topology("dgx_h100:boxes=1")).schedule
    into, out_of = traffic(forest, multicast(forest))
    assert (into.before, into.after, into.factor) == (7, 1, Fraction(1, 7))
    assert (out_of.before, out_of.after) == (7, 7)
    assert "7 -> 1 bytes per byte of data (14.29 %)" in str(into)
    assert str(out_of).endswith("7 -> 7 bytes per byte of data (unchanged)")


@pytest.mark.parametrize("boxes", [2, 4, 16])
def test_nvswitches_of_h100_boxes_take_every_shard_once_each(boxes: int) -> None:
    """Into the NVSwitches run N shards of 1/N for each box, the least that can be."""
    forest = generate(load_topology(f"dgx_h100:boxes={boxes}")).schedule
    into = traffic(forest, multicast(forest))[0]
    assert into.after == boxes
    assert into.before >= 6 * boxes


def test_without_nvls_an_h100_saves_nothing() -> None:
    """The same network with unmarked switches."""
    forest = generate(load_topology("dgx_h100:boxes=2,nvls=false")).schedule
    assert {kind.factor for kind in traffic(forest, multicast(forest))} == {1}


def test_links_without_traffic_have_no_factor() -> None:
    """A tree from a to b alone leaves b's way back unused."""
    net = hand.topology("pair", "ab", "w", [("a", "w", 1), ("w", "b", 2)])
    forest = broadcast(net, [(0, 1)], {"awb": 1})
    unused = [kind for kind in traffic(forest, multicast(forest)) if kind.factor is None]
    assert len(unused) == 2
    assert str(unused[0]).endswith(": no traffic")


# --- properties --------------------------------------------------------------------------------

COLLECTIVES = ("allgather", "reduce-scatter", "broadcast", "reduce")


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    """An optimal schedule of some collective on a random network with random marked switches."""
    net = draw(topologies())
    names = [net.nodes[v].name for v in net.switches]
    net = marked(net, draw(st.sets(st.sampled_from(names))) if names else ())
    collective = draw(st.sampled_from(COLLECTIVES))
    if collective in ("reduce-scatter", "reduce"):
        net = net.reversed()  # whose switches then send no more than they receive
    root = 0 if collective in ("broadcast", "reduce") else None
    return generate(net, collective=collective, root=root).schedule


@given(forests())
@settings(max_examples=rounds(150), deadline=None)
def test_no_load_rises_and_the_schedule_is_proved(forest: Forest) -> None:
    """Loads are at most what they were, and those of the rule applied tree by tree; time stays."""
    result = multicast(forest)
    before, after = cost(forest).loads, result.loads()
    assert all(new <= old for new, old in zip(after, before, strict=True))
    assert after == loads_by_hand(forest)
    verdict = verify(result)
    assert verdict.optimal
    assert verdict.collective == forest.collective
    assert result.time_s_per_gb == verdict.time_s_per_gb == forest.time_s_per_gb
    assert (result.tree_depths().max() if len(result.walk) else 0) == verdict.depth
    if not any(node.multicast for node in forest.topology.nodes):
        assert after == before


@given(forests())
@settings(max_examples=rounds(50), deadline=None)
def test_the_least_traffic_into_a_marked_switch_is_reached(forest: Forest) -> None:
    """No tree sends into a marked switch twice (in a reduction: out of it)."""
    for tree in multicast(forest).trees():
        ends = [walk[0] if forest.reduction else walk[-1] for walk in tree.walks]
        assert len(ends) == len(set(ends))


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("spec", ["dgx_h100:boxes=3,nics=nodes", "rail_optimized:boxes=3,spines=2"])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_mixtures_of_switches_on_families(spec: str, collective: str) -> None:
    """Any switches of these networks may be marked, mixed with others; paths are long and split."""
    chance = random.Random(spec)
    base = generate(load_topology(spec), collective=collective).schedule
    names = [base.topology.nodes[v].name for v in base.topology.switches]
    for _ in range(5):
        forest = with_marks(base, set(chance.sample(names, chance.randint(1, len(names)))))
        result = multicast(forest)
        assert result.loads() == loads_by_hand(forest)
        assert verify(result).optimal
        assert np.all(np.array(result.loads()) <= np.array(cost(forest).loads))
