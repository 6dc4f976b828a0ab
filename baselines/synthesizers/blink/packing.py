"""Blink's own packing: many trees by multiplicative weights, then few by an integer program.

Problem: few out-trees of one root whose weights add up to nearly the best rate.
Output:  trees and whole weights.
Cost:    one cheapest tree an iteration, O(E log E / epsilon^2) of them at most for E links, mostly
         far fewer; integer programs with a variable and a bit for each distinct tree.
Source:  Wang et al., Blink (MLSys 2020), section 3.2: packing by multiplicative weight updates, and
         its integer program for the number of trees. The packing and its guarantee are those of
         Garg and Koenemann (SIAM J. Computing 2007).

Every link of capacity c has a price, at first 1/c. The cheapest tree gets the least capacity on it
as its weight g, and the price of each of its links grows by the factor 1 + s g/c. Divided by the
worst overload, the weights are a packing. The loop stops when the loss of the best rate (the least
max-flow) is within the allowed one, which the guarantee ensures for s of half of that.

These trees are candidates. Weights are multiples of a unit, at first the greatest common divisor of
the capacities, which is halved where necessary. Candidates of coarse packings, which are few, come
first. The program minimises the number of trees at a rate within epsilon, then maximises the rate
for that number. The number is the least among the candidates, if the solver finishes its proof
(``_EFFORT``). Blink's results: docs/baselines/blink.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from forestcoll.errors import CapacityOverflowError
from forestcoll.problem.limits import Limits
from lp.allgather.arborescence import cheapest_arborescence

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

__all__ = ["Network", "Packing", "Tree", "fewest", "many", "pack"]

Tree = tuple[int, ...]
"""The parent of each node, -1 at the root."""

_EFFORT = 0.5
"""CP-SAT's deterministic seconds for each integer program."""


@dataclass(frozen=True, slots=True)
class Network:
    """Links as (tail, head) with whole capacities, a root, and the best rate.

    ``best`` is the highest total weight of any packing from the root.
    """

    size: int
    links: tuple[tuple[int, int], ...]
    capacity: tuple[int, ...]
    root: int
    best: Fraction


@dataclass(frozen=True, slots=True)
class Packing:
    """Trees and their weights; in units of ``unit`` they are within the capacities."""

    weight: dict[Tree, int]
    unit: Fraction

    @property
    def rate(self) -> Fraction:
        """Total weight, in units of the capacities."""
        return self.unit * sum(self.weight.values())


def pack(network: Network, epsilon: Fraction, limits: Limits) -> Packing:
    """Pack few trees to within epsilon of the best rate.

    At the time limit the rate may be lower, or the trees more; there is always at least one.
    """
    end = limits.deadline
    unit = Fraction(math.gcd(*network.capacity))
    enough = (1 - epsilon) * network.best
    found = Packing({}, Fraction(1))
    for loss in _losses(epsilon / 2):
        found = max(found, many(network, loss, end), key=lambda packing: packing.rate)
        if few := fewest(network, found, enough, unit, end, limits.threads):
            return few
    while time.monotonic() < end:
        unit /= 2
        if few := fewest(network, found, enough, unit, end, limits.threads):
            return few
    return found


def _losses(last: Fraction) -> Iterator[Fraction]:
    """Yield 1/4, 1/8 and so on, down to the last."""
    loss = Fraction(1, 4)
    while loss > last:
        yield loss
        loss /= 2
    yield last


def many(network: Network, epsilon: Fraction, end: float = math.inf) -> Packing:
    """Pack trees by multiplicative weights until the rate is within epsilon of the best.

    Parameters
    ----------
    epsilon : Fraction
        Between 0 and 1.
    end : float
        Deadline on the monotonic clock; at least one tree is returned.
    """
    links, capacity = network.links, network.capacity
    place = {link: i for i, link in enumerate(links)}
    step = float(epsilon) / 2
    ends = tuple(np.array(links).T)
    price = [1 / amount for amount in capacity]
    prices = np.full((network.size, network.size), np.inf)
    load = [0] * len(links)
    worst, total = Fraction(0), 0
    weight: dict[Tree, int] = {}
    while not total or (total < (1 - epsilon) * network.best * worst and time.monotonic() < end):
        prices[ends] = price
        tree = tuple(cheapest_arborescence(prices, network.root))
        used = [place[parent, node] for node, parent in enumerate(tree) if parent >= 0]
        amount = min(capacity[i] for i in used)
        weight[tree] = weight.get(tree, 0) + amount
        total += amount
        for i in used:
            load[i] += amount
            price[i] *= 1 + step * amount / capacity[i]
            worst = max(worst, Fraction(load[i], capacity[i]))
        price = _moderate(price)
    return Packing(weight, 1 / worst)


def _moderate(price: list[float]) -> list[float]:
    """Keep prices far from overflow; only their proportions matter."""
    highest = max(price)
    return [each / highest for each in price] if highest > 1e100 else price


def fewest(
    network: Network,
    found: Packing,
    enough: Fraction,
    unit: Fraction,
    end: float = math.inf,
    threads: int = 1,
) -> Packing | None:
    """Choose few of the trees of a packing, with weights in whole units, for a sufficient rate.

    Returns
    -------
    Packing, optional
        None if there is none among the trees, or none was found by the end.
    """
    model = _Model(network, list(found.weight), unit)
    rounded = _rounded_down(found, unit)
    start = max(rounded, model.maximise_rate(end, threads) or rounded, key=lambda p: p.rate)
    if start.rate < enough:
        return None
    return model.minimise_trees(start, math.ceil(enough / unit), end, threads)


def _rounded_down(packing: Packing, unit: Fraction) -> Packing:
    whole = {tree: int(each * packing.unit / unit) for tree, each in packing.weight.items()}
    return Packing({tree: each for tree, each in whole.items() if each}, unit)


class _Model:
    """Whole weights of trees within the capacities of the links."""

    def __init__(self, network: Network, trees: Sequence[Tree], unit: Fraction) -> None:
        self.trees, self.unit = trees, unit
        from ortools.sat.python import cp_model  # takes half a second

        self.model = cp_model.CpModel()
        fits = dict(zip(network.links, (int(c / unit) for c in network.capacity), strict=True))
        over: dict[tuple[int, int], list[cp_model.IntVar]] = {link: [] for link in network.links}
        self.weight = []
        for i, tree in enumerate(trees):
            used = [(parent, node) for node, parent in enumerate(tree) if parent >= 0]
            weight = self.model.new_int_var(0, min(fits[link] for link in used), f"weight {i}")
            self.weight.append(weight)
            for link in used:
                over[link].append(weight)
        for link, weights in over.items():
            self.model.add(sum(weights) <= fits[link])
        self.most = int(network.best / unit)
        self.model.add(sum(self.weight) <= self.most)

    def maximise_rate(self, end: float, threads: int) -> Packing | None:
        self.model.maximize(sum(self.weight))
        return self._solve(end, threads)

    def minimise_trees(self, start: Packing, enough: int, end: float, threads: int) -> Packing:
        """Minimise the number of trees, and maximise the rate for that number."""
        self.model.add(sum(self.weight) >= enough)
        used = [self.model.new_bool_var(f"used {i}") for i in range(len(self.trees))]
        for tree, weight, is_used in zip(self.trees, self.weight, used, strict=True):
            self.model.add(weight <= self.most * is_used)
            self.model.add_hint(weight, start.weight.get(tree, 0))
            self.model.add_hint(is_used, tree in start.weight)
        # One tree fewer outweighs any rate, which breaks ties: the sum of weights is at most
        # `most`.
        self.model.minimize((self.most + 1) * sum(used) - sum(self.weight))
        return self._solve(end, threads) or start

    def _solve(self, end: float, threads: int) -> Packing | None:
        seconds = end - time.monotonic()
        if seconds <= 0:
            return None
        from ortools.sat.python import cp_model  # takes half a second

        solver = cp_model.CpSolver()
        solver.parameters.num_workers = threads
        solver.parameters.random_seed = 1
        solver.parameters.max_deterministic_time = _EFFORT
        if math.isfinite(seconds):
            solver.parameters.max_time_in_seconds = seconds
        status = solver.solve(self.model)
        if status == cp_model.MODEL_INVALID:
            raise CapacityOverflowError(
                f"rates up to {self.most} units are beyond the integer program's 64 bits; round "
                f"the bandwidths to fewer digits"
            )
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        weights = [solver.value(weight) for weight in self.weight]
        return Packing(
            {tree: each for tree, each in zip(self.trees, weights, strict=True) if each}, self.unit
        )
