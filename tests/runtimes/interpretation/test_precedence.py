"""The level of each action, above all of its predecessors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.interpretation import precedence
from forestcoll.runtimes.interpretation.precedence import Edges, Reason, levels_of
from tests.random_topologies import rounds


def test_edges_into_an_action_are_a_range() -> None:
    heads = np.array([0, 2, 2, 5])
    edges = Edges(np.array([-1, 0, 1, 2]), heads, np.full(4, Reason.DATA))
    assert [list(edges.into(action)) for action in (0, 1, 2, 5)] == [[0], [], [1, 2], [3]]
    assert edges.kept(heads == 2).tail.tolist() == [0, 1]


@settings(max_examples=rounds(50), deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 9), st.integers(0, 9)), max_size=25))
def test_levels_are_those_of_the_longest_ways(pairs: list[tuple[int, int]]) -> None:
    """Against a plain search; what is in a cycle, after one, or after nothing has none."""
    pairs = sorted(set(pairs), key=lambda pair: pair[1])
    tails, heads = (np.array([pair[end] for pair in pairs], dtype=np.int64) for end in (0, 1))
    levels: dict[int, int] = {}
    for _ in range(10):
        for node in range(10):
            before = [tail for tail, head in pairs if head == node]
            if all(tail in levels for tail in before):
                levels[node] = 1 + max((levels[tail] for tail in before), default=-1)
    found = levels_of(Edges(tails, heads, np.zeros_like(tails)), 10)
    assert found.tolist() == [levels.get(node, -1) for node in range(10)]


def test_a_chain_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred levels would do, had it not one more."""
    monkeypatch.setattr(precedence, "MOST_LEVELS", 100)
    heads = np.arange(1, 101)
    chain = Edges(heads - 1, heads, np.zeros_like(heads))
    assert levels_of(chain.kept(heads < 100), 100).max() == 99
    with pytest.raises(InvalidScheduleError, match="wait for each other in turn"):
        levels_of(chain, 101)
