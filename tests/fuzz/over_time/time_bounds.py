"""Bounds on time at a size against simulations of every method.

Random networks of the contest, half of them with latencies, random alpha and sizes from 1 byte to
1 GB. No simulated schedule of any method ends before the bound on simulations, and that bound is
never above the bound of the model, whose certificate is right.

On the networks of the kind ``patterns``, of 3 to 5 nodes, bounds on allreduces and broadcasts meet
the best mixture of patterns of messages, and of passes, instead.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from baselines.registry import METHODS
from forestcoll import certificate_of_time, time_bounds, verify_time_bound
from forestcoll.compilation import compile_program
from forestcoll.cut_over_time.simulated_bound import SimulatedBound
from forestcoll.errors import InvalidParameterError, TimeLimitError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify_certificate
from forestcoll.schedule.simulate import AlphaBeta, Sharing, Simulation, Simulator
from forestcoll.topology import Topology
from tests.cut_over_time.gossip_networks import passes_within_the_program, within_the_program
from tests.fuzz import contest
from tests.fuzz.check import OnStage, Outcome

PATTERNS = "patterns"

KINDS = (*contest.KINDS, PATTERNS)

OURS = ("generate", "k = 1", "factored", "generate_multicast")
"""Of our own schedules; the others are as fast, or slower."""

SIZES = 4
"""For each network."""

ROUNDING = 1e-9
"""Relative error of a simulated time, which is a float."""


def late(topology: Topology, chance: random.Random) -> Topology:
    """The network with random latencies of its links."""
    links = (
        replace(link, latency_us=Fraction(chance.choice(["0", "1", "3", "10"])))
        for link in topology.links
    )
    return replace(topology, links=tuple(links))


def schedules(
    topology: Topology, collective: str, root: dict[str, Any]
) -> Iterator[tuple[str, Simulator]]:
    """Yield every method's schedule, ready to be simulated."""
    ways: list[tuple[str, Callable[[], Any]]] = []
    if collective != "all-to-all":
        ways += [way for way in contest._ours(topology, collective, root) if way[0] in OURS]
    ways += _theirs(topology, collective, root)
    for name, make in ways:
        try:
            yield name, Simulator(compile_program(make()))
        except (*contest.NOT_HERE, InvalidParameterError):  # the last: it takes no root
            continue


def _theirs(
    topology: Topology, collective: str, root: dict[str, Any]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Name all baselines that know the collective; some choose a root if none is given."""
    limits = Limits(seconds=contest.SEARCH_S)
    for name, method in METHODS.items():
        if collective in method.collectives and (name != "sccl" or topology.num_compute <= 4):
            yield (
                name,
                lambda method=method: method.run(topology, collective, root, limits=limits),
            )


def compare(topology: Topology, chance: random.Random) -> tuple[str, Counter[str]]:
    """Simulate all methods of a random collective; return it, and counts of triples.

    Raises
    ------
    AssertionError
        If a simulation ends before the bound, or a certificate does not prove it.
    """
    collective = chance.choice([*contest.COLLECTIVES, "all-to-all"])
    root = {}
    if collective in ("broadcast", "reduce"):
        root["root"] = chance.randrange(topology.num_compute)
    alpha = Fraction(chance.choice(["0", "1/2", "3", "10"]))
    sizes = [int(10 ** chance.uniform(0, 9)) for _ in range(SIZES)]
    bounds = {}
    of_simulations = SimulatedBound(topology, collective, AlphaBeta(alpha_us=alpha), **root)
    for bound in time_bounds(topology, collective, sizes, alpha, one_pass=False, **root):
        assert verify_time_bound(bound) == bound.time_us
        verify_certificate(certificate_of_time(bound))
        least_s = of_simulations.least_s(bound.size_bytes)
        if collective != "all-to-all":  # of which simulations know no bound on the rate
            assert least_s <= float(bound.time_us) / 1e6 * (1 + ROUNDING), "above the model's"
        bounds[bound.size_bytes] = least_s
    seen: Counter[str] = Counter()
    for name, simulator in schedules(topology, collective, root):
        for size, least_s in bounds.items():
            found = _simulated(simulator, size, alpha, chance)
            if found is None:
                continue
            words = f"{name} takes {found.time_s} s for {size} bytes, below {least_s}"
            assert found.time_s >= least_s * (1 - ROUNDING), words
            seen["triples"] += 1
            seen["equal"] += found.time_s <= least_s * (1 + ROUNDING)
    return collective, seen


def _simulated(
    simulator: Simulator, size: int, alpha: Fraction, chance: random.Random
) -> Simulation | None:
    """Simulate a random number of pipeline chunks; None if that takes too long."""
    model = AlphaBeta(alpha_us=alpha, sharing=chance.choice(list(Sharing)))
    try:
        return simulator.run(size, model, chance.choice([1, 1, 2, 5, 17]))
    except (TimeLimitError, UnsupportedError):
        return None


def examine(family: str, seed: int, on_stage: OnStage) -> Outcome:
    """Hold the bound of a kind of network and a seed against simulations; never raises."""
    began, words, gpus = time.perf_counter(), "", 0
    try:
        if family == PATTERNS:
            seen = [within_the_program(seed, one) for one in ("allreduce", "broadcast")]
            seen.append(passes_within_the_program(seed))
            words = ", ".join("no network" if n is None else f"{n['sets']} bounds" for n in seen)
        else:
            gpus, words = _simulate_all(family, seed, on_stage)
    except Exception as error:  # whatever it is, it is a finding
        failure = f"{type(error).__name__}: {error}"
    else:
        failure = ""
    seconds = time.perf_counter() - began
    return Outcome(family, seed, gpus, 0, seconds, {}, failure, words, option="--time-bounds ")


def _simulate_all(family: str, seed: int, on_stage: OnStage) -> tuple[int, str]:
    """Return the GPUs of a network, and in words how many simulations met its bounds."""
    chance = random.Random(f"time bounds on {family} {seed}")
    topology = contest.KINDS[family](chance)
    gpus = topology.num_compute
    on_stage("time bounds", gpus)
    if gpus == 1:
        return gpus, ""
    network = late(topology, chance) if chance.random() < 0.5 else topology
    collective, seen = compare(network, chance)
    return gpus, f"{collective}: {seen['triples']} triples, {seen['equal']} equal"
