"""Rounds of exchanges, by hand."""

import numpy as np

from baselines.building.peer_rounds import gathered, rho, summed

PAIRS = np.array([1, 0, 3, 2], dtype=np.int32)
ACROSS = np.array([2, 3, 0, 1], dtype=np.int32)


def test_data_doubles_with_one_peer_a_round() -> None:
    """4 places: 1 chunk each, then 2 each; place 2 is rank 0."""
    first, second = gathered([[PAIRS], [ACROSS]], np.array([2, 3, 0, 1], dtype=np.int32), 10)
    assert [len(first), len(second)] == [4, 8]
    got = {(c, t, h) for c, t, h in zip(second.chunk, second.tail, second.head, strict=True)}
    assert {(10, 0, 2), (11, 0, 2), (12, 2, 0), (13, 2, 0)} <= got


def test_data_triples_with_two_peers_a_round() -> None:
    ring = np.arange(3, dtype=np.int32)
    steps = gathered([[np.roll(ring, 1), np.roll(ring, -1)]], ring)
    assert sorted(zip(steps[0].chunk, steps[0].head, strict=True)) == [(0, 2), (1, 0), (2, 1)]
    assert len(steps) == 2


def test_chunks_with_two_paths_are_delivered_once() -> None:
    """A ring of 4 with both neighbours, then again: the chunk two places away comes once."""
    ring = np.arange(4, dtype=np.int32)
    both = [np.roll(ring, 1), np.roll(ring, -1)]
    steps = gathered([both, both], ring)
    assert [len(one) for one in steps] == [4, 4, 4, 0]


def test_sums_add_the_whole_chunk() -> None:
    first, second = summed([[PAIRS], [ACROSS]], np.arange(4, dtype=np.int32), 7)
    assert first.reduce.all()
    assert second.step.tolist() == [1] * 4
    assert second.chunk.tolist() == [7] * 4
    assert second.head.tolist() == [2, 3, 0, 1]


def test_distances_are_sums_of_powers_of_minus_two() -> None:
    """rho(s) is the sum of (-2)^i for i from 0 to s (NSDI 2024, section 3)."""
    assert [rho(s) for s in range(6)] == [1, -1, 3, -5, 11, -21]
    assert all(rho(s) == sum((-2) ** i for i in range(s + 1)) for s in range(20))
