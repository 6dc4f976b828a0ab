"""The search for the fewest epochs: bounds, proofs, and what is left when the time is up."""

import time

import pytest

from baselines.synthesizers.teccl.milp import horizon
from baselines.synthesizers.teccl.milp.epoch_program import write
from baselines.synthesizers.teccl.milp.greedy import greedy_sends
from baselines.synthesizers.teccl.milp.horizon import (
    fewest_epochs,
    least_epochs,
    within_epochs,
)
from baselines.synthesizers.teccl.milp.solvers import Effort, Outcome, solve
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.errors import InfeasibleError, TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from tests.baselines.synthesizers.teccl.instances import instance
from tests.hand_networks import network_of


@pytest.mark.parametrize(
    ("spec", "chunks", "least"),
    [
        ("ring:nodes=7", 1, 3),  # 6 chunks over 2 links; 3 hops
        ("ring:nodes=7,bidirectional=false", 2, 12),
        ("dgx1:nvlink_latency=0", 6, 14),  # 42 chunks over 150 GB/s, of 50 an epoch
        ("torus:dims=3,wrap=false", 1, 2),
    ],
)
def test_no_epochs_below_the_cut_and_the_distances(spec: str, chunks: int, least: int) -> None:
    assert least_epochs(*instance(spec, "allgather", chunks=chunks)) == least


@pytest.mark.parametrize("spec", ["ring:nodes=5", "hypercube:dimension=3", "dgx_h100:boxes=1"])
def test_the_horizon_equals_its_bound_and_one_epoch_less_is_infeasible(spec: str) -> None:
    network, demand = instance(spec, "allgather")
    found = fewest_epochs(network, demand, "cp-sat", Limits())
    assert found.epochs == found.bound >= least_epochs(network, demand)
    with pytest.raises(InfeasibleError):
        within_epochs(network, demand, found.epochs - 1, "highs", Limits(seconds=60))


def test_the_time_limit_reports_the_bound() -> None:
    with pytest.raises(TimeLimitError) as caught:
        fewest_epochs(*instance("torus:dims=3x3", "allgather"), "cp-sat", Limits(seconds=0))
    assert caught.value.bound == 2


@pytest.mark.slow
def test_the_search_tries_fewer_epochs_after_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the least number stays open, more epochs are tried, then fewer of these."""
    network, demand = instance("torus:dims=3x3", "allgather", chunks=2)
    tried: list[int] = []
    real, hard = horizon.solve, 4

    def solve(program, solver, effort):
        tried.append(program.epochs)
        if program.epochs == hard and effort.work < 16:
            return horizon.Answer(horizon.Outcome.OPEN)
        return real(program, solver, effort)

    def nothing(*_: object) -> None:
        raise TimeLimitError("not in time")

    monkeypatch.setattr(horizon, "solve", solve)
    monkeypatch.setattr(horizon, "greedy_sends", nothing)
    found = fewest_epochs(network, demand, "cp-sat", Limits())
    assert (found.epochs, found.bound) == (4, 4)
    assert tried[0] == tried[-1] == hard < max(tried)


def test_work_is_a_limit_that_gives_the_same_answer_every_time() -> None:
    """Without work, the greedy solution; every new incumbent and bound is reported."""
    network, demand = instance("torus:dims=4x4", "allgather", chunks=2)
    reported: list[tuple[int | None, int]] = []
    found = fewest_epochs(
        network, demand, "cp-sat", Limits(), lambda *known: reported.append(known), work=0
    )
    assert reported == [(None, 8), (found.epochs, 8)]
    sent = greedy_sends(network, demand)
    assert set(found.kept) <= set(sent)
    some = [fewest_epochs(network, demand, "cp-sat", Limits(), work=0.5) for _ in range(2)]
    assert some[0] == some[1]
    assert 8 <= some[0].bound <= some[0].epochs <= found.epochs


def test_programs_of_gigabytes_are_not_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found greedily is returned, with the bound from distances and the cut."""
    network, demand = instance("torus:dims=4x4", "allgather", chunks=2)
    monkeypatch.setattr(horizon, "MOST_TRANSFERS", 100)
    found = fewest_epochs(network, demand, "cp-sat", Limits())
    assert found.bound == least_epochs(network, demand) <= found.epochs


def test_reductions_over_switches_that_get_more_than_they_send() -> None:
    """Turned round such a switch sends more than it gets, for which no cut is known here."""
    made = generate(
        network_of("a b [s]", "a b > s: 2, s > a b", "funnel"), "reduce", size_bytes=1000
    )
    verify(made)
    assert made.clock is not None
    assert made.clock.finish_us == 1  # a kilobyte on the slower link, which it leaves as it comes


def test_sizes_do_not_matter_without_latencies() -> None:
    few = [
        least_epochs(*instance("mi250:boxes=1", "allgather", size_bytes=size))
        for size in (10**3, 10**9)
    ]
    assert few[0] == few[1]


def test_a_large_program_is_not_written_down_beyond_the_time() -> None:
    """An 8 x 8 torus takes a second to write down; a tenth of that is given."""
    network, demand = instance("torus:dims=8x8", "allgather")
    with pytest.raises(TimeLimitError) as caught:
        fewest_epochs(network, demand, "cp-sat", Limits(seconds=0.1))
    assert caught.value.bound == 16
    with pytest.raises(TimeLimitError, match="before the program of torus:dims=8x8 was written"):
        write(network, demand, 16, deadline=time.monotonic())


def test_the_first_chunks_arrive_when_they_are_due() -> None:
    """Of three chunks in a ring of three, two in an epoch, or one of them in none."""
    network, demand = instance("ring:nodes=3", "allgather")
    for due, outcome in (((1, 1), Outcome.FOUND), ((1, 0), Outcome.INFEASIBLE)):
        program = write(network, demand, 1, due=due)
        assert solve(program, "cp-sat", Effort()).outcome is outcome
    found = fewest_epochs(network, demand, "cp-sat", Limits(), due=(2, 2))
    assert (found.epochs, found.bound) == (1, 1)
    late = max(k for chunk, _, k in found.kept if chunk == 2)
    assert late == 0
