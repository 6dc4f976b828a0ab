"""Certificate of an allreduce: its rate and an upper bound, which addition alone checks.

Problem: prove the rate of an allreduce, and a bound on all others, without the program or schedule
         that found them.
Input:   the numbers: links, sets with prices, trees of both phases over every link.
Output:  a JSON file whose format docs/formats/certificates.md explains.
Cost:    a line for each GPU, link, set and potential.
Source:  :mod:`forestcoll.problem.allreduce_bound`; ForestColl's appendix on the optimality of
         allreduce.

Switches only forward here. Files are read and written by
:mod:`forestcoll.problem.certificate_document`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forestcoll.problem.certificate_entries import (
    Count,
    Entry,
    Exact,
    LimitPrice,
    Name,
    Price,
    SharedLink,
)

__all__ = [
    "AllreduceCertificate", "AllreduceGpu", "AllreduceLimit", "AllreduceLink", "AllreduceShared",
    "SetPrice", "SwitchPotential",
]  # fmt: skip


class AllreduceGpu(Entry):
    """A GPU that takes part."""

    name: Name
    weight: Count = Field(
        description="The part of the data that is summed up there, in parts of the sum of all "
        "weights; it roots weight times k_reduce trees, and weight times k_gather."
    )


class AllreduceLink(Entry):
    """A link, in one direction, with what both phases put on it."""

    tail: Name = Field(description="Name of the node it leaves.")
    head: Name = Field(description="Name of the node it enters.")
    bandwidth_gb_s: Exact = Field(description="In GB/s (1e9 bytes per second).")
    reduce: Count = Field(description="Trees of the reduction that run over it.")
    gather: Count = Field(description="Trees of the gathering that run over it.")


class AllreduceShared(Entry):
    """Links that together carry no more than a limit, in both phases."""

    name: Name
    links: list[SharedLink]
    bandwidth_gb_s: Exact = Field(description="Of all of them together, in GB/s.")


class SetPrice(Entry):
    """A set of nodes with a GPU in it, and its prices."""

    nodes: list[Name]
    gather: Price = Field(description="y, of getting a sum into the set.")
    reduce: Price = Field(description="z, of getting what the set adds to a sum out of it.")


class SwitchPotential(Entry):
    """The potentials of a node that only forwards."""

    switch: Name
    gather: Price
    reduce: Price


class AllreduceLimit(Entry):
    """Prices, and the rate that no allreduce exceeds because of them."""

    algbw_gb_s: Exact = Field(
        description="The sum over the links and shared capacities of bandwidth times price, by "
        "the least prices of the sets that a GPU is outside of."
    )
    proportions: bool = Field(
        description="Whether the bound is for parts in the proportions of the weights only; then "
        "by the prices of the sets that the GPUs are outside of on average, by weight."
    )
    sets: list[SetPrice]
    potentials: list[SwitchPotential]
    shared: list[LimitPrice] = Field(
        default=[], description="Of shared capacities; their links cost so much less each."
    )


class AllreduceCertificate(Entry):
    """The rate of an allreduce and a bound on all, with the numbers that prove both."""

    format: Literal["forestcoll-certificate"] = "forestcoll-certificate"
    version: Literal[1] = 1
    network: Name = Field(description="What the network is called.")
    collective: Literal["allreduce"] = "allreduce"
    k_reduce: Count = Field(description="Trees of the reduction per unit of weight.")
    k_gather: Count = Field(description="Trees of the gathering per unit of weight.")
    time_s_per_gb: Exact = Field(
        description="Seconds per GB, all chunks in flight: the most of any link, of reduce / "
        "(W k_reduce) + gather / (W k_gather), by its bandwidth; W the sum of all weights. The "
        "same of shared capacities, of all their links together."
    )
    bound: AllreduceLimit
    gpus: list[AllreduceGpu] = Field(description="In the order of their ranks.")
    forwarding: list[Name] = Field(
        description="Nodes that only forward: switches, and GPUs outside the group."
    )
    links: list[AllreduceLink] = Field(description="All links of the network.")
    shared: list[AllreduceShared] = Field(default=[], description="All shared capacities.")
