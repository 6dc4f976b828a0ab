"""Cuts of a network and the bound of each on every schedule.

Problem: an allgather must carry the shards of the GPUs inside a node set S over the links that
         leave S. How long does that take? In a reduction the sums for these GPUs must enter S.
Input:   a topology and a node set that holds some of its GPUs but not all; weights.
Output:  the exact ratio w(S) / B+(S) (B-(S) in a reduction), the bound on algbw, and S and its
         exits in words.
Cost:    one pass over nodes and links.
Source:  ForestColl section 4 (throughput bottleneck cut).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from forestcoll.errors import DisconnectedError, InvalidTopologyError
from forestcoll.topology.describe import (
    LinkClass,
    counted,
    decimal,
    link_classes,
    nodes_in_words,
    rate,
)
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Link, Topology

__all__ = ["Cut"]


@dataclass(frozen=True, repr=False)
class Cut(InBrief):
    """A node set S, seen as a bound on every schedule of a collective.

    Parameters
    ----------
    nodes : collection of int
        Positions of the nodes inside.
    weights : tuple of int
        For each rank, how many parts of the data it holds, or wants the sums of. All 1 by default.
    reduction : bool
        Whether the sums for the GPUs inside must enter, not their data leave.

    Raises
    ------
    InvalidTopologyError
        If S holds no GPU or every GPU, none that has a weight, or names a node that does not exist.
    DisconnectedError
        If no link leaves S (in a reduction, enters it).
    """

    topology: Topology
    nodes: Collection[int]
    weights: tuple[int, ...] = ()
    reduction: bool = False

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1,) * self.topology.num_compute)
        last = len(self.topology.nodes) - 1
        object.__setattr__(self, "nodes", tuple(sorted(set(self.nodes))))
        strangers = [v for v in self.nodes if not 0 <= v <= last]
        if strangers:
            raise InvalidTopologyError(f"a cut names node {strangers[0]}; nodes are 0 to {last}")
        if not 0 < len(self.compute) < self.topology.num_compute:
            raise InvalidTopologyError(
                f"a cut holds {len(self.compute)} of {counted(self.topology.num_compute, 'GPU')}; "
                f"a bound needs some inside and some outside"
            )
        if not self.weight:
            raise InvalidTopologyError("a cut holds only GPUs without data; it bounds nothing")
        if not self.exit_links:
            verb, need = (
                ("enters", "get their sums") if self.reduction else ("leaves", "send their data")
            )
            raise DisconnectedError(
                f"no link {verb} {nodes_in_words(self.topology, self.nodes)}; "
                f"its GPUs cannot {need}"
            )

    @cached_property
    def compute(self) -> tuple[int, ...]:
        """Positions of the GPUs inside; each has one shard that must leave."""
        return tuple(v for v in self.nodes if not self.topology.nodes[v].is_switch)

    @cached_property
    def weight(self) -> int:
        """w(S), the total weight of the GPUs inside."""
        return sum(self.weights[self.topology.rank_of[v]] for v in self.compute)

    @cached_property
    def exit_links(self) -> tuple[Link, ...]:
        """The links that the data must cross: those that leave S, in a reduction enter it."""
        links = self.topology.columns
        inside = np.zeros(len(self.topology.nodes), dtype=np.bool_)
        inside[list(self.nodes)] = True
        near, far = (links.head, links.tail) if self.reduction else (links.tail, links.head)
        return links.take(np.flatnonzero(inside[near] & ~inside[far])).links()

    @property
    def exit_gb_s(self) -> Fraction:
        """B+(S), the total bandwidth of the exit links; B-(S) in a reduction."""
        return sum((link.bandwidth_gb_s for link in self.exit_links), start=Fraction(0))

    @property
    def inverse_rate(self) -> Fraction:
        """w(S) / B+(S), a lower bound on 1/x*, in s/GB."""
        return self.weight / self.exit_gb_s

    @property
    def algbw_gb_s(self) -> Fraction:
        """Upper bound that the cut puts on the algorithmic bandwidth."""
        return sum(self.weights) / self.inverse_rate

    def exit_classes(self) -> tuple[LinkClass, ...]:
        """Return the exit links by bandwidth and by what they join, fastest first."""
        return link_classes(self.topology, self.exit_links)

    def in_a_line(self) -> str:
        """Return the network, the bound and the cut."""
        return f"of {self.topology.name}: {rate(self.algbw_gb_s)}, {self.in_words()}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with the links that the data must cross."""
        return {
            "topology": self.topology.name,
            "at most": rate(self.algbw_gb_s),
            "cut": self.in_words(),
            "links across": self.exit_classes(),
        }

    def in_words(self) -> str:
        """Describe the cut by its smaller side, and how its shards leave.

        For four A100 boxes: "everything but box 3 (8 GPUs): 24 shards must enter it over 8 links,
        200 GB/s in all (25 per GPU)".
        """
        inside, outside = len(self.compute), self.topology.num_compute - len(self.compute)
        if inside <= outside:
            where, crossed = nodes_in_words(self.topology, self.nodes), ""
        else:
            rest = set(range(len(self.topology.nodes))).difference(self.nodes)
            where, crossed = f"everything but {nodes_in_words(self.topology, rest)}", " it"
        entering = (inside > outside) != self.reduction
        crossing = "enter it" if entering else f"leave{crossed}"
        smaller = min(inside, outside)
        each = f" ({decimal(self.exit_gb_s / smaller)} per GPU)" if smaller > 1 else ""
        return (
            f"{where}: {self._data()} must {crossing} over "
            f"{counted(len(self.exit_links), 'link')}, {decimal(self.exit_gb_s)} GB/s in all{each}"
        )

    def _data(self) -> str:
        """Return what must cross: "24 shards", "the data", "5 of 12 parts of the data"."""
        total = sum(self.weights)
        if total == 1:
            return "the sum" if self.reduction else "the data"
        if max(self.weights) == 1 and total == self.topology.num_compute:
            return counted(self.weight, "sum" if self.reduction else "shard")
        return f"{self.weight} of {total} parts of the {'sums' if self.reduction else 'data'}"
