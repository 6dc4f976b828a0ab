"""Shared capacities in schedules of every type: verified, measured and simulated alike."""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Allreduce,
    Chunks,
    Path,
    Routes,
    Send,
    StepSchedule,
    TimedSend,
    cost,
    lockstep,
    synchronous,
    timed,
    verify,
)
from forestcoll.schedule.simulate import AlphaBeta, Sharing, Simulator
from forestcoll.topology import SharedCapacity, Topology, TopologyBuilder, load_topology
from tests.reference.simulation import fair_finish_s
from tests.reference.step_rates import fits
from tests.schedule.made.hand import leaves4, star3
from tests.schedule.made.programs import by_hand
from tests.schedule.made.steps import SCHEDULES, link_times
from tests.schedule.made.types import TYPES, schedule

GB = 10**9


def limited(made: Any, *groups: SharedCapacity, slower: Fraction = Fraction(1)) -> Any:
    """The schedule on its network with shared capacities; what it claims is less than it was.

    ``slower`` is by how much more the congestion is that forests claim.
    """
    if isinstance(made, Allreduce):
        phases = (limited(phase, *groups, slower=slower) for phase in made.phases)
        return Allreduce(*phases)
    topology = replace(made.topology, shared=groups)
    changes: dict[str, Any] = {"topology": topology}
    if hasattr(made, "congestion"):
        changes |= {"congestion": made.congestion * slower, "optimum": None}
    if getattr(made, "clock", None) is not None:
        changes["clock"] = None
    return replace(made, **changes)


def groups_of(topology: Topology, rng: random.Random, limit: Fraction) -> list[SharedCapacity]:
    """Two groups of random links, which may overlap, each with so much of what they have."""
    made = []
    for name in ("one", "other"):
        links = rng.sample(topology.links, rng.randint(1, len(topology.links)))
        width = sum((link.bandwidth_gb_s for link in links), Fraction(0))
        ends = tuple(sorted((link.tail, link.head) for link in links))
        made.append(SharedCapacity(name, ends, width * limit))
    return made


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("limit", [Fraction(1, 7), Fraction(1)])
def test_verify_and_cost_count_the_load_of_a_group(name: str, limit: Fraction) -> None:
    """T = max over links of load / b and over groups of (sum of loads) / C, added up here."""
    made = schedule(name)
    plain = cost(made)
    for seed in range(6):
        groups = groups_of(made.topology, random.Random(seed), limit)
        place = {(e.tail, e.head): i for i, e in enumerate(made.topology.links)}
        times = {
            group.name: Fraction(sum(plain.loads[place[ends]] for ends in group.links), plain.whole)
            / group.bandwidth_gb_s
            for group in groups
        }
        due = max(plain.time_s_per_gb, *times.values())
        slow = limited(made, *groups, slower=due / plain.time_s_per_gb * 2)
        found, verdict = cost(slow), verify(slow)
        assert found.time_s_per_gb == verdict.time_s_per_gb == due
        assert found.loads == plain.loads
        if due > plain.time_s_per_gb:
            assert found.busiest_link == verdict.busiest_link
            assert times[found.busiest_link[0]] == due
        else:
            assert found.busiest_link == plain.busiest_link
        assert slow.sequential_s_per_gb >= due if isinstance(slow, Allreduce) else True


def half_duplex_star() -> Topology:
    """Three GPUs on a switch, 2 GB/s each, both ways together."""
    topology = star3().topology
    groups = tuple(
        SharedCapacity(f"{name} - w", ((v, 3), (3, v)), Fraction(2)) for v, name in enumerate("abc")
    )
    return replace(topology, shared=groups)


def test_a_star_of_half_duplex_wires_by_hand() -> None:
    """Each GPU sends two trees and receives two over 2 GB/s in all: 2 trees per GB/s, not 1."""
    slow = replace(star3(), topology=half_duplex_star(), congestion=Fraction(2), optimum=None)
    assert verify(slow).congestion == 2
    assert verify(slow).busiest_link == ("a - w",)
    assert cost(slow).time_s_per_gb == Fraction(2, 3)
    claimed = replace(slow, congestion=Fraction(1))
    text = (
        "shared capacity 'a - w' is overloaded: 4 trees over 2 GB/s make 2 trees per GB/s; the "
        "congestion claimed is 1"
    )
    with pytest.raises(VerificationError, match=text):
        verify(claimed)


def test_an_optimum_that_a_group_makes_impossible_is_not_taken() -> None:
    """The cut still proves 1/x* = 1, which the schedule no longer attains."""
    claim = star3().optimum
    assert claim is not None
    slow = replace(
        star3(),
        topology=half_duplex_star(),
        congestion=Fraction(2),
        optimum=replace(claim, topology=half_duplex_star()),
    )
    with pytest.raises(VerificationError, match="claimed to be optimal"):
        verify(slow)


def test_a_path_over_two_links_of_a_group_loads_it_twice() -> None:
    """All links of the star in one group: 6 paths of 2 links, 12 trees over 12 GB/s."""
    topology = star3().topology
    ends = tuple((link.tail, link.head) for link in topology.links)
    for limit, due in ((12, 1), (11, Fraction(12, 11)), (6, 2)):
        all_ = SharedCapacity("all", ends, Fraction(limit))
        slow = limited(star3(), all_, slower=Fraction(due))
        assert verify(slow).congestion == due


@pytest.mark.parametrize("name", [*SCHEDULES, "hops"])
def test_steps_last_as_long_as_their_slowest_group(name: str) -> None:
    """The sum over the steps of the slowest link or group, from the times of links path by path."""
    made = lockstep(leaves4()) if name == "hops" else SCHEDULES[name]()
    for seed in range(8):
        groups = groups_of(made.topology, random.Random(seed), Fraction(1, 2))
        slow = limited(made, *groups)
        width = {(e.tail, e.head): e.bandwidth_gb_s for e in made.topology.links}
        due = Fraction(0)
        for times in link_times(slow):
            shared = [
                sum(
                    (times.get(ends, Fraction(0)) * width[ends] for ends in group.links),
                    Fraction(0),
                )
                / group.bandwidth_gb_s
                for group in groups
            ]
            due += max(*times.values(), *shared)
        verdict = verify(slow)
        assert synchronous(slow).time_s_per_gb == verdict.synchronous_s_per_gb == due
        if name == "hops":
            assert synchronous(limited(leaves4(), *groups)).time_s_per_gb == due


def test_large_numbers_are_added_up_exactly() -> None:
    """Capacities of 40 digits: beyond 64 bits, still exact."""
    odd = Fraction(10**40 + 1, 10**40)
    topology = load_topology("ring:nodes=4")
    group = SharedCapacity("x", tuple((e.tail, e.head) for e in topology.links), odd)
    sends = [Send(0, r, r, (r + 1) % 4) for r in range(4)]
    sends += [Send(1, r, (r + 1) % 4, (r + 2) % 4) for r in range(4)]
    sends += [Send(1, r, r, (r - 1) % 4) for r in range(4)]
    chunks = Chunks.equal(list(range(4)), whole=4)
    made = by_hand(replace(topology, shared=(group,)), "allgather", chunks, sends)
    assert verify(made).time_s_per_gb == cost(made).time_s_per_gb == Fraction(3) / odd
    assert verify(made).synchronous_s_per_gb == synchronous(made).time_s_per_gb == Fraction(3) / odd


def clocked(seed: int) -> StepSchedule:
    """Two chunks over two switches at random times; a random group of the links."""
    rng = random.Random(seed)
    builder = TopologyBuilder()
    for name in ("a", "b"):
        builder.gpu(name)
    for switch in ("s", "t"):
        builder.switch(switch)
        for gpu in ("a", "b"):
            builder.link(gpu, switch, rng.choice([1, 2]), rng.choice([0, 1]))
    topology = builder.build("two ways")
    links = [((0, 2), (0, 3)), ((0, 2), (2, 1)), ((3, 1),), ((0, 3), (2, 1))][rng.randrange(4)]
    group = SharedCapacity("both", links, Fraction(rng.choice(["1/2", "1", "3/2", "3"])))
    rows = []
    for chunk in range(2):
        start, path = rng.randrange(4), rng.randrange(-1, 2)
        rows.append(TimedSend(start, start + rng.randrange(3, 8), chunk, 0, 1, path=path))
    sends, clock = timed(rows, 4000, Fraction(1))
    ways = tuple(Path((0, switch, 1), 1) for switch in (2, 3))
    return StepSchedule(
        replace(topology, shared=(group,)),
        "random",
        "broadcast",
        Chunks.equal(np.zeros(2), whole=2),
        sends,
        Routes.from_paths({(0, 1): ways}),
        clock,
    )


@pytest.mark.slow
def test_clocks_that_overload_a_group_are_refused() -> None:
    """Verify and the definition accept and refuse the same ones; groups alone refuse some."""
    found = {True: 0, False: 0}
    by_group = 0
    for seed in range(400):
        made = clocked(seed)
        try:
            verify(made)
            accepted = True
        except VerificationError as error:
            accepted = False
            by_group += "shared capacity 'both' carries" in str(error)
        assert accepted == fits(made), seed
        found[accepted] += 1
    assert min(found.values()) > 50
    assert by_group > 50


@pytest.mark.parametrize("name", ["forest", "factored forest", "step schedule", "flow schedule"])
def test_simulations_without_latency_come_to_the_cost(name: str) -> None:
    """In many pipeline chunks the time is that of the busiest link or group; never less than it."""
    made = schedule(name)
    for seed in range(3):
        groups = groups_of(made.topology, random.Random(seed), Fraction(1, 9))
        slow = limited(made, *groups, slower=Fraction(10**6))
        due = float(cost(slow).time_s_per_gb)
        simulator = Simulator(compile_program(slow))
        assert simulator.pipelined_s(GB) == pytest.approx(due)
        found = simulator.run(GB, AlphaBeta(alpha_us=0), pipeline_chunks=64)
        assert due * (1 - 1e-9) <= found.time_s <= due * 1.15


@pytest.mark.parametrize("seed", range(12))
def test_simulations_agree_with_their_definition(seed: int) -> None:
    """Max-min fair over links and groups, in exact fractions, transfer by transfer."""
    rng = random.Random(seed)
    made = [leaves4(), star3(), lockstep(leaves4())][seed % 3]
    groups = groups_of(made.topology, rng, Fraction(rng.choice(["1/3", "2/3", "1/8"])))
    program = compile_program(limited(made, *groups, slower=Fraction(10**6)))
    pipeline_chunks, alpha = 1 + seed % 3, Fraction(rng.choice([0, 5000]))
    model = AlphaBeta(alpha_us=alpha)
    due = float(fair_finish_s(program, GB, pipeline_chunks=pipeline_chunks, alpha_us=alpha))
    for events in (False, True):
        found = Simulator(program).run(GB, model, pipeline_chunks, events=events)
        assert found.time_s == pytest.approx(due, rel=1e-6)


def test_first_come_first_served_over_a_shared_bus() -> None:
    """Three GPUs send a third of 1 GB each to the next, at 1 GB/s through a bus of 1 GB/s.

    Side by side each takes 1/3 s. Over the bus one comes after the other: 1 s.
    """
    topology = load_topology("ring:nodes=3,bidirectional=false").with_shared("bus", "*", 1)
    sends = [Send(0, r, r, (r + 1) % 3) for r in range(3)]
    sends += [Send(1, r, (r + 1) % 3, (r + 2) % 3) for r in range(3)]
    made = by_hand(topology, "allgather", Chunks.equal(list(range(3)), whole=3), sends)
    model = AlphaBeta(alpha_us=0, sharing=Sharing.FIFO)
    simulator = Simulator(compile_program(made))
    assert simulator.run(GB, model).time_s == pytest.approx(2.0)
    assert simulator.run(GB, AlphaBeta(alpha_us=0)).time_s == pytest.approx(2.0)
    free = replace(made, topology=topology.without("bus"))
    assert Simulator(compile_program(free)).run(GB, model).time_s == pytest.approx(2 / 3)


def test_usage_of_links_counts_their_own_bandwidth() -> None:
    """Links of 2 GB/s that together get 3 of 6: each is used to one half at most."""
    star = star3()
    group = SharedCapacity("up", ((0, 3), (1, 3), (2, 3)), Fraction(3))
    slow = limited(star, group, slower=Fraction(2))
    found = Simulator(compile_program(slow)).run(
        GB, AlphaBeta(alpha_us=0), pipeline_chunks=50, bins=10
    )
    assert found.usage is not None
    assert found.usage.share.shape[0] == len(star.topology.links)
    assert found.usage.share.max() == pytest.approx(0.5, rel=0.01)


def test_generated_schedules_that_claim_too_much_are_refused() -> None:
    """A ring of half-duplex wires: without them 3/4 s, with all wires shared twice as much."""
    ring = load_topology("ring:nodes=4")
    made = generate(ring).schedule
    shared = tuple(
        SharedCapacity(f"wire {v}", ((v, (v + 1) % 4), ((v + 1) % 4, v)), Fraction(1))
        for v in range(4)
    )
    slow = replace(made, topology=replace(ring, shared=shared), optimum=None)
    with pytest.raises(VerificationError, match="shared capacity 'wire 0' is overloaded"):
        verify(slow)
    assert cost(slow).time_s_per_gb == 2 * cost(made).time_s_per_gb
