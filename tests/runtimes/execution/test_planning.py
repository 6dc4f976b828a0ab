"""Plans of ranks out of programs: by hand, and carried out in threads."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from forestcoll import Program, compile_program, generate
from forestcoll.errors import InvalidParameterError, VerificationError
from forestcoll.runtimes.execution.planning import rank_plans
from forestcoll.runtimes.execution.rank_plan import OWN, Message, Part, RankPlan, Round
from forestcoll.schedule import Chunks, Send
from tests.random_topologies import random_topology
from tests.runtimes.execution.in_threads import carried_out, due, random_given
from tests.schedule.literals import LITERALS
from tests.schedule.made.flows import ring
from tests.schedule.made.programs import COLLECTIVES, by_hand, line
from tests.schedule.made.run_program import delivers
from tests.schedule.made.types import TYPES, schedule
from tests.schedule.made.weighted import weighted


def is_right(plans: list[RankPlan]) -> bool:
    given = random_given(plans)
    pairs = zip(carried_out(plans, given), due(plans, given), strict=True)
    return all(np.array_equal(found, wanted) for found, wanted in pairs)


def test_a_broadcast_down_a_line_goes_in_two_rounds() -> None:
    """gpu0 to gpu1, then on to gpu2: what has come in is sent on as it is."""
    made = by_hand(line(3), "broadcast", Chunks.equal([0], 1), [Send(0, 0, 0, 1), Send(1, 0, 1, 2)])
    first, second, third = rank_plans(compile_program(made), 5)
    assert first.rounds == (Round((), (Message(0, 1, 5, (Part(OWN, 0, 0, 5),)),)),)
    assert second.rounds == (
        Round((Message(0, 0, 5),), ()),
        Round((), (Message(1, 2, 5, (Part(0, 0, 0, 5),)),)),
    )
    assert third.rounds == (Round((Message(1, 1, 5),), ()),)
    assert third.result == (Part(1, 0, 0, 5),)
    assert (first.given, first.due, first.root) == ((5, 0, 0), (5, 5, 5), 0)


def test_gpus_that_swap_sums_do_not_wait_for_each_other() -> None:
    """Both send their own part, and add what comes in to it: one round."""
    sends = [Send(0, 0, 0, 1, reduce=True), Send(0, 0, 1, 0, reduce=True)]
    plans = rank_plans(
        compile_program(by_hand(line(2), "allreduce", Chunks.equal([-1], 1), sends)), 3
    )
    for rank, plan in enumerate(plans):
        only = plan.rounds[0]
        assert len(plan.rounds) == 1
        assert only.sends[0].parts == (Part(OWN, 0, 0, 3),)
        assert plan.result == (Part(OWN, 0, 0, 3), Part(1 - rank, 0, 0, 3, add=True))


def test_shards_lie_in_the_order_of_ranks() -> None:
    """Ten elements of three GPUs: 3, 3 and 4 of them, in the order of the ranks."""
    plan = rank_plans(compile_program(generate("ring:nodes=3").schedule), 10)[2]
    assert (plan.given, plan.due) == ((3, 3, 4), (10, 10, 10))
    kept = [part for part in plan.result if part.source == OWN]
    assert kept == [Part(OWN, 0, 6, 4)]


def test_an_all_to_all_keeps_nothing_for_itself() -> None:
    """Eight elements a GPU, two for each of four, and those for itself are not moved."""
    plan = rank_plans(compile_program(ring(4)), 8)[1]
    assert (plan.sent, plan.received) == ((2, 0, 2, 2), (2, 0, 2, 2))
    assert plan.given == plan.due == (6, 6, 6, 6)


def test_a_rank_simulates_a_multicast_switch() -> None:
    """Rank 0 plays the one switch: it sends to itself as the switch."""
    program = compile_program(schedule("multicast forest"))
    plans = rank_plans(program, 1000)
    to_itself = [
        m for plan in plans for one in plan.rounds for m in one.sends if m.peer == plan.rank
    ]
    assert to_itself
    assert is_right(plans)


@pytest.mark.parametrize("elements", [1, 11, 1000])
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.each_value_once
def test_plans_of_all_types_give_the_due_results(name: str, elements: int) -> None:
    """Whether or not shares come out as whole elements."""
    assert is_right(rank_plans(compile_program(schedule(name), 2), elements))


@pytest.mark.parametrize("name", LITERALS)
def test_plans_of_baselines_schedules_give_the_result(name: str) -> None:
    assert is_right(rank_plans(compile_program(LITERALS[name].make()), 1000))


@pytest.mark.parametrize("collective", [*COLLECTIVES, "broadcast", "reduce"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.each_value_once
def test_plans_of_random_networks_give_the_due_results(seed: int, collective: str) -> None:
    """In one to three pipeline chunks."""
    root = {} if collective in COLLECTIVES else {"root": 0}
    topology = random_topology(seed, "directed" if seed % 2 else "bidirectional")
    program = compile_program(
        generate(topology, collective=collective, **root).schedule, 1 + seed % 3
    )
    assert is_right(rank_plans(program, 500 + seed))


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_weights_share_the_data_out(collective: str) -> None:
    """Weights 2, 1, 1 of eight elements."""
    plans = rank_plans(compile_program(weighted(collective)), 8)
    assert (plans[0].given if collective == "allgather" else plans[0].due) == (4, 2, 2)
    assert is_right(plans)


@pytest.mark.parametrize("name", TYPES)
def test_both_ends_of_a_pair_have_its_messages_in_one_order(name: str) -> None:
    """So that no tags are needed, and a round is one group at both."""
    going, coming = defaultdict(list), defaultdict(list)
    for plan in rank_plans(compile_program(schedule(name), 3), 999):
        for one in plan.rounds:
            for m in one.sends:
                going[plan.rank, m.peer].append((m.number, m.length))
            for m in one.receives:
                coming[m.peer, plan.rank].append((m.number, m.length))
    assert going == coming


def mutants(program: Program, seed: int, count: int) -> list[Program]:
    """Programs that fit together but for a need, an end, an interval, or what is added."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        one, other = random.choice(program.num_transfers, 2, replace=False)
        match int(random.integers(4)):
            case 0:
                made.append(_changed(program, "reduce", one, not program.reduce[one]))
            case 1:
                made.append(_changed(program, "amount", one, program.amount[one] // 2))
            case 2:
                made.append(_without_needs(program, int(one)))
            case _:
                mutant = _changed(program, "chunk", one, program.chunk[other])
                made.append(_without_needs(mutant, None))
    return made


def _changed(program: Program, column: str, transfer: int, value: object) -> Program:
    values = getattr(program, column).copy()
    values[transfer] = value
    return replace(program, **{column: values})


def _without_needs(program: Program, transfer: int | None) -> Program:
    """Drop the needs of one transfer; of None those that are of another chunk."""
    need, first = [], [0]
    for t in range(program.num_transfers):
        kept = [n for n in program.dependencies(t).tolist() if program.chunk[n] == program.chunk[t]]
        need += [] if t == transfer else kept
        first.append(len(need))
    return replace(
        program, need=np.array(need, dtype=np.int32), first_need=np.array(first, dtype=np.int64)
    )


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_mutants_are_wrong_exactly_by_the_rule_of_programs(collective: str) -> None:
    """Judged by the slow interpreter of programs, which shares no code with plans."""
    program = compile_program(
        generate("mi250:boxes=1,gpus_per_box=8", collective=collective).schedule
    )
    elements, found = 2 * program.chunks.whole, {True: 0, False: 0}
    for mutant in mutants(program, seed=3, count=25):
        right = delivers(mutant)
        assert is_right(rank_plans(mutant, elements)) == right
        found[right] += 1
    assert found[False] > 10


def test_inconsistent_programs_are_refused() -> None:
    program = compile_program(generate("ring:nodes=4,bidirectional=false").schedule)
    last = program.num_transfers - 1
    assert len(program.dependencies(last))
    elsewhere = _changed(program, "tail", last, (program.tail[last] + 1) % 4)
    with pytest.raises(VerificationError, match=f"transfer {last} takes chunk . from end"):
        rank_plans(elsewhere, 4)
    late = replace(program, need=np.full_like(program.need, last))
    with pytest.raises(VerificationError, match=f"needs {last}, which is not before it"):
        rank_plans(late, 4)
    with pytest.raises(InvalidParameterError, match="0 elements cannot be sent"):
        rank_plans(program, 0)
