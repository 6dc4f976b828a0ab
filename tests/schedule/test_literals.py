"""The peers' schedules by hand: proved, measured, and refused when a row is changed."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Chunks,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    TimedSend,
    cost,
    finish_s_per_gb,
    in_steps,
    time_reversed,
    timed,
    verify,
)
from forestcoll.topology import NodeKind, Topology, TopologyBuilder
from tests.reference.step_delivery import delivers
from tests.schedule.literals import LITERALS, routes_of, star, teccl_star
from tests.schedule.mutations_of.rows import spoil_row

NAMES = list(LITERALS)


@pytest.mark.parametrize("name", NAMES)
def test_a_literal_is_proved_and_takes_what_its_source_says(name: str) -> None:
    """Steps, both times and the finish are those worked out by hand."""
    literal = LITERALS[name]
    made = literal.make()
    verdict = verify(made)
    assert verdict.steps == literal.steps
    assert verdict.time_s_per_gb == cost(made).time_s_per_gb == literal.time_s_per_gb
    assert verdict.in_steps_s_per_gb == in_steps(made).time_s_per_gb == literal.in_steps_s_per_gb
    assert verdict.finish_s_per_gb == finish_s_per_gb(made)
    assert (None if made.clock is None else made.clock.finish_us) == literal.finish_us


@pytest.mark.parametrize("name", NAMES)
def test_a_literal_with_any_row_changed_is_refused(name: str) -> None:
    """Whatever is left out, cut, misdirected or renamed, no row can be spared.

    But for doubling, where 1 may give its part to 2 instead of 0: each sum is then made up in
    another way, as the definition agrees.
    """
    accepted = []
    for change, spoilt in spoil_row(LITERALS[name].make()):
        try:
            verify(spoilt)
        except VerificationError:
            continue
        accepted.append(change)
        assert delivers(spoilt)
    doubling = name == "recursive doubling in time"
    assert accepted == ["transfer 1 to another GPU", "transfer 3 to another GPU"] * doubling


def marked(schedule: StepSchedule, **marks: bool) -> StepSchedule:
    """The same transfers through switches with other marks."""
    topology = schedule.topology
    nodes = tuple(replace(n, **marks) if n.is_switch else n for n in topology.nodes)
    return replace(schedule, topology=Topology(topology.name, nodes, topology.links))


def test_a_switch_that_copies_nothing_sends_once() -> None:
    """What comes in once goes out twice: only a switch marked multicast does that."""
    made = marked(LITERALS["TE-CCL, copying switch"].make(), multicast=False)
    with pytest.raises(VerificationError, match="switch does not have the chunk then; it passes"):
        verify(made)


def test_a_switch_that_stores_nothing_sends_at_once() -> None:
    """Kept for an epoch, which only a switch marked stores can do."""
    made = marked(LITERALS["TE-CCL, storing switch"].make(), stores=False)
    with pytest.raises(VerificationError, match="passes on at once what comes in"):
        verify(made)


def test_a_switch_that_stores_and_does_not_copy_sends_each_chunk_once() -> None:
    """The plain switch's schedule may wait, but not send more than came in."""
    plain = LITERALS["TE-CCL, plain switch"].make()
    verify(marked(plain, stores=True))
    made = marked(LITERALS["TE-CCL, storing switch"].make(), multicast=False)
    with pytest.raises(VerificationError, match="it keeps what comes in, and does so once"):
        verify(made)


def test_what_passes_a_switch_as_it_comes_in_leaves_no_faster() -> None:
    """Crossing in one epoch is refused if the second link begins, or is done, before the first."""
    crossing = LITERALS["TE-CCL, copying switch in one epoch"].make()
    assert crossing.clock is not None
    out = crossing.sends.tail == 3
    clock = crossing.clock
    verify(crossing)
    slow_in = replace(clock, end=np.where(out, clock.end, clock.end + 1))
    slow_in = replace(slow_in, left=slow_in.end)
    with pytest.raises(VerificationError, match="does not have the chunk then"):
        verify(replace(crossing, clock=slow_in))


def test_switches_cannot_feed_each_other() -> None:
    """Two switches pass on to each other, within one step, what neither ever got."""
    builder = TopologyBuilder()
    names = [builder.gpu("a"), builder.gpu("b")]
    for switch in ("s", "t"):
        builder.switch(switch, multicast=True)
        for name in names:
            builder.link(name, switch, 1)
    builder.link("s", "t", 1)
    net = builder.build("two switches")
    sends = Sends.of([Send(0, 0, 2, 3), Send(0, 0, 3, 2), Send(0, 0, 3, 1)])
    links = zip(sends.tail.tolist(), sends.head.tolist(), strict=True)
    ends = net.ends
    made = StepSchedule(
        net,
        "by hand",
        "broadcast",
        Chunks.equal([0], whole=1),
        sends,
        Routes.from_paths({(t, h): (Path((ends[t], ends[h]), 1),) for t, h in links}),
    )
    with pytest.raises(VerificationError, match="s does not have the chunk then"):
        verify(made)
    fed = Sends.of([Send(0, 0, 0, 2), Send(0, 0, 2, 3), Send(0, 0, 3, 1)])
    links = zip(fed.tail.tolist(), fed.head.tolist(), strict=True)
    routes = Routes.from_paths({(t, h): (Path((ends[t], ends[h]), 1),) for t, h in links})
    verify(replace(made, sends=fed, routes=routes))


def test_a_sum_that_a_switch_keeps_is_lost() -> None:
    """An adding switch sends on what comes in, in the next step, and once."""
    made = LITERALS["adding in the switch"].make()
    sends = made.sends
    late = replace(sends, step=np.array([0, 1, 2], dtype=np.int32))
    late = replace(late, tail=sends.tail, head=sends.head)
    with pytest.raises(VerificationError, match="does not send it on at once"):
        verify(replace(made, sends=late))
    verify(marked(replace(made, sends=late), stores=True))
    plain = marked(made, multicast=False)
    with pytest.raises(VerificationError, match="does not send it on at once"):
        verify(plain)


def reduce_over(net: Topology, rows: list[TimedSend] | list[Send], root: int) -> StepSchedule:
    """A reduce of one chunk over links between ends."""
    clock = None
    if isinstance(rows[0], TimedSend):
        sends, clock = timed([row for row in rows if isinstance(row, TimedSend)], 1)
    else:
        sends = Sends.of(row for row in rows if isinstance(row, Send))
    links = zip(sends.tail.tolist(), sends.head.tolist(), strict=True)
    return StepSchedule(
        topology=net,
        method="by hand",
        collective="reduce",
        chunks=Chunks.equal([root], whole=1),
        sends=sends,
        routes=routes_of(net, links),
        clock=clock,
    )


def test_a_switch_sends_no_sum_of_nothing() -> None:
    """It has no part of its own: what it sends has come in, whether it can store or not."""
    for stores in (False, True):
        net = star(2, multicast=True, stores=stores)
        made = reduce_over(net, [Send(0, 0, 1, 0, True), Send(0, 0, 2, 0, True)], root=0)
        made = replace(
            made,
            routes=Routes.from_paths({(1, 0): (Path((1, 2, 0), 1),), (2, 0): (Path((2, 0), 1),)}),
        )
        with pytest.raises(VerificationError, match="nothing has come in for it to add up"):
            verify(made)


def two_switches() -> Topology:
    """Four GPUs at two adding switches, ends 4 and 5, all joined to both."""
    builder = TopologyBuilder()
    names = [builder.gpu(f"g{i}") for i in range(4)]
    for switch in ("w", "x"):
        builder.switch(switch, multicast=True)
        for name in names:
            builder.link(name, switch, 1)
    builder.link("w", "x", 1)
    for near in names:
        for far in names[names.index(near) + 1 :]:
            builder.link(near, far, 1)
    return builder.build("two switches")


@pytest.mark.parametrize("arrives", [10, 11])
def test_what_comes_in_leaves_a_switch_with_the_first_that_it_can(arrives: int) -> None:
    """So it is in one sum, whichever of them is looked at first."""
    rows = [
        TimedSend(0, 10, 0, 0, 4, True),
        TimedSend(5, 10, 0, 3, 4, True),
        TimedSend(3, 12, 0, 4, 1, True),
        TimedSend(6, arrives, 0, 4, 5, True),
        TimedSend(6, arrives, 0, 5, 2, True),
        TimedSend(12, 14, 0, 1, 2, True),
    ]
    net = two_switches()
    verify(reduce_over(net, rows, root=2))
    together = [row._replace(start=6) if row[:2] == (3, 12) else row for row in rows]
    with pytest.raises(VerificationError, match="sends on twice what it has added up"):
        verify(reduce_over(net, together, root=2))


def test_an_adding_switch_goes_on_from_step_to_step() -> None:
    """What comes in in step 0 leaves in step 0, what comes in in step 1 in step 1."""
    rows = [
        Send(0, 0, 0, 4, True),
        Send(0, 0, 4, 1, True),
        Send(1, 0, 2, 4, True),
        Send(1, 0, 4, 3, True),
        Send(2, 0, 3, 1, True),
    ]
    verify(reduce_over(two_switches(), rows, root=1))


@pytest.mark.parametrize("name", NAMES)
def test_what_hands_out_sums_up_backwards_in_time(name: str) -> None:
    """Through switches of every kind, with and without a clock: the mirror image is proved too."""
    made = LITERALS[name].make()
    if made.reduction:
        return
    turned = time_reversed(made, made.topology.reversed())
    assert verify(turned).time_s_per_gb == verify(made).time_s_per_gb
    assert verify(turned).finish_s_per_gb == verify(made).finish_s_per_gb
    again = time_reversed(turned, made.topology)
    assert again == made


def with_clock(made: StepSchedule, **changes: object) -> StepSchedule:
    """The schedule with some columns of its clock changed by functions of them."""
    assert made.clock is not None
    return replace(made, clock=replace(made.clock, **changes))


def plus(column: np.ndarray, row: int, by: int) -> np.ndarray:
    changed = column.copy()
    changed[row] += by
    return changed


def test_a_message_is_one() -> None:
    """Its transfers start together, end together, and have the same ends."""
    made = LITERALS["TACCL, contiguous"].make()
    clock = made.clock
    assert clock is not None
    assert clock.message is not None
    row = int(np.flatnonzero(clock.message == 0)[0])
    with pytest.raises(VerificationError, match="another end than the rest of message 0"):
        verify(with_clock(made, end=plus(clock.end, row, 1)))
    other = np.where(clock.message == 1, 0, clock.message).astype(np.int32)
    with pytest.raises(VerificationError, match="another sender than the rest of message 0"):
        verify(with_clock(made, message=other))
    message = np.full_like(clock.message, -1)
    verify(with_clock(made, message=message))  # without a name they are as they were


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: {"left": plus(c.left, 0, 1)}, "no time for the latency"),
        (lambda c: {"left": plus(c.left, 0, -1)}, r"carries 2 GB/s"),
        (lambda c: {"left": plus(c.left, 0, -2)}, "not in its time"),
        (lambda c: {"left": plus(c.left, 0, 2)}, "not in its time"),
        (lambda c: {"end": plus(c.end, 0, -1)}, "no time for the latency|does not have"),
        (lambda c: {"tick_us": Fraction(99, 100)}, "no time for the latency|carries"),
    ],
)
def test_a_delay_is_kept(change: Callable[..., dict[str, object]], message: str) -> None:
    """The last byte leaves in time to arrive, and not faster than the link is."""
    made = LITERALS["TE-CCL, delays"].make()
    with pytest.raises(VerificationError, match=message):
        verify(with_clock(made, **change(made.clock)))


def test_a_link_is_free_while_the_last_byte_is_on_its_way() -> None:
    """Two chunks back to back: without times of leaving, the link would carry both at once."""
    made = LITERALS["TE-CCL, back to back"].make()
    verify(made)
    assert made.clock is not None
    early = with_clock(made, start=plus(made.clock.start, 1, -1))
    sends = replace(early.sends, step=np.zeros(2, dtype=np.int32))
    with pytest.raises(VerificationError, match="carries"):
        verify(replace(early, sends=sends))


def test_epochs_of_two_ticks_hold_a_window() -> None:
    """T35: kappa = 2 epochs a chunk, so a second one in the next epoch is one too many."""
    rows = [(0, 0, 0, 2, 0), (2, 0, 2, 1, 0), (0, 1, 1, 2, 0), (2, 1, 2, 0, 0)]
    verify(teccl_star(rows, gpus=2, epochs=2))
    twice = [(0, 0, 0, 3, 0), (1, 0, 0, 3, 0), (2, 0, 3, 1, 0), (3, 0, 3, 2, 0)]
    with pytest.raises(VerificationError, match=r"carries 3/2 GB/s|never gets to"):
        verify(teccl_star(twice, gpus=3, epochs=2))


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
