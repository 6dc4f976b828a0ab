"""What an allreduce or broadcast can deliver by a time: patterns of messages, by column generation.

A pattern is a set of messages, each with its start, over which every GPU gets what depends on all
others, or on the root; a message holds all that its sender knows. That is more than sums allow.
In one pass a switch may reduce messages and multicast them; or messages are passes from a GPU to
several, or from several to one.
Each piece of the data follows a pattern. The master program mixes patterns within what links, and
shared capacities, carry in each microsecond; a mixed-integer program prices the next pattern by its
prices. With whole latencies, rates that are constant in each microsecond lose nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from forestcoll.topology import Topology
from tests.reference.time_expanded import Rows

__all__ = ["most_summed"]

_GAP = 1e-3
_MOST_PATTERNS = 120  # then what they deliver is less than the most, but possible


@dataclass(frozen=True)
class _Message:
    """From nodes of gossip to others, with the moments at which it enters links.

    Each hop has a tail and a head, and when it starts and ends.
    """

    hops: tuple[tuple[int, int, int, int], ...]
    uses: tuple[tuple[int, int], ...]


def most_summed(
    topology: Topology, alpha: int, steps: int, root: int | None = None, *, one_pass: bool = True
) -> float:
    """Return the largest size, in bytes, of which an allreduce may be done after whole steps.

    With a root, a GPU, of which a broadcast may be done.

    Parameters
    ----------
    topology : Topology
        With whole latencies, of 1 at least with alpha where GPUs send. Switches that multicast add
        and copy what they get in the same step, and do not store it.
    alpha, steps : int
        In microseconds.
    one_pass : bool
        Whether a switch may reduce and multicast in one pass.
    """
    found = _messages if one_pass else _passes
    messages = list(dict.fromkeys(found(topology, alpha, steps)))
    if not messages:
        return 0.0
    loads = _loads(topology, messages)
    limits = np.array([_limit(topology, use) for use in loads.uses])
    pairs = list(permutations(topology.compute, 2))
    if root is not None:
        pairs = [pair for pair in pairs if pair[0] == root]
    pricing = _Pricing(topology, messages, steps, pairs)
    centre = np.ones(len(limits))
    prices, amount, least = centre, 0.0, np.inf
    patterns: list[npt.NDArray[np.float64]] = []
    while amount < least * (1 - _GAP) and len(patterns) < _MOST_PATTERNS:
        smooth = (centre + prices) / 2  # prices alone leap about, since many mixtures are as good
        pattern = pricing.cheapest(loads.matrix.T @ smooth)
        if pattern is None:
            return 0.0
        load = loads.matrix @ pattern
        bound = smooth @ limits / (smooth @ load)
        if bound < least:
            least, centre = bound, smooth / (smooth @ load)
        patterns.append(load)
        amount, prices = _mixed(np.array(patterns).T, limits)
    return 1000 * amount


def _messages(topology: Topology, alpha: int, steps: int) -> Iterator[_Message]:
    """Yield all messages that arrive in time, over paths of switches that only forward."""
    out = defaultdict(list)
    for i, link in enumerate(topology.links):
        out[link.tail].append((i, link.head, _latency(topology, i, alpha)))
    paths = [(v, v, 0, ()) for v, node in enumerate(topology.nodes) if _acts(node)]
    while paths:
        tail, at, late, uses = paths.pop()
        for i, head, latency in out[at]:
            longer = (*uses, (i, late))
            if head == tail or head in (topology.links[j].head for j, _ in uses):
                continue
            if not _acts(topology.nodes[head]):
                paths.append((tail, head, late + latency, longer))
                continue
            for start in range(steps - late - latency):
                when = tuple((j, start + after) for j, after in longer)
                yield _Message(((tail, head, start, start + late + latency),), when)


def _latency(topology: Topology, i: int, alpha: int) -> int:
    link = topology.links[i]
    return int(link.latency_us) + alpha * topology.nodes[link.tail].is_gpu


def _passes(topology: Topology, alpha: int, steps: int) -> Iterator[_Message]:
    """Yield all passes that arrive in time, over trees of switches: from a GPU, or to one."""
    for gpu in topology.compute:
        for inward in (False, True):
            for uses, ends in _trees(topology, alpha, [(gpu, 0)], inward, (), ()):
                last = max(away for _, away in ends)
                for spare in range(steps - last):
                    if inward:  # all arrive together, and start as late as they can
                        end = last + spare
                        hops = [(one, gpu, end - away, end) for one, away in ends]
                    else:
                        hops = [(gpu, one, spare, spare + away) for one, away in ends]
                    when = [(i, last - away if inward else away) for i, away in uses]
                    moments = tuple(sorted((i, spare + moment) for i, moment in when))
                    yield _Message(tuple(sorted(hops)), moments)


def _trees(
    topology: Topology,
    alpha: int,
    fronts: list[tuple[int, int]],
    inward: bool,
    uses: tuple[tuple[int, int], ...],
    ends: tuple[tuple[int, int], ...],
) -> Iterator[tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]]:
    """Yield trees of links over switches, and the GPUs they lead to, each with a latency.

    Of a link it is that from the first node to its tail, or inwards from its tail to that node.
    """
    if not fronts:
        yield uses, ends
        return
    (node, away), *rest = fronts
    seen = {gpu for gpu, _ in ends} | {v for v, _ in fronts}
    seen |= {v for i, _ in uses for v in (topology.links[i].tail, topology.links[i].head)}
    ways = []
    for i, link in enumerate(topology.links):
        near, far = (link.head, link.tail) if inward else (link.tail, link.head)
        if near == node and far not in seen:
            then = away + _latency(topology, i, alpha)
            ways.append(((i, then if inward else away), (far, then)))
    most = len(ways) if topology.nodes[node].multicast else 1
    for count in range(1, most + 1):
        for some in combinations(ways, count):
            found = [end for _, end in some]
            yield from _trees(
                topology,
                alpha,
                rest + [one for one in found if topology.nodes[one[0]].is_switch],
                inward,
                (*uses, *(use for use, _ in some)),
                (*ends, *(one for one in found if not topology.nodes[one[0]].is_switch)),
            )


def _acts(node) -> bool:  # type: ignore[no-untyped-def]
    return not node.is_switch or node.multicast


@dataclass(frozen=True)
class _Loads:
    """Links, and shared capacities, in each step (rows), and which message uses them (columns)."""

    uses: list[tuple[str, int, int]]
    matrix: npt.NDArray[np.float64]


def _loads(topology: Topology, messages: list[_Message]) -> _Loads:
    row: dict[tuple[str, int, int], int] = {}
    entries = []
    for column, message in enumerate(messages):
        for i, step in message.uses:
            ends = topology.links[i].tail, topology.links[i].head
            groups = [n for n, group in enumerate(topology.shared) if ends in group.links]
            for use in (("link", i, step), *(("shared", n, step) for n in groups)):
                entries.append((row.setdefault(use, len(row)), column))
    matrix = np.zeros((len(row), len(messages)))
    for entry in entries:
        matrix[entry] += 1
    return _Loads(list(row), matrix)


def _limit(topology: Topology, use: tuple[str, int, int]) -> float:
    kind, number, _ = use
    limited = topology.links if kind == "link" else topology.shared
    return float(limited[number].bandwidth_gb_s)


def _mixed(
    patterns: npt.NDArray[np.float64], limits: npt.NDArray[np.float64]
) -> tuple[float, npt.NDArray[np.float64]]:
    """Return how much the best mixture of patterns delivers, and the price of each limit."""
    found = linprog(-np.ones(patterns.shape[1]), A_ub=patterns, b_ub=limits)
    assert found.status == 0, found.message
    return -found.fun, -found.ineqlin.marginals


class _Pricing:
    """The cheapest pattern, as a mixed-integer program.

    A variable for each message, and for each pair of GPUs a flow within the messages.
    """

    def __init__(
        self,
        topology: Topology,
        messages: list[_Message],
        steps: int,
        pairs: list[tuple[int, int]],
    ) -> None:
        self._messages = len(messages)
        column: dict[object, int] = {j: j for j in range(len(messages))}

        def at(*key: object) -> int:
            return column.setdefault(key, len(column))

        most, equal = Rows(), Rows()
        stores = [v for v, node in enumerate(topology.nodes) if not node.is_switch]
        for pair in pairs:
            net: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
            for j, one in enumerate(messages):
                for n, (tail, head, start, end) in enumerate(one.hops):
                    most.add([(at(pair, j, n), 1.0), (j, -1.0)], 0)
                    net[tail, start].append((at(pair, j, n), -1.0))
                    net[head, end].append((at(pair, j, n), 1.0))
            for v, step in product(stores, range(steps - 1)):
                net[v, step].append((at(pair, "stored", v, step), -1.0))
                net[v, step + 1].append((at(pair, "stored", v, step), 1.0))
            for place, terms in net.items():
                ends = {(pair[0], 0): -1.0, (pair[1], steps - 1): 1.0}
                equal.add(terms, ends.get(place, 0.0))
        columns = len(column)
        self._rows = [
            LinearConstraint(most.matrix(columns), -np.inf, most.right),
            LinearConstraint(equal.matrix(columns), equal.right, equal.right),
        ]
        self._whole = np.array([float(n < len(messages)) for n in range(columns)])

    def cheapest(self, cost: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
        """Return which messages the cheapest pattern has; None if there is none in time."""
        goal = np.zeros(len(self._whole))
        goal[: self._messages] = cost
        found = milp(goal, constraints=self._rows, bounds=Bounds(0, 1), integrality=self._whole)
        return None if found.x is None else np.round(found.x[: self._messages])
