"""Whether a step schedule can be read: its parts, chunks, ways and steps."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from baselines import METHODS
from forestcoll.errors import VerificationError
from forestcoll.problem.demand import Demand
from forestcoll.schedule import (
    Chunks,
    Intervals,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    StepVerdict,
    verify,
)
from forestcoll.topology import NodeKind, Topology, load_topology
from tests.schedule.literals import LITERALS, star
from tests.schedule.made.programs import by_hand
from tests.schedule.made.steps import demanded


def test_a_relay_neither_sends_nor_keeps() -> None:
    """A GPU outside the group is on paths only."""
    made = LITERALS["adding in the switch"].make()
    nodes = tuple(
        replace(node, kind=NodeKind.RELAY, multicast=False) if node.is_switch else node
        for node in made.topology.nodes
    )
    relayed = replace(made, topology=Topology("relayed", nodes, made.topology.links))
    with pytest.raises(VerificationError, match="outside the group; it only forwards"):
        verify(relayed)
    assert star(3).ends == (0, 1, 2, 3)


NONE: Any = None

RAGGED: Any = [[1], [2, 3]]

EMPTY = np.zeros(0, dtype=np.int64)


def spoilt() -> dict[str, tuple[StepSchedule, str]]:
    """Schedules whose parts are not what they must be, and what is said of them."""
    made = LITERALS["TE-CCL, delays"].make()
    sends, chunks, clock = made.sends, made.chunks, made.clock
    assert clock is not None
    masked: Any = np.ma.masked_array(sends.chunk, mask=True)
    text: Any = "now"
    return {
        "no chunks": (replace(made, chunks=NONE), "the chunks is of type NoneType"),
        "no sends": (replace(made, sends=NONE), "the sends is of type NoneType"),
        "no routes": (replace(made, routes=NONE), "the routes is of type NoneType"),
        "no topology": (replace(made, topology=NONE), "the topology is of type NoneType"),
        "another clock": (replace(made, clock=text), "the clock is of type str"),
        "no method": (replace(made, method=""), "the method is ''"),
        "a list as collective": (replace(made, collective=RAGGED), "collective is of type list"),
        "other intervals": (
            replace(made, sends=replace(sends, interval=text)),
            "the interval of the sends is of type str",
        ),
        "too few intervals": (
            replace(made, sends=replace(sends, interval=Intervals(EMPTY, EMPTY))),
            r"sends.interval.first has shape \(0,\)",
        ),
        "a list of steps": (
            replace(made, sends=replace(sends, step=RAGGED)),
            "array sends.step is list; it must be a numpy array of one dimension",
        ),
        "masked chunks": (replace(made, sends=replace(sends, chunk=masked)), "array sends.chunk"),
        "adding, and too few intervals": (
            replace(
                made,
                sends=replace(sends, reduce=~sends.reduce, interval=Intervals(EMPTY, EMPTY)),
            ),
            r"sends.interval.first has shape \(0,\)",
        ),
        "a whole of many digits": (
            replace(made, chunks=replace(chunks, whole=10**301)),
            "of at most 300 digits",
        ),
        "a size of many digits": (
            replace(
                made,
                clock=replace(clock, size_bytes=10**301),
            ),
            "of at most 300 digits",
        ),
        "a tick of many digits": (
            replace(
                made,
                clock=replace(clock, tick_us=Fraction(1, 10**301)),
            ),
            "more than 300 digits",
        ),
    }


@pytest.mark.parametrize("name", spoilt())
def test_a_malformed_part_is_named(name: str) -> None:
    """Whatever a field holds, verify says so in a line."""
    made, message = spoilt()[name]
    with pytest.raises(VerificationError, match=message):
        verify(made)


def changed(part: str, **columns: Any) -> StepSchedule:
    """Three GPUs, a broadcast from the first in two steps, with some columns of a part changed."""
    net = load_topology("complete:nodes=3")
    sends = [Send(0, 0, 0, 1, first=0, amount=2), Send(1, 0, 0, 2, first=0, amount=2)]
    made = by_hand(net, "broadcast", Chunks.equal([0], whole=2, size=2), sends)
    return replace(made, **{part: replace(getattr(made, part), **columns)})


def interval(first: list[int], amount: list[int]) -> Intervals:
    return Intervals(np.array(first), np.array(amount))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (changed("chunks", size=np.array([0])), "chunks.size holds 0"),
        (changed("chunks", target=np.array([-2])), "chunks.target holds -2"),
        (changed("chunks", target=np.array([3])), "chunks.target holds 3"),
        (changed("chunks", root=np.array([3])), "chunks.root holds 3"),
        (changed("sends", reduce=np.zeros(2, np.int8)), "sends.reduce must be a numpy array of b"),
        (changed("sends", reduce=[False, False]), "sends.reduce must be a numpy array of bool"),
        (changed("sends", reduce=np.zeros(3, np.bool_)), r"sends.reduce has shape \(3,\)"),
        (changed("sends", chunk=np.array([0, 1])), "sends.chunk holds 1"),
        (changed("sends", interval=interval([0, 0], [2, 0])), "interval.amount holds 0"),
        (changed("sends", interval=interval([0, -1], [2, 2])), "interval.first holds -1"),
        (changed("sends", interval=interval([0, 1], [2, 2])), "2 units from 1 on; the chunk has 2"),
        (changed("sends", step=np.array([1, 1])), "step 1, .* follows step -1; steps are sorted"),
        (changed("sends", step=np.array([1, 0])), "follows step -1; steps are sorted"),
    ],
)
def test_a_number_out_of_its_range_is_named(made: StepSchedule, message: str) -> None:
    """The limits themselves are in range: verify takes the schedule as it was."""
    assert verify(changed("sends")).steps == 2
    with pytest.raises(VerificationError, match=message):
        verify(made)


def test_an_unknown_collective_is_named() -> None:
    made = replace(changed("sends"), collective="gossip")
    with pytest.raises(VerificationError, match="the collective is 'gossip'; it must be one of"):
        verify(made)


@pytest.mark.parametrize(("tail", "head"), [(2, 0), (0, 2)])
def test_a_relay_at_either_end_is_refused(tail: int, head: int) -> None:
    """Two GPUs and a relay between them, which may be on paths alone."""
    line = load_topology("torus:dims=3,wrap=false")
    nodes = (line.nodes[0], replace(line.nodes[1], kind=NodeKind.RELAY), line.nodes[2])
    net = Topology("relay", nodes, line.links)
    made = StepSchedule(
        net,
        "by hand",
        "broadcast",
        Chunks.equal([0], whole=1),
        Sends.of([Send(0, 0, tail, head)]),
        Routes.from_paths({(tail, head): (Path((0, 1), 1),)}),
    )
    with pytest.raises(VerificationError, match="outside the group; it only forwards"):
        verify(made)


def test_a_transfer_listed_twice_is_named_as_such() -> None:
    """Before anything is said of what it brings; two halves of a chunk are two transfers."""
    net = load_topology("complete:nodes=3")
    halves = [Send(0, 0, 0, v, first=half, amount=1) for v in (1, 2) for half in (0, 1)]
    chunks = Chunks.equal([0], whole=2, size=2)
    assert verify(by_hand(net, "broadcast", chunks, halves)).steps == 1
    with pytest.raises(VerificationError, match=r"gpu0 -> gpu2 is listed twice$"):
        verify(by_hand(net, "broadcast", chunks, [*halves, halves[-1]]))


DEMANDED: dict[str, tuple[Callable[[StepSchedule], StepSchedule], str]] = {
    "of another type": (
        lambda made: replace(made, demand="all"),
        "demand is of type str; it must be",
    ),
    "of another collective": (
        lambda made: replace(made, collective="allgather"),
        "a schedule of allgather has a demand; only an all-to-all has one",
    ),
    "of four GPUs": (
        lambda made: replace(made, demand=Demand.of_chunks(4, [(0, 2, [1, 2]), (1, 4, [2])])),
        "the demand is of 4 GPUs; the network has 3",
    ),
    "a chunk more": (
        lambda made: replace(
            made, demand=Demand.of_chunks(3, [(0, 2, [1, 2]), (1, 4, [2]), (2, 1, [0])])
        ),
        "there are 2 chunks; the demand has 3",
    ),
    "from another": (
        lambda made: replace(made, demand=Demand.of_chunks(3, [(0, 2, [1, 2]), (2, 4, [0])])),
        "chunk 1 has root 1; by the demand it must be 2",
    ),
    "for another": (
        lambda made: replace(made, demand=Demand.of_chunks(3, [(0, 2, [1, 2]), (1, 4, [0])])),
        "chunk 1 has target 2; by the demand it must be 0",
    ),
    "for one alone": (
        lambda made: replace(made, demand=Demand.of_chunks(3, [(0, 2, [2]), (1, 4, [2])])),
        "chunk 0 has target -1; by the demand it must be 2",
    ),
    "of other sizes": (
        lambda made: replace(made, demand=Demand.of_chunks(3, [(0, 3, [1, 2]), (1, 3, [2])])),
        "the units of chunk 0",
    ),
    "not for all": (
        lambda made: replace(made, sends=made.sends.taken(np.array([0, 1]))),
        "2",
    ),
}


@pytest.mark.parametrize("name", DEMANDED)
def test_a_demand_that_is_not_met_is_refused(name: str) -> None:
    spoil, message = DEMANDED[name]
    with pytest.raises(VerificationError, match=message):
        verify(spoil(demanded()))


def test_a_demand_by_hand() -> None:
    """2 bytes over both links and 4 over the second: 6 of 6 bytes at 1 GB/s, for three targets."""
    verdict = verify(demanded())
    assert isinstance(verdict, StepVerdict)
    assert (verdict.time_s_per_gb, verdict.deliveries, verdict.demand) == (1, 3, "by layer")
    alone = verify(demanded(several=False))
    assert isinstance(alone, StepVerdict)
    assert (alone.time_s_per_gb, alone.deliveries) == (1, 2)


def test_the_first_pair_without_its_part_is_named() -> None:
    """Of an all-to-all among three GPUs each pair has a third of a GPU's third."""
    made = METHODS["direct"].run(load_topology("complete:nodes=3"), "all-to-all")
    assert isinstance(made, StepSchedule)
    size = made.chunks.size.copy()
    at = int(np.flatnonzero((made.chunks.root == 1) & (made.chunks.target == 2))[0])
    size[at] *= 2
    wrong = replace(made, chunks=replace(made.chunks, size=size))
    with pytest.raises(VerificationError, match=r"the chunks of gpu1 for gpu2 are 2/3 of the data"):
        verify(wrong)
