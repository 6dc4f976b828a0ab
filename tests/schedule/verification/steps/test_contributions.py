"""Sums: every contribution once, whatever is sent and added."""

import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import Chunks, Send, verify
from forestcoll.schedule.verification.steps import contributions
from forestcoll.topology import load_topology
from tests.schedule.made.programs import by_hand
from tests.schedule.made.steps import SCHEDULES

COMPLETE = load_topology("complete:nodes=3")


def test_a_contribution_counted_twice_is_named() -> None:
    """0 adds 1's part, and then 1's part comes again with 2's."""
    sends = [Send(0, 0, 1, 0, True), Send(0, 0, 1, 2, True), Send(1, 0, 2, 0, True)]
    made = by_hand(COMPLETE, "reduce", Chunks.equal([0], whole=1), sends)
    with pytest.raises(VerificationError, match="contribution of gpu1 is counted twice"):
        verify(made)


def test_two_replacements_at_once_are_refused() -> None:
    """Which of two copies would stay is not said."""
    sums = [Send(0, 0, 1, 0, True), Send(1, 0, 2, 0, True)]
    copies = [Send(2, 0, 0, 1), Send(2, 0, 0, 2), Send(2, 0, 2, 1)]
    made = by_hand(COMPLETE, "allreduce", Chunks.equal([-1], whole=1), sums + copies)
    with pytest.raises(VerificationError, match="has that already or gets it twice"):
        verify(made)
    wiped = [Send(2, 0, 0, 1), Send(2, 0, 2, 1), Send(3, 0, 2, 0)]
    made = by_hand(COMPLETE, "reduce", Chunks.equal([0], whole=1), sums + wiped)
    with pytest.raises(VerificationError, match="replaces the same chunk"):
        verify(made)


def test_the_order_of_arrivals_within_a_step_must_not_matter() -> None:
    """A copy and a sum for one chunk in one step: the copy might wipe the sum out."""
    sends = [Send(0, 0, 2, 0, True), Send(1, 0, 0, 2), Send(1, 0, 1, 2, True)]
    made = by_hand(COMPLETE, "reduce", Chunks.equal([2], whole=1), sends)
    with pytest.raises(VerificationError, match="replaces the same chunk"):
        verify(made)


def test_a_contribution_beyond_the_first_eight_is_missed() -> None:
    """Ten GPUs: 9 gives its part to 1 after 1 has sent its own to 0, where 9's is missing then."""
    ten = load_topology("complete:nodes=10")
    sends = [Send(0, 0, v, 0, True) for v in range(1, 9)]
    made = by_hand(ten, "reduce", Chunks.equal([0], whole=1), [*sends, Send(1, 0, 9, 1, True)])
    with pytest.raises(VerificationError, match="sum at gpu0 lacks the contribution of gpu9"):
        verify(made)
    made = by_hand(ten, "reduce", Chunks.equal([0], whole=1), [*sends, Send(1, 0, 9, 0, True)])
    assert verify(made).steps == 2


@pytest.mark.parametrize("block_bytes", [1, 1000])
def test_atoms_in_blocks_of_any_size(block_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reductions are proved, and a lacking part is named, whether looked at together or not."""
    monkeypatch.setattr(contributions, "_BLOCK_BYTES", block_bytes)
    for name in ("ring reduce-scatter", "ring allreduce"):
        assert verify(SCHEDULES[name]())
    chunks = Chunks.equal([0, 1, 2], whole=3)
    sums = [Send(0, v, u, v, True) for v in range(3) for u in range(3) if u != v]
    assert verify(by_hand(COMPLETE, "reduce-scatter", chunks, sums))
    late = [*(one for one in sums if (one.chunk, one.tail) != (2, 0)), Send(1, 2, 0, 1, True)]
    with pytest.raises(
        VerificationError, match="chunk 2: the sum at gpu2 lacks the contribution of gpu0"
    ):
        verify(by_hand(COMPLETE, "reduce-scatter", chunks, late))


@pytest.mark.parametrize(("root", "silent"), [(0, 2), (1, 2), (2, 0)])
def test_a_silent_gpu_of_a_reduce_is_named_with_the_root(root: int, silent: int) -> None:
    """Three GPUs; the one that is neither silent nor the root sends its part there."""
    sends = [Send(0, 0, 3 - root - silent, root, True)]
    made = by_hand(COMPLETE, "reduce", Chunks.equal([root], whole=1), sends)
    with pytest.raises(
        VerificationError, match=f"sum at gpu{root} lacks the contribution of gpu{silent}"
    ):
        verify(made)


@pytest.mark.parametrize(("silent", "at"), [(0, 1), (1, 0), (2, 0)])
def test_a_silent_gpu_of_an_allreduce_is_named_with_another(silent: int, at: int) -> None:
    """Three GPUs, two of which exchange their parts."""
    one, other = (v for v in range(3) if v != silent)
    sends = [Send(0, 0, one, other, True), Send(0, 0, other, one, True)]
    made = by_hand(COMPLETE, "allreduce", Chunks.equal([-1], whole=1), sends)
    with pytest.raises(
        VerificationError, match=f"sum at gpu{at} lacks the contribution of gpu{silent}"
    ):
        verify(made)


def test_a_second_chunk_that_lacks_a_part_is_named() -> None:
    """GPU 2 sends its part of chunk 0 and none of chunk 1."""
    sends = [Send(0, 0, 1, 0, True), Send(0, 0, 2, 0, True), Send(0, 1, 1, 0, True)]
    made = by_hand(COMPLETE, "reduce", Chunks.equal([0, 0], whole=2), sends)
    with pytest.raises(
        VerificationError, match="chunk 1: the sum at gpu0 lacks the contribution of gpu2"
    ):
        verify(made)


@pytest.mark.parametrize(("complete_at", "lacks"), [(0, (1, 0)), (1, (0, 1)), (2, (0, 1))])
def test_an_allreduce_is_complete_at_every_gpu(complete_at: int, lacks: tuple[int, int]) -> None:
    """All send something: the two others to one, and that one its own part to the last of them."""
    others = [v for v in range(3) if v != complete_at]
    sends = [Send(0, 0, v, complete_at, True) for v in others]
    sends.append(Send(0, 0, complete_at, others[1], True))
    made = by_hand(COMPLETE, "allreduce", Chunks.equal([-1], whole=1), sends)
    at = others[0]
    missing = min(v for v in range(3) if v != at)
    assert (at, missing) == lacks
    with pytest.raises(
        VerificationError, match=f"sum at gpu{at} lacks the contribution of gpu{missing}"
    ):
        verify(made)


def test_a_copy_may_not_wipe_out_a_sum_that_is_complete() -> None:
    """GPU 0 has all three parts after the first step; then GPU 1 puts its own in their place."""
    sums = [Send(0, 0, 1, 0, True), Send(0, 0, 2, 0, True)]
    assert verify(by_hand(COMPLETE, "reduce", Chunks.equal([0], whole=1), sums)).steps == 1
    made = by_hand(COMPLETE, "reduce", Chunks.equal([0], whole=1), [*sums, Send(1, 0, 1, 0)])
    with pytest.raises(VerificationError, match="sum at gpu0 lacks the contribution of gpu0"):
        verify(made)
