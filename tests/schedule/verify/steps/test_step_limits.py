"""Step schedules at the limits: huge numbers, malformed parts, small files that ask for much."""

import contextlib
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Chunks,
    Intervals,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    TimedSend,
    cost,
    in_steps,
    timed,
    verify,
)
from forestcoll.schedule.verify.steps import rates as verify_rates
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.schedule.literals import LITERALS, star


def broadcast(
    net: Topology, sends: Sends, ways: list[Path], chunks: Chunks | None = None
) -> StepSchedule:
    """From GPU 0 to GPU 1."""
    made = chunks or Chunks.equal([0], whole=1)
    return StepSchedule(net, "by hand", "broadcast", made, sends, Routes.from_paths({(0, 1): ways}))


def two_ways(bandwidth: Fraction = Fraction(1)) -> Topology:
    """Two GPUs, joined by two ways over three switches each."""
    builder = TopologyBuilder()
    names = [builder.gpu("a"), builder.gpu("b")]
    for way in "st":
        on = [builder.switch(f"{way}{i}") for i in range(3)]
        for tail, head in zip([names[0], *on], [*on, names[1]], strict=True):
            builder.link(tail, head, bandwidth)
    return builder.build("two ways")


def test_times_of_long_ways_do_not_overflow() -> None:
    """A unit of time fits 64 bits for each link of a way, but not for all of them together."""
    sizes = Chunks(
        np.array([1, 2, 6]), 9, np.zeros(3, dtype=np.int32), np.full(3, -1, dtype=np.int32)
    )
    ways = [Path((0, 2, 3, 4, 1), 2**61 - 1), Path((0, 5, 6, 7, 1), 2**61 + 1)]
    made = broadcast(two_ways(), Sends.of([Send(0, i, 0, 1) for i in range(3)]), ways, sizes)
    exact = Fraction(2**61 + 1, 2**62)
    assert verify(made).time_s_per_gb == cost(made).time_s_per_gb == exact
    assert verify(made).in_steps_s_per_gb == in_steps(made).time_s_per_gb == exact
    slow = broadcast(
        two_ways(Fraction(1, 2**62)),
        Sends.of([Send(0, i, 0, 1) for i in range(2)]),
        ways[:1],
        Chunks(np.array([1, 2]), 3, np.zeros(2, dtype=np.int32), np.full(2, -1, dtype=np.int32)),
    )
    assert verify(slow).time_s_per_gb == cost(slow).time_s_per_gb == 2**62


def test_a_path_that_comes_over_a_link_again_is_charged_again() -> None:
    """There, back and there: twice the load, also where it does not fit 64 bits."""
    pair = load_topology("complete:nodes=2,bandwidth=1")
    huge = Chunks.equal([0], whole=2**62, size=2**62)
    made = broadcast(pair, Sends.of([Send(0, 0, 0, 1)]), [Path((0, 1, 0, 1), 1)], huge)
    assert verify(made).time_s_per_gb == cost(made).time_s_per_gb == 2
    assert in_steps(made).time_s_per_gb == 2


def test_what_has_no_route_has_no_cost() -> None:
    """It is not charged to another link."""
    made = LITERALS["BFB on K(2,2)"].make()
    head = made.sends.head.copy()
    head[0] = made.sends.tail[0]
    lost = replace(made, sends=replace(made.sends, head=head))
    for measure in (cost, in_steps):
        with pytest.raises(VerificationError, match="no route, or its steps have gaps"):
            measure(lost)


def test_a_step_far_off_asks_for_no_memory() -> None:
    """Two transfers, the second in step 2^31 - 1."""
    made = LITERALS["an allreduce rooted unit by unit"].make()
    step = made.sends.step.copy()
    step[-1] = 2**31 - 1
    far = replace(made, sends=replace(made.sends, step=step))
    for measure in (verify, cost, in_steps):
        with pytest.raises(VerificationError, match=r"steps have gaps|sends.step holds"):
            measure(far)


def peak(made: StepSchedule) -> int:
    """Bytes that a proof takes, or a refusal."""
    tracemalloc.start()
    with contextlib.suppress(VerificationError):
        verify(made)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def through_a_switch(pieces: int, *, clock: bool) -> StepSchedule:
    """A broadcast of one chunk in pieces through a switch that only passes on."""
    net = star(2)
    chunks = Chunks.equal([0], whole=pieces, size=pieces)
    ends = net.ends
    routes = Routes.from_paths(
        {(t, h): (Path((ends[t], ends[h]), 1),) for t, h in ((0, 2), (2, 1))}
    )
    rows = [
        (step, piece, *ways)
        for piece in range(pieces)
        for step, ways in enumerate(((0, 2), (2, 1)))
    ]
    if not clock:
        sends = Sends.of(
            Send(step, 0, tail, head, first=piece, amount=1) for step, piece, tail, head in rows
        )
        return StepSchedule(net, "by hand", "broadcast", chunks, sends, routes)
    timed_sends, ticking = timed(
        (
            TimedSend(step * pieces, step * pieces + pieces, 0, tail, head, first=piece, amount=1)
            for step, piece, tail, head in rows
        ),
        1000,
        Fraction(1),
    )
    return StepSchedule(net, "by hand", "broadcast", chunks, timed_sends, routes, ticking)


@pytest.mark.parametrize("clock", [False, True])
def test_pieces_through_a_switch_are_followed_one_by_one(
    clock: bool, count_feeds: list[int]
) -> None:
    """Two thousand pieces of one chunk: each is held against the one that fed it, not all."""
    verify(through_a_switch(2000, clock=clock))
    assert sum(count_feeds) <= 4 * 2000


@pytest.fixture
def count_feeds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often two transfers at a switch were held against each other."""
    from forestcoll.schedule.verify.steps import switches as verify_switches

    counts: list[int] = []
    feeds = verify_switches._Links.feeds

    def counted(self: Any, into: int, out: int, switch: Any) -> bool:
        counts.append(1)
        return feeds(self, into, out, switch)

    monkeypatch.setattr(verify_switches._Links, "feeds", counted)
    return counts


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "all-to-all"])
def test_what_is_not_there_is_missed_without_a_table_of_all(collective: str) -> None:
    """1500 GPUs and no transfer: no table of chunks times GPUs is made to see that."""
    gpus = 1500
    builder = TopologyBuilder()
    builder.switch("s")
    for i in range(gpus):
        builder.link(builder.gpu(f"g{i}"), "s", 1)
    net = builder.build("many")
    free, aimed = collective == "allreduce", collective == "all-to-all"
    root = np.full(1, -1) if free else np.arange(gpus)
    chunks = Chunks.equal(root, whole=1 if free else gpus)
    if aimed:
        chunks = replace(chunks, target=np.roll(chunks.root, 1))
    made = StepSchedule(net, "none", collective, chunks, Sends.of([]), Routes.from_paths({}))
    with pytest.raises(VerificationError, match=r"never gets to|lacks the|of the data"):
        verify(made)
    assert peak(made) < 4 * 10**6


def test_rates_without_a_common_unit_are_added_up_in_fractions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Durations whose least common multiple has thousands of digits: the same verdict."""
    for bits in (1024, 1):
        monkeypatch.setattr(verify_rates, "_UNIT_BITS", bits)
        for name, literal in LITERALS.items():
            made = literal.make()
            if made.clock is None:
                continue
            verify(made)
            hurried = replace(made, clock=replace(made.clock, size_bytes=made.clock.size_bytes * 2))
            if name != "recursive doubling in time" or bits:
                with pytest.raises(VerificationError, match="carries"):
                    verify(hurried)
    monkeypatch.undo()
    count = 3000
    net = load_topology("complete:nodes=2,bandwidth=1")
    rows = [TimedSend(0, 10**6 + i, i, 0, 1) for i in range(count)]
    sends, clock = timed(rows, 1000)
    made = replace(
        broadcast(net, sends, [Path((0, 1), 1)], Chunks.equal(np.zeros(count), whole=count)),
        clock=clock,
    )
    assert peak(made) < 60 * 10**6


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
