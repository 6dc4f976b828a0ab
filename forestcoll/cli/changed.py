"""Options that change a network before a command looks at it."""

from __future__ import annotations

from typing import Annotated

import typer

from forestcoll.errors import InvalidParameterError
from forestcoll.topology.changes.balancing import balanced
from forestcoll.topology.changes.edits import Changes
from forestcoll.topology.model import Topology
from forestcoll.topology.reading.units import bandwidth_gb_s
from forestcoll.topology.spec import load_topology

__all__ = ["NewLinks", "Scale", "Without", "changed_network"]

Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="PART",
        help="Leave out a node, links or a shared capacity: b3.gpu2, 'b3.gpu2 - ib', 'b3.* -> ib'; "
        "repeatable.",
    ),
]
Scale = Annotated[
    list[str] | None,
    typer.Option(
        "--scale",
        metavar="PART=FACTOR",
        help="Multiply bandwidths of links, or a shared capacity: 'b3.gpu2 - ib=1/2'; repeatable.",
    ),
]
NewLinks = Annotated[
    list[str] | None,
    typer.Option(
        "--with", metavar="LINK=GB/S", help="Add a link: 'b0.gpu0 - b1.gpu0=25'; repeatable."
    ),
]


def changed_network(
    network: str | Topology,
    without: list[str] | None,
    scale: list[str] | None = None,
    links: list[str] | None = None,
    *,
    collective: str | None = None,
) -> Topology:
    """Return a network changed; where a link is then dead one way, say what is lowered for it.

    Parameters
    ----------
    network : str or Topology
        A specification or a file, or a network that is there.
    without, scale, links : list of str, optional
        Of the command line.
    collective : str, optional
        For which switches are balanced; an allgather if not given.

    Raises
    ------
    ForestCollError
        If a text is not PART=NUMBER, or what :class:`Changes` raises.
    """
    changes = Changes(
        links={
            part: bandwidth_gb_s(value)
            for part, value in _pairs(links, "--with", "LINK=GB/S").items()
        },
        scale=_pairs(scale, "--scale", "PART=FACTOR"),
        without=tuple(without or ()),
    )
    topology = load_topology(network) if isinstance(network, str) else network
    if not changes and not _only_dead_one_way(topology):
        return topology
    mended, lowered = balanced(changes.applied(topology), collective or "allgather")
    for one in lowered:
        typer.echo(f"note: {one}", err=True)
    return mended


def _only_dead_one_way(topology: Topology) -> bool:
    """Whether every link at a switch has its like the other way, or no link at all.

    What is not balanced then has died; links of unlike speeds may be a slip of the pen.
    """
    links = topology.link_between
    at_switches = (
        link
        for link in topology.links
        if topology.nodes[link.tail].is_switch or topology.nodes[link.head].is_switch
    )
    return all(
        back is None or back.bandwidth_gb_s == link.bandwidth_gb_s
        for link in at_switches
        for back in (links.get((link.head, link.tail)),)
    )


def _pairs(texts: list[str] | None, option: str, form: str) -> dict[str, str]:
    """Split each at its last equals sign."""
    found: dict[str, str] = {}
    for text in texts or ():
        part, equals, number = (piece.strip() for piece in text.rpartition("="))
        if not (equals and part and number):
            raise InvalidParameterError(f"{option} {text}: it must be {form}")
        if part in found:
            raise InvalidParameterError(f"{option} names {part!r} twice; give it once")
        found[part] = number
    return found
