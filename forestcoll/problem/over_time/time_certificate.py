"""Certificate of a least time at a size: a cut over time, a rate after a delay, gossip or passes.

Problem: prove a lower bound on the time of a collective without the search that found it.
Input:   the numbers: links with latencies, and a label of each node, prices that bound the
         rate, or sets of nodes.
Output:  a JSON file whose format docs/formats/certificates.md explains.
Cost:    a line for each GPU, link and label.
Source:  :mod:`forestcoll.problem.over_time.time_bound`.

Files are read and written by :mod:`forestcoll.problem.certificate_document`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from pydantic import Field

from forestcoll.problem.allreduce_certificate import AllreduceShared, SetPrice, SwitchPotential
from forestcoll.problem.certificate_entries import (
    Count,
    Entry,
    Exact,
    LimitPrice,
    Name,
    Price,
    Prices,
)

__all__ = [
    "DelayedPrices", "GossipSets", "NodeLabel", "PairPrices", "PassSets", "SumPrices",
    "TimeCertificate", "TimeLabels", "TimedGpu", "TimedLink", "WholeLimitPrice", "WholePrice",
]  # fmt: skip


class TimedGpu(Entry):
    """A GPU that takes part."""

    name: Name
    weight: Count = Field(description="Its part of the data, in parts of the sum of all weights.")


class TimedLink(Entry):
    """A link, in one direction, with its latency."""

    tail: Name = Field(description="Name of the node it leaves.")
    head: Name = Field(description="Name of the node it enters.")
    bandwidth_gb_s: Exact = Field(description="In GB/s (1e9 bytes per second).")
    latency_us: Price = Field(description="Its own, without alpha, in microseconds.")


class NodeLabel(Entry):
    """A node, and the time from which on it is on the side of the sources."""

    node: Name
    us: Price = Field(description="From 0 to time_us; in a reduction of the reversed network.")


class TimeLabels(Entry):
    """A cut over time."""

    labels: list[NodeLabel] = Field(description="One of each node.")


class SumPrices(Entry):
    """Prices that bound the rate of an allreduce; those not named are 0."""

    sets: list[SetPrice]
    potentials: list[SwitchPotential]
    shared: list[LimitPrice]


class WholePrice(Entry):
    """A link with its price."""

    tail: Name
    head: Name
    price: Count


class WholeLimitPrice(Entry):
    """A shared capacity with its price."""

    name: Name
    price: Count


class PairPrices(Entry):
    """Prices that bound the rate of an all-to-all; those not named are 0."""

    links: list[WholePrice]
    shared: list[WholeLimitPrice]


class DelayedPrices(Entry):
    """A bound on the rate, which no schedule attains during a delay."""

    delay_us: Price = Field(
        description="Microseconds in which no link, and no shared capacity, carries data of use."
    )
    algbw_gb_s: Exact = Field(description="The rate that the prices prove to be the largest.")
    prices: Prices | SumPrices | PairPrices


class GossipSets(Entry):
    """Sets whose GPUs must learn what all others know, in an allreduce, or what a root knows."""

    sets: list[list[Name]] = Field(
        description="Disjoint, each with a GPU; other nodes are switches that only forward."
    )
    shared: list[Name] = Field(
        default=[], description="Shared capacities whose links count together, for the first named."
    )
    since_us: Price = Field(
        default=Fraction(0),
        description="From a root: what arrives earlier counts if it leaves the root's set, for all "
        "sets; what arrives later for its own set.",
    )


class PassSets(Entry):
    """Sets each of which sends all data to each other; no switch reduces and multicasts at once."""

    sets: list[list[Name]] = Field(
        description="Disjoint, each with a GPU; other nodes are switches, which may do either."
    )
    reach_us: Price = Field(
        description="What arrives earlier before the end counts where it leaves a set; what "
        "arrives later for the GPUs that it may reach, and also where it enters a set."
    )


class TimeCertificate(Entry):
    """The least time of a collective at a size, with the numbers that prove it."""

    format: Literal["forestcoll-certificate"] = "forestcoll-certificate"
    version: Literal[1] = 1
    network: Name = Field(description="What the network is called.")
    collective: Literal[
        "allgather", "reduce-scatter", "broadcast", "reduce", "allreduce", "all-to-all"
    ]
    size_bytes: Count = Field(
        description="As nccl-tests counts it: all shards together, or what one GPU sends in an "
        "all-to-all."
    )
    alpha_us: Price = Field(description="Latency of a link that a GPU sends on, beside its own.")
    time_us: Exact = Field(description="No schedule ends earlier, in microseconds.")
    proof: TimeLabels | DelayedPrices | GossipSets | PassSets
    gpus: list[TimedGpu] = Field(description="In the order of their ranks.")
    forwarding: list[Name] = Field(
        description="Nodes that only forward: switches, and GPUs outside the group."
    )
    relays: list[Name] = Field(description="Those of them that are GPUs, whose links cost alpha.")
    multicast: list[Name] = Field(
        description="Those of them that may multicast and reduce; no price assumes that they do "
        "not."
    )
    links: list[TimedLink] = Field(description="All links of the network.")
    shared: list[AllreduceShared] = Field(default=[], description="All shared capacities.")
