"""What each collective promises, of two GPUs, by hand."""

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.interpretation.collective_results import Promise, initial, root_of
from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.interpretation.multisets import NOTHING, Multisets
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.buffer_cells import cells_of
from forestcoll.runtimes.msccl.interpreter.merged_steps import merge
from forestcoll.runtimes.msccl.interpreter.msccl_interpreter import interpret
from tests.runtimes.msccl_programs import Block, found, line_of, xml

SUM = "the sum of input chunk {} of all 2 GPUs"
DUE = {
    "allgather": [["input chunk 0 of GPU 0", "input chunk 0 of GPU 1"]] * 2,
    "alltoall": [[f"input chunk {gpu} of GPU {source}" for source in (0, 1)] for gpu in (0, 1)],
    "reducescatter": [[SUM.format(0)], [SUM.format(1)]],
    "allreduce": [[SUM.format(0), SUM.format(1)]] * 2,
    "broadcast": [["input chunk 0 of GPU 1", "input chunk 1 of GPU 1"]] * 2,
    "reduce": [[], [SUM.format(0), SUM.format(1)]],
}


@pytest.mark.parametrize("collective", DUE)
def test_an_empty_program_misses_every_result(collective: str) -> None:
    """Two chunks in all; GPU 1 is the root where there is one."""
    text = xml(collective, [[Block()], [Block()]], 2, (2, 2, 0), maxBytes=1)
    root = 1 if collective in ("broadcast", "reduce") else None
    algorithm = parse_algorithm(text).algorithm
    messages = [one.message for one in interpret(algorithm, root=root).findings]
    due = [
        f"GPU {gpu}: output chunk {chunk} has nothing that was ever written, not {words}; no step "
        "writes it"
        for gpu, chunks in enumerate(DUE[collective])
        for chunk, words in enumerate(chunks)
    ]
    assert messages == due


def test_only_the_root_of_a_broadcast_has_data() -> None:
    algorithm = parse_algorithm(xml("broadcast", [[Block()]] * 2, 2, (2, 2, 0))).algorithm
    cells = cells_of(algorithm, merge(algorithm), in_place=True)
    multisets = Multisets(2, 4)
    found = initial(Promise("broadcast", 2, 1, cells, 2), multisets)
    assert found.tolist() == [NOTHING, NOTHING, 5, 6, NOTHING, NOTHING, 7, 8]


def test_wrong_data_is_reported_with_its_way_back() -> None:
    """GPU 0's second chunk comes through scratch where the first one should."""
    gpus = [
        [Block(1).step("s", "i1"), Block().step("cpy", "i0", "o0", 2)],
        [Block(-1, 0).step("r", "i0", "s0").step("cpy", "s0", "o0").step("cpy", "s0", "o1")],
    ]
    text = xml("broadcast", gpus, 2, (2, 2, 1))
    (wrong,) = found(text).findings
    assert wrong.kind is Kind.DATA
    way = (line_of(text, 1, 0, 1), line_of(text, 1, 0, 0), line_of(text, 0, 0, 0))
    assert wrong.lines == way
    assert "has input chunk 1 of GPU 0, not input chunk 0 of GPU 0; it came by" in wrong.message


def test_an_input_that_is_only_read_is_as_it_was() -> None:
    """A copy into the input is reported, in the step that does so."""
    text = xml(
        "allreduce", [[Block().step("cpy", "i0", "o0").step("cpy", "i0", "i0")]], 1, (1, 1, 0)
    )
    (changed,) = found(text).findings
    assert (changed.kind, changed.line) == (Kind.INPUT, line_of(text, 0, 0, 1))


def nobody(arriving: bool) -> set[int]:
    raise AssertionError("is not asked for")


def test_only_a_broadcast_and_a_reduce_have_one() -> None:
    assert root_of("allgather", 4, None, nobody) == -1
    assert root_of("reduce", 4, 3, nobody) == 3
    with pytest.raises(InvalidParameterError, match="this is an allgather"):
        root_of("allgather", 4, 0, nobody)
    with pytest.raises(InvalidParameterError, match="the root is 4; it must be from 0 to 3"):
        root_of("broadcast", 4, 4, nobody)


def test_nothing_comes_to_a_root_or_leaves_it() -> None:
    """At the one end of a broadcast, or the other of a reduce."""
    ends = {True: {1, 2}, False: {0, 1}}
    assert root_of("broadcast", 3, None, ends.__getitem__) == 0
    assert root_of("reduce", 3, None, ends.__getitem__) == 2


def test_a_root_that_is_not_plain_is_asked_for() -> None:
    with pytest.raises(InvalidParameterError, match=r"2 of 4 GPUs receive nothing.*give it"):
        root_of("broadcast", 4, None, lambda arriving: {1, 2})
