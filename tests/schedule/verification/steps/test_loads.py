"""The times of step schedules in verify: added up by code of its own, in blocks of any size."""

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from baselines import METHODS
from forestcoll import generate
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import (
    Allreduce,
    Chunks,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    cost,
    lockstep,
    makespan_s_per_gb,
    pipelined,
    synchronous,
    verify,
)
from forestcoll.schedule.cost_model import step_loads
from forestcoll.schedule.verification.steps import loads as verify_step_loads
from forestcoll.topology import load_topology
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology
from tests.schedule.made.networks import holed_mesh
from tests.schedule.made.programs import by_hand

STEPWISE: dict[str, dict[str, Any]] = {
    "direct": {"order": "rotation"},
    "recursive-halving-doubling": {"order": "near-first"},
    "bruck": {},
    "tacos": {"chunks": 2, "trials": 1},
}
"""Methods in steps that run on any network, with parameters that make many steps."""


def made_by(name: str, collective: str, seed: int, kind: str) -> StepSchedule:
    made = METHODS[name].run(random_topology(seed, kind), collective, STEPWISE[name])
    assert isinstance(made, StepSchedule)
    return made


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "all-to-all"])
@pytest.mark.parametrize("name", STEPWISE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_verify_and_cost_agree(seed: int, kind: str, name: str, collective: str) -> None:
    """Two programs that share nothing come to the same exact numbers, and the same link."""
    if collective not in METHODS[name].collectives:
        return
    try:
        made = made_by(name, collective, seed, kind)
    except UnsupportedError:
        return
    verdict, found = verify(made), cost(made)
    assert verdict.time_s_per_gb == found.time_s_per_gb
    assert verdict.busiest_link == found.busiest_link
    assert verdict.synchronous_s_per_gb == synchronous(made).time_s_per_gb
    assert verdict.makespan_s_per_gb == makespan_s_per_gb(made)


@pytest.mark.parametrize("name", STEPWISE)
def test_the_comparison_covers_every_method(name: str) -> None:
    """None of them says no to all the networks above, so that nothing is compared with nothing."""
    assert made_by(name, "allgather", 1, "bidirectional").num_steps > 1


ONE_STEP = {
    "ties": holed_mesh,
    "equal": lambda: load_topology("fat_tree:leaves=2,hosts=2,spines=3"),
    "shared": lambda: load_topology("ring:nodes=5").with_shared("bus", "gpu[01] - gpu*", 1),
}


@pytest.mark.parametrize("name", ONE_STEP)
def test_one_step_is_added_up_as_any_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums by number of parts equal the table of times, and cost, which shares nothing."""
    made = METHODS["direct"].run(ONE_STEP[name](), "all-to-all")
    assert isinstance(made, StepSchedule)
    assert made.num_steps == 1
    verdict = verify(made)
    assert verdict.time_s_per_gb == verdict.synchronous_s_per_gb == cost(made).time_s_per_gb
    monkeypatch.setattr(verify_step_loads, "_time_of_one_step", lambda *_: None)
    assert verify(made) == verdict


def line(size: int = 1) -> StepSchedule:
    """Along links of 4 and 2 GB/s: both chunks over the first, then both over the second."""
    network = load_topology("torus:dims=3,wrap=false")
    widths = {(0, 1): 4, (1, 2): 2}
    links = tuple(
        replace(link, bandwidth_gb_s=Fraction(widths.get((link.tail, link.head), 1)))
        for link in network.links
    )
    sends = [Send(step, chunk, step, step + 1) for step in range(2) for chunk in range(2)]
    return StepSchedule(
        replace(network, links=links),
        "by hand",
        "broadcast",
        Chunks.equal([0, 0], whole=2 * size, size=size),
        Sends.of(sends),
        Routes.from_paths({pair: (Path(pair, 1),) for pair in widths}),
    )


@pytest.mark.parametrize("size", [1, 2**61])
def test_a_line_by_hand(size: int) -> None:
    """The whole takes 1/4 s over the first link and 1/2 s over the second: 3/4 s in steps.

    Flowing, the second link is busy for 1/2 s and the first for less. With sizes of 2**61 out of
    2**62 the amounts exceed 64 bits unless what they have in common is taken out.
    """
    verdict = verify(line(size))
    assert verdict.synchronous_s_per_gb == Fraction(3, 4)
    assert (verdict.time_s_per_gb, verdict.algbw_gb_s) == (Fraction(1, 2), 2)
    assert verdict.busiest_link == ("gpu1", "gpu2")
    assert verdict.makespan_s_per_gb is None


def test_sizes_without_a_common_divisor_are_added_up_exactly() -> None:
    """2**62 - 1 and 2**62 + 1 units of 2**63: times in whole numbers do not fit 64 bits."""
    sizes = np.array([2**62 - 1, 2**62 + 1], dtype=np.int64)
    chunks = replace(line().chunks, size=sizes, whole=2**63)
    made = replace(line(), chunks=chunks)
    assert verify(made).synchronous_s_per_gb == Fraction(3, 4)
    assert verify(made).time_s_per_gb == Fraction(1, 2)


def test_paths_share_a_transfer_by_their_multiplicities() -> None:
    """Half the data over spines by 2 and 6 trees: three quarters of it take 3/8 s at 1 GB/s.

    The other half goes back by 5 and 5, a quarter of the data over each spine: 1/4 s, as long as
    over the GPU's own link of 2 GB/s.
    """
    network = load_topology("fat_tree:leaves=2,hosts=1,spines=2,bandwidth=2")
    gpu, far = network.compute
    leaf, other, *spines = network.switches

    def ways(start: int, down: int, up: int, end: int, counts: tuple[int, int]) -> tuple[Path, ...]:
        both = zip(spines, counts, strict=True)
        return tuple(Path((start, down, spine, up, end), count) for spine, count in both)

    made = StepSchedule(
        network,
        "by hand",
        "allgather",
        Chunks.equal([0, 1], whole=2),
        Sends.of([Send(0, 0, 0, 1), Send(1, 1, 1, 0)]),
        Routes.from_paths(
            {
                (0, 1): ways(gpu, leaf, other, far, (2, 6)),
                (1, 0): ways(far, other, leaf, gpu, (5, 5)),
            }
        ),
    )
    verdict = verify(made)
    assert verdict.time_s_per_gb == Fraction(3, 8)
    assert verdict.synchronous_s_per_gb == Fraction(3, 8) + Fraction(1, 4)


@pytest.mark.parametrize(("cells", "transfers"), [(1, 1), (40, 3), (10**6, 10**6)])
def test_blocks_of_any_size(cells: int, transfers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are added up in blocks of steps, in pieces of transfers."""
    made = made_by("direct", "allreduce", 1, "bidirectional")
    monkeypatch.setattr(verify_step_loads, "_CELLS", cells)
    monkeypatch.setattr(verify_step_loads, "_TRANSFERS", transfers)
    verdict = verify(made)
    assert verdict.time_s_per_gb == cost(made).time_s_per_gb
    assert verdict.synchronous_s_per_gb == synchronous(made).time_s_per_gb


def spoiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function claim that everything takes no time at all but a millionth."""

    def lie(*given: Any) -> Any:
        return replace(function(*given), time_s_per_gb=Fraction(1, 10**6))

    return lie


def test_verify_is_independent_of_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that cost adds up with is spoiled; verify does not ask it.

    Rings of 4 GPUs: an allgather takes 3/4 M over links of 1 GB/s in one direction.
    """
    both = generate(load_topology("ring:nodes=4"), collective="allreduce").schedule
    assert isinstance(both, Allreduce)
    stepwise = lockstep(both.gather)
    true = verify(both), verify(both.gather), verify(stepwise), verify(line())
    costs = sys.modules[
        "forestcoll.schedule.cost_model.measures"
    ]  # the name in the package is the function
    monkeypatch.setattr(costs, "measure_steps", spoiled(step_loads.measure_steps))
    monkeypatch.setattr(costs, "flow_of_loads", spoiled(pipelined.flow_of_loads))
    monkeypatch.setattr(step_loads, "_measure", spoiled(step_loads._measure))
    monkeypatch.setattr(pipelined, "flow_of_loads", spoiled(pipelined.flow_of_loads))
    for schedule in (both, stepwise, line()):
        assert cost(schedule).time_s_per_gb == Fraction(1, 10**6)
    assert synchronous(stepwise).time_s_per_gb == Fraction(1, 10**6)
    assert both.time_s_per_gb == Fraction(1, 10**6)
    assert (verify(both), verify(both.gather), verify(stepwise), verify(line())) == true
    assert verify(line()).synchronous_s_per_gb == Fraction(3, 4)


@pytest.mark.parametrize("slow", [Fraction(1), Fraction(1, 2**40)])
@pytest.mark.parametrize("fast", [8, 2**40])
def test_times_beyond_64_bits_are_exact(slow: Fraction, fast: int) -> None:
    """A broadcast of 2^60 and 2^60 - 1 units over a fast link and then a slow one, at once.

    All data cross the slow link, so a gigabyte takes 1 / slow seconds, and as long in steps.
    """
    line = network_of("a b c", f"a - b: {fast}, b - c: {slow}", "line")
    size, nobody = np.array([2**60, 2**60 - 1]), np.full(2, -1, dtype=np.int32)
    chunks = Chunks(size, whole=2**61 - 1, root=np.zeros(2, np.int32), target=nobody)
    sends = [Send(step, chunk, step, step + 1) for step in (0, 1) for chunk in (0, 1)]
    verdict = verify(by_hand(line, "broadcast", chunks, sends))
    assert verdict.time_s_per_gb == 1 / slow
    assert verdict.synchronous_s_per_gb == 1 / slow + Fraction(1, fast)
    assert verdict.busiest_link == ("b", "c")
