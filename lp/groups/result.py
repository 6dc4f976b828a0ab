"""Concurrent process groups: the request, the result, and a check of the result.

Problem: several allgathers on one network at the same time, each within its share of the links.
Output:  a forest for each group, the bound on the rate, the exact rate; a check of all of it.
Cost:    the check verifies every forest and adds up the loads of every link.
Source:  the model of ForestColl (section 2) for each group. The members of a group with weight w
         each send w t GB/s of their own data to all other members; t is the rate. The time for
         x bytes a member is then x / (w t).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.errors import InvalidParameterError, VerificationError
from forestcoll.schedule import cost, verify
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.pipelined import slowest_of_loads
from forestcoll.topology import Topology
from forestcoll.topology.groups import group
from forestcoll.topology.numbers import exact

__all__ = ["ConcurrentGroups", "ProcessGroup", "check_concurrent", "rate_of"]


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """GPUs that perform an allgather among themselves.

    Parameters
    ----------
    name : str
        For messages.
    members : tuple of str
        Names of GPUs, at least two.
    weight : Fraction
        How fast a member is to send, compared with those of other groups; positive.

    Raises
    ------
    InvalidParameterError
        For fewer than two members or a weight that is not positive.
    """

    name: str
    members: tuple[str, ...]
    weight: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        object.__setattr__(self, "weight", exact(self.weight, f"group {self.name!r}: weight"))
        if len(self.members) < 2:
            raise InvalidParameterError(
                f"group {self.name!r} has fewer than two members; name at least two GPUs"
            )
        if self.weight <= 0:
            raise InvalidParameterError(
                f"group {self.name!r}: weight is {self.weight}; it must be positive"
            )

    def on(self, topology: Topology) -> Topology:
        """Return the network in which all GPUs but the members are relays.

        Raises
        ------
        InvalidParameterError
            If a member is unknown, repeated or no compute node.
        """
        try:
            return group(topology, self.members)
        except InvalidParameterError as error:
            raise InvalidParameterError(f"group {self.name!r}: {error}") from error


@dataclass(frozen=True, slots=True)
class ConcurrentGroups:
    """Forests of several groups that run at once.

    Parameters
    ----------
    forests : tuple of Forest
        Of each group, on the network with the other GPUs as relays and all bandwidths in full.
    bound_gb_s : float
        No t is larger, up to the tolerance: proved by the multipliers of the linear program.
    rate_gb_s : Fraction
        The t at which the forests run: every member of a group of weight w sends w t GB/s of its
        own data to each other member.
    status : str
        Of the linear program; "optimal".
    tolerance : float
        Relative to the first upper bound on t: by how much a condition of it may be missed.
    cuts, rounds : int
        Cuts generated, and programs solved.
    lean : bool
        Whether no group holds capacity that it does not need; without time to find that out, paths
        may be longer than they need be.
    """

    topology: Topology
    groups: tuple[ProcessGroup, ...]
    forests: tuple[Forest, ...] = field(repr=False)
    bound_gb_s: float
    rate_gb_s: Fraction
    status: str
    tolerance: float
    cuts: int
    rounds: int
    lean: bool

    def algbw_gb_s(self, index: int) -> Fraction:
        """Data size of a group (over all its members) by time, all groups running."""
        one = self.groups[index]
        return self.rate_gb_s * one.weight * len(one.members)


def check_concurrent(found: ConcurrentGroups) -> None:
    """Prove that all forests are right, and that they fit the links together at the rate claimed.

    Raises
    ------
    VerificationError
        If a forest is not one of its group on this network or does not verify, a GPU is in two
        groups, or the loads of all forests exceed a link or shared capacity.
    """
    if len(found.forests) != len(found.groups):
        raise VerificationError(
            f"there are {len(found.forests)} forests for {len(found.groups)} groups"
        )
    members = [name for one in found.groups for name in one.members]
    if len(set(members)) < len(members):
        raise VerificationError("a GPU is in two groups")
    for one, forest in zip(found.groups, found.forests, strict=True):
        network = one.on(found.topology)
        if (forest.topology.nodes, forest.topology.links) != (network.nodes, network.links):
            raise VerificationError(f"group {one.name!r}: its forest is of another network")
        if forest.collective != "allgather":
            raise VerificationError(f"group {one.name!r}: its forest is not an allgather")
        try:
            verify(forest)
        except VerificationError as error:
            raise VerificationError(f"group {one.name!r}: {error}") from error
    per_rate = _loads_per_rate(found.groups, found.forests)
    for link, load in zip(found.topology.links, per_rate, strict=True):
        if load * found.rate_gb_s > link.bandwidth_gb_s:
            tail, head = (found.topology.nodes[end].name for end in (link.tail, link.head))
            raise VerificationError(
                f"all groups together send {float(load * found.rate_gb_s):.9g} GB/s over "
                f"{tail} -> {head}, which carries {float(link.bandwidth_gb_s):.9g}"
            )
    slowest, names = slowest_of_loads(found.topology, per_rate)
    if slowest * found.rate_gb_s > 1:
        assert names is not None  # something is sent
        raise VerificationError(f"all groups together overload the shared capacity {names[0]!r}")


def rate_of(groups: tuple[ProcessGroup, ...], forests: tuple[Forest, ...]) -> Fraction:
    """Return the largest t at which the loads of all forests together fit the links."""
    return 1 / slowest_of_loads(forests[0].topology, _loads_per_rate(groups, forests))[0]


def _loads_per_rate(
    groups: tuple[ProcessGroup, ...], forests: tuple[Forest, ...]
) -> list[Fraction]:
    """Add up what all forests send over each link per second where t is 1 GB/s."""
    total = [Fraction(0)] * len(forests[0].topology.links)
    for one, forest in zip(groups, forests, strict=True):
        found = cost(forest)
        each = one.weight * len(one.members) / found.whole
        for i, load in enumerate(found.loads):
            if load:
                total[i] += load * each
    return total
