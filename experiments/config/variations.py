"""The network of a point: the one that is named, changed as the experiment says, for a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forestcoll.topology import Topology, group, load_topology, members_from_text
from forestcoll.topology.changes.balancing import Lowered, balanced
from forestcoll.topology.changes.edits import Changes

__all__ = ["Network", "changed", "network_of", "said"]


@dataclass(frozen=True, slots=True)
class Network:
    """A network to run on.

    Parameters
    ----------
    topology : Topology
    lowered : tuple of Lowered
        Links that were lowered because the other way is slower or dead: a choice of ours, which
        the experiment did not ask for.
    """

    topology: Topology
    lowered: tuple[Lowered, ...] = ()


def network_of(
    source: str,
    collective: str,
    changes: Mapping[str, Any],
    members: str | None = None,
) -> Network:
    """Load a network, change it, balance its switches if it was changed, and mark the group.

    Parameters
    ----------
    source : str
        A specification or a file.
    collective : str
        For which switches are balanced.
    changes : mapping
        As of a topology entry: ``with``, ``scale``, ``without``.
    members : str, optional
        Who takes part, as of :func:`forestcoll.topology.groups.members_from_text`.

    Raises
    ------
    ForestCollError
        If there is no such network, or a part of it that is named is not there.

    Examples
    --------
    >>> found = network_of("dgx_a100:boxes=2", "allgather", {"without": ["b1.gpu7 -> ib"]})
    >>> str(found.lowered[0]).partition(":")[0]
    'ib -> b1.gpu7 is left out (25 GB/s)'
    """
    network = changed(load_topology(source), collective, changes)
    if members is None:
        return network
    topology = network.topology
    return Network(group(topology, members_from_text(topology, members)), network.lowered)


def changed(topology: Topology, collective: str, changes: Mapping[str, Any]) -> Network:
    """Return a network with the changes of a topology entry; itself if there are none.

    Raises
    ------
    InvalidTopologyError
        If a part is not there, or a number is not positive.
    """
    asked = Changes(
        links=changes.get("with", {}),
        scale=changes.get("scale", {}),
        without=changes.get("without", ()),
    )
    return Network(*balanced(asked.applied(topology), collective)) if asked else Network(topology)


def said(changes: Mapping[str, Any]) -> str:
    """Say what is changed, to follow the name of the network: all of it, so that names differ.

    Examples
    --------
    >>> said({"scale": {"b0.* - ib": "1/2"}, "without": ["b1.gpu7", "b1.gpu6"]})
    ' with b0.* - ib x 1/2 without b1.gpu7 and b1.gpu6'
    >>> said({"with": {"gpu0 - gpu2": 5}})
    ' with gpu0 - gpu2 at 5'
    """
    better = [f"{link} at {width}" for link, width in changes.get("with", {}).items()]
    better += [f"{part} x {factor}" for part, factor in changes.get("scale", {}).items()]
    parts = {"with": better, "without": list(changes.get("without", ()))}
    return "".join(f" {word} {' and '.join(texts)}" for word, texts in parts.items() if texts)
