"""Steps as the executor keeps and counts them."""

from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.merged_steps import KINDS, MergedSteps, merge
from tests.runtimes.msccl_programs import Block, xml


def merged(*blocks: Block) -> MergedSteps:
    return merge(parse_algorithm(xml("allreduce", [blocks], 9, (9, 9, 9))).algorithm)


def kinds(steps: MergedSteps) -> list[str]:
    return [KINDS[kind] for kind in steps.kind]


def test_a_nop_is_merged_into_the_next_step_and_counted() -> None:
    """The copy has number 2 in the file, and the executor's counter says 2 as well."""
    block = Block().step("nop", wait=(1, 5)).step("nop", wait=(2, 6)).step("cpy", wait=(3, 7))
    steps = merged(block.step("cpy"), Block(), Block(), Block())
    assert kinds(steps) == ["cpy", "cpy"]
    assert steps.number.tolist() == steps.counter.tolist() == [2, 3]
    assert steps.wait_step.tolist() == [0, 0, 0]
    assert steps.wait_block.tolist() == [1, 2, 3]
    assert steps.wait_counter.tolist() == [5, 6, 7]
    assert steps.findings == ()


def test_a_nop_that_waits_for_nothing_is_not_counted() -> None:
    steps = merged(Block().step("nop").step("cpy"))
    assert (steps.number.tolist(), steps.counter.tolist()) == ([1], [0])
    (note,) = steps.findings
    assert (note.kind, note.step) == (Kind.NOTE, 0)


def test_a_step_after_a_nop_must_wait_itself() -> None:
    """The executor ignores the file otherwise."""
    steps = merged(
        Block().step("nop", wait=(1, 0)).step("cpy"), Block().step("cpy", sets_flag=True)
    )
    (fault,) = steps.findings
    assert (fault.kind, fault.step) == (Kind.DEPENDENCY, 1)
    assert steps.wait_step.tolist() == [0]


def test_sums_into_one_place_are_one_of_the_last_count() -> None:
    """Three in a row; a fourth elsewhere, and one that waits, begin anew."""
    block = Block()
    for place, count in enumerate((1, 2, 3)):
        block.step("re", f"s{place}", "o0", count)
    block.step("re", "s0", "o5", 4).step("re", "s1", "o5", 1, wait=(1, 0))
    steps = merged(block, Block())
    assert steps.count.tolist() == [3, 3, 3, 4, 1]
    assert steps.counter.tolist() == [0, 1, 2, 3, 4]


def test_a_sum_that_sets_a_flag_ends_its_run() -> None:
    block = Block().step("re", "s0", "o0", 1, sets_flag=True).step("re", "s1", "o0", 2)
    steps = merged(block)
    assert steps.count.tolist() == [1, 2]
    assert steps.sets_flag.tolist() == [True, False]


def test_a_wait_for_no_threadblock_is_kept_as_such() -> None:
    assert merged(Block().step("cpy", wait=(4, 0))).wait_block.tolist() == [-1]


def test_steps_know_their_places_and_gpus() -> None:
    text = xml("allreduce", [[Block()], [Block(), Block().step("cpy")]], 1, (1, 1, 0))
    steps = merge(parse_algorithm(text).algorithm)
    assert steps.gpu.tolist() == [1]
    assert steps.name(0) == "cpy of GPU 1, threadblock 1, step 0 (line 10)"
