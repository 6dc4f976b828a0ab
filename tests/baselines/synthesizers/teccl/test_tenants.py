"""Tenants: each schedule proves itself, all have room together, priorities are kept."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from baselines.interface.forwarding_gpus import forwarding_gpus
from baselines.interface.search import Search
from baselines.synthesizers.teccl.teccl import generate
from baselines.synthesizers.teccl.tenants import Shared, Tenant, check_together, share
from forestcoll.errors import (
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.problem.demand import Demand
from forestcoll.problem.limits import Limits
from forestcoll.schedule import Chunks, StepSchedule, verify
from forestcoll.schedule.clock import timed
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.sends import TimedSend
from forestcoll.topology import Topology, load_topology
from tests.baselines.synthesizers.teccl.random_demands import (
    BYTES,
    random_demand,
    random_network,
)
from tests.random_topologies import seeds

SPECS = ("ring:nodes=4", "torus:dims=3,wrap=false", "dgx1:nvlink_latency=0")
SWITCHED = "fat_tree:leaves=2,hosts=2,spines=1"


def tenants_of(topology: Topology, *asked: tuple[str, int, int]) -> list[Tenant]:
    """Chunks of 25 KB; collective, chunks, priority."""
    gpus = topology.num_compute
    return [
        Tenant(
            f"{collective} {i}",
            collective,
            25_000 * chunks * (1 if collective == "broadcast" else gpus),
            chunks,
            priority=priority,
        )
        for i, (collective, chunks, priority) in enumerate(asked)
    ]


def proved(topology: Topology, shared: Shared) -> dict[str, Fraction]:
    """Prove everything and return when each is done."""
    for schedule in shared.schedules.values():
        verify(schedule)
    check_together(topology, shared.schedules.values())
    clocks = {name: schedule.clock for name, schedule in shared.schedules.items()}
    assert len({clock.tick_us for clock in clocks.values() if clock}) == 1
    return {name: clock.finish_us for name, clock in clocks.items() if clock}


def alone(topology: Topology, tenant: Tenant, **asked: Any) -> Fraction:
    size, chunks = tenant.size_bytes, tenant.chunks
    asked |= {"root": tenant.root} if tenant.collective == "broadcast" else {}
    schedule = generate(topology, tenant.collective, size_bytes=size, chunks=chunks, **asked)
    assert schedule.clock is not None
    return schedule.clock.finish_us


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("spec", [*SPECS, SWITCHED])
def test_together_is_never_faster_than_the_slowest_alone(spec: str) -> None:
    topology, stored = load_topology(spec), {"crossing": "stored"}
    tenants = tenants_of(topology, ("allgather", 1, 0), ("broadcast", 2, 0))
    shared = share(topology, tenants, **stored, limits=Limits(seconds=20))
    finish = proved(topology, shared)
    assert max(finish.values()) >= max(alone(topology, each, **stored) for each in tenants)


@pytest.mark.parametrize("spec", SPECS)
def test_the_higher_priority_is_as_fast_as_alone(spec: str) -> None:
    """And the lower one no faster than that."""
    topology, stored = load_topology(spec), {"crossing": "stored"}
    first, then = tenants_of(topology, ("broadcast", 3, 1), ("allgather", 1, 0))
    finish = proved(topology, share(topology, [then, first], **stored))
    assert finish[first.name] == alone(topology, first, **stored)
    assert finish[then.name] >= alone(topology, then, **stored)


def test_three_kinds_of_collectives_and_of_priorities() -> None:
    """In a ring of four the first takes two epochs, as alone; alike, all are done by the last."""
    topology = load_topology("ring:nodes=4")
    tenants = tenants_of(topology, ("allgather", 1, 2), ("all-to-all", 1, 1), ("allgather", 1, 0))
    shared = share(topology, tenants)
    proved(topology, shared)
    assert shared.epochs == shared.bounds
    first, second, third = (shared.epochs[tenant.name] for tenant in tenants)
    assert first == 2 <= second <= third
    equal = [Tenant(each.name, each.collective, each.size_bytes) for each in tenants]
    assert len(set(share(topology, equal).epochs.values())) == 1
    assert max(share(topology, equal).epochs.values()) <= third


def union(one: StepSchedule, other: StepSchedule) -> StepSchedule:
    """Two allgathers of one size as one of twice that."""
    rows = []
    paths: dict[tuple[int, int], list[Path]] = {}
    for schedule in (one, other):
        for ends, ways in schedule.routes.paths().items():
            known = paths.setdefault(ends, [])
            known += [way for way in ways if way not in known]
    routes = Routes.from_paths(paths)
    number = {way: i for i, way in enumerate(w for ends in sorted(paths) for w in paths[ends])}
    for at, schedule in enumerate((one, other)):
        clock, sends = schedule.clock, schedule.sends
        assert clock is not None
        assert clock.left is not None
        hops, first = schedule.routes.hop.tolist(), schedule.routes.first_hop.tolist()
        columns = (sends.chunk, sends.tail, sends.head, sends.paths)
        times = (clock.start, clock.end, clock.left)
        for c, a, b, way, start, end, left in zip(
            *(each.tolist() for each in (*columns, *times)), strict=True
        ):
            path = Path(tuple(hops[first[way] : first[way + 1]]), 1)
            rows.append(
                TimedSend(start, end, c + at * len(one.chunks), a, b, path=number[path], left=left)
            )
    assert one.clock is not None
    sends, clock = timed(rows, 2 * one.clock.size_bytes, one.clock.tick_us)
    root = np.concatenate([one.chunks.root, other.chunks.root])
    return StepSchedule(
        one.topology, "both", one.collective, Chunks.equal(root, len(root)), sends, routes, clock
    )


@pytest.mark.parametrize("spec", [*SPECS, SWITCHED])
def test_two_of_a_kind_are_one_of_twice_the_data(spec: str) -> None:
    """What verify accepts as a whole it accepts of both together."""
    topology = load_topology(spec)
    tenants = tenants_of(topology, ("allgather", 1, 1), ("allgather", 1, 0))
    shared = share(topology, tenants, limits=Limits(seconds=20))
    proved(topology, shared)
    verify(union(*shared.schedules.values()))


def test_slots_and_slow_links_are_for_all_tenants() -> None:
    topology = load_topology("ring:nodes=4")
    tenants = tenants_of(topology, ("allgather", 1, 1), ("broadcast", 1, 0))
    asked: list[dict[str, Any]] = [{}, {"buffer": 2}, {"slow": "* -> gpu2 x 0 from 0 to 1"}]
    epochs = []
    for each in asked:
        shared = share(topology, tenants, **each)
        proved(topology, shared)
        epochs.append([shared.epochs[tenant.name] for tenant in tenants])
    assert epochs[0] <= epochs[1]
    assert epochs[0][0] + 2 == epochs[2][0]
    with pytest.raises(InvalidParameterError, match="a GPU has 2 chunks of its own"):
        share(topology, tenants, buffer=1)


def test_the_time_is_kept() -> None:
    topology = load_topology("torus:dims=4x4")
    tenants = tenants_of(topology, ("allgather", 1, 1), ("allgather", 1, 0))
    with pytest.raises(TimeLimitError):
        share(topology, tenants, limits=Limits(seconds=0))


@pytest.mark.parametrize(
    ("tenants", "message"),
    [
        ([], "there are no tenants"),
        ([Tenant("a"), Tenant("a")], "two tenants are called 'a'"),
        ([Tenant("a"), Tenant("b", chunks=2)], "have 125000000 bytes, those of 'a' 250000000;"),
        ([Tenant("a", chunks=0)], "chunks is 0; it must be 1 or more"),
        ([Tenant("a", "broadcast", root="x")], "x"),
        ([Tenant("a", group=("gpu0", "gpu7"))], "the group names 'gpu7'"),
        ([Tenant("a", size_bytes=7, group=("gpu0", "gpu1"))], "7 bytes are no whole number for"),
        ([Tenant("a", "broadcast", root=3, group=("gpu0", "gpu1"))], "gpu3 is not in its group"),
        ([Tenant("a", group=("gpu0",))], "a: the demand is empty"),
        ([Tenant("a", group=("gpu0",), demand="zipf")], "has a demand and a group"),
        ([Tenant("a", demand="zipf", chunks=0)], "chunks is 0"),
        ([Tenant("a", demand="zapf")], "there is no demand 'zapf'"),
    ],
)
def test_tenants_that_there_cannot_be(tenants: list[Tenant], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        share(load_topology("ring:nodes=4"), tenants)


def test_tenants_want_no_reductions() -> None:
    with pytest.raises(UnsupportedError, match="tenant 'a'"):
        share(load_topology("ring:nodes=4"), [Tenant("a", "allreduce")])


def later(schedule: StepSchedule, ticks: int) -> StepSchedule:
    clock = schedule.clock
    assert clock is not None
    assert clock.left is not None
    moved = replace(
        clock, start=clock.start + ticks, end=clock.end + ticks, left=clock.left + ticks
    )
    return replace(schedule, clock=moved)


@pytest.mark.parametrize("spec", ["ring:nodes=4", "dgx1", "dgx_h100:boxes=1"])
def test_simultaneous_copies_overload_links_and_consecutive_ones_do_not(spec: str) -> None:
    topology = load_topology(spec)
    schedule = generate(topology, "broadcast", size_bytes=10**6)
    verify(schedule)
    check_together(topology, [schedule])
    assert schedule.clock is not None
    after = later(schedule, int(schedule.clock.finish_us / schedule.clock.tick_us))
    verify(after)
    check_together(topology, [schedule, after])
    with pytest.raises(VerificationError, match="of all schedules together; its bandwidth is"):
        check_together(topology, [schedule, after, schedule])


def test_half_of_the_links_each_is_enough() -> None:
    """On links of twice the bandwidth both have room, to the last byte."""
    ring = load_topology("ring:nodes=4")
    schedule = generate(ring, size_bytes=10**6)
    wide = ring.scaled("*", 2)
    check_together(wide, [schedule, schedule])
    with pytest.raises(VerificationError):
        check_together(ring.scaled("*", Fraction(199, 100)), [schedule, schedule])


def test_shared_capacities_are_refused() -> None:
    """Several clocks are not added up over them, nor made."""
    limited = load_topology("ring:nodes=4").with_shared("wire", "gpu0 - gpu1", 1)
    with pytest.raises(UnsupportedError, match="'wire', which the check of several clocks"):
        check_together(limited, [])
    with pytest.raises(UnsupportedError, match="'wire', which the clock of teccl"):
        share(limited, [Tenant("one", "allgather", 10**6, 1, priority=1)])


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("seed", seeds(20, 10))
def test_tenants_of_one_priority_are_the_sum_of_their_demands(seed: int) -> None:
    """The fewest epochs are those of one demand with the chunks of both; and with priorities the
    first is as fast as alone, the last no faster than that sum.
    """
    draw = random.Random(seed)
    topology = random_network(draw)
    gpus = topology.num_compute
    demands = [random_demand(draw, gpus, unicast) for unicast in (True, False)]
    rows = [[each.chunk(c) for c in range(each.num_chunks)] for each in demands]
    sum_of_both = Demand.of_chunks(gpus, [*rows[0], *rows[1]])
    asked: dict[str, Any] = {"epoch": "slowest", "crossing": "stored", "chunk_bytes": BYTES}
    together = epochs_of(topology, sum_of_both, **asked)
    equal = [Tenant(str(i), demand=demand) for i, demand in enumerate(demands)]
    shared = share(topology, equal, **asked)
    proved(topology, shared)
    assert set(shared.epochs.values()) == {together}
    assert [shared.schedules[str(i)].demand for i in range(2)] == demands
    ranked = [replace(tenant, priority=-i) for i, tenant in enumerate(equal)]
    shared = share(topology, ranked, **asked)
    proved(topology, shared)
    assert shared.epochs["0"] == epochs_of(topology, demands[0], **asked)
    assert max(shared.epochs.values()) >= together


def epochs_of(topology: Topology, demand: Demand, **asked: Any) -> int:
    reported: list[Search] = []
    verify(generate(topology, demand=demand, milp=True, report=reported.append, **asked))
    assert reported[-1].incumbent == reported[-1].bound
    assert reported[-1].incumbent is not None
    return int(reported[-1].incumbent)


def test_groups_beside_each_other() -> None:
    """Each has the collective of its GPUs; others forward for it, and are named."""
    ring = load_topology("ring:nodes=6")
    even = Tenant("even", "allgather", 6000, 1, group=("gpu0", "gpu2", "gpu4"))
    odd = Tenant("odd", "broadcast", 4000, 2, "gpu1", 1, ("gpu1", "gpu3"))
    pair = Tenant("pair", "all-to-all", 4000, 1, group=("gpu4", "gpu5"))
    shared = share(ring, [even, odd, pair])
    proved(ring, shared)
    found = {name: schedule.demand for name, schedule in shared.schedules.items()}
    size = 2000
    assert found["even"] == Demand.of_chunks(
        6, [(s, size, [t for t in (0, 2, 4) if t != s]) for s in (0, 2, 4)]
    )
    assert found["odd"] == Demand.of_chunks(6, [(1, size, [3])] * 2)
    assert found["pair"] == Demand.of_chunks(6, [(4, size, [5]), (5, size, [4])])
    assert set(forwarding_gpus(shared.schedules["even"])) <= {"gpu1", "gpu3", "gpu5"}
    assert "gpu2" in forwarding_gpus(shared.schedules["odd"])


def test_a_group_of_all_gpus_takes_as_long_as_the_collective() -> None:
    ring = load_topology("ring:nodes=5")
    names = tuple(f"gpu{i}" for i in range(5))
    for collective in ("allgather", "all-to-all", "broadcast"):
        whole = Tenant("whole", collective, 10_000, 2)
        assert share(ring, [whole]).epochs == share(ring, [replace(whole, group=names)]).epochs, (
            collective
        )


def test_demands_take_the_chunk_size_of_the_others() -> None:
    ring = load_topology("ring:nodes=4")
    named, asked = Tenant("a", "allgather", 4000), Tenant("b", demand="sendrecv:size=3KB", chunks=2)
    of_both = share(ring, [named, asked]).schedules["b"]
    assert set(of_both.intervals.amount.tolist()) == {1000, 72}
    alone_ = share(ring, [asked]).schedules["b"]
    assert set(alone_.intervals.amount.tolist()) == {1536}
    fine = share(ring, [asked], chunk_bytes=1024).schedules["b"]
    assert set(fine.intervals.amount.tolist()) == {1024}
