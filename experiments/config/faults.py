"""Pydantic's complaints in plain words: the place in the file and the likeliest cause."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from experiments.config.document import Document, nearest
from experiments.config.entries import (
    Experiment,
    LimitsEntry,
    MethodEntry,
    Range,
    SimulateEntry,
    TopologyEntry,
)
from forestcoll.errors import ForestCollError

__all__ = ["Location", "explained"]

Location = tuple[str | int, ...]
"""The path to a value: keys and list positions from the top of the file."""

_ENTRIES: Mapping[object, type[BaseModel]] = {
    "topologies": TopologyEntry,
    "methods": MethodEntry,
    "limits": LimitsEntry,
    "simulate": SimulateEntry,
}


def explained(document: Document, error: ValidationError) -> ForestCollError:
    """Translate pydantic's first error; a misspelt key precedes the key that it leaves missing."""
    faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    location = _in_document(document, faults[0])
    return document.fault(location, _problem(faults[0], location))


def _problem(fault: ErrorDetails, location: Location) -> str:
    kind, found = fault["type"], reprlib.repr(fault["input"])
    if kind == "extra_forbidden":
        return f"is an unknown key; {nearest(location[-1], _keys(location))}"
    if kind == "literal_error":
        within = Experiment if len(location) == 1 else _ENTRIES[location[0]]
        known = get_args(within.model_fields[str(location[-1])].annotation)
        return f"is {found}, an unknown value; {nearest(found, known)}"
    if kind == "missing":
        return "is missing; add it"
    if kind in ("model_type", "dict_type"):
        place = "" if location else "the file "
        form = _forms(fault["input"], location)
        return f"{place}must hold keys and values{form or ', one a line'}"
    if fault["input"] is None:
        return "has no value; add one"
    if kind == "value_error":
        return str(fault["ctx"]["error"])
    _subject, _, wish = fault["msg"].partition(" ")
    return f"is {found}; it {wish}"


def _forms(word: object, location: Location) -> str:
    """Show how a method, a family or a file is written, if a bare word stands in its place."""
    if not isinstance(word, str) or len(location) != 2:
        return ""
    if location[0] == "methods":
        return f", as in {{name: {word}}}"
    return ", as in {family: torus, parameters: {dims: 4x4}} or {file: cluster.yaml}"


def _in_document(document: Document, fault: ErrorDetails) -> Location:
    """Drop the keys that pydantic adds for the branches of a union: the file does not have them."""
    location: Location = ()
    value: Any = document.data
    for part in fault["loc"]:
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int)):
            location, value = (*location, part), value[part]
    return (*location, fault["loc"][-1]) if fault["type"] == "missing" else location


def _keys(location: Location) -> list[str]:
    if len(location) == 1:
        entry: type[BaseModel] = Experiment
    else:
        entry = Range if "parameters" in location else _ENTRIES[location[0]]
    return [field.alias or name for name, field in entry.model_fields.items()]
