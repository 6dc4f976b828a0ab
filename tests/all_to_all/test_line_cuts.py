"""Cuts of lines, and amounts divided over ports."""

import numpy as np
import pytest

from forestcoll.all_to_all.line_cuts import cut_both, divided, in_order


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_two_divisions_of_a_line_by_hand() -> None:
    """Pieces 4 0 3 and 1 1 5 of a line of 7: cuts at 1, 2, 4, 7."""
    parts = cut_both(ints(4, 0, 3), ints(1, 1, 5))
    assert [part.tolist() for part in parts] == [[0, 0, 0, 2], [0, 1, 2, 2], [1, 1, 2, 3]]


def test_a_line_of_no_length_has_no_parts() -> None:
    assert [part.tolist() for part in cut_both(ints(0, 0), ints(0))] == [[], [], []]
    assert [part.tolist() for part in cut_both(ints(), ints())] == [[], [], []]


def test_two_groups_by_hand() -> None:
    """Own ports first; of group 0 rows 0 and 1 share port 0, of which row 0 leaves 1 of 3.

    Row 1 has 4: 1 there and 3 at port 1, where row 2, without a port of its own, adds 1. In group
    1 row 3 has 2 and port 2 carries them all.
    """
    row, port, amount = divided(
        ints(2, 4, 1, 2), ints(0, 0, 0, 1), ints(0, 0, -1, 2), ints(3, 4, 2), ints(0, 0, 1)
    )
    assert list(zip(row.tolist(), port.tolist(), amount.tolist(), strict=True)) == [
        (0, 0, 2),
        (1, 0, 1),
        (1, 1, 3),
        (2, 1, 1),
        (3, 2, 2),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_random_amounts_arrive_and_fill_every_port(seed: int) -> None:
    draw = np.random.default_rng(seed)
    ports = draw.integers(1, 5, draw.integers(1, 5))
    group_of_port = np.repeat(np.arange(len(ports)), ports)
    room = draw.integers(0, 30, len(group_of_port))
    rows, groups, own = [], [], []
    for number in range(len(ports)):
        total = int(room[group_of_port == number].sum())
        cuts = np.sort(draw.integers(0, total + 1, 3))
        rows += np.diff([0, *cuts, total]).tolist()
        groups += [number] * 4
        own += draw.choice([-1, *np.flatnonzero(group_of_port == number)], 4).tolist()
    amount, group, mine = ints(*rows), ints(*groups), ints(*own)
    row, port, part = divided(amount, group, mine, room, group_of_port)
    assert (np.bincount(row, part, len(amount)) == amount).all()
    assert (np.bincount(port, part, len(room)) == room).all()
    assert (part > 0).all()
    assert (np.diff(row) >= 0).all()
    assert (group[row] == group_of_port[port]).all()
    at_home = np.bincount(port[mine[row] == port], part[mine[row] == port], len(room))
    wanted = np.bincount(mine[mine >= 0], amount[mine >= 0], len(room))
    assert (at_home == np.minimum(wanted, room)).all()


def test_keys_are_sorted_by_their_digits_as_numpy_sorts_them() -> None:
    """Of 16 bits each; ascending keys stay as they are."""
    draw = np.random.default_rng(5)
    for count in (1, 3, 2**16, 2**16 + 1, 2**40):
        keys = draw.integers(0, count, 500)
        assert np.array_equal(in_order(keys, count), np.argsort(keys, kind="stable"))
    assert in_order(ints(1, 1, 4), 5).tolist() == [0, 1, 2]


def test_the_shorter_division_may_be_either() -> None:
    """Cut the other way round, the parts are the same."""
    draw = np.random.default_rng(6)
    for _ in range(50):
        long = draw.integers(0, 4, 30)
        ends = np.sort(draw.integers(0, long.sum() + 1, 5))
        short = np.diff(np.concatenate([[0], ends, [long.sum()]]))
        segment, piece, length = cut_both(long, short)
        other, one, same = cut_both(short, long)
        assert np.array_equal(segment, one)
        assert np.array_equal(piece, other)
        assert np.array_equal(length, same)
        assert np.array_equal(np.bincount(segment, length, len(long)), long)
        assert np.array_equal(np.bincount(piece, length, len(short)), short)
