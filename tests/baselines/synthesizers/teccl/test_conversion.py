"""Solutions in epochs as schedules with a clock."""

from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.cleaning import needed
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.instance.commodities import demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from forestcoll.errors import VerificationError
from forestcoll.schedule import StepSchedule, verify
from tests.hand_networks import network_of

HALF = Fraction(1, 2)


def through_a_switch(crossing: str, latency: Fraction) -> StepSchedule:
    """A broadcast of one chunk from a to b, epochs of 1 us."""
    net = network_of("a b [s]", f"a b - s: 1 {latency}", "pair")
    demand = demand_of(2, "broadcast", 1, 1000)
    network = EpochNetwork.of(net, Fraction(1), Fraction(1), crossing)
    arc = {arc.path: i for i, arc in enumerate(network.arcs)}
    into, out = network.arcs[arc[0, 2]], network.arcs[arc[2, 1]]
    sent = ((0, arc[0, 2], 0), (0, arc[2, 1], into.span + out.offset))
    return schedule_of(network, demand, needed(network, demand, sent), "broadcast", 1000)


@pytest.mark.parametrize(
    ("crossing", "latency", "tick", "times", "finish"),
    [
        ("stored", Fraction(0), 1, [(0, 1, 1), (1, 2, 2)], 2),
        ("stored", HALF, 1, [(0, 1, 2), (2, 3, 4)], 4),
        ("through", Fraction(0), 1, [(0, 1, 1), (0, 1, 1)], 1),
        ("through", HALF, HALF, [(0, 2, 3), (2, 4, 6)], 3),
        ("through", Fraction(1, 10), Fraction(1, 10), [(0, 10, 11), (1, 11, 12)], Fraction(6, 5)),
        ("rounded", Fraction(1, 10), Fraction(1, 10), [(0, 10, 11), (11, 21, 22)], Fraction(11, 5)),
    ],
)
def test_the_clock_counts_latencies_that_the_model_drops(
    crossing, latency, tick, times, finish
) -> None:
    """Latencies that the model drops are on the clock all the same: an epoch is longer by them."""
    schedule = through_a_switch(crossing, latency)
    verify(schedule)
    clock = schedule.clock
    assert clock is not None
    assert clock.left is not None
    rows = zip(clock.start.tolist(), clock.left.tolist(), clock.end.tolist(), strict=True)
    assert sorted(rows, key=lambda row: row[1]) == times
    assert (clock.tick_us, clock.finish_us) == (tick, finish)


def test_a_clock_without_them_would_be_refused() -> None:
    """The check looks at the latencies of the topology, not at the model's."""
    from dataclasses import replace

    schedule = through_a_switch("through", Fraction(1, 10))
    assert schedule.clock is not None
    early = replace(schedule.clock, tick_us=Fraction(1, 11))
    with pytest.raises(VerificationError):
        verify(replace(schedule, clock=early))
