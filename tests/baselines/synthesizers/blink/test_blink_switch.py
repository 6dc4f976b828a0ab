"""Blink on what ForestColl's switch removal leaves, and how far ForestColl is ahead of it."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from baselines import METHODS
from baselines.interface.supported import ROOTED
from baselines.synthesizers.blink import blink_switch
from forestcoll import generate
from forestcoll.errors import (
    InvalidParameterError,
    UnsupportedError,
)
from forestcoll.schedule import Allreduce, Forest, cost, verify
from forestcoll.topology import Node, NodeKind, Topology, load_topology
from tests.baselines.single_root import least_max_flow, phases, verified
from tests.hand_networks import network_of
from tests.random_topologies import rounds
from tests.strategies import topologies

SPECS = [
    "dgx_a100:boxes=1",
    "dgx_a100:boxes=2,nics=nodes,ib_switches=2",
    "mi250:boxes=2,gpus_per_box=8",
    "paper_example",
    "ring:nodes=5",
    "fat_tree:leaves=3,hosts=2,spines=2,oversubscription=2",
    "rail_optimized:boxes=3,gpus_per_box=2,spines=2",
]
TWO_BOXES = {"16+16": "mi250:boxes=2", "8+8": "mi250:boxes=2,gpus_per_box=8"}
MEASURED = {"16+16": Fraction(116, 100), "8+8": Fraction(136, 100)}
"""ForestColl's allreduce over Blink+Switch's at 1 GB (ForestColl section 6.2.1)."""


@pytest.mark.parametrize("collective", ROOTED)
@pytest.mark.parametrize("removal", blink_switch.REMOVALS)
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.each_value_once
def test_every_schedule_verifies(spec: str, removal: str, collective: str) -> None:
    """Physical paths carry what the trees need, and the rate is no better than the max-flow."""
    topology = load_topology(spec)
    parameters = {"removal": removal, "root": 1}
    schedule = verified(
        METHODS["blink-switch"].run(topology, collective, parameters), "blink-switch"
    )
    assert schedule.collective == collective
    for phase in phases(schedule):
        assert set(phase.root) == {1}
        assert phase.algbw_gb_s <= least_max_flow(topology, 1)


@pytest.mark.parametrize("spec", ["paper_example", "dgx_a100:boxes=2"])
def test_blinks_own_packing_verifies_too(spec: str) -> None:
    """At most 5 % below the exact packing of the same links."""
    topology = load_topology(spec)
    forest = blink_switch.generate(topology, packing="mwu")
    verified(forest, "blink-switch")
    best = 1 / blink_switch.generate(topology).time_s_per_gb
    assert Fraction(95, 100) * best <= 1 / forest.time_s_per_gb <= best


@pytest.mark.parametrize("removal", blink_switch.REMOVALS)
@settings(max_examples=rounds(25), deadline=None)
@given(topology=topologies(kinds=("directed", "bidirectional")))
def test_a_root_has_half_the_rate_of_an_allgather(removal: str, topology: Topology) -> None:
    """Of any cut of a balanced network, one side holds N/2 GPUs or more, whose data cross it."""
    forest = blink_switch.generate(topology, removal=removal)
    assert isinstance(forest, Forest)
    verified(forest, "blink-switch")
    gathered = generate(topology).schedule.algbw_gb_s
    assert gathered / 2 <= forest.algbw_gb_s <= least_max_flow(topology, int(forest.root[0]))


@settings(max_examples=rounds(25), deadline=None)
@given(topology=topologies(kinds=("unbalanced",)))
def test_unbalanced_networks_verify(topology: Topology) -> None:
    forest = blink_switch.generate(topology)
    assert isinstance(forest, Forest)
    verified(forest, "blink-switch")
    assert forest.algbw_gb_s <= least_max_flow(topology, int(forest.root[0]))


@pytest.mark.parametrize(
    ("boxes", "removal", "rate"),
    [
        # 16 NICs of 16 GB/s lead out of a box.
        ("16+16", "forestcoll", Fraction(256)),
        # Half of the allgather's 5312/15 = 354.1 GB/s (ForestColl section 6.5, table 1: 15/166).
        ("16+16", "paper", Fraction(2656, 15)),
        # Half of the allgather's 208 GB/s; 8 NICs could carry 128.
        ("8+8", "forestcoll", Fraction(104)),
        ("8+8", "paper", Fraction(104)),
    ],
)
def test_forestcoll_is_ahead_of_blink_on_mi250(boxes: str, removal: str, rate: Fraction) -> None:
    """An allreduce takes a reduction and a broadcast of that rate, one after the other.

    ForestColl's combination runs at half its allgather's rate, so it is ahead by 38.3 % or 100 %;
    measured were 16 % and 36 %. Overlapped, it is the same with these trees: they fill links both
    ways. The best allreduce of 8 + 8 GPUs has 128 GB/s: all that the NICs of a box carry.
    """
    topology = load_topology(TWO_BOXES[boxes])
    best = verify(generate(topology, collective="allreduce").schedule)
    assert best.optimal
    assert best.algbw_gb_s == {"16+16": Fraction(2656, 15), "8+8": Fraction(128)}[boxes]
    ours = generate(topology, collective="allreduce", lp_time_limit_s=0).schedule
    theirs = blink_switch.generate(topology, "allreduce", removal=removal)
    assert isinstance(theirs, Allreduce)
    assert ours.algbw_gb_s == {"16+16": Fraction(2656, 15), "8+8": Fraction(104)}[boxes]
    assert [phase.algbw_gb_s for phase in theirs.phases] == [rate, rate]
    assert theirs.algbw_gb_s == 1 / theirs.sequential_s_per_gb == rate / 2
    assert cost(ours).algbw_gb_s == ours.algbw_gb_s
    assert cost(theirs).algbw_gb_s == theirs.algbw_gb_s
    ahead = {Fraction(256): Fraction(83, 60)}.get(rate, Fraction(2))
    assert ours.algbw_gb_s / theirs.algbw_gb_s == ahead > MEASURED[boxes]


def test_other_trees_of_the_same_rate_overlap_better() -> None:
    """On 8+8, 104 GB/s there and back at once are 100 GB/s with the few trees of "mwu", 52 in turn.

    So the measured 36 % lie between what overlapping and not overlapping give: 4 % and 100 %.
    """
    topology = load_topology(TWO_BOXES["8+8"])
    theirs = blink_switch.generate(topology, "allreduce", packing="mwu")
    assert isinstance(theirs, Allreduce)
    verified(theirs, "blink-switch")
    assert 1 / theirs.sequential_s_per_gb == 52
    assert theirs.algbw_gb_s == cost(theirs).algbw_gb_s == 100
    assert 104 / theirs.algbw_gb_s < MEASURED["8+8"] < 104 * theirs.sequential_s_per_gb


def test_the_logical_links_are_made_of_physical_bandwidth() -> None:
    """ForestColl section 5.3: what is left is equivalent to a part of the network."""
    topology = load_topology(TWO_BOXES["8+8"])
    for removal in blink_switch.REMOVALS:
        load: dict[tuple[int, int], Fraction] = {}
        for shares in blink_switch.without_switches(topology, removal).paths.values():
            for share in shares:
                for hop in zip(share.nodes[:-1], share.nodes[1:], strict=True):
                    load[hop] = load.get(hop, Fraction(0)) + share.bandwidth_gb_s
        for hop, used in load.items():
            assert used <= topology.link_between[hop].bandwidth_gb_s


def test_unsupported_networks_and_parameters_raise_typed_errors() -> None:
    alone = Topology("alone", (Node("gpu", NodeKind.COMPUTE),), ())
    apart = Topology("apart", (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE)), ())
    with pytest.raises(UnsupportedError, match=r"^unsupported: alone has 1 GPUs"):
        blink_switch.generate(alone)
    with pytest.raises(UnsupportedError, match=r"^unsupported: blink-switch has no allgather"):
        blink_switch.generate(load_topology("paper_example"), "allgather")
    with pytest.raises(UnsupportedError, match=r"^unsupported: no GPU can be the root of"):
        blink_switch.generate(apart)
    with pytest.raises(InvalidParameterError, match="removal is 'none'; it must be one of"):
        blink_switch.generate(load_topology("paper_example"), removal="none")


def wired(ends: str) -> Topology:
    """Two GPUs a and b, switches s and t, and a link of 1 GB/s for each pair of letters."""
    switches = " ".join(f"[{name}]" for name in sorted(set("st") & set(ends)))
    links = ", ".join(f"{tail} > {head}" for tail, head in ends.split())
    return network_of(f"a b {switches}", links, "wired")


@pytest.mark.parametrize("root", [None, "a"])
def test_switches_that_cannot_be_removed_are_unsupported(root: str | None) -> None:
    """A GPU that sends nothing: nothing is left for its allgather."""
    message = "no allgather to remove switches for: .*'b' cannot reach GPU 'a'"
    with pytest.raises(UnsupportedError, match=f"^unsupported: .*{message}"):
        blink_switch.generate(wired("as sb"), "broadcast", root=root)


@pytest.mark.parametrize("root", [None, "a"])
@pytest.mark.parametrize(
    ("ends", "collective"),
    [
        ("as sa bs sb tb ta at", "broadcast"),
        ("as sa bs sb at bt ta", "reduce"),
        ("as sa bs sb at bt ta", "allreduce"),
    ],
)
def test_unbalanced_switches_are_removed(root: str | None, ends: str, collective: str) -> None:
    """Switch t has 1 GB/s in and 2 out, or the reverse: what it cannot use is left out."""
    verify(blink_switch.generate(wired(ends), collective, root=root))
