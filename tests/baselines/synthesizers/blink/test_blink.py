"""Trees of a single root: their rate is a max-flow, and Blink's own packing comes near it."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines import METHODS
from baselines.interface.supported import ROOTED
from baselines.synthesizers.blink import blink
from forestcoll.errors import InvalidParameterError, UnsupportedError, VerificationError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import Allreduce, Forest, verify
from forestcoll.topology import Topology, load_topology
from tests.baselines.dgx1 import dgx1
from tests.baselines.single_root import (
    least_max_flow,
    phases,
    verified,
)
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, rounds, sized_topology

SPECS = [
    "mi250:boxes=1",
    "mi250:boxes=1,gpus_per_box=8",
    "ring:nodes=2",
    "ring:nodes=7",
    "ring:nodes=7,bidirectional=false",
    "torus:dims=3x3",
    "torus:dims=4x4,wrap=false",
    "hypercube:dimension=3",
    "complete:nodes=5",
]


@st.composite
def switchless(draw: st.DrawFn) -> Topology:
    """A random network of 2 to 6 GPUs, maybe unbalanced."""
    kind, compute = draw(st.sampled_from(KINDS)), draw(st.integers(2, 6))
    return sized_topology(kind, compute, 0, lambda low, high: draw(st.integers(low, high)))


@pytest.mark.parametrize("collective", ROOTED)
@pytest.mark.parametrize("packing", blink.PACKINGS)
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.each_value_once
def test_every_schedule_verifies(spec: str, packing: str, collective: str) -> None:
    """Also what is claimed of its congestion; of the same root in both phases."""
    topology = load_topology(spec)
    schedule = verified(
        METHODS["blink"].run(topology, collective, {"packing": packing, "root": 1}), "blink"
    )
    assert schedule.collective == collective
    for phase in phases(schedule):
        assert set(phase.root) == {1}
        best = least_max_flow(topology, 1)
        assert Fraction(95, 100) * best <= phase.algbw_gb_s <= best


@pytest.mark.parametrize("root", range(8))
def test_dgx1_broadcasts_at_the_rate_of_six_nvlinks(root: int) -> None:
    """Six NVLinks of 25 GB/s lead into each GPU, and as many from half to half: 150 GB/s."""
    forest = blink.generate(dgx1(), root=root)
    assert forest.algbw_gb_s == least_max_flow(dgx1(), root) == 150
    assert blink.generate(dgx1(), "allreduce", root=root).algbw_gb_s == 75


@pytest.mark.parametrize("root", range(16))
def test_a_box_of_mi250_broadcasts_at_the_rate_of_its_least_cut(root: int) -> None:
    """Of 350 GB/s at each GPU, the two of an OAM share 200: 6 links of 50 leave the OAM {0, 1}."""
    topology = load_topology("mi250:boxes=1")
    forest = blink.generate(topology, root=root)
    assert forest.algbw_gb_s == least_max_flow(topology, root) == 300


@pytest.mark.parametrize("packing", blink.PACKINGS)
@settings(max_examples=rounds(40), deadline=None)
@given(topology=switchless())
def test_the_root_is_the_best_and_its_rate_the_max_flow(packing: str, topology: Topology) -> None:
    """Edmonds: the rate is the least max-flow; by weights, at most 5 % less. First among equals."""
    rates = [least_max_flow(topology, root) for root in range(topology.num_compute)]
    forest = blink.generate(topology, packing=packing)
    assert isinstance(forest, Forest)
    verified(forest, "blink")
    assert forest.root[0] == rates.index(max(rates))
    least = 1 if packing == "edmonds" else Fraction(95, 100)
    assert least * max(rates) <= forest.algbw_gb_s <= max(rates)


def test_a_reduction_may_have_another_best_root() -> None:
    """1 GB/s from a to b, 3 back: b sends at 3, a receives at 3; both in turn take 1 + 1/3 s."""
    net = network_of("a b", "a > b, b > a: 3", "one-sided")
    best = {}
    for collective in ROOTED:
        schedule = blink.generate(net, collective)
        best[collective] = [int(phase.root[0]) for phase in phases(schedule)]
        slow = Fraction(4, 3) if collective == "allreduce" else Fraction(1, 3)
        sequential = isinstance(schedule, Allreduce)
        assert (schedule.sequential_s_per_gb if sequential else schedule.time_s_per_gb) == slow
    assert best == {"broadcast": [1], "reduce": [0], "allreduce": [0, 0]}


def test_whole_trees_of_a_dgx1() -> None:
    """Six NVLinks' rate with at most six trees."""
    forest = blink.generate(dgx1(), packing="mwu")
    assert forest.algbw_gb_s == 150
    assert forest.num_batches <= 6


def test_one_tree_is_returned_when_there_is_no_time() -> None:
    """The first tree alone, at one NVLink's rate or two."""
    forest = blink.generate(dgx1(), packing="mwu", limits=Limits(seconds=0))
    assert isinstance(forest, Forest)
    assert verify(forest).congestion == forest.congestion
    assert forest.num_batches == 1
    assert forest.algbw_gb_s in (25, 50)


def test_a_spoilt_allreduce_is_rejected() -> None:
    """Phases of different roots; a phase twice; a phase that claims more than it has."""
    good, other = (blink.generate(dgx1(), "allreduce", root=root) for root in (0, 1))
    assert isinstance(good, Allreduce)
    assert isinstance(other, Allreduce)
    faster = replace(good.gather, congestion=good.gather.congestion / 2)
    for bad, message in (
        (Allreduce(other.reduce, good.gather), r"gets the sums of .* but sends out"),
        (Allreduce(good.gather, good.gather), r"^phase reduce .* it must sum up"),
        (Allreduce(good.reduce, faster), r"^phase gather: link \S+ -> \S+ is overloaded"),
    ):
        with pytest.raises(VerificationError, match=message):
            verify(bad)


@pytest.mark.parametrize("packing", blink.PACKINGS)
def test_the_same_input_gives_the_same_trees(packing: str) -> None:
    one, other = (blink.generate(dgx1(), packing=packing) for _ in range(2))
    assert isinstance(one, Forest)
    assert isinstance(other, Forest)
    assert one.parent.tolist() == other.parent.tolist()
    assert one.multiplicity.tolist() == other.multiplicity.tolist()


def one_way(ends: str) -> Topology:
    """GPUs b, a and c, in this order, and links of 1 GB/s."""
    return network_of("b a c", ", ".join(" > ".join(pair) for pair in ends.split()), "wired")


@pytest.mark.parametrize("packing", blink.PACKINGS)
@pytest.mark.parametrize("method", ["blink", "blink-switch"])
@pytest.mark.parametrize(("ends", "collective"), [("ab ac", "broadcast"), ("ba ca", "reduce")])
def test_unreaching_roots_are_left(ends: str, collective: str, method: str, packing: str) -> None:
    """GPU a, the second, alone reaches the others (or is reached by them)."""
    made = METHODS[method].run(one_way(ends), collective, {"packing": packing})
    assert isinstance(made, Forest)
    assert made.weights == (0, 1, 0)
    assert verified(made, method).algbw_gb_s == 1


@pytest.mark.parametrize("method", ["blink", "blink-switch"])
@pytest.mark.parametrize(
    ("ends", "collective", "root", "message"),
    [
        ("ab ac", "reduce", None, "no GPU can be the root of reduce: .*'c' cannot reach GPU 'b'"),
        ("ab ac", "allreduce", None, "no GPU can be the root of reduce and broadcast: "),
        ("ba ca", "broadcast", None, "no GPU can be the root of broadcast: "),
        ("ab ba", "allreduce", None, "no GPU can be the root of reduce and broadcast: "),
        ("ab ac", "broadcast", "b", "wired: GPU 'b' cannot reach GPU 'a'"),
        ("ab ac", "reduce", "a", "wired: GPU 'b' cannot reach GPU 'a'"),
        ("ab ac", "allreduce", 1, "wired: GPU 'b' cannot reach GPU 'a'"),
    ],
)
def test_a_root_has_to_reach_all(
    ends: str, collective: str, root: str | int | None, message: str, method: str
) -> None:
    """The one that is asked for; or some, if none is. The message names two GPUs."""
    with pytest.raises(UnsupportedError, match=f"^unsupported: {message}"):
        METHODS[method].run(one_way(ends), collective, {"root": root})


def test_switches_are_unsupported() -> None:
    with pytest.raises(UnsupportedError, match=r"^unsupported: paper_example has switches.*blink-"):
        blink.generate(load_topology("paper_example"))


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_collectives_without_a_root_are_unsupported(collective: str) -> None:
    with pytest.raises(UnsupportedError, match=f"^unsupported: blink has no {collective}"):
        blink.generate(dgx1(), collective)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"packing": "greedy"}, "packing is 'greedy'; it must be one of edmonds, mwu"),
        ({"epsilon": 0}, "epsilon is 0; it must be between 0 and 1"),
        ({"epsilon": 1}, "epsilon is 1; it must be between 0 and 1"),
        ({"epsilon": "much"}, "epsilon is 'much'"),
        ({"root": "gpu9"}, "the root is 'gpu9', which is not a node"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        METHODS["blink"].run(dgx1(), "broadcast", parameters)
