"""One call at one rank, by hand."""

import numpy as np
import pytest

from forestcoll.runtimes.python_modules.rank_run import (
    RankRun,
    Schedule,
    hashed,
    message_lengths,
    read_transfers,
    run_schedule,
    wrong_elements,
)
from tests.runtimes.python_modules.in_process import due, random_given

CHAIN = """
# number  step  sender  receiver  begin  end  action    needs
       0     0       0         1      0    1  pass-add
       1     1       1         2      0    1  add       0
"""
"""A reduce of three ranks along a line, to rank 2."""


def empty(length: int) -> np.ndarray:
    return np.full(length, -7)


def call(rank: int, given: list[int], collective: str = "reduce", table: str = CHAIN) -> RankRun:
    schedule = Schedule(collective, 3, 2, 1, read_transfers(table))
    return RankRun(schedule, rank, np.array(given), empty)


def test_the_middle_of_a_chain_adds_what_comes_to_its_own() -> None:
    """It receives 1, 2 in a first step, and sends the sum with its own 10, 20 in a second."""
    middle = call(1, [10, 20])
    steps = middle.exchanges()
    sends, receives = next(steps)
    assert (sends, [peer for peer, _ in receives]) == ([], [0])
    receives[0][1][:] = [1, 2]
    sends, receives = next(steps)
    assert [(peer, array.tolist()) for peer, array in sends] == [(2, [11, 22])]
    assert receives == []
    assert next(steps, None) is None
    assert len(middle.result) == 0


def test_the_root_adds_at_the_end() -> None:
    root = call(2, [100, 200])
    steps = root.exchanges()
    _, receives = next(steps)
    receives[0][1][:] = [11, 22]
    assert next(steps, None) is None
    assert root.result.tolist() == [111, 222]


def test_data_that_replace_the_result_come_straight_into_it() -> None:
    """A broadcast; whoever passes it on sends from the result."""
    table = CHAIN.replace("pass-add", "place").replace("add", "place")
    middle = RankRun(
        Schedule("broadcast", 3, 0, 1, read_transfers(table)), 1, np.array([0, 0]), empty
    )
    steps = middle.exchanges()
    _, receives = next(steps)
    receives[0][1][:] = [5, 6]
    assert middle.result.tolist() == [5, 6]
    sends, _ = next(steps)
    assert sends[0][1].base is middle.result


def test_transfers_without_elements_are_left_out() -> None:
    """Of three units of two elements, the first is empty: it begins and ends at element 0."""
    table = "0 0 0 1 0 1 place\n1 0 0 1 1 2 place\n2 0 0 1 2 3 place\n"
    schedule = Schedule("broadcast", 2, 0, 3, read_transfers(table))
    sends, _ = next(RankRun(schedule, 0, np.array([5, 6]), empty).exchanges())
    assert [array.tolist() for _, array in sends] == [[5], [6]]


def test_lengths_of_messages_are_those_of_their_units() -> None:
    """Three units of seven elements; each of two ranks gives seven in a gather, so 14 in all."""
    table = read_transfers("0 0 0 1 0 1 place\n1 0 0 1 1 3 place\n")
    assert message_lengths(Schedule("broadcast", 2, 0, 3, table), 7) == {0: 2, 1: 5}
    assert message_lengths(Schedule("allgather", 2, -1, 3, table), 7) == {0: 4, 1: 10}


def test_shares_must_be_equal() -> None:
    with pytest.raises(ValueError, match="4 elements cannot be divided among 3 ranks"):
        call(0, [1, 2, 3, 4], "reduce-scatter")


def test_lines_that_begin_with_a_cross_are_comments() -> None:
    assert [one.needs for one in read_transfers(CHAIN).values()] == [(), (0,)]


class Alone:
    """A communicator of one rank."""

    rank = 0

    def empty(self, given: np.ndarray, length: int) -> np.ndarray:
        return empty(length)


def test_one_rank_alone_has_its_own_part() -> None:
    schedule = Schedule("allreduce", 1, -1, 1, {})
    assert run_schedule(schedule, np.array([3, 4]), Alone()).tolist() == [3, 4]


def test_neighbouring_numbers_have_unlike_hashes() -> None:
    found = hashed(np.arange(10_000))
    assert len(set(found.tolist())) == 10_000
    assert len(set(np.diff(found).tolist())) > 1


@pytest.mark.parametrize(
    "collective",
    ["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"],
)
def test_wrong_elements_are_counted(collective: str) -> None:
    """None in what is due; each that differs; those that are too many."""
    given = random_given(3, 6)
    schedule = Schedule(collective, 3, 1, 1, {})
    for rank, wanted in enumerate(due(collective, given, root=1)):
        assert wrong_elements(schedule, rank, wanted, given.__getitem__) == 0
        if len(wanted):
            spoilt = wanted.copy()
            spoilt[0] += 1
            assert wrong_elements(schedule, rank, spoilt, given.__getitem__) == 1
    longer = np.append(due("reduce", given, root=1)[0], 5)
    assert wrong_elements(Schedule("reduce", 3, 1, 1, {}), 0, longer, given.__getitem__) == 1
