"""Fields of a topology file, checked by pydantic, with errors in one line.

pydantic is slow to import, so only functions that read files import this module.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)

from forestcoll.errors import ForestCollError, InvalidTopologyError, did_you_mean
from forestcoll.topology.reading.documents import Document
from forestcoll.topology.reading.units import BANDWIDTHS, LATENCIES, bandwidth_gb_s, latency_us

__all__ = ["LinkEntry", "NodeEntry", "SharedEntry", "TopologyEntry", "checked_entry"]


def _number_schema(units: Iterable[str], **bound: int) -> WithJsonSchema:
    number = r"([0-9._]+([eE][+-]?[0-9]+)?|[0-9_]+/[0-9_]+)"
    text = {"type": "string", "pattern": f"^{number}( ?({'|'.join(units)}))?$"}
    return WithJsonSchema({"anyOf": [{"type": "number", **bound}, text]})


def _bandwidth(value: object) -> Fraction:
    if type(value) is int or type(value) is str:
        return _known_bandwidth(value)  # a network has few different ones
    return _read_bandwidth(value)


def _read_bandwidth(value: object) -> Fraction:
    number = _exact(bandwidth_gb_s, value)
    if number <= 0:
        raise ValueError(f"is {value}; it must be positive (leave a dead link out)")
    return number


_known_bandwidth = lru_cache(1000, typed=True)(_read_bandwidth)


def _latency(value: object) -> Fraction:
    number = _exact(latency_us, value)
    if number < 0:
        raise ValueError(f"is {value}; it cannot be negative")
    return number


_ONE_LINK = {
    "type": "object",
    "properties": {
        "from": {"type": "string"},
        "to": {"type": "string"},
        "both": {"type": "boolean"},
    },
    "required": ["from", "to"],
    "additionalProperties": False,
}


def _parts(value: object) -> list[str | dict[str, Any]]:
    """Check a list of links; report one fault, where pydantic would report one for each link."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"is {reprlib.repr(value)}; write a list of links, such as ['a -> b']")
    for part in value:
        if isinstance(part, str) and part:
            continue
        if not isinstance(part, dict) or not _is_one_link(part):
            raise ValueError(
                f"holds {reprlib.repr(part)}; write text such as 'a -> b', or from, to and both"
            )
    return value


def _is_one_link(part: dict[Any, Any]) -> bool:
    return (
        {"from", "to"} <= part.keys() <= {"from", "to", "both"}
        and isinstance(part["from"], str)
        and isinstance(part["to"], str)
        and isinstance(part.get("both", False), bool)
    )


def _exact(read: Callable[[object], Fraction], value: object) -> Fraction:
    """Read a number; pydantic knows ValueErrors alone."""
    try:
        return read(value)
    except InvalidTopologyError as error:
        problem = str(error).strip()
        raise ValueError(problem) from None


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NodeEntry(_Entry):
    """A GPU, a switch, or a GPU that only forwards."""

    name: str = Field(min_length=1, description="Unique among the nodes.")
    kind: Literal["compute", "switch", "relay"] = Field(
        description="compute: a GPU, holds and wants data; switch: only forwards it; relay: a "
        "GPU outside the process group, which only forwards too."
    )
    box: int | None = Field(None, ge=0, description="The machine it sits in, for people.")
    index: int | None = Field(None, ge=0, description="Its number there, for people.")
    multicast: bool = Field(
        False, description="Whether a switch can multicast and reduce data itself."
    )
    stores: bool = Field(False, description="Whether a switch can keep data and send it on later.")


class LinkEntry(_Entry):
    """A link, in one direction or in both."""

    tail: str = Field(alias="from", description="Name of the node it leaves.")
    head: str = Field(alias="to", description="Name of the node it enters.")
    bandwidth_gb_s: Annotated[
        Fraction,
        PlainValidator(_bandwidth),
        _number_schema(BANDWIDTHS, exclusiveMinimum=0),
        Field(
            description="In each direction, in GB/s (1e9 bytes per second): 25, 12.5, 25/2; or "
            "with a unit, B for bytes, b for bits: 200 Gb/s."
        ),
    ]
    latency_us: Annotated[
        Fraction,
        PlainValidator(_latency),
        _number_schema(LATENCIES, minimum=0),
        Field(description="In microseconds; or with a unit: 500 ns."),
    ] = Fraction(0)
    both: bool = Field(False, description="Whether the same link runs the other way too.")
    half_duplex: bool = Field(
        False,
        description="Whether both directions together carry no more than bandwidth_gb_s; needs "
        "both.",
    )


class SharedEntry(_Entry):
    """A common limit of some links."""

    name: str = Field(min_length=1, description="Unique, and no node's name.")
    links: Annotated[
        list[str | dict[str, Any]],
        PlainValidator(_parts),
        WithJsonSchema({"type": "array", "items": {"anyOf": [{"type": "string"}, _ONE_LINK]}}),
        Field(
            description="The links: 'b0.* -> ib', 'a - b' (both ways), a node for all its links, "
            "or {from: a, to: b, both: true}."
        ),
    ]
    bandwidth_gb_s: Annotated[
        Fraction,
        PlainValidator(_bandwidth),
        _number_schema(BANDWIDTHS, exclusiveMinimum=0),
        Field(description="What the links may carry together, in GB/s or with a unit."),
    ]


class TopologyEntry(_Entry):
    """A network of GPUs and switches, for the ForestColl toolkit."""

    name: str = Field(min_length=1, description="What to call the network in reports.")
    nodes: list[NodeEntry] = Field(description="GPUs in the order of their ranks, and switches.")
    links: list[LinkEntry] = Field(description="Links between nodes; parallel ones add up.")
    shared: list[SharedEntry] = Field([], description="Common limits of sets of links.")


_PROBLEMS = {
    "missing": "is missing; add it",
    "string_type": "is {value}, not text; write a name, in quotes if it looks like a number",
    "string_too_short": "is empty; give it a name",
    "literal_error": "is {value}; it must be {expected}",
    "bool_type": "is {value}; write true or false",
    "int_type": "is {value}; write a whole number from 0 up, or leave it out",
    "greater_than_equal": "is {value}; write a whole number from 0 up, or leave it out",
    "list_type": "is {value}; it must be a list",
    "model_type": "is {value}; it must be a mapping with the fields {fields}",
    "extra_forbidden": "is not a field of this format; {remedy}",
    "value_error": "{error}",
}

_LISTS = ("nodes", "links", "shared")
_AT_ONCE = 1000
_MOST_FIELDS = 20


def checked_entry(document: Document) -> TopologyEntry:
    """Check the data of a document against the fields.

    Raises
    ------
    InvalidTopologyError
        In one line: the file, the line if known, the field, the value found and the remedy.
    """
    whole: TopologyEntry | None = None
    for begin, piece in _pieces(document.data):
        try:
            entry = TopologyEntry.model_validate(piece)
        except ValidationError as error:
            raise _first_fault(document, error, begin) from None
        if whole is None:
            whole = entry
        else:
            whole.nodes.extend(entry.nodes)
            whole.links.extend(entry.links)
            whole.shared.extend(entry.shared)
    assert whole is not None
    return whole


def _pieces(data: object) -> Iterator[tuple[int, object]]:
    """Yield a document in pieces, as pydantic reports all faults at once, 1.5 KB each."""
    if not isinstance(data, dict):
        yield 0, data
        return
    whole: dict[str, Any] = _few(data)
    lists = {part: whole[part] for part in _LISTS if isinstance(whole.get(part), list)}
    for begin in range(0, max([1, *map(len, lists.values())]), _AT_ONCE):
        end = begin + _AT_ONCE
        yield begin, {**whole, **{p: [_few(e) for e in lists[p][begin:end]] for p in lists}}


def _few(entry: object) -> Any:
    """Shorten a mapping with more fields than exist; at least one unknown field remains."""
    if isinstance(entry, dict) and len(entry) > _MOST_FIELDS:
        return dict(islice(entry.items(), _MOST_FIELDS))
    return entry


def _first_fault(document: Document, error: ValidationError, begin: int) -> ForestCollError:
    """Return the first fault; unknown fields come first, as they are often misspelt ones."""
    faults = error.errors(include_url=False)
    first, *others = sorted(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    where = [begin + key if isinstance(key, int) else key for key in first["loc"]]
    fields = _fields(where)
    context = first.get("ctx", {})
    unknown = str(where[-1]) if where else ""
    problem = _PROBLEMS.get(first["type"], first["msg"]).format(
        value=reprlib.repr(first["input"]),
        expected=context.get("expected"),
        error=context.get("error"),
        fields=", ".join(fields),
        remedy=did_you_mean(unknown, fields, f"the fields are {', '.join(fields)}"),
    )
    if others:
        problem += f" (and {len(others)} more)"
    return document.fault(where, problem if where else f"the file {problem}")


def _fields(where: Sequence[str | int]) -> list[str]:
    """Names of the fields at some place in a document."""
    entries: dict[str | int, type[_Entry]] = {
        "nodes": NodeEntry,
        "links": LinkEntry,
        "shared": SharedEntry,
    }
    inside = len(where) > 1
    entry = entries.get(where[0], TopologyEntry) if inside else TopologyEntry
    return [field.alias or name for name, field in entry.model_fields.items()]
