"""Whole programs: right ones pass, and with one wrong line the line is named."""

import re
import time
from collections import Counter
from collections.abc import Callable

import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import InvalidParameterError, InvalidScheduleError
from forestcoll.runtimes.interpretation.cells import MOST_CELLS
from forestcoll.runtimes.interpretation.findings import MOST_FINDINGS, Finding, Findings, Kind
from forestcoll.runtimes.interpretation.one_run import MOST_ACTIONS
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.exporter import MscclOptions, to_msccl
from forestcoll.runtimes.msccl.interpreter import interpret
from tests.runtimes.msccl_programs import (
    Block,
    all_pairs_allreduce,
    changed,
    dropped,
    found,
    halving_reduce_scatter,
    kinds,
    line_of,
    ring_allgather,
    ring_allreduce,
    xml,
)
from tests.schedule.made.run_msccl import RIGHT, carried_out
from tests.schedule.mutations_of.msccl import MSCCL_MUTATIONS, mutants

Program = Callable[..., str]


def wrong(text: str, **options: int) -> Findings:
    """Interpret what is not right."""
    result = found(text, **options)
    assert not result.is_right
    return result


def lines(result: Findings, kind: Kind) -> set[int]:
    """The lines that findings of a kind name."""
    return {line for one in result.findings if one.kind is kind for line in one.lines}


@pytest.mark.parametrize("protocol", ["Simple", "LL", "LL128"])
@pytest.mark.parametrize("in_place", [False, True], ids=["out of place", "in place"])
@pytest.mark.parametrize("gpus", [2, 4])
@pytest.mark.parametrize("program", [ring_allgather, all_pairs_allreduce, halving_reduce_scatter])
def test_programs_by_hand_are_right(
    program: Program, gpus: int, in_place: bool, protocol: str
) -> None:
    """Each ends with the data that its collective promises, in both kinds of calls."""
    result = found(program(gpus, in_place=in_place, proto=protocol))
    assert result.findings == ()
    assert result.runs


def test_order_that_comes_by_other_gpus_is_order() -> None:
    """A chunk is written after it was sent on, since the sum came around the ring in between."""
    assert found(ring_allreduce(5)).findings == ()


@pytest.mark.parametrize("in_place", [False, True])
def test_a_program_for_one_kind_of_call_is_wrong_in_the_other(in_place: bool) -> None:
    """One for calls in place copies no own chunk; the other copies it to itself in place, if so."""
    text = ring_allgather(3, in_place=in_place)
    both = changed(text, 1, inplace=1, outofplace=1)
    result = found(both)
    if in_place:
        assert lines(wrong(both), Kind.DATA)
        assert all(one.message.startswith("out of place: ") for one in result.findings)
    else:
        assert result.is_right


def test_a_wrong_offset_is_on_the_way_of_the_wrong_data() -> None:
    """GPU 0 sends what nobody has written yet, in place; all that comes by it is named."""
    text = ring_allgather(3, in_place=True)
    line = line_of(text, 0, 0, 0)
    result = wrong(changed(text, line, srcoff=1))
    assert line in lines(result, Kind.DATA)
    first = result.findings[0]
    assert "has nothing that was ever written, not input chunk 0 of GPU 0" in first.message


def test_a_wrong_target_and_the_unwritten_chunk_are_named() -> None:
    text = ring_allgather(3)
    line = line_of(text, 1, 0, 2)
    result = wrong(changed(text, line, dstoff=0))
    assert line in lines(result, Kind.DATA)
    assert any("no step writes it" in one.message for one in result.findings)


def test_a_dropped_send_leaves_its_receive_waiting() -> None:
    """GPU 1 waits for a second transfer of GPU 0: in a call of one slice, for ever."""
    text = ring_allgather(3, maxBytes=100)
    result = wrong(dropped(text, line_of(text, 0, 0, 1)))
    left = line_of(text, 1, 0, 2) - 1
    assert left in lines(result, Kind.PAIRING)
    assert left in lines(result, Kind.DEADLOCK)


def test_a_dropped_receive_leaves_its_send_alone() -> None:
    text = ring_allgather(3)
    result = wrong(dropped(text, line_of(text, 2, 0, 2)))
    assert line_of(text, 1, 0, 1) in lines(result, Kind.PAIRING)
    assert "data" in kinds(result.findings)


def test_a_dropped_copy_is_missing_data() -> None:
    text = ring_allgather(3)
    result = wrong(dropped(text, line_of(text, 1, 1, 0)))
    (only,) = result.findings
    assert (only.kind, only.gpu) == (Kind.DATA, 1)
    assert "output chunk 1 has nothing that was ever written" in only.message


def test_a_dropped_wait_is_a_race() -> None:
    """The adder no longer waits for the last that receives; both lines are named."""
    text = all_pairs_allreduce(3)
    line = line_of(text, 0, 0, 1)
    result = wrong(changed(text, line, depid=1, deps=1))
    assert {line + 2, line_of(text, 0, 2, 1)} <= lines(result, Kind.RACE)


def test_a_swapped_channel_has_no_other_end() -> None:
    text = ring_allgather(4, nchannels=2)
    block = line_of(text, 1, 0)
    result = wrong(changed(text, block, chan=1))
    assert {line_of(text, 1, 0, 0), line_of(text, 2, 0, 1)} <= lines(result, Kind.PAIRING)
    assert "deadlock" in kinds(result.findings)


def test_a_wait_for_a_step_without_a_flag_is_a_deadlock() -> None:
    """hasdep=0 at the last sum: the senders of sums wait for ever, and both lines are named."""
    text = all_pairs_allreduce(3)
    line = line_of(text, 0, 0, 3)
    result = wrong(changed(text, line, hasdep=0))
    assert {line, line_of(text, 0, 1, 2)} <= lines(result, Kind.DEPENDENCY)
    assert line_of(text, 0, 1, 2) in lines(result, Kind.DEADLOCK)


def test_a_step_without_a_flag_is_a_note_if_a_later_one_sets_it() -> None:
    """The wait ends late, yet it ends: right, with a note."""
    gpus = [
        [Block(1).step("s"), Block().step("cpy")],
        [
            Block(-1, 0).step("r", "i0", "s0").step("cpy", "s0", "s1", sets_flag=True),
            Block().step("cpy", "s0", "o0", wait=(0, 0)),
        ],
    ]
    result = found(xml("broadcast", gpus, 1, (1, 1, 2)))
    assert result.is_right
    (note,) = result.findings
    assert "has hasdep=0; cpy of GPU 1, threadblock 0, step 1" in note.message


@pytest.mark.parametrize("count", [1, 3])
def test_a_wrong_count_is_named(count: int) -> None:
    """Two chunks are sent, more or fewer are taken: of one slice, and cut into transfers."""
    text = halving_reduce_scatter(4, in_place=True)
    line = line_of(text, 0, 0, 1)
    result = wrong(changed(text, line, cnt=count))
    assert line in lines(result, Kind.PAIRING) | lines(result, Kind.BOUNDS)


def test_unlike_counts_that_only_a_size_between_would_part_are_reported() -> None:
    """Six against three and three: right in transfers of one and of three, but not of two."""
    gpus = [
        [Block(1).step("s", "i0", "o0", 6), Block().step("cpy", "i0", "o0", 6)],
        [Block(-1, 0).step("r", "i0", "o0", 3).step("r", "i0", "o3", 3)],
    ]
    text = xml("broadcast", gpus, 6, (6, 6, 0), proto="LL")
    between = changed(text, 1, minBytes=6 * 2**15 // 3)
    assert lines(wrong(between), Kind.PAIRING) == {
        line_of(text, 0, 0, 0),
        line_of(text, 1, 0, 0),
        line_of(text, 1, 0, 1),
    }
    assert found(changed(text, 1, minBytes=6 * 2**15)).findings == ()


def test_a_shift_past_the_end_is_named_and_not_executed() -> None:
    text = ring_allgather(3)
    line = line_of(text, 2, 0, 2)
    result = wrong(changed(text, line, dstoff=3))
    assert lines(result, Kind.BOUNDS) == {line}
    assert result.runs == ()
    assert any("not executed" in one.message for one in result.findings)


def test_a_circle_of_receives_is_a_deadlock_with_its_circle() -> None:
    """Each of three receives before it sends: three lines, in a cycle."""
    gpus = [[Block((r + 1) % 3, (r + 2) % 3).step("r").step("s")] for r in range(3)]
    text = xml("allgather", gpus, 3, (1, 3, 0))
    (deadlocked,) = [one for one in wrong(text).findings if one.kind is Kind.DEADLOCK]
    assert set(deadlocked.lines) == {line_of(text, rank, 0, 0) for rank in range(3)}
    assert "3 threadblocks are deadlocked: in a cycle" in deadlocked.message


@pytest.mark.parametrize(("protocol", "deadlocked"), [("Simple", True), ("LL", False)])
def test_the_capacity_of_fifos_decides_deadlocks(protocol: str, deadlocked: bool) -> None:
    """Both send three chunks before they receive; Simple holds two, LL eight."""
    gpus = []
    for rank in range(2):
        block = Block(1 - rank, 1 - rank)
        for chunk in range(3):
            block.step("s", f"i{chunk}")
        for chunk in range(3):
            block.step("r", "i0", f"o{3 * (1 - rank) + chunk}")
        gpus.append([block, Block().step("cpy", "i0", f"o{3 * rank}", 3)])
    text = xml("allgather", gpus, 6, (3, 6, 0), proto=protocol)
    result = found(text)
    assert result.is_right is not deadlocked
    if deadlocked:
        assert lines(result, Kind.DEADLOCK) == {line_of(text, 0, 0, 2), line_of(text, 1, 0, 2)}
        assert "for room" in result.findings[0].message


@pytest.mark.parametrize(("most", "deadlocked"), [(0, True), (3 * 2**20, True), (2**20, False)])
def test_the_largest_call_decides_how_a_step_is_cut(most: int, deadlocked: bool) -> None:
    """Three chunks of a step are one transfer up to 2 MiB together, then one each."""
    gpus = []
    for rank in range(2):
        block = Block(1 - rank, 1 - rank).step("s", "i0", "i0", 3)
        block.step("r", "i0", f"o{3 * (1 - rank)}", 3)
        gpus.append([block, Block().step("cpy", "i0", f"o{3 * rank}", 3)])
    text = xml("allgather", gpus, 6, (3, 6, 0), maxBytes=6 * most)
    assert found(text).is_right is not deadlocked


def test_scratch_that_is_used_again_in_the_next_slice_is_no_race() -> None:
    """Slices are of other bytes, so one may write while another still reads the slice before."""
    gpus = [
        [Block(1).step("s"), Block().step("cpy", "i0", "o0")],
        [
            Block(NOBODY := -1, 0).step("r", "i0", "s0", sets_flag=True),
            Block().step("cpy", "s0", "o0", wait=(0, 0)),
            Block().step("cpy", "i0", "o1"),
        ],
    ]
    gpus[0].append(Block(NOBODY, 1).step("r", "i0", "o1"))
    gpus[1].append(Block(0).step("s"))
    result = found(xml("allgather", gpus, 2, (1, 2, 1)))
    assert result.findings == ()
    assert "several slices" in result.runs[0]


def test_data_left_in_a_fifo_is_wrong_in_the_next_slice() -> None:
    """Two are sent and one is taken: the first slice is right, the second gets the first's rest."""
    gpus = [
        [Block(1).step("s", "i0").step("s", "i0"), Block().step("cpy", "i0", "o0")],
        [Block(-1, 0).step("r", "i0", "o0")],
    ]
    text = xml("broadcast", gpus, 1, (1, 1, 0))
    result = wrong(text)
    (data,) = [one for one in result.findings if one.kind is Kind.DATA]
    assert "output chunk 0 of a later slice has input chunk 0 of another slice" in data.message
    assert lines(result, Kind.PAIRING) == {line_of(text, 0, 0, 1)}
    assert found(changed(text, 1, maxBytes=100)).findings[0].kind is Kind.PAIRING


def test_a_call_that_is_not_in_place_leaves_its_input() -> None:
    """The sum is right, but it is made in the caller's input."""
    text = changed(halving_reduce_scatter(2, in_place=True), 1, inplace=0, outofplace=1)
    line = line_of(text, 0, 0, 1)
    result = wrong(text)
    assert line in lines(result, Kind.INPUT)


@pytest.mark.parametrize("expected", [None, 1])
def test_the_root_of_a_reduce_is_the_gpu_without_sends(expected: int | None) -> None:
    """Two add up at GPU 1; what GPU 0 has in its output does not count."""
    gpus = [
        [Block(1).step("s")],
        [Block(-1, 0).step("rrc", "i0", "o0")],
    ]
    text = xml("reduce", gpus, 1, (1, 1, 0))
    assert interpret(parse_algorithm(text).algorithm, root=expected).findings == ()


def test_a_root_that_is_not_plain_is_asked_for() -> None:
    """Both send; the root is 1 if it is said so, and wrong if it is said to be 0."""
    gpus = [
        [Block(1, 1).step("s").step("r", "i0", "s0")],
        [Block(0, 0).step("rrc", "i0", "o0").step("s", "o0")],
    ]
    text = xml("reduce", gpus, 1, (1, 1, 1))
    with pytest.raises(InvalidParameterError, match="root of this reduce is not plain; give it"):
        found(text)
    assert found(text, root=1).is_right
    assert not found(text, root=0).is_right
    with pytest.raises(InvalidParameterError, match="the root is 2; it must be from 0 to 1"):
        found(text, root=2)
    with pytest.raises(InvalidParameterError, match="leave it out"):
        found(ring_allgather(2), root=0)


def test_all_to_all_takes_each_its_part() -> None:
    """Chunk g of every GPU goes to GPU g; with two of them swapped it is wrong."""
    gpus = []
    for rank in range(3):
        blocks = [Block().step("cpy", f"i{rank}", f"o{rank}")]
        for peer in (p for p in range(3) if p != rank):
            blocks.append(Block(peer, peer).step("s", f"i{peer}").step("r", "i0", f"o{peer}"))
        gpus.append(blocks)
    text = xml("alltoall", gpus, 3, (3, 3, 0))
    assert found(text).findings == ()
    line = line_of(text, 0, 1, 0)
    assert line in lines(wrong(changed(text, line, srcoff=2)), Kind.DATA)


def test_a_sum_that_counts_one_twice_is_wrong() -> None:
    """The multiset is reported, and the numbers do not agree either."""
    text = all_pairs_allreduce(3)
    line = line_of(text, 0, 0, 3)
    result = wrong(changed(text, line, srcoff=0))
    assert any("GPUs 0, 1 (2 times)" in one.message for one in result.findings)
    assert line in lines(result, Kind.DATA)


def custom(text: str) -> str:
    return re.sub('coll="[a-z]*"', 'coll="custom"', text)


def test_a_custom_collective_is_checked_but_for_its_results() -> None:
    """What would be wrong data of an allreduce is none of a custom collective; a note says so."""
    text = custom(ring_allreduce(3))
    result = found(text)
    assert result.is_right
    assert ["promises no result" in one.message for one in result.findings] == [True]
    line = line_of(text, 2, 0, 0)
    assert found(changed(text, line, srcoff=0)).is_right
    assert not found(changed(ring_allreduce(3), line, srcoff=0)).is_right


def test_deadlocks_races_and_bounds_of_a_custom_collective_are_found() -> None:
    text = custom(all_pairs_allreduce(4))
    assert "deadlock" in kinds(wrong_ones(dropped(text, line_of(text, 1, 1, 0))))
    line = line_of(text, 0, 1, 2)
    assert "race" in kinds(wrong_ones(changed(text, line, depid=-1, deps=-1)))
    assert "bounds" in kinds(wrong_ones(changed(text, line, srcoff=9)))


def wrong_ones(text: str) -> list[Finding]:
    return [one for one in found(text).findings if one.is_wrong]


def sccl_allgather(copies: tuple[int, int] = (0, 1), **more: object) -> str:
    """As SCCL's tools write it: the own chunk is copied to the output, and sent from there."""
    made = []
    for rank in range(2):
        own, other = f"o{rank}", f"o{1 - rank}"
        made.append([Block(1 - rank, 1 - rank).step("s", own, own).step("r", other, other)])
    text = xml("allgather", made, 2, (1, 2, 0), **more)
    for rank, place in enumerate(copies):
        head = f'<gpu id="{rank}" i_chunks="1" o_chunks="2" s_chunks="0">\n'
        text = text.replace(head, f'{head}<copy i_off="0" o_off="{place}"/>\n')
    return text


@pytest.mark.parametrize("in_place", [0, 1])
def test_copies_come_before_all_steps(in_place: int) -> None:
    """In place they change nothing; without them nobody has what is sent out of place."""
    assert not wrong_ones(sccl_allgather(inplace=in_place, outofplace=1))
    without = re.sub("<copy.*\n", "", sccl_allgather(outofplace=1))
    assert kinds(wrong_ones(without)) == {"data"}


def test_a_copy_to_a_wrong_or_missing_place_is_found() -> None:
    assert kinds(wrong_ones(sccl_allgather((1, 1)))) == {"data"}
    bounds = wrong_ones(sccl_allgather((0, 2)))
    assert kinds(bounds) == {"bounds"}
    assert "GPU 1 (line 9): copies chunk 0 of its input" in bounds[0].message


def test_a_file_that_is_never_taken_is_noted() -> None:
    """Neither kind of call, or no size; it is right all the same."""
    result = found(ring_allgather(2, inplace=0, outofplace=0, minBytes=10, maxBytes=9))
    assert result.is_right
    assert [one.kind for one in result.findings] == [Kind.NOTE, Kind.NOTE]


def test_findings_are_so_many_at_most() -> None:
    """A ring of 60 in place is all wrong out of place: 50 are reported, and that there are more."""
    text = changed(ring_allgather(60, in_place=True), 1, inplace=0, outofplace=1)
    result = wrong(text)
    assert sum(one.kind is Kind.DATA for one in result.findings) == MOST_FINDINGS
    assert Kind.DATA in result.more


@pytest.mark.first_rows(1)
@pytest.mark.parametrize(
    ("chunks", "count", "what"),
    [(MOST_CELLS, 1, "its buffers have"), (71, 71, "chunks are moved")],
)
def test_oversized_algorithms_are_refused(chunks: int, count: int, what: str) -> None:
    """Before any memory is taken."""
    steps = MOST_ACTIONS // (2 * 71) + 1 if count > 1 else 1
    block = Block()
    block.lines = Block().step("cpy", "i0", "o0", count).lines * steps
    algorithm = parse_algorithm(xml("allreduce", [[block]], chunks, (chunks, chunks, 0))).algorithm
    with pytest.raises(InvalidScheduleError, match=what):
        interpret(algorithm)


def test_a_hundred_gpus_take_a_second_or_two() -> None:
    """The allreduce of a ring of 100: 2 x 100 x 99 transfers, all of them ordered."""
    algorithm = parse_algorithm(ring_allreduce(100)).algorithm
    start = time.process_time()
    result = interpret(algorithm)
    assert time.process_time() - start < 10
    assert kinds(result.findings) == {"limit"}
    assert result.transfers == 2 * 100 * 99


def test_every_mutant_that_the_slow_machine_finds_wrong_is_caught() -> None:
    """What it gets wrong in some order of threadblocks, or cannot end, is no right program.

    The slow machine shares no code with the interpreter; its queues hold two chunks, as those of
    Simple two transfers. Few channels make long threadblocks.
    """
    counts: Counter[tuple[str, bool]] = Counter()
    for spec, collective, channels in (
        ("complete:nodes=4", "allreduce", None),
        ("torus:dims=2x3", "allreduce", 1),
        ("paper_example", "reduce-scatter", 2),
        ("ring:nodes=4", "allgather", 1),
    ):
        program = compile_program(generate(spec, collective=collective).schedule)
        algorithm = to_msccl(program, MscclOptions(channels=channels))
        calls = [True] * algorithm.in_place + [False] * algorithm.out_of_place
        for kind, mutant in mutants(algorithm, 8, seed=3):
            runs = (carried_out(mutant, call, depth=2, seed=s) for call in calls for s in range(3))
            wrong = any(run != RIGHT for run in runs)
            counts[kind, wrong] += 1
            assert not (wrong and interpret(mutant).is_right), (spec, collective, kind)
    print(sorted(counts.items()))
    assert all(counts[kind, True] >= 8 for kind in MSCCL_MUTATIONS)
    assert sum(n for (_, wrong), n in counts.items() if wrong) >= 100
