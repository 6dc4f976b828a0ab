"""Dominance: whatever is called a bound or optimal, every method tries to beat it.

Small networks of every kind: directed, damaged, with switches that multicast, in groups, by
weights. On each of them all methods that support it do the same collective, and

- none is faster than a bound of that collective and model, whoever computed it;
- none is faster than a schedule of its model that is called optimal;
- none is faster than what ``generate`` (or, with multicast, ``generate_multicast``) makes;
- ``verify`` and ``cost`` find the same time, and neither steps nor a clock are faster than
  pipelined;
- MultiTree and TACOS make natively what their slow twins make (:mod:`tests.fuzz.twins`).
"""

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from baselines.registry import METHODS
from experiments.measures.bounds import upper_bound
from forestcoll import cost, expand, generate, optimum, read_schedule, verify, write_schedule
from forestcoll.all_to_all.linear_optimum import all_to_all_rate
from forestcoll.allreduce.allreduce_program import proved
from forestcoll.core.optimality import rate_bound
from forestcoll.core.partition_bound import best_known_bound
from forestcoll.errors import (
    DisconnectedError,
    InfeasibleError,
    TimeLimitError,
    UnbalancedError,
    UnsupportedError,
)
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.limits import Limits
from forestcoll.runtimes.scoring.file_bounds import bound_of
from forestcoll.schedule import Allreduce, FlowSchedule, MulticastForest, StepSchedule
from forestcoll.schedule.cost_model.measures import makespan_s_per_gb, synchronous
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import Topology, TopologyBuilder, group
from tests.fuzz.any_network import one_way, shared
from tests.fuzz.check import OnStage, Outcome
from tests.fuzz.twins import trees_are_the_twins, trials_are_the_twins
from tests.random_topologies import random_topology

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "allreduce", "broadcast", "reduce")

SEARCH_S = 1.0
"""For a method that searches."""

NOT_HERE = (UnsupportedError, UnbalancedError, TimeLimitError, InfeasibleError, DisconnectedError)
"""What a method may say of a network that it is not for."""

MOST_ROOTS = 4
"""GPUs that an allreduce is asked to sum up everything at."""

FLOAT = 1e-6
"""By how much an all-to-all may seem to beat its bound, which is a float."""


# --- networks ------------------------------------------------------------------------------------


def boxes(chance: random.Random) -> Topology:
    """Boxes of different size whose GPUs have NICs of a network, some of them dead or slow."""
    builder = TopologyBuilder()
    ib = builder.switch("ib", multicast=chance.random() < 0.3)
    copies = chance.random() < 0.5
    for box in range(chance.randint(1, 3)):
        inner = builder.switch(f"b{box}.nvswitch", box, multicast=copies)
        alive = 0
        count = chance.randint(1, 4)
        for index in range(count):
            gpu = builder.gpu(f"b{box}.gpu{index}", box, index)
            builder.link(gpu, inner, chance.choice([4, 6, 6, 6]))
            if chance.random() < 0.8 or (index == count - 1 and not alive):
                builder.link(gpu, ib, chance.choice([1, 1, 1, 2, "1/2"]))
                alive += 1
    return builder.build("boxes")


def marked(chance: random.Random) -> Topology:
    """A random network some of whose switches multicast and reduce."""
    kind = chance.choice(["directed", "bidirectional"])
    topology = random_topology(chance.randrange(10**6), kind)
    nodes = tuple(
        replace(node, multicast=node.is_switch and chance.random() < 0.7) for node in topology.nodes
    )
    return Topology("marked", nodes, topology.links)


def some(chance: random.Random) -> Topology:
    """A group of some GPUs; the others forward."""
    topology = boxes(chance) if chance.random() < 0.5 else KINDS["bidirectional"](chance)
    names = [topology.nodes[v].name for v in topology.compute]
    if len(names) < 3:
        return topology
    return group(topology, chance.sample(names, chance.randint(2, len(names) - 1)))


def lopsided(chance: random.Random) -> Topology:
    """Switches that send more than they receive, some of which may copy."""
    topology = one_way(chance)
    nodes = tuple(
        replace(node, multicast=node.is_switch and chance.random() < 0.3) for node in topology.nodes
    )
    return replace(topology, nodes=nodes)


KINDS: Mapping[str, Callable[[random.Random], Topology]] = {
    "directed": lambda chance: random_topology(chance.randrange(10**6), "directed"),
    "bidirectional": lambda chance: random_topology(chance.randrange(10**6), "bidirectional"),
    "marked": marked,
    "boxes": boxes,
    "some": some,
    "one-way": lopsided,
    "shared": shared,
}
"""Networks by name."""


# --- who takes part ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """A schedule of a method, and what is known of it."""

    name: str
    schedule: Any
    rate: Fraction
    optimal: bool

    @property
    def copies(self) -> bool:
        """Whether switches multicast and reduce in it."""
        phases = self.schedule.phases if isinstance(self.schedule, Allreduce) else [self.schedule]
        marks = any(node.multicast for node in self.schedule.topology.nodes)
        return marks and any(isinstance(phase, MulticastForest) for phase in phases)


def _ours(
    topology: Topology, collective: str, demand: dict[str, Any]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Name all ways of ours to do it."""

    def plain(**more: Any) -> Callable[[], Any]:
        options: dict[str, Any] = {**demand, **more}
        return lambda: generate(topology, collective=collective, **options).schedule

    def copying(**more: Any) -> Callable[[], Any]:
        options: dict[str, Any] = {**demand, **more}
        return lambda: generate(topology, collective=collective, **options, multicast=True).schedule

    yield "generate", plain()
    yield "generate_multicast", copying()
    yield "k = 1", plain(k=1)
    yield "k = 2", plain(k=2)
    yield "k = 2, copying", copying(k=2)
    yield "without program", plain(lp_time_limit_s=0.0)
    yield "without program, copying", copying(lp_time_limit_s=0.0)
    yield "within 20 ms", plain(lp_time_limit_s=0.02)
    yield "within 20 ms, copying", copying(lp_time_limit_s=0.02)
    yield (
        "factored",
        lambda: expanded(
            generate(topology, collective=collective, **demand, factored=True).schedule
        ),
    )
    if not demand:
        yield "paper", plain(method="paper")
    if collective == "allreduce" and not demand:
        for rank in range(min(topology.num_compute, MOST_ROOTS)):
            yield f"root {rank}", plain(root=rank, lp_time_limit_s=0.0)
            yield f"root {rank}, copying", copying(root=rank, lp_time_limit_s=0.0)


def expanded(schedule: Any) -> Any:
    """Write the trees of a factored schedule out, for their steps."""
    if isinstance(schedule, Allreduce):
        return replace(schedule, reduce=expand(schedule.reduce), gather=expand(schedule.gather))
    return expand(schedule)


def read_back(schedule: Any, suffix: str) -> Any:
    """Return what a file of the schedule holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"schedule.{suffix}"
        write_schedule(schedule, path)
        return read_schedule(path)


def _theirs(topology: Topology, collective: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Name all baselines that know the collective."""
    limits = Limits(seconds=SEARCH_S)
    for name, method in METHODS.items():
        if collective in method.collectives and (name != "sccl" or topology.num_compute <= 4):
            yield name, lambda method=method: method.run(topology, collective, limits=limits)


def _entries(topology: Topology, collective: str, demand: dict[str, Any]) -> Iterator[Entry]:
    ways = [*_ours(topology, collective, demand)]
    if not demand:
        ways += _theirs(topology, collective)
    for turn, (name, make) in enumerate(ways):
        try:
            schedule = make()
        except NOT_HERE:
            continue
        verdict = verify(schedule)
        suffix = ("json", "npz")[turn % 2]
        found = read_back(schedule, suffix)
        assert found == schedule, f"{name}: its {suffix} file holds another schedule"
        assert verify(found) == verdict, f"{name}: its {suffix} file says another thing"
        rate = 1 / verdict.time_s_per_gb
        assert rate == cost(schedule).algbw_gb_s, f"{name}: verify and cost disagree"
        for time_s in (synchronous(schedule).time_s_per_gb, makespan_s_per_gb(schedule)):
            assert time_s is None or time_s * rate >= 1, f"{name}: faster than pipelined"
        free = not isinstance(schedule, Allreduce) or not (
            schedule.bound and schedule.bound.weights
        )
        yield Entry(name, schedule, rate, verdict.optimal and bool(free or demand))


# --- bounds --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate that nothing may exceed; of forwarding switches only, if it is not of copying ones."""

    name: str
    rate: Fraction
    multicast: bool


def _limits(
    topology: Topology, collective: str, demand: dict[str, Any], entries: list[Entry]
) -> Iterator[Limit]:
    """Yield all bounds that we have for it."""
    first = entries[0].schedule
    if collective != "allreduce":
        reduction = collective in ("reduce-scatter", "reduce")
        best = optimum(topology, weights=first.weights, reduction=reduction)
        yield Limit("optimum", best.algbw_gb_s, multicast=best.bound.multicast)
        given = rate_bound(topology, weights=first.weights, reduction=reduction, multicast=True)
        yield Limit("bound with copies", given.algbw_gb_s, multicast=True)
        return
    marks = any(node.multicast for node in topology.nodes)
    weights = first.gather.weights if demand else None
    bounds: list[AllreduceBound | None] = [
        *(one.schedule.bound for one in entries if isinstance(one.schedule, Allreduce)),
        *(best_known_bound(topology, multicast=way) for way in (False, marks)),
        *(proved(topology, None, multicast=c, seconds=20).bound for c in (False, marks)),
        proved(topology, weights, multicast=False, seconds=20).bound,
        *(AllreduceBound.of_cut(topology, [gpu], into=True) for gpu in topology.compute),
    ]
    for bound in bounds:
        if bound is not None and (demand or not bound.weights):
            yield Limit(bound.model, bound.algbw_gb_s, multicast=bound.multicast or not marks)
    anybody = bound_of(topology, "allreduce")
    if anybody is not None:
        yield Limit("any allreduce", anybody.algbw_gb_s, multicast=not marks)
    slowest = min(entries, key=lambda one: one.rate).rate
    yield Limit(
        "experiments", upper_bound(topology, collective, slowest).algbw_gb_s, multicast=True
    )


# --- the contest ---------------------------------------------------------------------------------


def contest(topology: Topology, collective: str, demand: dict[str, Any]) -> int:
    """Let all try; return how many did.

    Raises
    ------
    AssertionError
        If a bound or an optimum is beaten.
    """
    entries = [*_entries(topology, collective, demand)]
    if not entries:
        return 0
    for limit in _limits(topology, collective, demand, entries):
        for one in entries:
            if limit.multicast or not one.copies:
                assert one.rate <= limit.rate, f"{one.name} beats {limit}: {one.rate}"
    for best in entries:
        called = best.optimal or best.name in ("generate", "generate_multicast")
        for one in entries if called else ():
            if best.copies or best.name == "generate_multicast" or not one.copies:
                assert one.rate <= best.rate, f"{one.name} beats {best.name}: {one.rate}"
    return len(entries)


def all_to_all(topology: Topology) -> int:
    """Hold every all-to-all against the largest rate of the linear program, and an exact bound."""
    try:
        most = all_to_all_rate(topology, settings=Settings(seconds=20))
    except NOT_HERE:
        return 0
    anybody = bound_of(topology, "all-to-all")
    assert anybody is not None, "there are several GPUs"
    attained = most.rate_gb_s * topology.num_compute
    assert attained <= anybody.algbw_gb_s * (1 + FLOAT), f"the program beats {anybody}"
    tried = 0
    for name, make in _theirs(topology, "all-to-all"):
        try:
            schedule = make()
        except NOT_HERE:
            continue
        assert isinstance(schedule, StepSchedule | FlowSchedule)
        exact = 1 / verify(schedule).time_s_per_gb
        assert exact <= anybody.algbw_gb_s, f"{name} beats {anybody}: {exact}"
        rate, bound = float(exact), most.bound_gb_s * topology.num_compute
        assert rate <= bound * (1 + FLOAT), f"{name} beats {bound}: {rate}"
        tried += 1
    return tried


def examine(family: str, seed: int, on_stage: OnStage) -> Outcome:
    """Hold the contest of a kind of network and a seed; never raises."""
    began, words, gpus = time.perf_counter(), "", 0
    try:
        chance = random.Random(f"contest on {family} {seed}")
        topology = KINDS[family](chance)
        gpus = topology.num_compute
        collective = chance.choice([*COLLECTIVES, "all-to-all"])
        words = collective
        on_stage(words, gpus)
        if gpus < 2:
            tried = 0
        elif collective == "all-to-all":
            tried = all_to_all(topology)
        else:
            demand: dict[str, Any] = {}
            if collective in ("broadcast", "reduce"):
                demand["root"] = chance.randrange(gpus)
            elif chance.random() < 0.25:
                demand["weights"] = [*(chance.randint(0, 3) for _ in range(gpus - 1)), 1]
            tried = contest(topology, collective, demand)
        on_stage("MultiTree and TACOS beside their twins", gpus)
        twins = random.Random(f"twins on {family} {seed}")
        trees_are_the_twins(topology, twins)
        trials_are_the_twins(topology, twins)
        words = f"{collective} by {tried}"
    except Exception as error:  # whatever it is, it is a finding
        failure = f"{type(error).__name__}: {error}"
    else:
        failure = ""
    seconds = time.perf_counter() - began
    return Outcome(family, seed, gpus, 0, seconds, {}, failure, words, option="--contest ")
