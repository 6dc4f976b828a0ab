"""What must hold of every network: the forest verifies and attains the worst of all cuts, exactly.

To check one thing more of every forest, add a function to ``CHECKS``.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll import FactoredForest, Forest, expand, generate, verify
from forestcoll.topology import Topology
from forestcoll.topology.shared_capacity import moved
from tests.fuzz.demands import demand_of
from tests.fuzz.families import build
from tests.fuzz.paths import asked_again, each_path_both_ways, refuse_slow
from tests.reference.cuts import enumerate_optimum

OnStage = Callable[[str, int], None]
"""Told each stage as it begins, and the GPUs of the network (0 until they are known)."""

FEW_NODES = 10
"""Networks up to this size have all their cuts enumerated."""

MOST_RENUMBERED = 160
"""GPUs up to which a network is generated in another order of its nodes too."""

SHARED_GPUS = range(256, 513)
"""Networks of so many are generated once more, on one thread: smaller ones are not shared out."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one network.

    Parameters
    ----------
    family : str
    seed : int
    gpus, k : int
        GPUs of the network, and trees per unit of weight; 0 where it did not get that far.
    seconds : float
        Of the generation, or of all there was if that did not end.
    stages : dict
        Seconds of each stage.
    failure : str
        What does not hold; empty if all is well.
    demand : str
        What was asked for, in words.
    option : str
        Of the command line, for networks that are not of :mod:`tests.fuzz.families`.
    """

    family: str
    seed: int
    gpus: int = 0
    k: int = 0
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    failure: str = ""
    demand: str = ""

    option: str = ""

    @property
    def command(self) -> str:
        """What to type to see it again."""
        return f"python -m tests.fuzz {self.option}--family {self.family} --seed {self.seed}"


def examine(family: str, seed: int, on_stage: OnStage) -> Outcome:
    """Generate what a seed asks for on its network and check everything; never raises."""
    gpus, asked, began = 0, "", time.perf_counter()
    try:
        on_stage("building the network", gpus)
        topology = build(family, seed)
        demand = demand_of(family, seed, topology)
        gpus, asked, began = topology.num_compute, demand.words, time.perf_counter()
        options: dict[str, Any] = {
            **demand.options,
            "progress": lambda stage, done, _: (
                None if done else on_stage(f"{stage} of {asked}", gpus)
            ),
        }
        processor = time.process_time()
        made = generate(
            demand.topology, collective=demand.collective, **options, factored=True, routed=True
        )
        factored, stages = made.schedule, dict(made.seconds)
        assert isinstance(factored, FactoredForest), "two phases where one was asked for"
        forest = expand(factored)
        seconds = time.perf_counter() - began
        refuse_slow(min(seconds, time.process_time() - processor))
        for check in CHECKS:
            on_stage(check.__name__, gpus)
            check(forest, factored)
    except Exception as error:  # whatever it is, it is a finding
        failure = f"{type(error).__name__}: {error}"
        return Outcome(family, seed, gpus, 0, time.perf_counter() - began, {}, failure, asked)
    return Outcome(family, seed, gpus, forest.k, seconds, stages, "", asked)


def forest_verifies(forest: Forest, _: FactoredForest) -> None:
    """Every tree spans and every link carries its trees, says the independent verifier."""
    assert verify(forest).optimal, "no optimum is proved"


def time_is_the_bound(forest: Forest, _: FactoredForest) -> None:
    """No tolerance: two fractions."""
    assert forest.optimum is not None, "no optimum is claimed"
    achieved, bound = forest.time_s_per_gb, forest.optimum.time_s_per_gb
    assert achieved == bound, f"takes {achieved} s per GB, the bound is {bound}"


def cut_proves_the_bound(forest: Forest, _: FactoredForest) -> None:
    """w(S) / (bandwidth out of S) = 1/x*, counted anew; some GPU is outside S.

    In a reduction the bandwidth into S. Where a switch sends more than it receives, several cuts
    bind together by their prices, which ``verify`` adds up, and one alone proves less.
    """
    assert forest.optimum is not None, "no optimum is claimed"
    inside = set(forest.optimum.cut)
    ranks = [rank for rank, v in enumerate(forest.topology.compute) if v in inside]
    crossing = sum(
        (
            link.bandwidth_gb_s
            for link in (forest.topology.reversed() if forest.reduction else forest.topology).links
            if link.tail in inside and link.head not in inside
        ),
        start=Fraction(0),
    )
    assert 0 < len(ranks) < forest.topology.num_compute, f"{len(ranks)} GPUs in the cut"
    ratio = sum(forest.weights[rank] for rank in ranks) / crossing
    found = forest.optimum.inverse_rate
    proves = ratio <= found if forest.optimum.prices is not None else ratio == found
    assert proves, f"cut {ratio}, 1/x* {found}"


def no_cut_is_worse(forest: Forest, _: FactoredForest) -> None:
    """By enumeration, where there are few nodes and cuts of links are all there is."""
    assert forest.optimum is not None, "no optimum is claimed"
    if len(forest.topology.nodes) <= FEW_NODES and not forest.topology.shared:
        network = forest.topology.reversed() if forest.reduction else forest.topology
        roots = {v: w for v, w in zip(network.compute, forest.weights, strict=True) if w}
        worst, cut = enumerate_optimum(network, roots, network.compute)
        found = forest.optimum.inverse_rate
        assert worst == found, f"1/x* = {found}, but the cut {cut} proves {worst}"


def factored_form_agrees(forest: Forest, factored: FactoredForest) -> None:
    """It verifies as it is, and bounds the depth of the trees that it expands to."""
    verdict = verify(factored)
    assert verdict.optimal, "no optimum is proved of the factored form"
    deepest = forest.tree_depths().max()
    assert deepest <= verdict.depth, f"depth {deepest}, the bound is {verdict.depth}"


def numbering_changes_no_optimum(forest: Forest, factored: FactoredForest) -> None:
    """The same optimum, attained, with the nodes in another order.

    Symmetry that is read off the numbers of the nodes (tori, circulants) is not found then.
    """
    topology, gpus = forest.topology, forest.topology.num_compute
    if forest.reduction or gpus > MOST_RENUMBERED:
        return
    order = random.Random(f"{topology.name} {gpus}").sample(
        range(len(topology.nodes)), len(topology.nodes)
    )
    place = {v: i for i, v in enumerate(order)}
    links = (replace(e, tail=place[e.tail], head=place[e.head]) for e in topology.links)
    nodes, limits = tuple(topology.nodes[v] for v in order), moved(topology.shared, place)
    other = Topology(topology.name, nodes, tuple(links), limits)
    weight = dict(zip(topology.compute, factored.weights, strict=True))
    weights = [weight[order[v]] for v in other.compute]
    again = generate(other, weights=weights, factored=True).schedule
    assert isinstance(again, FactoredForest), "two phases where one was asked for"
    assert again.optimum is not None, "no optimum is claimed"
    assert forest.optimum is not None, "no optimum is claimed"
    found, before = again.optimum.time_s_per_gb, forest.optimum.time_s_per_gb
    assert found == before, f"{found} s per GB in another order, {before} in this one"
    assert verify(again).optimal, "no optimum is proved in another order"


def threads_change_nothing(forest: Forest, factored: FactoredForest) -> None:
    """The same trees on one thread."""
    if factored.topology.num_compute not in SHARED_GPUS:
        return
    again = generate(
        factored.topology,
        collective=factored.collective,
        **asked_again(factored, {"threads": 1}),
        factored=True,
    ).schedule
    assert isinstance(again, FactoredForest), "two phases where one was asked for"
    alone = expand(again)
    for name in ("root", "multiplicity", "parent"):
        same = np.array_equal(getattr(forest, name), getattr(alone, name))
        assert same, f"one thread makes other trees: {name} differs"


CHECKS: tuple[Callable[[Forest, FactoredForest], None], ...] = (
    forest_verifies,
    time_is_the_bound,
    cut_proves_the_bound,
    no_cut_is_worse,
    factored_form_agrees,
    threads_change_nothing,
    numbering_changes_no_optimum,
    each_path_both_ways,
)
