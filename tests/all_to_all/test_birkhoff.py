"""Matchings of boxes, against what they must add up to and against all matchings."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from forestcoll.all_to_all.birkhoff import (
    Matching,
    _Bottleneck,
    _largest_matching,
    birkhoff,
    few_matchings,
    shortened,
    time_of,
)
from forestcoll.errors import InvalidParameterError
from tests.baselines.once_each import every_row

ALPHAS = (0, 1, 30, Fraction(10**9, 7))


def random_amounts(boxes: int, seed: int) -> np.ndarray:
    """Uniform, Zipf, sparse, equal, or one hot row or column."""
    draw = np.random.default_rng(seed)
    shape = (boxes, boxes)
    even = draw.integers(0, 1000, shape)
    kinds = (
        even,
        (10**6 / draw.permutation(np.arange(1, boxes**2 + 1)) ** 1.3).astype(int).reshape(shape),
        even * (draw.random(shape) < 0.3),
        np.full(shape, 7),
        np.where(np.arange(boxes) == 0, 10**13 // boxes, even),
        np.where(np.arange(boxes)[:, None] == boxes - 1, 10**13 // boxes, even % 2),
    )
    made = np.array(kinds[seed % len(kinds)])
    np.fill_diagonal(made, 0)
    return made


def check(amounts: np.ndarray, matchings: Sequence[Matching]) -> None:
    """All is sent, to one box and from one at a time, in the amount of the matching."""
    sent: Counter[tuple[int, int]] = Counter()
    for one in matchings:
        tails, heads, parts = zip(*one.sent, strict=True)
        assert len({*tails}) == len({*heads}) == len(one.sent)
        assert min(parts) > 0
        assert max(parts) == one.amount
        for tail, head, part in one.sent:
            sent[tail, head] += part
    boxes = range(len(amounts))
    assert dict(sent) == {
        (i, j): amounts[i, j] for i, j in product(boxes, boxes) if amounts[i, j] and i != j
    }


def longest_line(amounts: np.ndarray) -> int:
    return int(max(amounts.sum(axis=0).max(), amounts.sum(axis=1).max()))


CASES = [(boxes, seed) for boxes in (1, 2, 3, 5, 8) for seed in range(12)]


@pytest.mark.parametrize(("boxes", "seed"), CASES)
def test_matchings_take_as_long_as_the_fullest_box(boxes: int, seed: int) -> None:
    """And there are no more than Birkhoff's polytope has dimensions, and one."""
    amounts = random_amounts(boxes, seed)
    found = birkhoff(amounts)
    check(amounts, found)
    assert sum(one.amount for one in found) == longest_line(amounts)
    assert len(found) <= boxes**2 - 2 * boxes + 2
    assert found == birkhoff(amounts.tolist())


@pytest.mark.parametrize(("boxes", "seed"), every_row(4, CASES))
def test_fewer_matchings_are_chosen_by_their_latency(boxes: int, seed: int) -> None:
    amounts = random_amounts(boxes, seed)
    every = list(shortened(amounts))
    for found in every:
        check(amounts, found)
        assert sum(one.amount for one in found) >= longest_line(amounts)
    assert every[-1] == birkhoff(amounts)
    for alpha in ALPHAS:
        chosen = few_matchings(amounts, alpha)
        check(amounts, chosen)
        assert time_of(chosen, alpha) == min(time_of(one, alpha) for one in every)
    degree = max((amounts > 0).sum(axis=0).max(), (amounts > 0).sum(axis=1).max())
    assert len(every[0]) == degree  # what no decomposition is below
    assert len(few_matchings(amounts, 10**16)) == degree


def without_slack(boxes: int, seed: int) -> np.ndarray:
    """Rows and columns of equal sums."""
    draw = np.random.default_rng(seed)
    amounts = np.zeros((boxes, boxes), dtype=np.int64)
    for _ in range(2 * boxes):
        moved = np.roll(np.eye(boxes, dtype=np.int64), draw.integers(1, boxes), axis=1)
        amounts += moved * draw.integers(1, 50)
    return amounts


@pytest.mark.parametrize("seed", range(12))
def test_every_matching_has_the_largest_bottleneck_of_the_rest(seed: int) -> None:
    """Of all permutations."""
    left, everyone = without_slack(5, seed), np.arange(5)
    for found in birkhoff(left):
        best = max(int(left[everyone, list(one)].min()) for one in permutations(range(5)))
        assert found.amount == best
        for tail, head, part in found.sent:
            left[tail, head] -= part
    assert not left.any()


@pytest.mark.parametrize("seed", range(2))
def test_many_boxes_are_matched_together(seed: int) -> None:
    """More rows look for a pair at once than are searched for one by one."""
    amounts = random_amounts(40, seed)
    found = birkhoff(amounts)
    check(amounts, found)
    assert sum(one.amount for one in found) == longest_line(amounts)
    bottlenecks = [one.amount for one in found]
    assert bottlenecks == sorted(bottlenecks, reverse=True)


@pytest.mark.parametrize("seed", range(6))
def test_the_least_entry_of_each_matching_is_known(seed: int) -> None:
    """It never grows, so that pairs that still have it can stay."""
    whole = np.random.default_rng(seed).integers(1, 1000, (6, 6))
    bottleneck, everyone, before = _Bottleneck(whole), np.arange(6), int(whole.max())
    for _ in range(4):
        to = bottleneck.matching()
        assert bottleneck.least == whole[everyone, to].min() <= before
        before = bottleneck.least
        whole[everyone, to] -= before


@pytest.mark.parametrize(("boxes", "calls"), [(16, 0), (17, 1)])
def test_many_rows_are_matched_by_one_call(
    boxes: int, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond sixteen rows without a pair; the first matching of 17 boxes needs all of them."""
    found: list[int] = []

    def counted(support: Any) -> Any:
        found.append(len(support))
        return _largest_matching(support)

    monkeypatch.setattr("forestcoll.all_to_all.birkhoff._largest_matching", counted)
    _Bottleneck(np.ones((boxes, boxes), dtype=np.int64)).matching()
    assert len(found) == calls


def test_equal_amounts_are_one_rotation_after_another() -> None:
    """N - 1 matchings for any n; the largest bottleneck finds them unaided."""
    for boxes in (2, 5, 16):
        found = birkhoff(np.full((boxes, boxes), 9))
        assert [one.amount for one in found] == [9] * (boxes - 1)


def test_nothing_to_send_takes_no_matching() -> None:
    assert birkhoff([[5, 0], [0, 7]]) == few_matchings(np.zeros((3, 3), dtype=int), 1) == ()


@pytest.mark.parametrize(
    ("amounts", "message"),
    [
        ([[0, 1, 2], [1, 0, 2]], r"shape \(2, 3\)"),
        ([0, 1], r"shape \(2,\)"),
        ([[0, 0.5], [1, 0]], r"whole numbers"),
        ([[0, -1], [1, 0]], r"from 0 to 1e\+14"),
        ([[0, 10**15], [1, 0]], r"from 0 to 1e\+14"),
        ([[0, 10**20], [1, 0]], r"whole numbers"),
    ],
)
def test_other_matrices_are_refused(amounts: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        birkhoff(amounts)
    with pytest.raises(InvalidParameterError, match=message):
        next(shortened(amounts))


def test_negative_latencies_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="alpha is -1"):
        few_matchings([[0, 1], [1, 0]], -1)
