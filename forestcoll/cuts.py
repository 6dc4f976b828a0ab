"""Cuts of a network, and the bound that each of them puts on every allgather.

Problem: an allgather must carry the shards of the GPUs inside a node set S over the links that
         leave S; how long that takes.
Input:   a topology and a node set that holds some of its GPUs but not all.
Output:  the exact ratio |GPUs in S| / B+(S), the bound on algbw, and S and its exits in words.
Cost:    one pass over nodes and links.
Source:  ForestColl section 4 (throughput bottleneck cut).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.describe import LinkClass, counted, decimal, link_classes, nodes_in_words
from forestcoll.errors import DisconnectedError, InvalidTopologyError
from forestcoll.topology.model import Link, Topology

__all__ = ["Cut"]


@dataclass(frozen=True)
class Cut:
    """A node set S, seen as a bound on every allgather.

    Parameters
    ----------
    topology : Topology
    nodes : collection of int
        Positions of the nodes inside.

    Raises
    ------
    InvalidTopologyError
        If S holds no GPU or every GPU, or names a node that does not exist.
    DisconnectedError
        If no link leaves S.
    """

    topology: Topology
    nodes: Collection[int]

    def __post_init__(self) -> None:
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
        if not self.exit_links:
            raise DisconnectedError(
                f"no link leaves {nodes_in_words(self.topology, self.nodes)}; "
                f"its GPUs cannot send their data"
            )

    @cached_property
    def compute(self) -> tuple[int, ...]:
        """Positions of the GPUs inside; each has one shard that must leave."""
        return tuple(v for v in self.nodes if not self.topology.nodes[v].is_switch)

    @cached_property
    def exit_links(self) -> tuple[Link, ...]:
        """The links that leave."""
        inside = set(self.nodes)
        return tuple(
            link for link in self.topology.links if link.tail in inside and link.head not in inside
        )

    @property
    def exit_gb_s(self) -> Fraction:
        """B+(S), the bandwidth of the exit links in all."""
        return sum((link.bandwidth_gb_s for link in self.exit_links), start=Fraction(0))

    @property
    def inverse_rate(self) -> Fraction:
        """|GPUs in S| / B+(S), a lower bound on 1/x*, in s/GB."""
        return len(self.compute) / self.exit_gb_s

    @property
    def algbw_gb_s(self) -> Fraction:
        """Upper bound that the cut puts on the algorithmic bandwidth of an allgather."""
        return self.topology.num_compute / self.inverse_rate

    def exit_classes(self) -> tuple[LinkClass, ...]:
        """Return the exit links by bandwidth and by what they join, fastest first."""
        return link_classes(self.topology, self.exit_links)

    def in_words(self) -> str:
        """Say what the cut is, naming its smaller side, and how its shards leave.

        Of four A100 boxes: "everything but box 3 (8 GPUs): 24 shards must enter it over 8 links,
        200 GB/s in all (25 per GPU)".
        """
        shards, outside = len(self.compute), self.topology.num_compute - len(self.compute)
        if shards <= outside:
            where, crossing = nodes_in_words(self.topology, self.nodes), "leave"
        else:
            rest = set(range(len(self.topology.nodes))).difference(self.nodes)
            where = f"everything but {nodes_in_words(self.topology, rest)}"
            crossing = "enter it"
        smaller = min(shards, outside)
        each = f" ({decimal(self.exit_gb_s / smaller)} per GPU)" if smaller > 1 else ""
        return (
            f"{where}: {counted(shards, 'shard')} must {crossing} over "
            f"{counted(len(self.exit_links), 'link')}, {decimal(self.exit_gb_s)} GB/s in all{each}"
        )
