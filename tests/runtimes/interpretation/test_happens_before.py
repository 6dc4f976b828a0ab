"""Order that holds whatever the speeds."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.interpretation import happens_before as module
from forestcoll.runtimes.interpretation.happens_before import happens_before, neighbours
from forestcoll.runtimes.interpretation.precedence import Edges, levels_of
from tests.random_topologies import rounds

SIZE = 12


@settings(max_examples=rounds(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=20),
    st.lists(st.integers(0, 3), min_size=SIZE, max_size=SIZE),
    st.booleans(),
)
def test_clocks_agree_with_a_search(
    pairs: list[tuple[int, int]], blocks: list[int], in_parts: bool
) -> None:
    """Four threadblocks of two GPUs with twelve actions in any order, against a closure."""
    block = np.sort(np.array(blocks))
    forward = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    forward |= {(n, n + 1) for n in range(SIZE - 1) if block[n] == block[n + 1]}
    ordered = sorted(forward, key=lambda pair: pair[1])
    tails, heads = (np.array([p[end] for p in ordered], dtype=np.int64) for end in (0, 1))
    edges = Edges(tails, heads, np.zeros_like(tails))
    reach = np.zeros((SIZE, SIZE), dtype=bool)
    for tail, head in ordered:
        reach[:, head] |= reach[:, tail]
        reach[tail, head] = True
    gpu = block // 2
    first, second = (found.ravel() for found in np.meshgrid(range(SIZE), range(SIZE)))
    asked = (gpu[first] == gpu[second]) & (first != second)
    with pytest.MonkeyPatch.context() as patch:
        if in_parts:
            patch.setattr(module, "_BYTES", 4 * SIZE)  # one column at a time
        found = happens_before(
            edges, levels_of(edges, SIZE), block, gpu, first[asked], second[asked]
        )
    assert (found == reach[first, second][asked]).all()


def test_excessive_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two actions of two threadblocks are four entries."""
    monkeypatch.setattr(module, "_MOST_WORK", 3)
    none = np.zeros(0, dtype=np.int64)
    two = np.arange(2)
    with pytest.raises(InvalidScheduleError, match="too many to check"):
        happens_before(Edges(none, none, none), two * 0, two, two * 0, two[:1], two[1:])


ACCESSES = st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=12).map(
    lambda some: sorted(some, key=lambda one: one[0])
)


def pairs_of(accesses: list[tuple[int, bool]]) -> list[tuple[int, int]]:
    cell = np.array([one for one, _ in accesses], dtype=np.int64)
    writes = np.array([write for _, write in accesses], dtype=np.bool_)
    return sorted(zip(*(ends.tolist() for ends in neighbours(cell, writes)), strict=True))


@given(ACCESSES)
def test_chains_of_pairs_order_all_pairs_with_a_write(
    accesses: list[tuple[int, bool]],
) -> None:
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
