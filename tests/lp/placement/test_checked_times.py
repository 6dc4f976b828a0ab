"""Times of placements by verified schedules."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import TimeLimitError
from forestcoll.topology import load_topology
from lp.placement.checked_times import CheckedTimes
from lp.placement.parallel_kinds import Kind
from tests.hand_networks import network_of

PAIR = load_topology("dgx_a100:boxes=2")
BOXES = np.arange(16).reshape(2, 8)
ACROSS = BOXES.T


def test_an_allgather_inside_boxes() -> None:
    """7 of 8 MB enter each GPU over 300 + 25 GB/s; the hub carries both boxes."""
    found = CheckedTimes(PAIR, 20).of(Kind("t", 8, "allgather", 8_000_000), BOXES)
    assert found.time_us == Fraction(7000, 325)


def test_pairs_across_boxes() -> None:
    """Each pair sends 4 MB over the 25 GB/s of its NICs."""
    found = CheckedTimes(PAIR, 20).of(Kind("d", 2, "all-to-all", 8_000_000), ACROSS)
    assert found.time_us == 160
    assert found.bound_us == pytest.approx(160)


@pytest.mark.parametrize("groups", [BOXES, ACROSS])
def test_groups_that_attain_the_bound_are_as_fast_as_the_program(
    groups: np.ndarray,
) -> None:
    kind = Kind("t", groups.shape[1], "allreduce", 8_000_000)
    slow = CheckedTimes(PAIR, 60).of(kind, groups)
    fast = CheckedTimes(PAIR, 60).of(kind, groups, float(slow.time_us))
    assert fast.time_us == slow.time_us
    assert fast.bound_us == pytest.approx(slow.bound_us, rel=1e-6)


def test_a_bound_that_groups_alone_miss_leads_to_the_program() -> None:
    """On a ring, opposite GPUs are connected only through the others."""
    ring = load_topology("ring:nodes=4")
    found = CheckedTimes(ring, 20).of(
        Kind("t", 2, "allgather", 2000), np.array([[0, 2], [1, 3]]), 1e-6
    )
    assert float(found.time_us) == pytest.approx(found.bound_us, rel=1e-6)


def test_one_way_bandwidth_gives_the_phases_different_times() -> None:
    """GPU a sends 2 GB/s only: a reduction needs 2 shards of it, an allgather 1."""
    uneven = network_of("a b c", "a > b c, b c > a: 2, b - c: 2", "uneven")
    groups = np.array([[0, 1, 2]])
    gather, scatter, both = (
        CheckedTimes(uneven, 20).of(Kind("k", 3, name, 3000), groups).time_us
        for name in ("allgather", "reduce-scatter", "allreduce")
    )
    assert both == gather + scatter
    assert gather != scatter


def test_no_time_is_an_error() -> None:
    with pytest.raises(TimeLimitError, match="allow more time"):
        CheckedTimes(PAIR, 1e-9).of(Kind("t", 8, "allgather", 8_000_000), BOXES)


def test_groups_alone_that_attain_the_bound_need_no_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both phases of an allreduce in boxes take 7 of 8 parts over 325 GB/s; links are two-way."""

    def program(*_: object, **__: object) -> None:
        raise AssertionError("the program was called")

    monkeypatch.setattr("lp.placement.checked_times.concurrent_groups", program)
    kind = Kind("t", 8, "allreduce", 8_000_000)
    found = CheckedTimes(PAIR, 20).of(kind, BOXES, 2 * 7000 / 325)
    assert found.time_us == 2 * Fraction(7000, 325)
    assert found.bound_us == pytest.approx(2 * 7000 / 325)


def test_half_of_a_bound_is_none_of_unlike_phases() -> None:
    """Where bandwidths differ by direction, a phase may take less than half of both."""
    uneven = network_of("a b c", "a > b c, b c > a: 2, b - c: 2", "uneven")
    groups = np.array([[0, 1, 2]])
    kind = Kind("k", 3, "allreduce", 3000)
    known = CheckedTimes(uneven, 20).of(kind, groups)
    again = CheckedTimes(uneven, 20).of(kind, groups, float(known.time_us))
    assert again.bound_us <= float(again.time_us) * (1 + 1e-6)


def test_the_order_of_groups_and_of_their_gpus_does_not_matter() -> None:
    """They are solved once: when the time is over, the answer is known in any order."""
    times = CheckedTimes(PAIR, 20)
    kind = Kind("t", 8, "allgather", 8_000_000)
    found = times.of(kind, BOXES)
    times._deadline = 0.0
    assert times.of(kind, BOXES[::-1]) == times.of(kind, BOXES[:, ::-1]) == found


def test_an_all_to_all_gets_the_time_that_is_left() -> None:
    times = CheckedTimes(PAIR, 5)
    times.of(Kind("d", 2, "all-to-all", 8_000_000), ACROSS)
    assert times._planner is not None
    assert 0 < times._planner.seconds <= 5
