"""A fabric from a tree of switches without bandwidths, with those that the user supplies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import ForestCollError, InvalidTopologyError
from forestcoll.topology.importers.fabric import Cable, Fabric, Port

__all__ = ["Branch", "tree_fabric"]

_MOST_NODES = 200_000


@dataclass(frozen=True, slots=True)
class Branch:
    """A switch with the switches and machines below it; ``fault`` makes errors about it."""

    switches: Sequence[str]
    machines: Sequence[str]
    fault: Callable[[str], ForestCollError]


def tree_fabric(
    branches: Mapping[str, Branch], uplink_gb_s: Fraction, source: str, notes: tuple[str, ...] = ()
) -> Fabric:
    """Return the fabric of a tree.

    Parameters
    ----------
    branches : mapping
        Every switch by its name.
    uplink_gb_s : Fraction
        From each switch to the one above it.
    source : str
        The file, for errors.
    notes : tuple of str
        Further notes on the file.

    Raises
    ------
    ForestCollError
        If a switch is not declared, below two others or below itself, or a machine is below two.
    """
    above: dict[str, str] = {}
    ports = []
    place: dict[str, str] = {}
    for name, branch in branches.items():
        for below in branch.switches:
            if below not in branches:
                raise branch.fault(f"has the switch {below[:60]!r} below it; describe it, too")
            if below in above:
                raise branch.fault(
                    f"has the switch {below[:60]!r} below it, as {above[below][:60]!r} has; the "
                    f"file must be a tree"
                )
            above[below] = name
        for machine in branch.machines:
            if machine in place:
                raise branch.fault(
                    f"has the machine {machine[:60]!r}, as {place[machine][:60]!r} has; put it "
                    f"below one switch"
                )
            place[machine] = name
            ports.append(Port(name, machine, "*"))
    if len(branches) + len(place) > _MOST_NODES:
        raise InvalidTopologyError(f"{source}: over {_MOST_NODES} switches and machines")
    if circle := _in_circle(above):
        raise branches[circle].fault("is below itself; the file must be a tree")
    cables = tuple(Cable(below, name, uplink_gb_s) for below, name in above.items())
    assumed = (
        "Every NIC of a machine is plugged into the switch above it, as fast as the NIC is.",
        "All uplinks have the bandwidth of --uplink.",
    )
    return Fabric(
        tuple(branches), cables, tuple(ports), notes=(*assumed[: 2 if cables else 1], *notes)
    )


def _in_circle(above: Mapping[str, str]) -> str | None:
    """Return a switch that is above itself, if there is one."""
    safe: set[str] = set()
    for start in above:
        path: dict[str, None] = {}
        at = start
        while at in above and at not in safe:
            if at in path:
                return at
            path[at] = None
            at = above[at]
        safe.update(path)
    return None
