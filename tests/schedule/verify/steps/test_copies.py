"""Copies: there before they are sent, to all who are due one, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import Chunks, Path, Routes, Send, Sends, StepSchedule, verify
from forestcoll.topology import load_topology
from tests.schedule.made.programs import by_hand


def test_what_is_sent_was_there_before_the_step() -> None:
    """Passing on in the step in which it arrives is too early."""
    sends = [Send(0, 0, 0, 1), Send(0, 0, 1, 2)]
    line = load_topology("torus:dims=3,wrap=false")
    made = by_hand(line, "broadcast", Chunks.equal([0], whole=1), sends)
    with pytest.raises(VerificationError, match="does not have the chunk when the step begins"):
        verify(made)


def test_a_gpu_on_a_path_forwards_in_the_same_step() -> None:
    """Along a line of three, one step keeps both links busy; who forwards does not get the data."""
    line = load_topology("torus:dims=3,wrap=false")
    made = StepSchedule(
        line,
        "by hand",
        "broadcast",
        Chunks.equal([0], whole=1),
        Sends.of([Send(0, 0, 0, 1), Send(0, 0, 0, 2)]),
        Routes.from_paths({(0, 1): (Path((0, 1), 1),), (0, 2): (Path((0, 1, 2), 1),)}),
    )
    verdict = verify(made)
    assert (verdict.steps, verdict.time_s_per_gb, verdict.in_steps_s_per_gb) == (1, 2, 2)
    far = replace(made, sends=Sends.of([Send(0, 0, 0, 2)]))
    far = replace(far, routes=Routes.from_paths({(0, 2): (Path((0, 1, 2), 1),)}))
    with pytest.raises(VerificationError, match="chunk 0 never gets to gpu1"):
        verify(far)
