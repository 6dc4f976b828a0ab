"""Topology files that give a base network and changes to it.

Problem: a cluster is as specified, except for a dead NIC and a slow box.
Input:   a document with a ``base`` and the changes.
Output:  the changed network.
Cost:    as the changes.
Source:  none.

    base: dgx_a100:boxes=16
    without: [b7.gpu0, "b3.gpu2 - ib"]
    scale: {"b5.* - ib": 1/2}
    with: {"b0.gpu0 - b1.gpu0": 25 GB/s}
    shared: [{name: fabric, links: ["* -> ib"], bandwidth_gb_s: 200}]
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.changes.edits import Changes
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact, exact
from forestcoll.topology.reading.documents import Document
from forestcoll.topology.reading.units import bandwidth_gb_s

__all__ = ["CHANGED_SCHEMA", "is_changed", "topology_from_changes"]

_FIELDS = ("name", "base", "with", "shared", "scale", "without")

_LONGEST = 1000

_AMOUNTS = {"type": "object", "additionalProperties": {"type": ["number", "string"]}}
CHANGED_SCHEMA: Mapping[str, Any] = {
    "title": "ChangedTopology",
    "description": "A network that differs from another.",
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": "By default what is changed."},
        "base": {"type": "string", "description": "A family, or a file, relative to this one."},
        "with": {**_AMOUNTS, "description": "Links to add: 'A - B' to GB/s each way."},
        "shared": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "links": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                    "bandwidth_gb_s": {"type": ["number", "string"]},
                },
                "required": ["name", "links", "bandwidth_gb_s"],
                "additionalProperties": False,
            },
            "description": "Common limits of links to add, named as in 'without'.",
        },
        "scale": {**_AMOUNTS, "description": "Parts to factors of their bandwidths."},
        "without": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Parts to leave out: 'b3.gpu2', 'b3.gpu2 - ib', 'b3.* -> ib'.",
        },
    },
    "required": ["base"],
    "additionalProperties": False,
}
"""JSON schema of such a document."""


def is_changed(document: Document) -> bool:
    """Whether a document has a base network and changes."""
    return isinstance(document.data, dict) and "base" in document.data


def topology_from_changes(document: Document, load: Callable[[str], Topology]) -> Topology:
    """Make the network.

    Parameters
    ----------
    document : Document
        One with a ``base``.
    load : callable
        Makes the network that the base names.

    Raises
    ------
    InvalidTopologyError
        In one line: the file, the line if known, the field, the value found and the remedy.
    """
    assert isinstance(document.data, dict)
    data: dict[str, Any] = document.data
    for key in data:
        if key not in _FIELDS:
            remedy = did_you_mean(key, _FIELDS, f"they are {', '.join(_FIELDS)}")
            raise document.fault((key,), f"is not a field beside base; {remedy}")
    for key in ("base", "name"):
        text = data.get(key, "-")
        if not (isinstance(text, str) and text and text.isprintable() and len(text) < _LONGEST):
            raise document.fault((key,), f"is {reprlib.repr(text)}, not a short printable text")
    changes = Changes(
        links=_amounts(document, data, "with"),
        scale=_amounts(document, data, "scale"),
        without=_parts(document, data),
        shared=_shared(document, data),
    )
    try:
        base = load(data["base"])
    except InvalidTopologyError as error:
        raise document.fault(("base",), f"is {data['base']!r}: {error}") from None
    try:
        made = changes.applied(base)
        return replace(made, name=data["name"]) if "name" in data else made
    except InvalidTopologyError as error:
        raise document.fault((), str(error)) from None


def _amounts(document: Document, data: Mapping[str, Any], key: str) -> dict[str, Exact]:
    given = data.get(key, {})
    if not isinstance(given, dict):
        raise document.fault((key,), f"is {reprlib.repr(given)}; write a mapping, part: number")
    found: dict[str, Exact] = {}
    for part, value in given.items():
        try:
            found[part] = bandwidth_gb_s(value) if key == "with" else exact(value, "")
        except InvalidTopologyError as error:
            raise document.fault((key, part), str(error).strip()) from None
    return found


def _shared(document: Document, data: Mapping[str, Any]) -> dict[str, tuple[Sequence[str], Exact]]:
    given = data.get("shared", [])
    if not isinstance(given, list):
        raise document.fault(("shared",), f"is {reprlib.repr(given)}; write a list")
    found: dict[str, tuple[Sequence[str], Exact]] = {}
    for i, entry in enumerate(given):
        if not _is_group(entry):
            raise document.fault(
                ("shared", i),
                f"is {reprlib.repr(entry)}; write {{name: fabric, links: ['* -> ib'], "
                f"bandwidth_gb_s: 200}}",
            )
        name = entry["name"]
        if name in found:
            raise document.fault(("shared", i, "name"), f"is {name!r} again; rename one")
        try:
            found[name] = entry["links"], bandwidth_gb_s(entry["bandwidth_gb_s"])
        except InvalidTopologyError as error:
            where = ("shared", i, "bandwidth_gb_s")
            raise document.fault(where, str(error).strip()) from None
    return found


def _is_group(entry: object) -> bool:
    """Whether an entry has a name, links as texts, and a bandwidth."""
    if not isinstance(entry, dict) or entry.keys() != {"name", "links", "bandwidth_gb_s"}:
        return False
    links = entry["links"]
    texts = isinstance(links, list) and all(isinstance(part, str) for part in links)
    return texts and isinstance(entry["name"], str)


def _parts(document: Document, data: Mapping[str, Any]) -> list[str]:
    given = data.get("without", [])
    if not isinstance(given, list) or not all(isinstance(part, str) for part in given):
        raise document.fault(
            ("without",), f"is {reprlib.repr(given)}; write a list of parts, each in quotes"
        )
    return given
