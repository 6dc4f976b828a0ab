"""Sums: every contribution once, whatever is sent and added."""

from __future__ import annotations

import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import Chunks, Send, verify
from forestcoll.topology import load_topology
from tests.schedule.made.programs import by_hand


def test_a_contribution_counted_twice_is_named() -> None:
    """0 adds 1's part, and then 1's part comes again with 2's."""
    complete = load_topology("complete:nodes=3")
    sends = [Send(0, 0, 1, 0, True), Send(0, 0, 1, 2, True), Send(1, 0, 2, 0, True)]
    made = by_hand(complete, "reduce", Chunks.equal([0], whole=1), sends)
    with pytest.raises(VerificationError, match="contribution of gpu1 is counted twice"):
        verify(made)


def test_two_replacements_at_once_are_refused() -> None:
    """Which of two copies would stay is not said."""
    sums = [Send(0, 0, 1, 0, True), Send(1, 0, 2, 0, True)]
    copies = [Send(2, 0, 0, 1), Send(2, 0, 0, 2), Send(2, 0, 2, 1)]
    complete = load_topology("complete:nodes=3")
    made = by_hand(complete, "allreduce", Chunks.equal([-1], whole=1), sums + copies)
    with pytest.raises(VerificationError, match="has that already or gets it twice"):
        verify(made)
    wiped = [Send(2, 0, 0, 1), Send(2, 0, 2, 1), Send(3, 0, 2, 0)]
    made = by_hand(complete, "reduce", Chunks.equal([0], whole=1), sums + wiped)
    with pytest.raises(VerificationError, match="replaces the same chunk"):
        verify(made)


def test_the_order_of_arrivals_within_a_step_must_not_matter() -> None:
    """A copy and a sum for one chunk in one step: the copy might wipe the sum out."""
    sends = [Send(0, 0, 2, 0, True), Send(1, 0, 0, 2), Send(1, 0, 1, 2, True)]
    complete = load_topology("complete:nodes=3")
    made = by_hand(complete, "reduce", Chunks.equal([2], whole=1), sends)
    with pytest.raises(VerificationError, match="replaces the same chunk"):
        verify(made)
