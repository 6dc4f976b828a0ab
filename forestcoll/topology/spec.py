"""Topology specifications: a family with its parameters, or the path of a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.families.family import FAMILIES, Family
from forestcoll.topology.files import SUFFIXES, read_topology
from forestcoll.topology.model import Topology

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Network", "as_topology", "load_topology", "parse_spec"]

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


_WORDS = ("true", "false")  # these continue a list of values; no parameter has such a name


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
    name = spec.partition(":")[0]
    if name in FAMILIES:
        entry, values = parse_spec(spec)
        return entry.function(**values)
    if Path(spec).suffix.lower() in SUFFIXES or os.path.exists(spec):
        return read_topology(spec)
    hint = did_you_mean(name, FAMILIES, f"the families are {', '.join(FAMILIES)}")
    raise InvalidTopologyError(
        f"{spec!r} is neither a file nor a topology family; {hint} "
        f"(a file ends in {', '.join(SUFFIXES)})"
    )


def parse_spec(spec: str) -> tuple[Family, dict[str, object]]:
    """Return the family that a specification names, and the values of the parameters given.

    Raises
    ------
    InvalidTopologyError
        For an unknown family, parameter or value.

    Examples
    --------
    >>> family, values = parse_spec("torus:dims=3x3")
    >>> family.name, values
    ('torus', {'dims': (3, 3)})
    """
    name, _, text = spec.partition(":")
    if name not in FAMILIES:
        raise InvalidTopologyError(f"{spec!r} names no topology family")
    entry = FAMILIES[name]
    given = _arguments(entry, spec, text)
    kinds = {parameter.name: parameter for parameter in entry.parameters}
    return entry, {key: kinds[key].read(value, name) for key, value in given.items()}


def _arguments(entry: Family, spec: str, text: str) -> dict[str, object]:
    """Split ``name=value,name=value`` and check the names; the family checks the values."""
    known = {parameter.name: parameter for parameter in entry.parameters}
    values: dict[str, object] = {}
    for part in _parted(text) if text else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InvalidTopologyError(
                f"{spec}: {part!r} is not parameter=value; see {entry.usage}"
            )
        if name not in known:
            hint = did_you_mean(name, known, f"it takes {', '.join(known)}")
            raise InvalidTopologyError(f"{spec}: {entry.name} has no parameter {name!r}; {hint}")
        if name in values:
            raise InvalidTopologyError(f"{spec}: {name} is given twice; remove one")
        values[name] = value
    for parameter in entry.parameters:
        if parameter.required and parameter.name not in values:
            raise InvalidTopologyError(
                f"{spec}: {entry.name} needs {parameter.name} ({parameter.help}), "
                f"{parameter.type}; write {entry.usage}"
            )
    return values


def _parted(text: str) -> list[str]:
    """Split at commas outside parentheses that a parameter's name follows.

    A piece without "=" continues the value before it: ``wrap=true,false``.
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
        if depth < 0:
            break
    if depth:
        raise InvalidTopologyError(f"{text!r} has parentheses that do not close, or none open")
    joined = parts[:1]
    for part in parts[1:]:
        if part.strip() in _WORDS and "=" in joined[-1]:
            joined[-1] += f",{part}"
        else:
            joined.append(part)
    return joined
