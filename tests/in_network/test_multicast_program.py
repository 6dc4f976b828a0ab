"""The allreduce program for multicast switches: its schedule attains its bound."""

import pytest

from forestcoll.in_network import multicast_program
from forestcoll.in_network.multicast_program import improved_by_multicast
from forestcoll.schedule import verify
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.topology import load_topology


@pytest.mark.parametrize(("weights", "rate"), [(None, 450), ((1,) * 8, 450)], ids=["free", "equal"])
def test_schedule_and_bound_meet_at_the_rate_of_one_link(
    weights: tuple[int, ...] | None, rate: int
) -> None:
    """Every GPU of a box sends its data once to the NVSwitch, and gets the sum once."""
    found = improved_by_multicast(load_topology("dgx_h100:boxes=1"), weights, seconds=20)
    assert found.schedule is not None
    assert found.bound is not None
    assert found.remark == ""
    assert verify(found.schedule).algbw_gb_s == check_bound(found.bound) == rate


def test_without_time_there_is_a_remark() -> None:
    found = improved_by_multicast(load_topology("dgx_h100:boxes=1"), None, seconds=1e-9)
    assert found.schedule is None
    assert found.remark == "the allreduce program did not finish in 1e-09 s"


def test_with_room_for_one_span_the_rate_is_that_of_its_trees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Spans stop where the program would hold too many classes of links; the bound is kept."""
    monkeypatch.setattr(multicast_program, "MOST_LINKS", 4)
    found = improved_by_multicast(load_topology("dgx_h100:boxes=2"), None, seconds=20)
    assert found.schedule is not None
    assert found.bound is not None
    assert verify(found.schedule).algbw_gb_s <= check_bound(found.bound)
