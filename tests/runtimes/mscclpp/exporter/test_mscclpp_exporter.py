"""Programs exported, interpreted, and executed by a machine that shares nothing with either."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll import compile_program, generate
from forestcoll.all_to_all.best_flow import best_flow
from forestcoll.errors import (
    ExportError,
    InvalidParameterError,
    RuntimeLimitError,
    UnsupportedError,
)
from forestcoll.runtimes.mscclpp import Plan, parse_plan, written_plan
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions, to_mscclpp
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.schedule import Chunks, Send, verify
from forestcoll.schedule.program import Program
from forestcoll.schedule.steps import REDUCTIONS
from tests.baselines.claims import CLAIMS, load, make
from tests.baselines.once_each import every_row
from tests.hand_networks import network_of
from tests.random_topologies import build_topology, rounds
from tests.runtimes.mscclpp.exporter.made_plans import star
from tests.schedule.made.programs import COLLECTIVES, by_hand
from tests.schedule.made.run_mscclpp import RIGHT, carried_out
from tests.schedule.mutations_of.mscclpp import plan_mutants

SMALL = ("ring:nodes=7", "complete:nodes=6", "torus:dims=3x3", "dgx_a100:boxes=1", "paper_example")
"""Where methods are tried: the first that each claims."""

SMALLER = {"ring:nodes=7": "ring:nodes=5"}
"""As odd, and executed in a third of the time."""

CASES = [
    (method, collective, SMALLER.get(name, name))
    for method, claims in CLAIMS.items()
    for collective, claim in claims.items()
    for name in [name for name in SMALL if name in claim.does][:1]
    if method not in ("sccl", "taccl", "teccl")  # which search for seconds
]


def root_of(program: Program) -> int | None:
    rooted = program.collective in ("broadcast", "reduce")
    return int(program.chunks.root[0]) if rooted else None


def check(program: Program, options: MscclppOptions, launches: int = 2) -> Plan:
    """Right however it may be called, for both machines; and read again as it was written."""
    plan = to_mscclpp(program, options)
    assert parse_plan(written_plan(plan)).plan == plan
    root = root_of(program)
    calls = {options.in_place, True} if program.collective in REDUCTIONS else {options.in_place}
    for in_place in calls:
        called = replace(plan, in_place=in_place)
        found = interpret_plan(called, root=root, most_blocks=options.threadblocks)
        assert found.findings == ()
        assert carried_out(called, launches=launches, root=root or 0) == RIGHT
    return plan


@pytest.mark.first_rows(6)
@pytest.mark.parametrize(("method", "collective", "name"), every_row(5, CASES))
def test_exported_schedules_of_methods_are_right(method: str, collective: str, name: str) -> None:
    """Trees, steps and clocks; also in two instances and in place."""
    schedule = make(method, collective, name)
    verify(schedule)
    program = compile_program(schedule)
    check(program, MscclppOptions(), launches=1)
    in_place = collective != "all-to-all"
    twice = to_mscclpp(program, MscclppOptions(in_place=in_place, instances=2))
    assert interpret_plan(twice, root=root_of(program)).findings == ()


@pytest.mark.parametrize("collective", [*COLLECTIVES, "broadcast", "reduce"])
def test_few_threadblocks_do_it_as_well(collective: str) -> None:
    """One at each GPU, with semaphores where there are more; three launches in any order."""
    root = 0 if collective in ("broadcast", "reduce") else None
    program = compile_program(
        generate("complete:nodes=5", collective=collective, root=root).schedule
    )
    for threadblocks in (1, 2, 7):
        plan = check(program, MscclppOptions(threadblocks=threadblocks), launches=3)
        assert max(len(gpu.threadblocks) for gpu in plan.gpus) <= threadblocks


def test_a_star_of_many_needs_several_threadblocks_and_semaphores() -> None:
    """30 others send to one, and it sends back: more than the channels of a threadblock."""
    gpus = 31
    topology = load(f"complete:nodes={gpus}")
    sends = [Send(0, 0, gpu, 0, True) for gpu in range(1, gpus)]
    sends += [Send(1, 0, 0, gpu) for gpu in range(1, gpus)]
    program = compile_program(by_hand(topology, "allreduce", Chunks.equal([-1], 1), sends))
    plan = check(program, MscclppOptions(), launches=1)
    assert len(plan.gpus[0].threadblocks) >= 3
    assert plan.gpus[0].semaphores


@settings(max_examples=rounds(8, 4), deadline=None)
@given(st.data())
def test_any_network_comes_out_right(data: st.DataObject) -> None:
    """In any number of threadblocks and instances."""
    topology = build_topology("directed", lambda low, high: data.draw(st.integers(low, high)))
    collective = data.draw(st.sampled_from(COLLECTIVES))
    options = MscclppOptions(
        threadblocks=data.draw(st.sampled_from((2, 8, 108))),
        instances=data.draw(st.integers(1, 2)),
        in_place=data.draw(st.booleans()),
    )
    program = compile_program(generate(topology, collective=collective).schedule)
    try:
        to_mscclpp(program, options)
    except ExportError:  # of a limit; nothing else may go wrong
        return
    check(program, options, launches=1)


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("collective", [*COLLECTIVES, "broadcast", "reduce"])
@pytest.mark.parametrize("between", ["port", "memory"])
@pytest.mark.each_value_once
def test_boxes_are_joined_by_port_or_memory_channels(collective: str, between: str) -> None:
    """Eight GPUs in two boxes: no memory channel leads to the other box, unless NVLink does."""
    root = 0 if collective in ("broadcast", "reduce") else None
    made = generate("paper_example", collective=collective, root=root)
    for threadblocks in (2, 108):
        options = MscclppOptions(threadblocks=threadblocks, between_boxes=between)
        plan = check(compile_program(made.schedule), options)
        for rank, gpu in enumerate(plan.gpus):
            assert not any(peer // 4 == rank // 4 for peer in gpu.port_channels)
            far = [peer for peer in gpu.memory_channels if peer // 4 != rank // 4]
            assert not (gpu.port_channels if between == "memory" else far)
    assert any(gpu.port_channels for gpu in plan.gpus) == (between == "port")


@pytest.mark.slow
def test_boxes_in_place_and_in_two_instances() -> None:
    """What is read over a port channel is not written over before it has arrived."""
    for collective in COLLECTIVES:
        program = compile_program(generate("paper_example", collective=collective).schedule)
        check(program, MscclppOptions(in_place=True, instances=2), launches=3)


@pytest.mark.slow
def test_mutants_of_plans_with_port_channels_are_caught() -> None:
    """Each plan with one operation changed: what the slow machine gets wrong is not right."""
    counts, most = Counter[bool](), rounds(3, 1)
    for collective in ("allgather", "allreduce"):
        made = generate("rail_optimized:boxes=3,gpus_per_box=2", collective=collective)
        plan = to_mscclpp(compile_program(made.schedule), MscclppOptions(threadblocks=2))
        for kind, mutant in plan_mutants(plan, most, seed=1):
            try:
                caught = not interpret_plan(mutant).is_right
            except UnsupportedError:
                caught = True
            counts[caught] += 1
            if not caught:
                said = {carried_out(mutant, launches=2, seed=seed) for seed in range(3)}
                assert said == {RIGHT}, (collective, kind)
    assert counts[True] >= 8 * most, counts


@pytest.mark.parametrize(("method", "collective", "name"), every_row(7, CASES))
def test_schedules_of_methods_are_right_in_packets(method: str, collective: str, name: str) -> None:
    """Four launches in any order, so that each half of scratch is used twice."""
    program = compile_program(make(method, collective, name))
    plan = check(program, MscclppOptions(protocol="LL"), launches=4)
    assert (plan.protocol, plan.double_scratch) == ("LL", True)


@pytest.mark.first_rows(1)
@pytest.mark.first_rows(2)
@pytest.mark.parametrize("collective", [*COLLECTIVES, "broadcast", "reduce"])
@pytest.mark.parametrize("name", ["paper_example", "rail_optimized:boxes=3,gpus_per_box=2"])
@pytest.mark.each_value_once
def test_packets_reach_other_boxes_over_port_channels(collective: str, name: str) -> None:
    """Sent on by a proxy after the launch, too; in one threadblock or many, and in place."""
    root = 0 if collective in ("broadcast", "reduce") else None
    program = compile_program(generate(name, collective=collective, root=root).schedule)
    for options in (
        MscclppOptions(protocol="LL"),
        MscclppOptions(protocol="LL", threadblocks=2),
        MscclppOptions(protocol="LL", in_place=True, instances=2),
        MscclppOptions(protocol="LL", between_boxes="memory"),
    ):
        plan = check(program, options, launches=4)
        over_ports = {
            one.kind
            for gpu in plan.gpus
            for block in gpu.threadblocks
            for one in block.operations
            if one.channel_type == "port"
        }
        assert over_ports <= {"rppkt", "signal", "wait"}
        assert bool(over_ports) == (options.between_boxes == "port")


@settings(max_examples=rounds(6, 2), deadline=None)
@given(st.data())
def test_any_network_comes_out_right_in_packets(data: st.DataObject) -> None:
    topology = build_topology("directed", lambda low, high: data.draw(st.integers(low, high)))
    collective = data.draw(st.sampled_from(COLLECTIVES))
    options = MscclppOptions(
        threadblocks=data.draw(st.sampled_from((4, 108))),
        in_place=data.draw(st.booleans()),
        protocol="LL",
    )
    program = compile_program(generate(topology, collective=collective).schedule)
    try:
        to_mscclpp(program, options)
    except ExportError:  # of a limit; nothing else may go wrong
        return
    check(program, options, launches=3)


@pytest.mark.parametrize(
    ("collective", "needs_two"), [("allreduce", False), ("reduce-scatter", True)]
)
def test_some_plans_in_packets_need_both_halves_of_scratch(
    collective: str, needs_two: bool
) -> None:
    """In one half, a sender of the allreduce knows that its packets were read; others do not."""
    made = generate("ring:nodes=4", collective=collective).schedule
    plan = to_mscclpp(compile_program(made), MscclppOptions(protocol="LL"))
    found = interpret_plan(replace(plan, double_scratch=False)).findings
    assert bool(found) == needs_two


def test_sums_of_many_packets_take_several_operations() -> None:
    """19 others send to one: nine packets at a time are added to its part."""
    topology = load("complete:nodes=20")
    sends = [Send(0, 0, gpu, 0, True) for gpu in range(1, 20)]
    program = compile_program(by_hand(topology, "reduce", Chunks.equal([0], 1), sends))
    plan = check(program, MscclppOptions(protocol="LL"), launches=3)
    many = [len(one.sources) for block in plan.gpus[0].threadblocks for one in block.operations]
    assert sorted(many)[-3:] == [2, 10, 10]


def test_packets_and_plain_sums_lie_apart_in_scratch() -> None:
    """A packet takes the room of two chunks: plain ones begin at twice the number of packets."""
    program = compile_program(generate("ring:nodes=4", collective="reduce-scatter").schedule)
    plan = to_mscclpp(program, MscclppOptions(protocol="LL"))
    spans = [
        (one.kind, place, span)
        for block in plan.gpus[0].threadblocks
        for one in block.operations
        for place, span in enumerate((*one.sources, *one.targets))
        if span.where == "s"
    ]
    packets = {span.index for kind, place, span in spans if kind == "repkt" and place == 1}
    plain = {span.index for kind, place, span in spans if kind == "ppkt"}
    assert packets
    assert plain
    assert min(plain) == 2 * (max(packets) + 1)


@pytest.mark.slow
def test_mutants_of_plans_in_packets_are_caught() -> None:
    """What the slow machine gets wrong in five launches is not right."""
    counts, most = Counter[bool](), rounds(3, 1)
    for name, collective, root in (
        ("ring:nodes=4", "allgather", None),
        ("paper_example", "allreduce", None),
        ("rail_optimized:boxes=3,gpus_per_box=2", "broadcast", 0),
    ):
        made = generate(name, collective=collective, root=root)
        options = MscclppOptions(threadblocks=4, protocol="LL")
        plan = to_mscclpp(compile_program(made.schedule), options)
        for kind, mutant in plan_mutants(plan, most, seed=2):
            try:
                caught = not interpret_plan(mutant, root=root).is_right
            except UnsupportedError:
                caught = True
            counts[caught] += 1
            if not caught:
                said = {
                    carried_out(mutant, launches=5, seed=seed, root=root or 0) for seed in range(3)
                }
                assert said == {RIGHT}, (collective, kind)
    assert counts[True] >= 8 * most, counts


def test_packets_through_switches_that_multicast_are_refused() -> None:
    made = generate(star(4), multicast=True).schedule
    with pytest.raises(UnsupportedError, match=r"packets .LL. with switches that multicast"):
        to_mscclpp(compile_program(made), MscclppOptions(protocol="LL"))


@pytest.mark.slow
def test_limits_that_cannot_be_met_are_reported() -> None:
    """A ring of 30 that gathers by one threadblock: 15 phases of five operations."""
    program = compile_program(generate("ring:nodes=30").schedule)
    with pytest.raises(ExportError, match=r"needs .*, and .* the most.*let more threadblocks run"):
        to_mscclpp(program, MscclppOptions(threadblocks=1))
    assert to_mscclpp(program).gpus


def test_offsets_stay_within_32_bits() -> None:
    """Four chunks in a buffer: of less than 1 GiB, a multiple of 16 bytes."""
    program = compile_program(generate("complete:nodes=4", collective="allreduce").schedule)
    plan = to_mscclpp(program)
    chunks = max(max(gpu.input_chunks, gpu.scratch_chunks) for gpu in plan.gpus)
    assert plan.max_bytes == (2**32 - 1) // chunks // 16 * 16 * plan.gpus[0].input_chunks
    assert to_mscclpp(program, MscclppOptions(max_bytes=2**20)).max_bytes == 2**20
    assert not [one for one in interpret_plan(plan).findings if "32 bits" in one.message]
    with pytest.raises(RuntimeLimitError, match=r"32 bits, so that [0-9]+ bytes are the largest"):
        to_mscclpp(program, MscclppOptions(max_bytes=2**50))
    to_one = compile_program(
        generate("complete:nodes=8", collective="reduce", root=0, k=1).schedule
    )
    with pytest.raises(RuntimeLimitError, match=f"{2**30} are asked for"):
        to_mscclpp(to_one, MscclppOptions(min_bytes=2**30))
    found = interpret_plan(replace(plan, max_bytes=2**33)).findings
    assert ["32 bits" in one.message for one in found] == [True]


def test_in_place_only_the_shared_buffer_is_touched() -> None:
    """As the runtime's own plans have it: the output in a gather, the input in a reduce-scatter."""
    for collective, touched in (("allgather", "o"), ("reduce-scatter", "is")):
        plan = to_mscclpp(
            compile_program(generate("ring:nodes=4", collective=collective).schedule),
            MscclppOptions(in_place=True),
        )
        used = {
            span.where
            for gpu in plan.gpus
            for block in gpu.threadblocks
            for one in block.operations
            for span in (*one.sources, *one.targets)
        } - {"remote"}
        assert used == set(touched)


def test_schedules_without_a_plan_are_refused() -> None:
    with pytest.raises(ExportError, match="nothing moves"):
        to_mscclpp(compile_program(generate(network_of("alone", "", "alone")).schedule))
    in_place = MscclppOptions(in_place=True)
    with pytest.raises(UnsupportedError, match="an all-to-all in place"):
        to_mscclpp(compile_program(best_flow("ring:nodes=4")), in_place)


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("spec", ["ring:nodes=5", "torus:dims=2x3", "dgx_a100:boxes=2"])
def test_all_to_alls_on_paths_are_written(spec: str) -> None:
    """GPUs on the way store what they forward; a GPU's part for itself is copied."""
    check(compile_program(best_flow(spec)), MscclppOptions(threadblocks=64))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"threadblocks": 0}, "threadblocks is 0; it must be 1 or more"),
        ({"instances": 0}, "instances is 0"),
        ({"min_bytes": 2**31}, "the runtime reads 31 bits"),
        ({"min_bytes": 5, "max_bytes": 4}, "max_bytes is 4, less than min_bytes, 5"),
        ({"protocol": "LL128"}, "the protocol is 'LL128'; plans of MSCCL.. have Simple, LL"),
        ({"between_boxes": "switch"}, "between_boxes is 'switch'; it must be one of port, memory"),
    ],
)
def test_options_are_checked(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidParameterError, match=expected):
        MscclppOptions(**options)


def test_plans_that_differ_have_names_that_do() -> None:
    """To the runtime plans of one name are one; a name of any length is cut."""
    program = compile_program(generate("ring:nodes=3").schedule)
    names = {
        to_mscclpp(program, MscclppOptions(instances=many, in_place=in_place)).name
        for many in (1, 2)
        for in_place in (False, True)
    }
    assert len(names) == 4
    assert all(name.startswith("forestcoll-allgather-ring:nodes=3-") for name in names)
    long = replace(program, topology=replace(program.topology, name="x" * 500))
    assert len(to_mscclpp(long).name) == 209


def test_the_same_program_is_the_same_file() -> None:
    one, other = (
        compile_program(generate(load("dgx_a100:boxes=1"), collective="allreduce").schedule)
        for _ in range(2)
    )
    assert written_plan(to_mscclpp(one)) == written_plan(to_mscclpp(other))
