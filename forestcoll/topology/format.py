"""The file format of a topology: its fields, its schema, and the way to a Topology and back.

docs/topology-format.md explains it to people; :func:`topology_schema` gives the JSON schema.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)

from forestcoll.errors import ForestCollError, InvalidTopologyError
from forestcoll.topology.documents import Document
from forestcoll.topology.model import Link, Node, NodeKind, Topology
from forestcoll.topology.numbers import Exact, exact, exact_text

__all__ = ["topology_document", "topology_from_document", "topology_schema"]


def _number_schema(**bound: int) -> WithJsonSchema:
    text = {"type": "string", "pattern": r"^[0-9._]+([eE][+-]?[0-9]+)?$|^[0-9_]+/[0-9_]+$"}
    return WithJsonSchema({"anyOf": [{"type": "number", **bound}, text]})


def _number(value: object) -> Fraction:
    try:
        return exact(value, "")
    except InvalidTopologyError as error:
        problem = str(error).strip()
        raise ValueError(problem) from None


def _bandwidth(value: object) -> Fraction:
    number = _number(value)
    if number <= 0:
        raise ValueError(f"is {value}; it must be positive (leave a dead link out)")
    return number


def _latency(value: object) -> Fraction:
    number = _number(value)
    if number < 0:
        raise ValueError(f"is {value}; it cannot be negative")
    return number


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
    multicast: bool = Field(False, description="Whether a switch can copy and reduce data itself.")
    stores: bool = Field(False, description="Whether a switch can keep data and send it on later.")


class LinkEntry(_Entry):
    """A link, in one direction or in both."""

    tail: str = Field(alias="from", description="Name of the node it leaves.")
    head: str = Field(alias="to", description="Name of the node it enters.")
    bandwidth_gb_s: Annotated[
        Fraction,
        PlainValidator(_bandwidth),
        _number_schema(exclusiveMinimum=0),
        Field(description="In each direction, in GB/s (1e9 bytes per second): 25, 12.5, 25/2."),
    ]
    latency_us: Annotated[
        Fraction,
        PlainValidator(_latency),
        _number_schema(minimum=0),
        Field(description="In microseconds."),
    ] = Fraction(0)
    both: bool = Field(False, description="Whether the same link runs the other way too.")


class TopologyEntry(_Entry):
    """A network of GPUs and switches, for the ForestColl toolkit."""

    name: str = Field(min_length=1, description="What to call the network in reports.")
    nodes: list[NodeEntry] = Field(description="GPUs in the order of their ranks, and switches.")
    links: list[LinkEntry] = Field(description="Links between nodes; parallel ones add up.")


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


def topology_from_document(document: Document) -> Topology:
    """Check the data of a file against the format and make the topology.

    Raises
    ------
    InvalidTopologyError
        In one line: the file, the line if known, the field, the value found and the remedy.
    """
    if document.data is None:
        raise document.fault((), "the file is empty; see docs/topology-format.md for what to write")
    try:
        entry = TopologyEntry.model_validate(document.data)
    except ValidationError as error:
        raise _first_fault(document, error) from None
    position = _positions(document, entry.nodes)
    links: list[Link] = []
    for i, link in enumerate(entry.links):
        links += _links(document, i, link, position)
    nodes = tuple(
        Node(n.name, NodeKind(n.kind), n.box, n.index, n.multicast, n.stores) for n in entry.nodes
    )
    try:
        return Topology(entry.name, nodes, tuple(links))
    except InvalidTopologyError as error:
        raise document.fault((), str(error)) from None


def topology_document(topology: Topology) -> dict[str, Any]:
    """Return the topology as plain data in the file format: text, whole numbers, booleans.

    A link with an equal twin the other way is written once, with ``both``; fields that equal
    their default are left out.
    """
    names = [node.name for node in topology.nodes]
    links = []
    for link in topology.links:
        twin = topology.link_between.get((link.head, link.tail))
        both = twin is not None and (twin.bandwidth_gb_s, twin.latency_us) == (
            link.bandwidth_gb_s,
            link.latency_us,
        )
        if both and link.head < link.tail:
            continue
        entry: dict[str, Any] = {"from": names[link.tail], "to": names[link.head]}
        entry["bandwidth_gb_s"] = _plain(link.bandwidth_gb_s)
        if link.latency_us:
            entry["latency_us"] = _plain(link.latency_us)
        if both:
            entry["both"] = True
        links.append(entry)
    return {"name": topology.name, "nodes": list(map(_node, topology.nodes)), "links": links}


def topology_schema() -> dict[str, Any]:
    """Return the JSON schema of the format (of JSON files, and of YAML ones read as such)."""
    schema = TopologyEntry.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _node(node: Node) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": node.name, "kind": str(node.kind)}
    if node.box is not None:
        entry["box"] = node.box
    if node.index is not None:
        entry["index"] = node.index
    for mark in ("multicast", "stores"):
        if getattr(node, mark):
            entry[mark] = True
    return entry


def _plain(number: Fraction) -> Exact:
    return number.numerator if number.denominator == 1 else exact_text(number)


def _positions(document: Document, nodes: Sequence[NodeEntry]) -> dict[str, int]:
    position: dict[str, int] = {}
    for i, node in enumerate(nodes):
        if node.name in position:
            problem = f"is {node.name!r}, as is nodes[{position[node.name]}].name; rename one"
            raise document.fault(("nodes", i, "name"), problem)
        for mark, verb in (("multicast", "multicast"), ("stores", "store")):
            if getattr(node, mark) and node.kind != "switch":
                problem = f"is true on a {node.kind} node; only a switch can {verb}"
                raise document.fault(("nodes", i, mark), problem)
        position[node.name] = i
    return position


def _links(document: Document, i: int, link: LinkEntry, position: dict[str, int]) -> list[Link]:
    for key, name in (("from", link.tail), ("to", link.head)):
        if name not in position:
            near = difflib.get_close_matches(name, position, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else "add it under nodes"
            raise document.fault(("links", i, key), f"is {name!r}, which is no node; {remedy}")
    if link.tail == link.head:
        problem = f"is {link.head!r}, where the link comes from; remove the link"
        raise document.fault(("links", i, "to"), problem)
    tail, head = position[link.tail], position[link.head]
    there = Link(tail, head, link.bandwidth_gb_s, link.latency_us)
    back = Link(head, tail, link.bandwidth_gb_s, link.latency_us)
    return [there, back] if link.both else [there]


def _first_fault(document: Document, error: ValidationError) -> ForestCollError:
    faults = error.errors(include_url=False)
    first, *others = sorted(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    where = first["loc"]
    fields = _fields(where)
    context = first.get("ctx", {})
    unknown = str(where[-1]) if where else ""
    near = difflib.get_close_matches(unknown, fields, n=1)
    problem = _PROBLEMS.get(first["type"], first["msg"]).format(
        value=reprlib.repr(first["input"]),
        expected=context.get("expected"),
        error=context.get("error"),
        fields=", ".join(fields),
        remedy=f"did you mean {near[0]}?" if near else f"the fields are {', '.join(fields)}",
    )
    if others:
        problem += f" (and {len(others)} more)"
    return document.fault(where, problem if where else f"the file {problem}")


def _fields(where: Sequence[str | int]) -> list[str]:
    """Names of the fields at some place in a document."""
    entries: dict[str | int, type[_Entry]] = {"nodes": NodeEntry, "links": LinkEntry}
    inside = len(where) > 1
    entry = entries.get(where[0], TopologyEntry) if inside else TopologyEntry
    return [field.alias or name for name, field in entry.model_fields.items()]
