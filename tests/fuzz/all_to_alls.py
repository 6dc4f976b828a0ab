"""All-to-alls of any amounts, on boxes and hubs and on whatever else.

For each of them

- the rate is that of the linear program over all sources, to 1e-6, and so is the bound;
- ``verify`` proves the schedule, and calls it optimal only if its prices bound it exactly;
- with less bandwidth nothing is faster, and with all amounts tripled it takes three times as long.
"""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.all_to_all.best_flow import best_flow
from forestcoll.all_to_all.linear_optimum import all_to_all_rate
from forestcoll.errors import DisconnectedError, ForestCollError
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule import FlowSchedule, FlowVerdict, verify
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import Topology, group, load_topology
from forestcoll.topology.symmetry.automorphism import no_symmetry
from tests.core.any_network.networks import damaged_network, with_less
from tests.fuzz.check import OnStage, Outcome
from tests.random_topologies import KINDS as RANDOM
from tests.random_topologies import random_topology

TOLERANCE = 1e-6
"""Of the program, which is in floats."""

SECONDS = 60.0


# --- networks ------------------------------------------------------------------------------------


def boxes(chance: random.Random) -> Topology:
    """One to eight boxes of one to four GPUs, with one hub or two."""
    few, gpus = chance.choice([(1, 4), (2, 1), (2, 3), (3, 2), (4, 2), (4, 3), (5, 2), (8, 2)])
    kind = chance.choice(["dgx_a100", "rail_optimized"])
    options = f",ib_switches={chance.choice((1, 2))}" if kind == "dgx_a100" and few > 1 else ""
    whole = load_topology(f"dgx_a100:boxes={few}{options}")
    if kind == "rail_optimized":
        whole = load_topology(f"rail_optimized:boxes={max(few, 2)},gpus_per_box={max(gpus, 2)}")
    names = [whole.nodes[gpu].name for gpu in whole.compute if (whole.nodes[gpu].index or 0) < gpus]
    return group(whole, names, idle="absent")


def damaged(chance: random.Random) -> Topology:
    """Boxes with dead or slow ports, in one direction or both, and uplinks of many speeds."""
    whole = boxes(chance)
    links = list(whole.links)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(links))
        if chance.random() < 0.4:
            back = (links[at].head, links[at].tail) if chance.random() < 0.5 else None
            gone = {(links[at].tail, links[at].head), back}
            links = [one for one in links if (one.tail, one.head) not in gone]
        else:
            factor = Fraction(chance.randint(1, 7), chance.randint(1, 7))
            links[at] = replace(links[at], bandwidth_gb_s=links[at].bandwidth_gb_s * factor)
    return Topology(f"{whole.name}, damaged", whole.nodes, tuple(links))


def idle(chance: random.Random) -> Topology:
    """Boxes some of whose GPUs only forward."""
    whole = boxes(chance) if chance.random() < 0.5 else damaged(chance)
    names = [whole.nodes[gpu].name for gpu in whole.compute]
    return group(whole, chance.sample(names, chance.randint(2, len(names))))


def fabrics(chance: random.Random) -> Topology:
    """Leaves and spines, NICs as nodes, racks of many planes."""
    return load_topology(
        chance.choice(
            (
                "fat_tree:leaves=3,hosts=2,spines=2",
                "fat_tree:leaves=4,hosts=3,spines=1",
                "fat_tree:leaves=2,hosts=4,spines=3,oversubscription=2",
                "dgx_a100:boxes=2,nics=nodes",
                "nvl72:racks=1,gpus_per_rack=8",
                "nvl72:racks=2,gpus_per_rack=4",
                "mi250:boxes=1,gpus_per_box=8",
            )
        )
    )


def graphs(chance: random.Random) -> Topology:
    """A random network with switches anywhere, whole, damaged, or with shared capacities."""
    while True:
        seed, how = chance.randrange(10**9), chance.randrange(4)
        if how > 1:
            return random_topology(seed, RANDOM[seed % len(RANDOM)])
        if (made := damaged_network(seed, groups=how == 1)) is not None:
            return made[0]


KINDS: Mapping[str, Callable[[random.Random], Topology]] = {
    "box-hubs": boxes,
    "box-faults": damaged,
    "box-groups": idle,
    "fabrics": fabrics,
    "graphs": graphs,
}
"""Networks by name."""


# --- amounts -------------------------------------------------------------------------------------


def _uniform(draw: np.random.Generator, gpus: int) -> npt.NDArray[np.int64]:
    return np.full((gpus, gpus), draw.integers(1, 1000))


def _random(draw: np.random.Generator, gpus: int) -> npt.NDArray[np.int64]:
    return draw.integers(0, 1000, (gpus, gpus))


def _zipf(draw: np.random.Generator, gpus: int) -> npt.NDArray[np.int64]:
    share = 1_000_000 * np.arange(1, gpus + 1) ** -draw.uniform(0.5, 2.5)
    return np.stack([share[draw.permutation(gpus)] for _ in range(gpus)]).astype(np.int64)


def _hot_row(draw: np.random.Generator, gpus: int) -> npt.NDArray[np.int64]:
    amounts = draw.integers(0, 20, (gpus, gpus))
    amounts[draw.integers(gpus)] *= 97
    return amounts


def _hot_column(draw: np.random.Generator, gpus: int) -> npt.NDArray[np.int64]:
    return _hot_row(draw, gpus).T.copy()


def _blocks(draw: np.random.Generator, gpus: int) -> npt.NDArray[np.int64]:
    part = draw.integers(0, 3, gpus)
    return np.where(part[:, None] == part, draw.integers(1, 100, (gpus, gpus)), 0)


def _sparse(draw: np.random.Generator, gpus: int) -> npt.NDArray[np.int64]:
    return np.where(draw.random((gpus, gpus)) < 0.2, draw.integers(1, 10**6, (gpus, gpus)), 0)


AMOUNTS: Mapping[str, Callable[[np.random.Generator, int], npt.NDArray[np.int64]]] = {
    "uniform": _uniform,
    "random": _random,
    "zipf": _zipf,
    "hot-row": _hot_row,
    "hot-column": _hot_column,
    "blocks": _blocks,
    "sparse": _sparse,
}
"""Matrices of amounts by name."""


# --- checks --------------------------------------------------------------------------------------


def check(topology: Topology, demand: Demand | None) -> tuple[FlowSchedule, FlowVerdict]:
    """Check all that is claimed of a demand on a network; return the schedule and its proof.

    Raises
    ------
    AssertionError
        If anything is false.
    """
    made = best_flow(topology, demand, seconds=SECONDS)
    verdict = verify(made)
    settings = Settings(seconds=SECONDS)
    matrix = None if demand is None else demand.matrix
    outside = all_to_all_rate(topology, matrix, settings=settings, orbits=no_symmetry(topology))
    rate, best = float(1 / verdict.congestion), outside.bound_gb_s
    assert abs(rate - best) <= TOLERANCE * best, f"{made.method}: rate {rate}, the program {best}"
    bound = PriceBound.of(topology, demand, made.price).inverse_rate
    assert verdict.optimal == (bound == verdict.congestion), "verify and the bound disagree"
    assert bound <= verdict.congestion, "the bound is above what is attained"
    assert float(bound) >= (1 - TOLERANCE) / best, "the bound is far below the optimum"
    assert made.demand == demand, "the schedule is of another demand"
    return made, verdict


def examine(family: str, seed: int, on_stage: OnStage) -> Outcome:
    """Check a network of a kind and a seed; never raises."""
    began, words, gpus, paths = time.perf_counter(), "", 0, 0
    try:
        chance = random.Random(f"all-to-all, {family} {seed}")
        topology = KINDS[family](chance)
        gpus, words = topology.num_compute, chance.choice([*AMOUNTS, "equal"])
        on_stage(words, gpus)
        draw = np.random.default_rng(chance.randrange(2**32))
        demand = None if words == "equal" else _demand(AMOUNTS[words](draw, gpus))
        made, verdict = check(topology, demand)
        paths = made.num_paths
        on_stage("less bandwidth", gpus)
        _less_is_never_faster(topology, demand, verdict, chance)
        if demand is not None:
            thrice = verify(best_flow(topology, Demand.of_matrix(3 * demand.matrix)))
            ratio = float(thrice.congestion / verdict.congestion)
            assert abs(ratio - 3) <= 3 * TOLERANCE, f"three times as much takes {ratio} times"
    except DisconnectedError:  # dead links left a GPU alone
        failure = ""
    except Exception as error:  # whatever it is, it is a finding
        failure = f"{type(error).__name__}: {error}"
    else:
        failure = ""
    seconds = time.perf_counter() - began
    return Outcome(family, seed, gpus, paths, seconds, {}, failure, words, option="--all-to-alls ")


def _demand(amounts: npt.NDArray[np.int64]) -> Demand:
    """Return the demand of these amounts; where all are 0, rank 1 has a byte for rank 0."""
    if not (amounts - np.diag(np.diag(amounts))).any():
        amounts[1, 0] = 1
    return Demand.of_matrix(amounts)


def _less_is_never_faster(
    topology: Topology, demand: Demand | None, before: FlowVerdict, chance: random.Random
) -> None:
    try:
        after = verify(best_flow(with_less(topology, chance), demand, seconds=SECONDS))
    except ForestCollError as error:
        raise AssertionError(f"less bandwidth is refused: {error}") from error
    assert after.congestion >= before.congestion * (1 - Fraction(TOLERANCE)), "less is faster"
