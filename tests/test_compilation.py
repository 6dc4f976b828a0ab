"""Schedules of every kind as programs, proved by way of steps and carried out one by one."""

import pytest

from forestcoll import compile_program, generate, group
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import (
    Allreduce,
    Forest,
    StepSchedule,
    lockstep,
    sequential,
    time_reversed,
    verify,
)
from forestcoll.topology import load_topology
from tests.baselines.claims import CLAIMS, examples, make
from tests.hand_networks import network_of
from tests.random_topologies import random_topology
from tests.schedule.literals import LITERALS
from tests.schedule.made.programs import COLLECTIVES, check
from tests.schedule.made.run_program import delivers
from tests.schedule.made.types import TYPES, schedule


@pytest.mark.first_rows(15)
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("kind", ["directed", "bidirectional"])
@pytest.mark.parametrize("seed", range(10))
def test_programs_of_forests_deliver(seed: int, kind: str, collective: str) -> None:
    """In any number of pipeline chunks, explicit, factored and in steps."""
    topology = random_topology(seed, kind)
    forest = generate(topology, collective=collective).schedule
    pipeline_chunks = 1 + seed % 3
    assert delivers(check(forest, pipeline_chunks))
    check(lockstep(forest), pipeline_chunks)
    check(generate(topology, collective=collective, factored=True).schedule, pipeline_chunks)


@pytest.mark.parametrize("collective", [*COLLECTIVES, "broadcast", "reduce"])
@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "mi250:boxes=1"])
def test_programs_of_machines_deliver(spec: str, collective: str) -> None:
    """With a root where there is one; the slow way where there is little to do."""
    root = {} if collective in COLLECTIVES else {"root": 3}
    forest = generate(load_topology(spec), collective=collective, **root).schedule
    for pipeline_chunks in (1, 2, 3):
        program = check(forest, pipeline_chunks)
    assert program.num_transfers > 2000 or delivers(program)


@pytest.mark.parametrize("collective", [*COLLECTIVES, "broadcast", "reduce"])
@pytest.mark.parametrize("spec", ["dgx_h100:boxes=1", "dgx_h100:boxes=2,sharp=true"])
def test_programs_of_multicast_switches_deliver(spec: str, collective: str) -> None:
    """Switches get and send as GPUs do."""
    root = {} if collective in COLLECTIVES else {"root": 3}
    forest = generate(load_topology(spec), collective=collective, **root, multicast=True).schedule
    for pipeline_chunks in (1, 2, 3):
        program = check(forest, pipeline_chunks)
        assert (program.tail >= program.topology.num_compute).any()
    assert delivers(check(forest))


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_programs_of_groups_pass_through_relays(collective: str) -> None:
    """Three GPUs of a ring of six: what they send passes through the others."""
    ring = load_topology("ring:nodes=6")
    members = group(ring, [ring.nodes[v].name for v in (0, 1, 3)])
    assert delivers(check(generate(members, collective=collective).schedule, 2))


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_single_gpu_does_nothing(collective: str) -> None:
    """It has all there is."""
    schedule = generate(network_of("alone", "", "alone"), collective=collective).schedule
    for pipeline_chunks in (1, 2):
        program = check(schedule, pipeline_chunks)
        assert program.num_transfers == 0
        assert delivers(program)


@pytest.mark.parametrize(
    ("method", "collective"),
    [
        pytest.param(
            *(method, collective),
            marks=pytest.mark.slow if (method, collective) == ("sccl", "all-to-all") else (),
        )
        for method, claims in CLAIMS.items()
        for collective in claims
    ],
)
def test_programs_of_all_methods_deliver(method: str, collective: str) -> None:
    """Trees and steps, clocks too."""
    for pipeline_chunks, name in enumerate(examples(method, collective), 1):
        schedule = make(method, collective, name)
        program = check(schedule, pipeline_chunks)
        clock = schedule.clock if isinstance(schedule, StepSchedule) else None
        assert (program.starts is None) == (clock is None)
        assert program.num_transfers > 3000 or delivers(program)


@pytest.mark.parametrize("pipeline_chunks", [1, 2, 3])
@pytest.mark.parametrize("name", TYPES)
def test_programs_of_all_types_deliver(name: str, pipeline_chunks: int) -> None:
    """A new type needs a way to become a program."""
    assert delivers(check(schedule(name), pipeline_chunks))


@pytest.mark.parametrize("pipeline_chunks", [1, 2, 3])
@pytest.mark.parametrize("name", LITERALS)
def test_programs_of_baselines_schedules_deliver(name: str, pipeline_chunks: int) -> None:
    """Intervals, named paths, all kinds of switches, clocks with delays."""
    assert delivers(check(LITERALS[name].make(), pipeline_chunks))


@pytest.mark.parametrize(
    "name", [name for name in LITERALS if LITERALS[name].make().collective != "allreduce"]
)
def test_reversed_schedules_of_baselines_deliver(name: str) -> None:
    """What was copied is added, in switches too; and both in turn are an allreduce."""
    there = LITERALS[name].make()
    back = time_reversed(there, there.topology.reversed())
    for pipeline_chunks in (1, 2):
        assert delivers(compile_program(back, pipeline_chunks))
    if there.reduction:
        verify(sequential(there, time_reversed(there, there.topology)))
        return
    both = sequential(time_reversed(there, there.topology), there)
    assert delivers(compile_program(both))


@pytest.mark.parametrize("found", [None, 3, Forest, Allreduce(None, None)])
def test_other_types_than_schedules_are_refused(found: object) -> None:
    with pytest.raises(
        UnsupportedError, match=r"^unsupported: compile_program takes a schedule, not "
    ):
        compile_program(found)
