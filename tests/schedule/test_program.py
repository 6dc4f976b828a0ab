"""Programs: what is wrong in one is found, and two that say the same are equal."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import forestcoll
from forestcoll import Program, compile_program, generate
from forestcoll.errors import VerificationError
from forestcoll.schedule import stepwise, verify
from forestcoll.schedule.allreduce import AnySchedule
from forestcoll.topology import load_topology
from tests.random_topologies import random_topology
from tests.schedule.made.run_program import delivers


def dropped(program: Program, transfer: int) -> Program:
    """The same program, in which a transfer does not wait."""
    first, end = program.first_need[transfer : transfer + 2].tolist()
    before = program.first_need.copy()
    before[transfer + 1 :] -= end - first
    return replace(program, first_need=before, need=np.delete(program.need, np.s_[first:end]))


def refused(program: Program) -> bool:
    try:
        verify(stepwise(program))
    except VerificationError:
        return True
    return False


SMALL: dict[str, Callable[[], AnySchedule]] = {
    "allgather": lambda: generate(load_topology("ring:nodes=4")).schedule,
    "reduce-scatter": lambda: (
        generate(load_topology("torus:dims=2x3"), collective="reduce-scatter").schedule
    ),
    "allreduce": lambda: generate(random_topology(6, "directed"), collective="allreduce").schedule,
    "copying": lambda: generate(load_topology("dgx_h100:boxes=1"), multicast=True).schedule,
    "adding": lambda: (
        generate(
            load_topology("dgx_h100:boxes=1"), collective="reduce-scatter", multicast=True
        ).schedule
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_transfer_that_does_not_wait_is_found(name: str) -> None:
    """Whichever it is: carried out, and, if no switch may send it as it comes in, by its steps."""
    program = compile_program(SMALL[name](), pipeline_chunks=2)
    waiting = np.flatnonzero(np.diff(program.first_need))
    assert len(waiting)
    for transfer in waiting[:: max(1, len(waiting) // 20)].tolist():
        hasty = dropped(program, transfer)
        assert not delivers(hasty)
        assert refused(hasty) or program.tail[transfer] >= program.topology.num_compute


@pytest.mark.parametrize("name", SMALL)
def test_a_transfer_of_other_units_is_found(name: str) -> None:
    """Each moved by a unit, one way or the other."""
    program = compile_program(SMALL[name](), pipeline_chunks=2)
    for transfer in range(0, program.num_transfers, max(1, program.num_transfers // 20)):
        first = program.first.copy()
        end = first[transfer] + program.amount[transfer]
        size = program.chunks.size[program.chunk[transfer]]
        if program.amount[transfer] == size:
            continue
        first[transfer] += 1 if end < size else -1
        other = replace(program, first=first)
        assert refused(other)
        assert not delivers(other)


def test_programs_compare_by_content() -> None:
    """The same schedule makes the same program; in pipeline chunks it is another one."""
    ring = generate(load_topology("ring:nodes=3")).schedule
    assert compile_program(ring) == compile_program(
        generate(load_topology("ring:nodes=3"), factored=True).schedule
    )
    assert len({compile_program(ring), compile_program(ring), compile_program(ring, 2)}) == 2
    assert forestcoll.compile_program is compile_program
