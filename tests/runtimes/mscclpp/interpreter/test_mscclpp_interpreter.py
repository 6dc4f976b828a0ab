"""Whole plans: right ones pass, and with one wrong operation it is named."""

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forestcoll import compile_program, generate, multicast
from forestcoll.errors import (
    ForestCollError,
    InvalidParameterError,
    InvalidScheduleError,
    UnsupportedError,
)
from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import COLLECTIVES, Loop, Operation, Plan, read_plan, written_plan
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions, to_mscclpp
from forestcoll.runtimes.mscclpp.interpreter import (
    interpret_calls,
    interpret_plan,
    mscclpp_interpreter,
)
from tests.random_topologies import rounds
from tests.runtimes.mscclpp.exporter.made_plans import star
from tests.runtimes.mscclpp.interpreter.hand_plans import (
    NOP,
    alone,
    copy,
    kinds,
    messages,
    pair,
    share,
    swap,
)
from tests.runtimes.mscclpp.interpreter.style_plans import STYLES
from tests.runtimes.mscclpp.plans import BROADCAST, GATHER, changed, document, dropped, plan_of
from tests.schedule.made.run_mscclpp import RIGHT, carried_out
from tests.schedule.mutations_of.mscclpp import MSCCLPP_MUTATIONS, plan_mutants

FILES = pytest.mark.parametrize("path", [GATHER, BROADCAST], ids=lambda path: path.stem)


@FILES
def test_plans_by_hand_are_right(path: Path) -> None:
    """Also in 20 random orders of three launches."""
    plan = read_plan(path).plan
    assert interpret_plan(plan).findings == ()
    assert {carried_out(plan, seed=seed) for seed in range(20)} == {RIGHT}


@FILES
def test_without_any_one_operation_they_are_wrong_and_a_neighbour_is_named(path: Path) -> None:
    """Every operation is there for a reason: what waits, reads or writes for it is reported."""
    for rank, gpu in enumerate(document(path)["gpus"]):
        for place, _ in enumerate(gpu["threadblocks"][0]["ops"]):
            try:
                found = interpret_plan(plan_of(dropped(path, rank, place)), root=0)
            except InvalidParameterError:
                found = interpret_plan(plan_of(dropped(path, rank, place)))
            wrong = [one for one in found.findings if one.is_wrong]
            assert wrong, (rank, place)
            named = any(
                "operation" in one.message or "no step writes" in one.message for one in wrong
            )
            assert named


def test_a_wrong_index_is_on_the_way_of_the_wrong_data() -> None:
    """GPU 1 puts its chunk where that of GPU 0 is due."""
    target = [{"buffer_id": 0, "index": 0, "size": 1}]
    plan = plan_of(changed(GATHER, 1, 4, dst_buff=target))
    found = interpret_plan(plan)
    assert {str(one.kind) for one in found.findings} == {"race", "data"}
    assert any("put of GPU 1, threadblock 0, operation 4" in one.message for one in found.findings)


def test_a_channel_that_leads_elsewhere_is_found() -> None:
    """GPU 1 of the broadcast signals GPU 2 twice, and GPU 3 never."""
    with pytest.raises(UnsupportedError):
        interpret_plan(plan_of(changed(BROADCAST, 1, 6, channel_ids=[1, 1])))
    assert "deadlock" in kinds(interpret_plan(plan_of(changed(BROADCAST, 1, 6, channel_ids=[1]))))


def test_an_input_that_is_changed_out_of_place_is_reported() -> None:
    plan = alone([copy("i0", "o0", 2), NOP, copy("s0", "i0", 2)])
    (report,) = messages(plan, Kind.INPUT)[:1]
    assert "copy of GPU 0, threadblock 0, operation 2: writes input chunk 0" in report
    assert "input" not in kinds(interpret_plan(replace(plan, in_place=True)))


def test_a_pipeline_is_executed_round_by_round() -> None:
    """A ring of one place: the second may not be written before the first has been read."""
    fill = Operation(
        "pipeline",
        loop=Loop(16, 2),
        inner=(share("sem_acquire", 0), NOP, copy("i0", "s0", 2), NOP, share("sem_release", 1)),
    )
    drain = Operation(
        "pipeline",
        loop=Loop(16, 2),
        inner=(share("sem_acquire", 1), NOP, copy("s0", "o0", 2), NOP, share("sem_release", 0)),
    )
    plan = alone([fill], [drain], semaphores=2)
    plan = replace(plan, gpus=(replace(plan.gpus[0], semaphores=(1, 0)),))
    found = interpret_plan(plan)
    assert found.findings == ()
    assert found.runs == ("a launch out of place, each chunk in 2 parts",)
    late = replace(drain, inner=drain.inner[1:-2])
    assert "race" in kinds(
        interpret_plan(
            replace(
                plan,
                gpus=(
                    replace(plan.gpus[0], threadblocks=alone([fill], [late]).gpus[0].threadblocks),
                ),
            )
        )
    )


@pytest.mark.parametrize(
    ("changes", "root", "message"),
    [
        ({}, 0, "a root is given, but this is an allreduce; leave it out"),
        ({"collective": "reduce"}, 2, "the root is 2; it must be from 0 to 1"),
        ({"collective": "reduce"}, None, "0 of 2 GPUs send nothing, so the root of this reduce"),
        ({"collective": "broadcast"}, None, "0 of 2 GPUs receive nothing, so the root of this"),
    ],
)
def test_missing_or_needless_arguments_are_refused(
    changes: dict[str, str], root: int | None, message: str
) -> None:
    plan = replace(pair(swap(), swap()), **changes)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match=message):
        interpret_plan(plan, root=root)


def test_an_unknown_collective_is_checked_but_for_its_results() -> None:
    """Deadlocks and races are those of any; GPU 1 without its sum is not noticed."""
    found = interpret_plan(replace(pair(swap(), swap()[:-1]), collective="mine"))
    assert found.is_right
    assert "the collective is 'mine', of which it is not known" in found.findings[0].message
    late = replace(pair(swap(), swap()[1:]), collective="mine")
    assert "deadlock" in kinds(interpret_plan(late))


def test_notes_leave_it_right() -> None:
    plan = replace(
        pair(swap(), swap()), min_bytes=9, max_bytes=8, buffer_alignment=8, reuse_resources=True
    )
    found = interpret_plan(plan)
    assert found.is_right
    assert [one.kind for one in found.findings] == [Kind.NOTE] * 3


def test_oversized_plans_are_refused_before_allocation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mscclpp_interpreter, "MOST_CELLS", 11)
    with pytest.raises(InvalidScheduleError, match="14 chunks are read or written, of 12 in all"):
        interpret_plan(pair(swap(), swap()[:-1]))


def exported(spec: str, collective: str, options: MscclppOptions) -> Plan:
    """A plan of a network, or of four GPUs around a switch that multicasts and reduces."""
    root = 0 if collective == "broadcast" else None
    network = star(4) if spec == "star" else spec
    made = generate(network, collective=collective, root=root).schedule
    return to_mscclpp(compile_program(multicast(made) if spec == "star" else made), options)


MUTATED = (
    ("complete:nodes=4", "allreduce", MscclppOptions(threadblocks=1)),
    ("ring:nodes=3", "allreduce", MscclppOptions(threadblocks=2)),
    ("complete:nodes=3", "reduce-scatter", MscclppOptions(in_place=True)),
    ("ring:nodes=4", "allgather", MscclppOptions(threadblocks=2)),
    ("torus:dims=2x3", "broadcast", MscclppOptions()),
    ("star", "allreduce", MscclppOptions()),
    ("star", "allgather", MscclppOptions()),
)


def test_every_mutant_that_the_slow_machine_finds_wrong_is_caught() -> None:
    """What it gets wrong in some order of threads, or cannot end, is no right plan.

    The slow machine shares no code with the interpreter, and runs three launches.
    """
    counts: Counter[tuple[str, bool]] = Counter()
    for spec, collective, options in MUTATED:
        plan = exported(spec, collective, options)
        root = 0 if collective == "broadcast" else None
        assert interpret_plan(plan, root=root).is_right
        for kind, mutant in plan_mutants(plan, 3, seed=3):
            wrong = any(carried_out(mutant, seed=seed) != RIGHT for seed in range(3))
            counts[kind, wrong] += 1
            try:
                caught = not interpret_plan(mutant, root=root).is_right
            except UnsupportedError:
                caught = True
            assert caught or not wrong, (spec, collective, kind)
    kinds_here = MSCCLPP_MUTATIONS.keys() - {"not flushed"}
    assert all(counts[kind, True] >= 4 for kind in kinds_here), counts
    assert sum(many for (_, wrong), many in counts.items() if wrong) >= 110


def fields_of(record: Any) -> Iterator[tuple[Any, Any]]:
    """All that can be changed in a file: objects and lists, each with a key of it."""
    for key in list(record) if isinstance(record, dict) else range(len(record)):
        yield record, key
        if isinstance(record[key], dict | list):
            yield from fields_of(record[key])


def field_changed(data: dict[str, Any], rng: random.Random) -> None:
    """Change one number, name or list, anywhere in a file."""
    record, key = rng.choice(list(fields_of(data)))
    found = record[key]
    if isinstance(found, bool | str):
        record[key] = rng.choice(("i", "o", "s", "nop", "re", "get", "wait", "memory"))
    elif isinstance(found, int):
        record[key] = rng.choice((found + 1, max(0, found - 1), 0, 7, -1, 2**31 - 1))
    elif isinstance(found, list):
        record[key] = rng.choice((found[1:], found + found[:1], found[::-1]))
    else:
        found.popitem()


def test_mutated_files_are_refused_or_judged() -> None:
    """200 files with one thing changed: what is called right is right for the slow machine."""
    rng, counts = random.Random(8), Counter[str]()
    texts = [
        written_plan(exported("star", "allreduce", MscclppOptions())),
        written_plan(exported("complete:nodes=4", "allreduce", MscclppOptions(threadblocks=1))),
        GATHER.read_text(),
        BROADCAST.read_text(),
    ]
    for number in range(200):
        data = json.loads(texts[number % len(texts)])
        field_changed(data, rng)
        try:
            plan = plan_of(data)
            if plan.collective not in COLLECTIVES:
                continue  # its results are unknown
            right = interpret_plan(plan, root=0 if number % 4 == 3 else None).is_right
        except ForestCollError:
            counts["refused"] += 1
            continue
        counts["right" if right else "wrong"] += 1
        assert not right or carried_out(plan, launches=2) == RIGHT
    assert min(counts.values()) >= 15, counts


@pytest.mark.slow
def test_many_gpus_take_seconds() -> None:
    """An allgather of 64 GPUs in eight boxes, with all that is to be known of order."""
    plan = to_mscclpp(compile_program(generate("dgx_a100:boxes=8").schedule))
    start = time.process_time()
    found = interpret_plan(plan)
    assert time.process_time() - start < 10
    assert found.is_right
    assert found.transfers == 64 * 63


@pytest.mark.parametrize(
    ("collective", "ways"), [("allgather", 1), ("reduce-scatter", 2), ("allreduce", 2)]
)
def test_reductions_are_called_both_ways(collective: str, ways: int) -> None:
    plan = to_mscclpp(compile_program(generate("ring:nodes=4", collective=collective).schedule))
    found = list(interpret_calls(plan))
    assert len(found) == ways
    assert all(one.is_right for one in found)


def test_a_gather_is_called_as_it_was_made_for() -> None:
    """In place no GPU copies its own part; called otherwise it lacks it."""
    program = compile_program(generate("ring:nodes=4").schedule)
    plan = to_mscclpp(program, MscclppOptions(in_place=True))
    assert [one.is_right for one in interpret_calls(plan)] == [True]
    assert [one.is_right for one in interpret_calls(replace(plan, in_place=False))] == [False]


def test_the_number_of_concurrent_threadblocks_is_reported() -> None:
    plan = to_mscclpp(compile_program(generate("complete:nodes=6").schedule))
    (found,) = interpret_calls(plan, most_blocks=1)
    assert not found.is_right


@pytest.mark.first_rows(6)
@pytest.mark.parametrize("name", STYLES)
def test_port_channels_and_packets_are_right_and_each_operation_is_needed(name: str) -> None:
    """Also in random orders of three launches; without an operation they are wrong.

    Three nops are not needed: those between two operations on counters alone.
    """
    plan = STYLES[name]()
    assert interpret_plan(plan).findings == ()
    assert {carried_out(plan, seed=seed) for seed in range(rounds(10, 4))} == {RIGHT}
    for rank, number, place, fewer in without_one(plan):
        kind = plan.gpus[rank].threadblocks[number].operations[place].kind
        right = interpret_plan(fewer).is_right
        assert not right or (kind == "nop" and name in ("port gather", "port signals"))
        assert not right or carried_out(fewer) == RIGHT


def without_one(plan: Plan) -> Iterator[tuple[int, int, int, Plan]]:
    """Drop each operation in turn."""
    for rank, gpu in enumerate(plan.gpus):
        for number, block in enumerate(gpu.threadblocks):
            for place in range(len(block.operations)):
                rows = block.operations[:place] + block.operations[place + 1 :]
                blocks = list(gpu.threadblocks)
                blocks[number] = replace(block, operations=rows)
                gpus = list(plan.gpus)
                gpus[rank] = replace(gpu, threadblocks=tuple(blocks))
                yield rank, number, place, replace(plan, gpus=tuple(gpus))


@pytest.mark.slow
def test_mutants_of_port_channels_and_packets_are_caught() -> None:
    """What the slow machine gets wrong in some order is no right plan."""
    counts: Counter[bool] = Counter()
    for make in STYLES.values():
        for kind, mutant in plan_mutants(make(), 2, seed=5):
            wrong = any(carried_out(mutant, seed=seed) != RIGHT for seed in range(3))
            counts[wrong] += 1
            try:
                caught = not interpret_plan(mutant).is_right
            except UnsupportedError:
                caught = True
            assert caught or not wrong, (make, kind)
    assert counts[True] >= 70, counts
