"""Pairs of accesses that decide whether a program races."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.runtimes.interpretation.neighbours import neighbours

ACCESSES = st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=12).map(
    lambda some: sorted(some, key=lambda one: one[0])
)


def pairs_of(accesses: list[tuple[int, bool]]) -> list[tuple[int, int]]:
    cell = np.array([one for one, _ in accesses], dtype=np.int64)
    writes = np.array([write for _, write in accesses], dtype=np.bool_)
    return sorted(zip(*(ends.tolist() for ends in neighbours(cell, writes)), strict=True))


@given(ACCESSES)
def test_chains_of_neighbours_order_all_conflicts(accesses: list[tuple[int, bool]]) -> None:
    """No pair is of two cells or of two reads, and what they imply is each pair with a write."""
    size = len(accesses)
    reached = np.zeros((size, size), dtype=bool)
    for one, other in pairs_of(accesses):
        assert one < other
        assert accesses[one][0] == accesses[other][0]
        assert accesses[one][1] or accesses[other][1]
        reached[one, other] = True
    for middle in range(size):
        reached |= np.outer(reached[:, middle], reached[middle])
    for one in range(size):
        for other in range(one + 1, size):
            same = accesses[one][0] == accesses[other][0]
            if same and (accesses[one][1] or accesses[other][1]):
                assert reached[one, other]


def test_a_chain_of_writes_is_tested_link_by_link() -> None:
    """A read between two writes is tested with both, and the writes with each other."""
    assert pairs_of([(0, True)] * 4) == list(pairwise(range(4)))
    assert pairs_of([(0, True), (0, False), (0, True)]) == [(0, 1), (0, 2), (1, 2)]
