"""Topology specifications: a family with its parameters, or the path of a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.families.family import FAMILIES
from forestcoll.topology.families.family_spec import family_topology, names_family
from forestcoll.topology.files import SUFFIXES, read_topology
from forestcoll.topology.model import Topology

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Network", "as_topology", "load_topology"]

Network: TypeAlias = "Topology | str | os.PathLike[str] | nx.Graph[Any]"
"""Input for a network: a topology, its specification, the path of its file, or a networkx graph
whose edges have ``bandwidth_gb_s``."""


def as_topology(network: Network) -> Topology:
    """Return the topology of any input that stands for a network.

    Raises
    ------
    InvalidTopologyError
        If it is of another type, or as :func:`load_topology`, :func:`read_topology` or
        :meth:`Topology.from_networkx` do.

    Examples
    --------
    >>> as_topology("ring:nodes=4").num_compute
    4
    """
    if isinstance(network, Topology):
        return network
    if isinstance(network, str):
        return load_topology(network)
    if isinstance(network, os.PathLike):
        return read_topology(network)
    loaded = sys.modules.get("networkx")  # a graph exists only if networkx is loaded
    if loaded is not None and isinstance(network, loaded.Graph):
        return Topology.from_networkx(network)
    raise InvalidTopologyError(
        f"a network is given as {type(network).__name__}; give a Topology, a specification such as "
        f'"dgx_a100:boxes=4", the path of a file, or a networkx graph'
    )


def load_topology(spec: str) -> Topology:
    """Make the topology that a specification names.

    Parameters
    ----------
    spec : str
        ``family`` or ``family:parameter=value,parameter=value`` with a name in FAMILIES, or else
        the path of a topology file. A value that holds commas is written in parentheses; a list
        of true and false needs none.

    Raises
    ------
    InvalidTopologyError
        For an unknown family, parameter or value, or a file that is missing or malformed.

    Examples
    --------
    >>> load_topology("dgx_a100:boxes=4").num_compute
    32
    >>> load_topology("torus:dims=3x3").name
    'torus:dims=3x3'
    """
    if names_family(spec):
        return family_topology(spec)
    if Path(spec).suffix.lower() in SUFFIXES or os.path.exists(spec):
        return read_topology(spec)
    name = spec.partition(":")[0]
    hint = did_you_mean(name, FAMILIES, f"the families are {', '.join(FAMILIES)}")
    raise InvalidTopologyError(
        f"{spec!r} is neither a file nor a topology family; {hint} "
        f"(a file ends in {', '.join(SUFFIXES)})"
    )
