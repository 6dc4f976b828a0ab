"""Families of networks made of networks: line graphs, products, more ports.

A network is named in parentheses by a specification or by the path of a file. It may itself be
made of others: ``line_graph:times=2,of=(cartesian_power:exponent=2,of=(diamond))``.
:mod:`forestcoll.topology.operations` documents the results and the order of their GPUs.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from forestcoll.topology import operations
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Amount, Count, Either
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact
from forestcoll.topology.spec import load_topology

__all__ = [
    "Network", "Networks", "both_ways", "cartesian_power", "cartesian_product", "degree_expansion",
    "line_graph",
]  # fmt: skip


_LARGEST = "largest"
"""The largest unit of which every link is a whole multiple."""

_MOST_PARENTHESES = 50
"""Largest number of parentheses in one specification."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network by its specification."""

    help: str

    @property
    def allowed(self) -> str:
        """The form."""
        return (
            f"the specification of a network in parentheses, such as (ring:nodes=4), with at most "
            f"{_MOST_PARENTHESES} of them in all"
        )

    def read(self, value: object) -> Topology:
        """Read a specification, or take a network."""
        if isinstance(value, Topology):
            return value
        if not isinstance(value, str) or value.count("(") > _MOST_PARENTHESES:
            raise ValueError
        return load_topology(_opened(value))

    def show(self, value: object) -> str:
        """Write the network's name in parentheses."""
        return f"({self.read(value).name})"


@dataclass(frozen=True, slots=True)
class Networks:
    """Several networks by their specifications."""

    help: str

    @property
    def allowed(self) -> str:
        """The form."""
        return "specifications of networks, each in parentheses, such as (ring:nodes=4)(diamond)"

    def read(self, value: object) -> tuple[Topology, ...]:
        """Read specifications one behind the other, or take networks."""
        if isinstance(value, str):
            value = _in_parentheses(value)
        if not isinstance(value, list | tuple) or not value:
            raise ValueError
        return tuple(Network(self.help).read(one) for one in value)

    def show(self, value: object) -> str:
        """Write the networks' names, each in parentheses."""
        return "".join(f"({network.name})" for network in self.read(value))


def _opened(text: str) -> str:
    """Take the parentheses off, if there are any."""
    parts = _in_parentheses(text) if text.startswith("(") else [text]
    if len(parts) != 1:
        raise ValueError
    return parts[0]


def _in_parentheses(text: str) -> list[str]:
    """Split ``(one)(other)``, in each of which there may be more parentheses."""
    parts: list[str] = []
    depth = 0
    for letter in text:
        if depth == 0 and letter != "(":
            raise ValueError
        if depth == 0:
            parts.append("")
        elif depth > 1 or letter != ")":
            parts[-1] += letter
        depth += (letter == "(") - (letter == ")")
    if depth or "" in parts:
        raise ValueError
    return parts


Times = Annotated[int, Count("how often", maximum=64)]
Base = Annotated[Topology, Network("the network that is made larger, of GPUs only")]


@family
def line_graph(
    of: Base,
    times: Times = 1,
    unit: Annotated[
        Exact | str, Either(_LARGEST, Amount("GB/s of one link; wider ones are parallel links"))
    ] = _LARGEST,
) -> Topology:
    """Every link becomes a GPU, linked to all those that leave where it arrives."""
    return operations.line_graph(of, times, unit_gb_s=None if unit == _LARGEST else unit)


@family
def degree_expansion(
    of: Base, times: Annotated[int, Count("copies of each GPU", maximum=1024)]
) -> Topology:
    """Copies of every GPU; each link becomes links between all copies of its ends."""
    return operations.degree_expansion(of, times)


@family
def cartesian_power(
    of: Base, exponent: Annotated[int, Count("copies of the network", maximum=64)]
) -> Topology:
    """A GPU for every choice of one of each copy, linked where they differ in one place."""
    return operations.cartesian_power(of, exponent)


@family
def cartesian_product(
    of: Annotated[tuple[Topology, ...], Networks("the networks, of GPUs only")],
) -> Topology:
    """A GPU for every choice of one of each network, linked where they differ in one place."""
    return operations.cartesian_product(*of)


@family
def both_ways(of: Base) -> Topology:
    """The network and its reverse at once: every link goes both ways."""
    return operations.both_ways(of)
