"""Order that holds whatever the speeds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.interpretation import happens_before as module
from forestcoll.runtimes.interpretation.happens_before import happens_before
from forestcoll.runtimes.interpretation.precedence import Edges, levels_of

SIZE = 12


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=20),
    st.lists(st.integers(0, 3), min_size=SIZE, max_size=SIZE),
    st.booleans(),
)
def test_clocks_find_what_a_search_finds(
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


def test_what_is_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two actions of two threadblocks are four entries."""
    monkeypatch.setattr(module, "_MOST_WORK", 3)
    none = np.zeros(0, dtype=np.int64)
    two = np.arange(2)
    with pytest.raises(InvalidScheduleError, match="too many to check"):
        happens_before(Edges(none, none, none), two * 0, two, two * 0, two[:1], two[1:])
