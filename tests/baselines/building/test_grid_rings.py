"""Gathering along the rings of a grid, dimension by dimension."""

from itertools import pairwise

import numpy as np
import pytest

from baselines.building.grid_rings import along_rings


def rows(step: object) -> set[tuple[int, int, int]]:
    """The (chunk, tail, head) of a step."""
    columns = (getattr(step, name).tolist() for name in ("chunk", "tail", "head"))
    return set(zip(*columns, strict=True))


def test_a_ring_of_three_by_hand() -> None:
    """First everyone's own chunk to the next one, then what has just come."""
    first, second = along_rings(np.arange(3, dtype=np.int32), [0])
    assert rows(first) == {(0, 0, 1), (1, 1, 2), (2, 2, 0)}
    assert rows(second) == {(0, 1, 2), (1, 2, 0), (2, 0, 1)}
    assert (first.step.tolist(), second.step.tolist()) == ([0] * 3, [1] * 3)


def test_the_other_way_round_and_with_other_chunks() -> None:
    first, _ = along_rings(np.arange(3, dtype=np.int32), [0], way=-1, first_chunk=10)
    assert rows(first) == {(10, 0, 2), (11, 1, 0), (12, 2, 1)}


def test_the_second_dimension_sends_the_chunks_of_the_first() -> None:
    """A grid of 2 x 3: one step of a chunk each across, then two steps of two chunks each."""
    steps = along_rings(np.arange(6, dtype=np.int32).reshape(2, 3), [0, 1])
    assert [len(step.chunk) for step in steps] == [6, 12, 12]
    assert rows(steps[0]) == {(r, r, (r + 3) % 6) for r in range(6)}
    assert {(0, 0, 1), (3, 0, 1)} <= rows(steps[1])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("way", [1, -1])
def test_every_gpu_gets_every_chunk_once_from_a_neighbour_with_it(
    order: tuple[int, ...], way: int
) -> None:
    """N (N - 1) transfers between neighbours, of what the sender had before the step."""
    grid = np.random.default_rng(3).permutation(24).astype(np.int32).reshape(2, 3, 4)
    has: list[set[int]] = [{rank} for rank in range(24)]
    places = {int(rank): place for place, rank in np.ndenumerate(grid)}
    for step in along_rings(grid, order, way=way):
        before = [set(each) for each in has]
        for chunk, tail, head in rows(step):
            assert chunk in before[tail]
            assert chunk not in has[head]
            has[head].add(chunk)
            moved = [(a, b) for a, b in zip(places[tail], places[head], strict=True) if a != b]
            assert len(moved) == 1
    assert has == [set(range(24))] * 24


def test_steps_are_numbered_on() -> None:
    steps = along_rings(np.arange(12, dtype=np.int32).reshape(3, 4), [1, 0])
    numbers = [int(step.step[0]) for step in steps]
    assert len(numbers) == 3 + 2
    assert all(after == before + 1 for before, after in pairwise(numbers))
