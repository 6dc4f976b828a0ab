"""Verify agrees with the definition of delivery, unit by unit, on random schedules of intervals."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.schedules.bench_steps import shortest_paths
from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Chunks,
    Clock,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    cost,
    makespan_s_per_gb,
    synchronous,
    verify,
)
from forestcoll.schedule.steps import COLLECTIVES
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import rounds, seeds
from tests.reference.step_delivery import delivers
from tests.schedule.made.programs import by_hand
from tests.schedule.made.steps import SCHEDULES, busiest, link_times, slowest_links
from tests.schedule.mutations_of.rows import ROW_MUTATIONS
from tests.schedule.mutations_of.steps import STEP_MUTATIONS

GPUS = 4
NET = load_topology(f"complete:nodes={GPUS},bandwidth=1000")
ROUTES = {(a, b): (Path((a, b), 1),) for a in range(GPUS) for b in range(GPUS) if a != b}


def random_tree(rng: random.Random, root: int) -> list[tuple[int, int, int]]:
    """Edges (parent, child, depth) of a random tree of all GPUs."""
    depth, edges = {root: 0}, []
    for child in rng.sample([v for v in range(GPUS) if v != root], GPUS - 1):
        parent = rng.choice(list(depth))
        depth[child] = depth[parent] + 1
        edges.append((parent, child, depth[child]))
    return edges


def cuts(rng: random.Random, size: int) -> list[tuple[int, int]]:
    """Cut a chunk into (first unit, amount)."""
    places = sorted({0, size, *(rng.randrange(1, size) for _ in range(rng.randrange(3)))})
    return [(a, b - a) for a, b in pairwise(places)]


def random_schedule(seed: int) -> StepSchedule:
    """A right schedule: each interval of each chunk has trees of its own, with idle steps between.

    Neighbouring intervals that one GPU sends to another in the same step are sometimes one
    transfer.
    """
    rng = random.Random(seed)
    collective = rng.choice(COLLECTIVES)
    size = rng.choice([2, 3, 6])
    roots = (
        list(range(GPUS)) if collective in ("allgather", "reduce-scatter") else [rng.randrange(4)]
    )
    target = [-1] * len(roots)
    if collective == "all-to-all":
        pairs = [(a, b) for a in range(GPUS) for b in range(GPUS) if a != b]
        roots, target = [a for a, _ in pairs], [b for _, b in pairs]
    sends: list[Send] = []
    for chunk, root in enumerate(roots):
        for first, amount in cuts(rng, size):
            pause = rng.randrange(2)
            gather = [
                Send(2 * depth - 2 + pause, chunk, tail, head, False, first, amount)
                for tail, head, depth in random_tree(rng, root)
            ]
            adding = [
                Send(2 * (GPUS - depth) + pause, chunk, child, parent, True, first, amount)
                for parent, child, depth in random_tree(rng, root)
            ]
            if collective == "all-to-all":
                gather = needed(gather, root, target[chunk])
            if collective in ("reduce", "reduce-scatter", "allreduce"):
                sends += adding
            if collective not in ("reduce", "reduce-scatter"):
                later = 2 * GPUS * (collective == "allreduce")
                sends += [send._replace(step=send.step + later) for send in gather]
    steps = {step: i for i, step in enumerate(sorted({send.step for send in sends}))}
    made = Sends.of(send._replace(step=steps[send.step]) for send in merged(rng, sends))
    free = collective == "allreduce"
    chunks = Chunks(
        size=np.full(len(roots), size, dtype=np.int64),
        whole=size * (GPUS if collective in ("allgather", "reduce-scatter", "all-to-all") else 1),
        root=np.array([-1] if free else roots, dtype=np.int32),
        target=np.array(target, dtype=np.int32),
    )
    return on_links(StepSchedule(NET, "random", collective, chunks, made, Routes.from_paths({})))


def needed(tree: list[Send], root: int, target: int) -> list[Send]:
    """The way to one GPU, out of a tree."""
    into = {send.head: send for send in tree}
    way = []
    while target != root:
        way.append(into[target])
        target = into[target].tail
    return way


def merged(rng: random.Random, sends: list[Send]) -> list[Send]:
    """Join some neighbouring intervals."""
    found: list[Send] = []
    for send in sorted(sends):
        last = found[-1] if found else None
        if (
            last is not None
            and last.amount is not None
            and last[:5] == send[:5]
            and last.first + last.amount == send.first
            and rng.random() < 0.7
        ):
            found[-1] = last._replace(amount=last.amount + (send.amount or 0))
        else:
            found.append(send)
    return found


def on_links(made: StepSchedule) -> StepSchedule:
    """Routes for the transfers there are."""
    links = set(zip(made.sends.tail.tolist(), made.sends.head.tolist(), strict=True))
    return replace(made, routes=Routes.from_paths({link: ROUTES[link] for link in links}))


def ticking(made: StepSchedule) -> StepSchedule:
    """The same with a clock, a tick a step, on links that are never full."""
    start = made.sends.step.astype(np.int64)
    return replace(made, clock=Clock(1, Fraction(1), start, start + 1))


def accepted(made: StepSchedule) -> bool:
    try:
        verify(made)
    except VerificationError:
        return False
    return True


@pytest.mark.first_rows(30)
@pytest.mark.parametrize("seed", range(120))
def test_a_right_schedule_is_accepted_with_and_without_a_clock(seed: int) -> None:
    """However chunks are cut, and for whatever collective."""
    made = random_schedule(seed)
    assert delivers(made)
    verify(made)
    verify(ticking(made))


@pytest.mark.first_rows(15)
@pytest.mark.parametrize("seed", seeds(120, 60))
def test_verify_agrees_with_the_definition(seed: int) -> None:
    """Of schedules with one to three rows changed; without waste, both say the same of each."""
    rng = random.Random(seed)
    for _ in range(rounds(25)):
        made: StepSchedule | None = random_schedule(rng.randrange(10**6))
        for _ in range(rng.randrange(1, 4)):
            change = rng.choice(list(ROW_MUTATIONS.values()))
            if made is not None and len(made.sends):
                made = change(made, rng.randrange(len(made.sends)))
        if made is None:
            continue
        made = earlier(rng, made)
        interval = made.intervals
        past = (interval.first < 0) | (
            interval.first + interval.amount > made.chunks.size[made.sends.chunk]
        )
        if (
            past.any()
            or (interval.amount < 1).any()
            or (made.sends.reduce.any() and not made.reduction)
        ):
            assert not accepted(made)
        else:
            right = delivers(made)
            assert accepted(made) <= right  # nothing wrong is accepted
            if made.collective != "allreduce":
                assert accepted(made) == right or copies_in_a_sum(made)


def copies_in_a_sum(made: StepSchedule) -> bool:
    return made.collective in ("reduce", "reduce-scatter") and not made.sends.reduce.all()


def earlier(rng: random.Random, made: StepSchedule) -> StepSchedule:
    """Now and then put a transfer into another step that there is."""
    if not len(made.sends) or rng.random() < 0.5:
        return made
    step = made.sends.step.copy()
    step[rng.randrange(len(step))] = rng.randrange(int(step.max()) + 1)
    step = np.unique(step, return_inverse=True)[1].astype(np.int32)
    return on_links(replace(made, sends=replace(made.sends, step=step).in_order()))


@pytest.mark.parametrize("windows", [1, 2])
@pytest.mark.parametrize(
    "spec", ["torus:dims=3x4", "torus:dims=4x4", "hypercube:dimension=3", "ring:nodes=5"]
)
def test_shortest_paths_deliver(spec: str, windows: int) -> None:
    """The schedule of the benchmark, whose receivers all cut their shards in ways of their own."""
    made = shortest_paths(load_topology(spec), windows)
    assert delivers(made)
    assert verify(made).steps == made.num_steps


def test_places_in_huge_chunks_are_renumbered() -> None:
    """2^61 units a chunk: cells and places together need more than 64 bits."""
    made = random_schedule(3)
    scale = 2**61 // int(made.chunks.size.max())
    chunks = replace(made.chunks, size=made.chunks.size * scale, whole=made.chunks.whole * scale)
    interval = made.intervals
    interval = replace(interval, first=interval.first * scale, amount=interval.amount * scale)
    huge = replace(made, chunks=chunks, sends=replace(made.sends, interval=interval))
    assert verify(huge).time_s_per_gb == verify(made).time_s_per_gb
    first = interval.first.copy()
    first[-1] += 1
    amount = interval.amount.copy()
    amount[-1] -= 1
    spoilt = replace(huge.sends, interval=replace(interval, first=first, amount=amount))
    with pytest.raises(VerificationError):
        verify(replace(huge, sends=spoilt))


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_correct_schedule_is_proved(name: str) -> None:
    """Cost and verify agree on all times, and so does adding up link by link."""
    made = SCHEDULES[name]()
    verdict, stepwise = verify(made), synchronous(made)
    assert verdict.collective == made.collective
    assert verdict.steps == stepwise.steps == made.num_steps
    assert verdict.time_s_per_gb == cost(made).time_s_per_gb == busiest(link_times(made))
    assert verdict.synchronous_s_per_gb == stepwise.time_s_per_gb == slowest_links(made)
    assert verdict.makespan_s_per_gb == makespan_s_per_gb(made)


@pytest.mark.parametrize("mutation", STEP_MUTATIONS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_spoiled_schedule_is_refused(name: str, mutation: str) -> None:
    """Whatever is changed, the first fault is named."""
    mutate, message = STEP_MUTATIONS[mutation]
    with pytest.raises(VerificationError, match=message):
        verify(mutate(SCHEDULES[name]()))


@pytest.mark.parametrize(
    ("name", "deliveries"),
    [
        ("recursive doubling", 1 * 4),  # its chunk is due at each of 4 GPUs
        ("all-to-all", 6),  # a chunk for each pair of 3 GPUs
        ("ring allgather", 128 * 15),  # of 16 GPUs in 8 rings, to the 15 others
        ("ring reduce-scatter", 128),
        ("ring allreduce", 128 * 16),
        ("timed broadcast", 2),
    ],
)
def test_deliveries_count_chunks_times_receivers(name: str, deliveries: int) -> None:
    """Copies to all but the root, sums to the root, both in an allreduce."""
    assert verify(SCHEDULES[name]()).deliveries == deliveries


def test_own_chunks_of_an_all_to_all_are_no_deliveries() -> None:
    """Two GPUs, a chunk of each pair and one of a GPU to itself: two transfers are asked for."""
    net = load_topology("complete:nodes=2")
    size = np.ones(4, dtype=np.int64)
    roots, targets = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
    chunks = Chunks(size, whole=2, root=roots, target=targets)
    made = by_hand(net, "all-to-all", chunks, [Send(0, 1, 0, 1), Send(0, 2, 1, 0)])
    assert verify(made).deliveries == 2


@pytest.mark.parametrize("timed", [False, True])
def test_one_gpu_has_nothing_to_do(timed: bool) -> None:
    """It takes no time, so there is no rate; a clock without transfers ends at 0."""
    alone = Topology("alone", NET.nodes[:1], ())
    made = by_hand(alone, "broadcast", Chunks.equal([0], whole=1), [])
    if timed:
        nothing = np.zeros(0, dtype=np.int64)
        made = replace(made, clock=Clock(1000, Fraction(1), nothing, nothing))
    verdict = verify(made)
    assert (verdict.time_s_per_gb, verdict.algbw_gb_s, verdict.deliveries) == (0, None, 0)
    assert (verdict.synchronous_s_per_gb, verdict.busiest_link) == (0, None)
    assert verdict.makespan_s_per_gb == (0 if timed else None)


@pytest.mark.parametrize(("tail", "head"), [(0, 3), (3, 1)])
def test_copies_through_a_switch_are_refused_in_a_reduction(tail: int, head: int) -> None:
    """The sums are complete, over links; a copy to or from the switch is none of a reduction."""
    sends = [Send(0, 0, 1, 0, True), Send(0, 0, 2, 0, True), Send(1, 0, tail, head)]
    made = by_hand(
        network_of("a b c [w*]", "a - b c, b - c, a b c - w", "both"),
        "reduce",
        Chunks.equal([0], whole=1),
        sends,
    )
    with pytest.raises(VerificationError, match="a reduce through switches only reduces"):
        verify(made)
