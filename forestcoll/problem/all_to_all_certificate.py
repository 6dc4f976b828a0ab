"""Certificate of an all-to-all or a demand: the least time, which prices of links prove.

Problem: prove the least time of a demand without the program or the paths that found it.
Input:   the numbers: who has how much for whom, links with their prices.
Output:  a JSON file whose format docs/formats/certificates.md explains.
Cost:    a line for each chunk, GPU and link.
Source:  :mod:`forestcoll.problem.price_bound`.

Files are read and written by :mod:`forestcoll.problem.certificate_document`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forestcoll.problem.certificate_entries import Count, Entry, Exact, Name, SharedLink

__all__ = ["AllToAllCertificate", "CertifiedChunk", "PricedLink", "PricedShared"]


class CertifiedChunk(Entry):
    """A chunk: its source, its bytes, and the GPUs that need it."""

    tail: Name = Field(description="Name of the GPU that has it at first.")
    head: list[Name] = Field(description="Names of the GPUs that need it, each once.")
    size: Count = Field(description="In bytes, from 1 up.")


class PricedLink(Entry):
    """A link, in one direction, with its price."""

    tail: Name = Field(description="Name of the node it leaves.")
    head: Name = Field(description="Name of the node it enters.")
    bandwidth_gb_s: Exact = Field(description="In GB/s (1e9 bytes per second).")
    price: Count


class PricedShared(Entry):
    """Links that together carry no more than a limit, with its price."""

    name: Name
    links: list[SharedLink]
    bandwidth_gb_s: Exact = Field(description="Of all of them together, in GB/s.")
    price: Count


class AllToAllCertificate(Entry):
    """The least time of an all-to-all or a demand, with the prices that prove it."""

    format: Literal["forestcoll-certificate"] = "forestcoll-certificate"
    version: Literal[1] = 1
    network: Name = Field(description="What the network is called.")
    collective: Literal["all-to-all"] = "all-to-all"
    demand: Name = Field(description="What the demand is called.")
    least_ns: Exact = Field(
        description="The sum over the chunks of size times the price of the cheapest path to the "
        "farthest target, by the sum over the links and shared capacities of price times "
        "bandwidth. A link costs its own price and those of the shared capacities that hold it. In "
        "nanoseconds; of equal parts for one byte a pair."
    )
    chunks: list[CertifiedChunk] | None = Field(
        description="The demand; null if every GPU has as much for every other, a byte each."
    )
    gpus: list[Name] = Field(description="In the order of their ranks.")
    forwarding: list[Name] = Field(
        description="Nodes that only forward: switches, and GPUs outside the group."
    )
    links: list[PricedLink] = Field(description="All links of the network.")
    shared: list[PricedShared] = Field(default=[], description="All shared capacities.")
