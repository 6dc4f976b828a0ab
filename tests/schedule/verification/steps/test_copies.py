"""Copies: there before they are sent, to all who are due one, once."""

from dataclasses import replace

import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import Chunks, Path, Routes, Send, Sends, StepSchedule, verify
from forestcoll.schedule.verification.steps.copies import held_at_roots
from forestcoll.schedule.verification.steps.transfers import rows_of
from forestcoll.topology import load_topology
from tests.schedule.made.programs import by_hand


def test_chunks_must_be_present_before_the_step() -> None:
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
    assert (verdict.steps, verdict.time_s_per_gb, verdict.synchronous_s_per_gb) == (1, 2, 2)
    far = replace(made, sends=Sends.of([Send(0, 0, 0, 2)]))
    far = replace(far, routes=Routes.from_paths({(0, 2): (Path((0, 1, 2), 1),)}))
    with pytest.raises(VerificationError, match="chunk 0 never gets to gpu1"):
        verify(far)


def test_no_chunk_is_sent_to_a_gpu_that_has_it() -> None:
    """A second copy in a later step, and one to the root; of halves, each half once."""
    complete = load_topology("complete:nodes=3")
    both = [Send(0, 0, 0, 1), Send(0, 0, 0, 2)]
    for more in (Send(1, 0, 2, 1), Send(1, 0, 1, 0)):
        made = by_hand(complete, "broadcast", Chunks.equal([0], whole=1), [*both, more])
        with pytest.raises(
            VerificationError, match=r"step 1, .* has that already or gets it twice"
        ):
            verify(made)
    halves = [Send(0, 0, 0, v, first=half, amount=1) for v in (1, 2) for half in (0, 1)]
    made = by_hand(complete, "broadcast", Chunks.equal([0], whole=2, size=2), halves)
    assert verify(made).steps == 1
    made = by_hand(complete, "broadcast", Chunks.equal([0], whole=2, size=2), halves[:-1])
    with pytest.raises(VerificationError, match="chunk 0 never gets to gpu2, or not all of it"):
        verify(made)


def test_roots_hold_their_chunks_from_the_beginning() -> None:
    """Two chunks of 3 units at GPUs 2 and 0."""
    net = load_topology("complete:nodes=3")
    sends = [Send(0, 0, 2, 0), Send(0, 1, 0, 2)]
    held = held_at_roots(rows_of(by_hand(net, "allgather", Chunks.equal([2, 0], 6, 3), sends)))
    columns = (held.chunk, held.at, held.first, held.end, held.since)
    assert [column.tolist() for column in columns] == [[0, 1], [2, 0], [0, 0], [3, 3], [0, 0]]


def test_a_second_chunk_that_is_not_delivered_is_named() -> None:
    """Of two chunks of GPU 0, the second never gets to GPU 2."""
    net = load_topology("complete:nodes=3")
    sends = [Send(0, 0, 0, 1), Send(0, 0, 0, 2), Send(0, 1, 0, 1)]
    made = by_hand(net, "broadcast", Chunks.equal([0, 0], whole=2), sends)
    with pytest.raises(VerificationError, match="chunk 1 never gets to gpu2"):
        verify(made)
