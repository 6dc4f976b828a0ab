"""verify accepts what is right, for the right reasons, and names the fault of what is not."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from forestcoll import generate
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule import Allreduce, FlowSchedule, lockstep
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.schedule.verification.verdict import AllreduceVerdict
from forestcoll.topology import Topology, load_topology
from tests.schedule.made.hand import FORESTS, ring3, star3


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_correct_forest_is_proved_optimal(make: Callable[[], Forest]) -> None:
    """Each forest attains the bound of its cut, worked out in its docstring."""
    correct = make()
    verdict = verify(correct)
    assert verdict.optimal
    assert correct.optimum is not None
    assert verdict.time_s_per_gb == correct.optimum.time_s_per_gb
    assert verdict.congestion == correct.congestion


def test_the_phase_that_is_wrong_is_named() -> None:
    """One of two chains of the star loses its last edge."""
    gather = star3()
    reduce = transposed(gather, gather.topology)
    parent = gather.parent.copy()
    parent[0, 2] = -1
    with pytest.raises(VerificationError, match=r"^phase gather: tree 0, rooted at a: c has no"):
        verify(Allreduce(reduce, replace(gather, parent=parent)))
    with pytest.raises(VerificationError, match=r"^phase reduce: tree 0, rooted at a: c "):
        verify(Allreduce(replace(reduce, parent=parent), gather))


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, "verify takes a schedule, not NoneType"),
        (Allreduce(ring3(), None), "takes forests as the phases of an allreduce, not NoneType"),
        (Allreduce(lockstep(ring3()), ring3()), "phases of an allreduce, not StepSchedule"),
    ],
)
def test_other_types_than_schedules_are_refused(found: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        verify(found)


def test_each_type_of_schedule_has_its_proof() -> None:
    """The same trees, as they are, in factored form, hop by hop, as flows."""
    forest = ring3()
    assert verify(forest).time_s_per_gb == Fraction(1, 3)
    assert verify(as_factored(forest)).time_s_per_gb == Fraction(1, 3)
    assert verify(lockstep(forest)).time_s_per_gb == Fraction(1, 3)
    assert verify(FlowSchedule(forest.topology, "flows", 1, forest.routes)).gpus == 3


def test_an_allreduce_of_one_gpu_takes_no_time_and_has_no_rate() -> None:
    """Nothing moves, so there is nothing to divide by; no bound is claimed, so none is named."""
    alone = generate(Topology("alone", star3().topology.nodes[:1], ())).schedule
    verdict = verify(Allreduce(transposed(alone, alone.topology), alone))
    assert verdict.time_s_per_gb == verdict.sequential_s_per_gb == 0
    assert verdict.algbw_gb_s is None
    assert verdict.busiest_link is None
    assert verdict.model is None
    assert verdict.optimal


def test_the_model_of_a_bound_is_reported_with_it() -> None:
    """A ring of four both ways: each piece is summed up at one GPU."""
    made = generate(load_topology("ring:nodes=4"), collective="allreduce").schedule
    verdict = verify(made)
    assert isinstance(verdict, AllreduceVerdict)
    assert verdict.model == "each piece summed up at one GPU; switches only forward"
    assert (
        verdict.sequential_s_per_gb == verdict.reduce.time_s_per_gb + verdict.gather.time_s_per_gb
    )
