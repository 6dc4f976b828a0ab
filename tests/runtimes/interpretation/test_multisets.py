"""Sums of inputs, distinguished exactly."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.runtimes.interpretation.multisets import NOTHING, Multisets
from tests.random_topologies import rounds


def total(multisets: Multisets, *numbers: int) -> int:
    found = np.array([numbers[0]])
    for number in numbers[1:]:
        found = multisets.add(found, np.array([number]))
    return int(found[0])


def inputs(multisets: Multisets, *pairs: tuple[int, int]) -> list[int]:
    return [int(multisets.one(gpu, np.array([chunk]))[0]) for gpu, chunk in pairs]


def test_one_chunk_of_everyone_is_the_sum_of_all() -> None:
    """In any order; of another position, or with one twice or missing, it is not."""
    multisets = Multisets(3, 2)
    a, b, c = inputs(multisets, (0, 1), (1, 1), (2, 1))
    for numbers in ((a, b, c), (c, a, b)):
        assert multisets.is_sum_of_all(total(multisets, *numbers), 1)
        assert not multisets.is_sum_of_all(total(multisets, *numbers), 0)
    for numbers in ((a, b), (a, b, b, c), (a, b, c, NOTHING), (NOTHING,)):
        assert not multisets.is_sum_of_all(total(multisets, *numbers), 1)


def test_the_content_of_a_multiset_is_described() -> None:
    """Runs of GPUs are one word, repetitions are counted, other slices are named."""
    multisets = Multisets(6, 4)
    numbers = inputs(multisets, *((gpu, 3) for gpu in (0, 1, 2, 4, 4)))
    assert multisets.in_words(total(multisets, *numbers), 4, 0) == (
        "input chunk 3 of GPUs 0-2, 4 (2 times)"
    )
    assert multisets.in_words(numbers[0], 2, 0) == "input chunk 1 of another slice of GPU 0"
    mixed = total(multisets, *inputs(multisets, (0, 0), (0, 1)))
    assert multisets.in_words(mixed, 4, 0) == "a sum of chunks of unlike positions"
    assert multisets.in_words(NOTHING, 4, 0) == "nothing that was ever written"


def test_doubling_without_end_stays_small() -> None:
    """2^40 times one input is more than is counted, and stays so."""
    multisets = Multisets(2, 1)
    (one,) = inputs(multisets, (0, 0))
    for _ in range(40):
        one = total(multisets, one, one)
    assert multisets.in_words(one, 1, 0) == "a sum with very many repetitions"
    assert multisets.in_words(total(multisets, one, one), 1, 0).endswith("repetitions")


@settings(max_examples=rounds(40), deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_sums_are_those_of_counters(gpus: list[int], random: object) -> None:
    """Added up in any tree, against a Counter."""
    multisets = Multisets(5, 1)
    numbers = inputs(multisets, *((gpu, 0) for gpu in gpus))
    while len(numbers) > 1:
        one, other = (numbers.pop(random.randrange(len(numbers))) for _ in range(2))  # type: ignore[attr-defined]
        numbers.append(total(multisets, one, other))
    due = Counter(gpus)
    assert multisets.is_sum_of_all(numbers[0], 0) is (due == Counter(range(5)))
    words = multisets.in_words(numbers[0], 1, 0)
    for gpu, often in due.items():
        assert often == 1 or f"({often} times)" in words, (gpu, words)
