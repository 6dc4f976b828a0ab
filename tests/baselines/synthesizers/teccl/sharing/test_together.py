"""Whether links have room for several schedules at once."""

from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.sharing.tenants import Tenant, share
from baselines.synthesizers.teccl.sharing.together import check_together
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule import StepSchedule, verify
from forestcoll.topology import load_topology


def later(schedule: StepSchedule, ticks: int) -> StepSchedule:
    clock = schedule.clock
    assert clock is not None
    assert clock.left is not None
    moved = replace(
        clock, start=clock.start + ticks, end=clock.end + ticks, left=clock.left + ticks
    )
    return replace(schedule, clock=moved)


@pytest.mark.parametrize("spec", ["ring:nodes=4", "dgx1", "dgx_h100:boxes=1"])
def test_what_is_sent_twice_at_once_is_too_much_and_one_after_the_other_is_not(spec: str) -> None:
    topology = load_topology(spec)
    schedule = generate(topology, "broadcast", size_bytes=10**6)
    verify(schedule)
    check_together(topology, [schedule])
    assert schedule.clock is not None
    after = later(schedule, int(schedule.clock.finish_us / schedule.clock.tick_us))
    verify(after)
    check_together(topology, [schedule, after])
    with pytest.raises(VerificationError, match="of all schedules together; its bandwidth is"):
        check_together(topology, [schedule, after, schedule])


def test_half_of_the_links_each_is_enough() -> None:
    """On links of twice the bandwidth both have room, to the last byte."""
    ring = load_topology("ring:nodes=4")
    schedule = generate(ring, size_bytes=10**6)
    wide = ring.scaled("*", 2)
    check_together(wide, [schedule, schedule])
    with pytest.raises(VerificationError):
        check_together(ring.scaled("*", Fraction(199, 100)), [schedule, schedule])


def test_shared_capacities_are_refused() -> None:
    """Several clocks are not added up over them, nor made."""
    limited = load_topology("ring:nodes=4").with_shared("wire", "gpu0 - gpu1", 1)
    with pytest.raises(UnsupportedError, match="'wire', which the check of several clocks"):
        check_together(limited, [])
    with pytest.raises(UnsupportedError, match="'wire', which the clock of teccl"):
        share(limited, [Tenant("one", "allgather", 10**6, 1, priority=1)])
