"""Reduce-scatters beside allgathers."""

from __future__ import annotations

from experiments.simulation_fit.mirrored import NETWORKS, SIZES, Mirrored, mirrored
from forestcoll.schedule.simulate import Priority

EQUAL, FIRST = Priority


def test_ratios_are_over_the_allgather_with_equal_shares() -> None:
    one = Mirrored("t", 1, {EQUAL: 2.0, FIRST: 1.0}, {EQUAL: 3.0, FIRST: 2.0}, {EQUAL: 1, FIRST: 1})
    assert (one.over(EQUAL), one.over(FIRST)) == (1.5, 1.0)


def test_priorities_undo_what_equal_shares_cost() -> None:
    """On two A100 at 16 MB: 17 % more than the allgather, or no more."""
    seen: list[tuple[int, int]] = []
    small, large = mirrored(
        ["dgx_a100:boxes=2"], [2**10, 2**24], lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 1)]
    assert (small.size_bytes, large.size_bytes) == (2**10, 2**24)
    assert large.over(EQUAL) > 1.15
    assert large.over(FIRST) <= 1 >= small.over(FIRST)
    assert large.allreduce_s[FIRST] < large.allreduce_s[EQUAL]


def test_sizes_go_from_a_kilobyte_to_a_gigabyte() -> None:
    assert (SIZES[0], SIZES[-1]) == (2**10, 2**30)
    assert len(NETWORKS) == 8
