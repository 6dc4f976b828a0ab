"""Search space of tuning: recipes, each a method with its parameters.

The optimum assumes large data; for small data shallow trees, few steps or one hop win. Baselines
are included that make a schedule in seconds, without a search by programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from baselines.libraries.sum_exchange import METHOD as SUM_EXCHANGE
from baselines.libraries.sum_exchange import dimensions, foldable_dimensions
from baselines.registry import METHODS
from forestcoll.bounded_depth.depth_limit import least_depth
from forestcoll.errors import UnknownMethodError, UnsupportedError, did_you_mean
from forestcoll.forest_over_time.one_phase import MOST_GPUS
from forestcoll.problem.demand import Demand
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.problem.sizes import size_text
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import COLLECTIVES

__all__ = ["BASELINES", "FORESTS", "Recipe", "check_known", "forests", "recipes"]

FORESTS = "forestcoll"
"""The name that requests all forests."""

BASELINES = (
    "direct", "one-shot", "sum-exchange", "bruck", "recursive-halving-doubling", "ring",
    "nccl-tree", "double-binary-tree", "nccl-nvls", "nccl-nvls-tree", "bfb", "torus",
    "shifted-ring", "shifted-bfb-ring", "blueconnect", "multitree", "blink", "blink-switch",
    "unwound",
)  # fmt: skip
"""Baselines that are tried by default: quick ones that make the same schedule at every run."""

_MOST_HALVED = 4  # dimensions: with more, two phases take as little data and not more hops
_FEW_TREES = (1, 2, 3, 4)
_TALLER = (0, 1, 2, 3, 5)  # hops above the least depth
_ROOTED_TALLER = (*_TALLER, 8)  # trees of one root are few, and soon found
_BOTH_TALLER = (0, 2, 4, 6)  # of an allreduce: both phases together


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to make a schedule."""

    name: str  # the unique name in tables
    method: str  # "forestcoll" or a baseline
    # of the method
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    # who has how much for whom, in an all-to-all; equal parts if not given
    demand: Demand | None = field(default=None, repr=False)

    @property
    def depth(self) -> int | None:
        """Hops that no tree may exceed, if there is such a limit."""
        return self.parameters.get("max_depth")

    @property
    def size_bytes(self) -> int | None:
        """The size that a forest over time is for, if it is one."""
        return self.parameters.get("size")


def forests(
    topology: Topology,
    collective: str = "allgather",
    root: str | int | None = None,
    sizes: Sequence[int] = (),
) -> tuple[Recipe, ...]:
    """Return the forests to try: few trees, the optimal number, depth-bounded ones, one a size.

    With ``multicast`` switches each number is tried twice: once they forward, once they multicast
    and reduce. Depths ascend from the least one; for an allreduce, both phases are added.

    Raises
    ------
    ForestCollError
        If the network or the root does not suit the collective.
    """
    numbers: list[tuple[str, dict[str, Any]]] = [(f"k={k}", {"k": k}) for k in _FEW_TREES]
    numbers.append(("optimal k", {}))
    found = [Recipe(f"forest, {text}", FORESTS, options) for text, options in numbers]
    if collective in COLLECTIVES:
        least = least_depth(Request.of(topology, Options(collective=collective, root=root)))
        depths = [least + more for more in _taller(collective)]
        found += [Recipe(f"forest, depth {h}", FORESTS, {"max_depth": h}) for h in depths]
        if topology.num_compute <= MOST_GPUS:
            found += [
                Recipe(f"forest, for {size_text(size)}", FORESTS, {"size": size}) for size in sizes
            ]
    if any(node.multicast for node in topology.nodes):
        found += [
            Recipe(f"forest, {text}, switches multicast", FORESTS, {**options, "multicast": True})
            for text, options in numbers
        ]
    return tuple(found)


def _taller(collective: str) -> tuple[int, ...]:
    if collective == "allreduce":
        return _BOTH_TALLER
    return _ROOTED_TALLER if collective in ("broadcast", "reduce") else _TALLER


def recipes(
    topology: Topology,
    methods: Sequence[str] | None = None,
    collective: str = "allgather",
    root: str | int | None = None,
    sizes: Sequence[int] = (),
) -> tuple[Recipe, ...]:
    """Return what to try. The order is the last criterion for ties.

    Parameters
    ----------
    methods : sequence of str, optional
        "forestcoll" for all forests, and baselines by name; without it forests and
        :data:`BASELINES`.
    sizes : sequence of int
        In bytes; the forests include one forest over time for each.

    Raises
    ------
    UnknownMethodError
        If there is no such method, or none is named.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> [one.name for one in recipes(load_topology("ring:nodes=4"), ["ring", "forestcoll"])][:3]
    ['ring', 'forest, k=1', 'forest, k=2']
    """
    asked = (FORESTS, *BASELINES) if methods is None else tuple(dict.fromkeys(methods))
    check_known(asked)
    found: list[Recipe] = []
    for name in asked:
        if name == FORESTS:
            found += forests(topology, collective, root, sizes)
        elif name == SUM_EXCHANGE and collective == "allreduce":
            found += _sum_exchanges(topology)
        else:
            found.append(Recipe(name, name))
    return tuple(found)


def _sum_exchanges(topology: Topology) -> list[Recipe]:
    """Return a recipe for each number of halved dimensions, and of folded ones if none is halved.

    One to be refused if there are no dimensions.
    """
    try:
        most = min(dimensions(topology) - 1, _MOST_HALVED)
        numbers = [("halved", n) for n in range(most + 1)]
        numbers += [("folded", n + 1) for n in range(foldable_dimensions(topology))]
    except UnsupportedError:
        return [Recipe(SUM_EXCHANGE, SUM_EXCHANGE)]
    return [
        Recipe(f"{SUM_EXCHANGE}, {n} {how}", SUM_EXCHANGE, MappingProxyType({"halved": 0, how: n}))
        for how, n in numbers
    ]


def check_known(asked: Sequence[str]) -> None:
    """Refuse an unknown method, and none at all, as an UnknownMethodError."""
    known = (FORESTS, *METHODS)
    for name in asked:
        if name not in known:
            hint = did_you_mean(name, known, f"known: {', '.join(known)}")
            raise UnknownMethodError(f"there is no method {name!r} to try; {hint}")
    if not asked:
        raise UnknownMethodError(f"no method is named to try; known: {', '.join(known)}")
