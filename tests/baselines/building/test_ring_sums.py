"""Sums along rings: who has what after each step, hops and transfers by hand."""

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from baselines.building.ring_sums import (
    Step,
    all_to_all,
    exchanged,
    fold_of,
    from_owner,
    is_foldable,
    to_owner,
)


def ring(length: int) -> np.ndarray:
    return np.arange(length, dtype=np.int32)


def after(length: int, steps: Iterable[Step]) -> list[frozenset[int]]:
    """Summands of each GPU after all steps; none is ever counted twice."""
    held = [frozenset([place]) for place in range(length)]
    for step in steps:
        before = list(held)
        for tail, head in zip(step.tails.tolist(), step.heads.tolist(), strict=True):
            if step.reduce:
                assert not held[head] & before[tail]
                held[head] |= before[tail]
            else:
                held[head] = before[tail]
    return held


def hops(length: int, steps: Iterable[Step]) -> int:
    """The longest transfer of each step, in all."""
    return sum(int(_distances(length, step).max()) for step in steps)


def used(length: int, steps: Iterable[Step]) -> int:
    """Links of all transfers."""
    return sum(int(_distances(length, step).sum()) for step in steps)


def _distances(length: int, step: Step) -> np.ndarray:
    apart = (step.heads - step.tails) % length
    return np.minimum(apart, length - apart)


def pairs(step: Step) -> set[tuple[int, int]]:
    return set(zip(step.tails.tolist(), step.heads.tolist(), strict=True))


@pytest.mark.parametrize("length", [2, 3, 4, 5, 6, 8, 10, 12, 16, 18, 20, 24, 30, 40])
def test_exchanges_bring_everyone_the_sum_in_the_fewest_hops(length: int) -> None:
    steps = [*exchanged(ring(length))]
    assert after(length, steps) == [frozenset(range(length))] * length
    assert hops(length, steps) == length // 2


def test_an_exchange_of_eight_by_hand() -> None:
    """A pair's odd GPU gets the pair before, its even GPU the pair behind; then both sides swap.

    8 transfers over one link, 8 over two, 8 over one: 32 links. If each pair's nearer GPU sent to
    all others, 8 would be over one, two and three links each: 56 with those of the pairs.
    """
    first, second, third = exchanged(ring(8))
    assert {(0, 1), (1, 0), (6, 7)} < pairs(first)
    assert {(1, 3), (7, 1), (2, 0), (0, 6)} < pairs(second)
    assert {(1, 2), (2, 1), (7, 0)} < pairs(third)
    assert used(8, [first, second, third]) == 32
    assert used(10, exchanged(ring(10))) == 10 + 10 * (1 + 2 + 3 + 4)
    assert used(16, exchanged(ring(16))) == 16 * (1 + 2 + 4 + 1)


def test_three_pairs_come_from_those_at_two_and_four() -> None:
    """Of 12 GPUs each needs the pairs of its side, three with its own, from the same step."""
    steps = [*exchanged(ring(12))]
    assert len(steps) == 3
    assert {(1, 5), (3, 5), (4, 0), (2, 0)} < pairs(steps[1])


@pytest.mark.parametrize("length", [6, 8, 10, 12, 14, 16, 30])
def test_the_ends_of_both_halves_get_the_sum_as_soon_as_in_an_exchange(length: int) -> None:
    """One hop a step. In each half all but two send inwards, the middle swaps if it has two GPUs,
    and as many get copies; with the ends, that is 2 (half - 1) for each half, and four.

    The copies of the owners then take the hops of the way to the middle.
    """
    fold, whole = fold_of(ring(length)), frozenset(range(length))
    held = after(length, fold.sums)
    half = length // 2
    assert [place for place in range(length) if held[place] == whole] == fold.owners
    assert fold.owners == [0, half - 1, half, length - 1]
    assert hops(length, fold.sums) == len(fold.sums) == half
    assert used(length, fold.sums) == 4 * (half - 1) + 4
    assert after(length, [*fold.sums, *fold.copies]) == [whole] * length
    assert len(fold.copies) == (half - 1) // 2
    assert used(length, fold.copies) == length - 4


@pytest.mark.parametrize("length", [2, 3, 4, 7])
def test_short_and_odd_rings_exchange(length: int) -> None:
    fold = fold_of(ring(length))
    assert not is_foldable(length)
    assert [pairs(one) for one in fold.sums] == [pairs(one) for one in exchanged(ring(length))]
    assert (fold.owners, fold.copies) == ([*range(length)], [])


@pytest.mark.parametrize(("length", "own"), [(2, 1), (5, 3), (8, 0), (8, 5)])
def test_sums_pass_to_an_owner_and_back(length: int, own: int) -> None:
    there, back = [*to_owner(ring(length), own)], [*from_owner(ring(length), own)]
    whole = frozenset(range(length))
    assert after(length, there)[own] == whole
    assert after(length, [*there, *back]) == [whole] * length
    assert used(length, there) == used(length, back) == length - 1
    assert hops(length, there) == hops(length, back) == length // 2


def test_owners_load_all_links_equally() -> None:
    """Opposite of an owner sums leave on one side, and copies come in on the other."""
    loads = np.zeros((8, 8), dtype=int)
    for own in range(8):
        for step in (*to_owner(ring(8), own), *from_owner(ring(8), own)):
            np.add.at(loads, (step.tails, step.heads), 1)
    assert loads[loads > 0].tolist() == [7] * 16


def test_everyone_sends_to_everyone_along_the_first_axis() -> None:
    """Two lines of three: 0, 2, 4 and 1, 3, 5."""
    step = all_to_all(np.arange(6, dtype=np.int32).reshape(3, 2))
    odd: Sequence[int] = (1, 3, 5)
    lines = [(a, b) for line in ((0, 2, 4), odd) for a in line for b in line if a != b]
    assert pairs(step) == set(lines)
