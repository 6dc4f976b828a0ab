"""The network of a point: a named topology with the experiment's changes, for a process group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forestcoll.topology import Topology, group, load_topology, members_from_text
from forestcoll.topology.changes.edits import Changes

__all__ = ["changed", "changes_text", "network_of"]


def network_of(source: str, changes: Mapping[str, Any], members: str | None = None) -> Topology:
    """Load a network, change it, and mark the group.

    Parameters
    ----------
    source : str
        A specification or a file.
    changes : mapping
        The keys of a topology entry: ``with``, ``scale``, ``without``.
    members : str, optional
        GPUs that take part, as for :func:`forestcoll.topology.groups.members_from_text`.

    Raises
    ------
    ForestCollError
        If there is no such network, or it lacks a named part.

    Examples
    --------
    >>> found = network_of("dgx_a100:boxes=2", {"without": ["b1.gpu7"]})
    >>> found.num_compute
    15
    """
    topology = changed(load_topology(source), changes)
    return topology if members is None else group(topology, members_from_text(topology, members))


def changed(topology: Topology, changes: Mapping[str, Any]) -> Topology:
    """Return a network with the changes of a topology entry; itself if there are none.

    Raises
    ------
    InvalidTopologyError
        If a named part does not exist, or a number is not positive.
    """
    asked = Changes(
        links=changes.get("with", {}),
        scale=changes.get("scale", {}),
        without=changes.get("without", ()),
    )
    return asked.applied(topology) if asked else topology


def changes_text(changes: Mapping[str, Any]) -> str:
    """Format all changes as text to follow the network's name, so that different networks differ.

    Examples
    --------
    >>> changes_text({"scale": {"b0.* - ib": "1/2"}, "without": ["b1.gpu7", "b1.gpu6"]})
    ' with b0.* - ib x 1/2 without b1.gpu7 and b1.gpu6'
    >>> changes_text({"with": {"gpu0 - gpu2": 5}})
    ' with gpu0 - gpu2 at 5'
    """
    better = [f"{link} at {width}" for link, width in changes.get("with", {}).items()]
    better += [f"{part} x {factor}" for part, factor in changes.get("scale", {}).items()]
    parts = {"with": better, "without": list(changes.get("without", ()))}
    return "".join(f" {word} {' and '.join(texts)}" for word, texts in parts.items() if texts)
