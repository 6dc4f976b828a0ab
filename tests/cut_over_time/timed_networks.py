"""Small random networks with whole latencies, and what the time-expanded program delivers."""

import random
from dataclasses import replace
from fractions import Fraction

from forestcoll.cut_over_time.time_search import time_bound
from forestcoll.problem.over_time.time_bound import TimeBound
from forestcoll.topology import Topology
from tests.core.any_network.networks import damaged_network
from tests.reference.time_expanded import most_delivered

__all__ = ["against_the_program", "timed_network"]

_MOST_GPUS = 4


def timed_network(seed: int) -> tuple[Topology, tuple[int, ...]] | None:
    """Return a damaged network of at most 4 GPUs with latencies 0 to 2; every other one shares."""
    made = damaged_network(seed, groups=seed % 2 == 0)
    if made is None or not 2 <= made[0].num_compute <= _MOST_GPUS:
        return None
    chance = random.Random(f"latencies {seed}")
    links = (replace(e, latency_us=Fraction(chance.randint(0, 2))) for e in made[0].links)
    return replace(made[0], links=tuple(links)), made[1]


def against_the_program(seed: int) -> tuple[TimeBound, int] | None:
    """Return the bound for what can be done by a time, and that time; None without a network."""
    made = timed_network(seed)
    if made is None:
        return None
    network, weights = made
    chance = random.Random(f"steps {seed}")
    alpha = chance.randint(0, 1)
    collective = chance.choice(("allgather", "allgather", "broadcast", "all-to-all"))
    given = {"allgather": {"weights": weights}, "broadcast": {"root": 0}}.get(collective, {})
    least = time_bound(network, collective, 1, alpha, **given).time_us
    steps = int(least) + chance.randint(1, 3)
    if collective != "allgather":
        weights = tuple(int(not rank or collective == "all-to-all") for rank in range(len(weights)))
    kind = "all-to-all" if collective == "all-to-all" else "allgather"
    size = int(most_delivered(network, kind, weights, alpha, steps) * (1 - 1e-9))
    return time_bound(network, collective, size, alpha, **given), steps
