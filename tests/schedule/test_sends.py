"""Transfers: gathered, sorted and joined."""

import random
from dataclasses import replace

import numpy as np
import pytest

from forestcoll.schedule import Send, Sends
from forestcoll.schedule.sends import Chunks, ascending
from tests.schedule.made.steps import doubling


def test_the_order_of_transfers_does_not_matter() -> None:
    """They are sorted when they are gathered."""
    made = doubling(8)
    rows = [
        Send(*map(int, row), reduce=True)
        for row in zip(
            made.sends.step, made.sends.chunk, made.sends.tail, made.sends.head, strict=True
        )
    ]
    random.Random(0).shuffle(rows)
    again = Sends.of(rows)
    assert np.array_equal(again.tail, made.sends.tail)
    assert np.array_equal(again.step, made.sends.step)


def test_chunks_of_one_size_belong_to_their_roots() -> None:
    chunks = Chunks.equal([2, 0], whole=6, size=3)
    assert (len(chunks), chunks.whole) == (2, 6)
    assert chunks.size.tolist() == [3, 3]
    assert chunks.root.tolist() == [2, 0]
    assert chunks.target.tolist() == [-1, -1]


def test_transfers_are_sorted_by_step_chunk_ends_and_first_unit() -> None:
    """Whatever belongs to a row moves with it."""
    rows = [
        Send(1, 0, 0, 1, first=0, amount=5, path=7),
        Send(0, 2, 1, 0, first=3, amount=1),
        Send(0, 2, 1, 0, first=1, amount=2, reduce=True),
        Send(0, 2, 0, 3, first=9, amount=1),
    ]
    sends = Sends.of(rows)
    assert sends.interval is not None
    assert sends.interval.first.tolist() == [9, 1, 3, 0]
    assert sends.interval.amount.tolist() == [1, 2, 1, 5]
    assert sends.reduce.tolist() == [False, True, False, False]
    assert sends.paths.tolist() == [-1, -1, -1, 7]
    assert ascending([sends.step, sends.chunk, sends.tail, sends.head, sends.interval.first])


def test_whole_chunks_need_not_be_written_out() -> None:
    """Unless some transfers carry a part: then all must say what."""
    sends = Sends.of([Send(0, 1, 0, 1), Send(1, 0, 1, 2)])
    assert sends.interval is None
    chunks = replace(Chunks.equal([0, 1], 9), size=np.array([4, 5]))
    written = sends.intervals(chunks)
    assert (written.first.tolist(), written.amount.tolist()) == ([0, 0], [5, 4])
    with pytest.raises(ValueError, match="some transfers say what they carry"):
        Sends.of([Send(0, 0, 0, 1), Send(0, 1, 0, 1, amount=2)])


def test_joined_transfers_follow_each_other() -> None:
    """Whole chunks are written out beside parts, if their sizes are known."""
    whole = Sends.of([Send(0, 0, 0, 1)])
    part = Sends.of([Send(1, 0, 1, 2, first=1, amount=2, path=4)])
    chunks = Chunks.equal([0], 3, size=3)
    both = Sends.joined([whole, part], chunks)
    assert both.interval is not None
    assert both.interval.first.tolist() == [0, 1]
    assert both.interval.amount.tolist() == [3, 2]
    assert both.paths.tolist() == [-1, 4]
    assert both.head.tolist() == [1, 2]
    alone = Sends.joined([whole, whole])
    assert (alone.interval, alone.path) == (None, None)
    with pytest.raises(ValueError, match="some transfers say what they carry"):
        Sends.joined([whole, part])


@pytest.mark.parametrize(
    ("columns", "sorted_"),
    [
        ([[0, 0, 1], [1, 2, 0]], True),
        ([[0, 0, 1], [2, 1, 0]], False),
        ([[1, 0], [0, 1]], False),
        ([[3, 3], [1, 1]], True),
        ([[]], True),
    ],
)
def test_rows_ascend_by_the_first_column(columns: list[list[int]], sorted_: bool) -> None:
    assert ascending([np.array(column) for column in columns]) is sorted_
