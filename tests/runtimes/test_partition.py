"""Data cut into whole elements."""

import itertools

import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.partition import Partition
from tests.schedule.made.flows import ring
from tests.schedule.made.types import TYPES, schedule
from tests.schedule.made.weighted import weighted


def test_borders_are_rounded_down() -> None:
    """Ten elements in three shards: borders at 10/3 and 20/3, so 3, 3 and 4."""
    cut = Partition(compile_program(generate("ring:nodes=3").schedule), 10)
    assert [cut.length(chunk) for chunk in cut.order] == [3, 3, 4]


def test_divisible_weights_are_kept() -> None:
    """Weights 2, 1, 1 of eight elements."""
    program = compile_program(weighted())
    cut = Partition(program, 8)
    of_root = [0, 0, 0]
    for chunk in cut.order:
        of_root[program.chunks.root[chunk]] += cut.length(chunk)
    assert of_root == [4, 2, 2]


def test_chunks_of_an_all_to_all_lie_by_root_then_target() -> None:
    """Each of four GPUs sends a quarter of its eight elements to each of the others."""
    program = compile_program(ring(4))
    cut = Partition(program, 8)
    ends = [(program.chunks.root[c], program.chunks.target[c]) for c in cut.order]
    assert ends == sorted(ends)
    assert {cut.length(chunk) for chunk in cut.order} == {2}


@pytest.mark.parametrize("elements", [1, 7, 10**6])
@pytest.mark.parametrize("name", TYPES)
def test_neighbouring_intervals_touch(name: str, elements: int) -> None:
    """Unit by unit, the spans of a chunk fill it; chunks fill what there is of the data."""
    program = compile_program(schedule(name))
    cut = Partition(program, elements)
    for chunk in cut.order:
        units = int(program.chunks.size[chunk])
        ends = [cut.span(chunk, unit, 1) for unit in range(min(units, 50))]
        assert all(one[1] == other[0] for one, other in itertools.pairwise(ends))
        assert cut.span(chunk, 0, units) == (0, cut.length(chunk))
    units = int(program.chunks.size.sum())
    assert sum(map(cut.length, cut.order)) == units * elements // program.chunks.whole
