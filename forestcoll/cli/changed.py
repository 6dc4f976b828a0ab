"""Options that change a network before use: ``--without``, ``--scale`` and ``--with``."""

from __future__ import annotations

from typing import Annotated

import typer

from forestcoll.errors import InvalidParameterError
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
) -> Topology:
    """Return a network with the changes of the command line.

    Parameters
    ----------
    network : str or Topology
        A specification, a file, or a network already loaded.
    without, scale, links : list of str, optional
        The values of these options.

    Raises
    ------
    ForestCollError
        If a text is not PART=NUMBER, or as :class:`Changes`.
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
    return changes.applied(topology) if changes else topology


def _pairs(texts: list[str] | None, option: str, form: str) -> dict[str, str]:
    """Split each text at its last equals sign, as names may contain one."""
    found: dict[str, str] = {}
    for text in texts or ():
        part, equals, number = (piece.strip() for piece in text.rpartition("="))
        if not (equals and part and number):
            raise InvalidParameterError(f"{option} has {text!r}; write {form}")
        if part in found:
            raise InvalidParameterError(f"{option} names {part!r} twice; give it once")
        found[part] = number
    return found
