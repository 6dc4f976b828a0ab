"""Where chunks are in the buffers of GPUs."""

import pytest

from forestcoll import compile_program, generate
from forestcoll.all_to_all.best_flow import best_flow
from forestcoll.errors import UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.runtimes.data_layout import Layout, chunks_of_pairs, layout_of, with_own_parts
from forestcoll.runtimes.transfer_pieces import pieces_of
from tests.baselines.claims import make
from tests.schedule.made.programs import line


def layout(collective: str, instances: int = 1) -> Layout:
    """Three GPUs in a line."""
    program = compile_program(generate(line(3), collective=collective).schedule)
    return layout_of(program, pieces_of(program), instances)


def test_a_shard_is_all_of_the_input_and_a_part_of_the_output() -> None:
    """Rank 2 of an allgather: its shard begins its input, and is the last third of all outputs."""
    found = layout("allgather")
    assert (found.own(2, 2), found.own(1, 2)) == (0, None)
    assert {found.result(gpu, 2) for gpu in range(3)} == {2 * found.shard}
    assert found.chunks_in(0) * 3 == found.chunks_out(0)


def test_instances_divide_every_chunk() -> None:
    one, two = layout("allgather"), layout("allgather", 2)
    assert two.result(0, 1) == 2 * (one.result(0, 1) or 0) > 0
    assert two.chunks_out(0) == 2 * one.chunks_out(0)


def test_places_that_may_be_one_have_one_name() -> None:
    """The result of a reduce-scatter may be in the input; what GPUs gather is not."""
    found = layout("reduce-scatter")
    assert found.in_one_space(1, "o", 0) == found.in_one_space(1, "i", found.shard)
    assert found.in_one_space(1, "s", 0) == ("s", 0)
    apart = layout("allgather")
    assert apart.in_one_space(0, "o", 0) != apart.in_one_space(0, "i", 0)


def test_unequal_shares_are_refused() -> None:
    program = compile_program(generate(line(3), weights=[1, 2, 1]).schedule)
    with pytest.raises(UnsupportedError, match=r"^unsupported: the data of rank .* leave weights"):
        layout_of(program, pieces_of(program))


def test_an_all_to_all_in_place_is_refused() -> None:
    program = compile_program(make("direct", "all-to-all", "ring:nodes=7"))
    with pytest.raises(UnsupportedError, match="all-to-all in place"):
        layout_of(program, pieces_of(program), in_place=True)


def test_different_amounts_lie_in_slots_of_the_largest() -> None:
    """Three GPUs: 2 KB from the first to the last, 1 KB back, and nothing else."""
    demand = Demand.of_matrix([[0, 0, 2048], [0, 0, 0], [1024, 0, 0]])
    program = compile_program(best_flow(line(3), demand))
    found = layout_of(program, pieces_of(program))
    slot = found.shard
    assert found.whole == 3 * slot
    place = dict(zip(found.root, range(2), strict=True))
    assert found.size[place[0]] == slot == 2 * found.size[place[2]]
    assert (found.own(0, place[0]), found.result(2, place[0])) == (2 * slot, 0)
    assert (found.own(2, place[2]), found.result(0, place[2])) == (0, 2 * slot)
    pairs = chunks_of_pairs(program, 2 * found.whole)  # of two instances
    assert pairs == ((0, 0, 2 * slot), (0, 0, 0), (slot, 0, 0))


def test_an_all_to_all_of_equal_parts_has_one_for_each_gpu_itself() -> None:
    program = compile_program(best_flow(line(3)))
    whole = with_own_parts(program)
    assert len(whole.chunks) == len(program.chunks) + 3 == 9
    own = whole.chunks.root == whole.chunks.target
    assert set(whole.chunks.size[own].tolist()) == {whole.chunks.whole // 3}
    assert with_own_parts(whole) is whole
    allgather = compile_program(generate(line(3)).schedule)
    assert with_own_parts(allgather) is allgather
    assert chunks_of_pairs(allgather, 3) is None
