"""Where chunks are in the buffers of GPUs."""

import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.data_layout import Layout, layout_of
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
