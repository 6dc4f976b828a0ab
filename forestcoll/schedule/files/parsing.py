"""Parser of schedule files; it rejects all input that is not in the format."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from forestcoll.errors import InvalidScheduleError, VerificationError
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.files.fields import (
    Record,
    check_fields,
    check_path_rows,
    one,
    refuse,
    wrong,
)
from forestcoll.schedule.files.header import (
    PLANNED_VERSION,
    ROTATED_VERSION,
    STEPWISE_VERSION,
    Head,
    checked,
    claimed_bound,
    parse_head,
    parse_topology,
    stepwise_form,
)
from forestcoll.schedule.files.plain_data import read_document
from forestcoll.schedule.files.plan_document import plan_in_rows
from forestcoll.schedule.files.stepwise_document import (
    FLOW_FIELDS,
    FLOW_OPTIONS,
    STEP_FIELDS,
    STEP_OPTIONS,
)
from forestcoll.schedule.files.stepwise_parsing import flows_of, steps_of_lists
from forestcoll.schedule.files.tree_parsing import parse_routes, parse_trees, parse_walks
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = [
    "parse_heads", "parse_schedule", "parse_stepwise_head",
]  # fmt: skip

T = TypeVar("T")


_WHOLE = ("format", "version", "collective", "topology")
_PHASE = ("collective", "method", "k", "congestion", "congestion_decimal", "optimum")
_HEAD = tuple(dict.fromkeys([*_WHOLE[:2], *_PHASE[:-1], "topology", "optimum"]))
_MAY = ("weights",)
_PLANNED = ("plan",)
_SLOTS = ("slots",)
_BOUND = ("bound",)
_PHASES = ("reduce", "gather")
_STEPWISE = ("format", "version", "form", "topology")
_STEP_LISTS = ("chunks", "columns", "sends", "routes")


def parse_schedule(content: bytes) -> AnySchedule:
    """Read the bytes of a schedule file; one with ``walks`` in place of ``routes`` is multicast.

    Raises
    ------
    InvalidScheduleError
        If the text is not in the format; names the field, the value found and the remedy.
    InvalidTopologyError
        If the topology inside is not valid.
    VerificationError
        If a tree gives a GPU two parents.
    UnicodeDecodeError
        If the content is not text in UTF-8.
    """
    return read_document(content, _schedule)


def _schedule(data: Any) -> AnySchedule:
    document = checked(data)
    if document["version"] == ROTATED_VERSION:
        wrong("version", ROTATED_VERSION, "1, 2 or 3 in JSON; write rotated trees to .npz")
    if document["version"] == STEPWISE_VERSION:
        return _stepwise(document)
    if document.get("collective") != "allreduce":
        may = (*_may(document), *_slots(document))
        check_fields([document], (*_HEAD, *_trees_of(document)), lambda _: "", may)
        return _forest(document, parse_topology(document))
    check_fields([document], (*_WHOLE, *_PHASES), lambda _: "", _BOUND)
    topology = parse_topology(document)
    bound = claimed_bound(document, topology)
    phases = [
        _in_phase(
            name,
            lambda phase: _forest(phase, topology),
            document,
            _trees_of,
            _slots(document),
        )
        for name in _PHASES
    ]
    reduce, gather = phases
    if isinstance(reduce, MulticastForest) and isinstance(gather, MulticastForest):
        return Allreduce(reduce, gather, bound)
    if isinstance(reduce, MulticastForest) or isinstance(gather, MulticastForest):
        refuse("only one of reduce and gather lists walks; both must, or both list routes")
    return Allreduce(reduce, gather, bound)


def _stepwise(document: Record) -> StepSchedule | FlowSchedule:
    if stepwise_form(document) == "flows":
        check_fields([document], (*_STEPWISE, *FLOW_FIELDS, "routes"), lambda _: "", FLOW_OPTIONS)
        topology = parse_topology(document)
        routes = parse_routes(one(document, "routes", list), topology)
        check_path_rows(routes)
        return flows_of(document, topology, routes)
    check_fields([document], (*_STEPWISE, *STEP_FIELDS, *_STEP_LISTS), lambda _: "", STEP_OPTIONS)
    topology = parse_topology(document)
    routes = parse_routes(one(document, "routes", list), topology, in_order=True)
    check_path_rows(routes)
    return steps_of_lists(document, topology, routes)


def parse_stepwise_head(data: Any) -> tuple[Record, Topology] | None:
    """Read the head of a binary file of steps or flows; None if the file holds forests.

    Raises
    ------
    InvalidScheduleError, InvalidTopologyError
        As :func:`parse_schedule` does.
    """
    document = checked(data)
    if document["version"] != STEPWISE_VERSION:
        return None
    steps = stepwise_form(document) == "steps"
    required, may = (STEP_FIELDS, STEP_OPTIONS) if steps else (FLOW_FIELDS, FLOW_OPTIONS)
    check_fields([document], (*_STEPWISE, *required), lambda _: "", may)
    return document, parse_topology(document)


def _may(document: Record) -> tuple[str, ...]:
    """Return the optional fields of a head, by the version of the file."""
    return (*_MAY, *_PLANNED) if document["version"] == PLANNED_VERSION else _MAY


def _slots(document: Record) -> tuple[str, ...]:
    return _SLOTS if document["version"] == PLANNED_VERSION else ()


def _trees_of(document: Record) -> tuple[str, str]:
    return ("trees", "walks" if "walks" in document else "routes")


def _forest(document: Record, topology: Topology) -> Forest | MulticastForest:
    head = parse_head(document, topology)
    if "walks" in document:
        return parse_walks(document, head)
    root, multiplicity, parent = parse_trees(one(document, "trees", list), head)
    plan = plan_in_rows(head.plan, document, len(root), topology.num_compute)
    return Forest(
        **(vars(head) | {"plan": plan}),
        root=root,
        multiplicity=multiplicity,
        parent=parent,
        routes=parse_routes(one(document, "routes", list), topology),
    )


def _in_phase(
    name: str,
    read: Callable[[Record], T],
    document: Record,
    more: Callable[[Record], Collection[str]] = lambda _: (),
    slots: Collection[str] = (),
) -> T:
    """Read a phase of an allreduce; errors name the phase before the field."""
    phase: Record = one(document, name, dict)
    try:
        may = (*_may(document), *slots)
        check_fields([phase], (*_PHASE, *more(phase)), lambda _: "", may)
        return read(phase)
    except InvalidScheduleError as error:
        raise InvalidScheduleError(f"{name}.{error}") from None
    except VerificationError as error:
        raise VerificationError(f"phase {name}: {error}") from None


def parse_heads(data: Any) -> tuple[dict[str, Head], str, AllreduceBound | None]:
    """Read the head of a binary schedule file: phases, the form of their trees, a bound.

    The phases of an allreduce are "reduce" and "gather"; any other schedule has one phase, "".

    Raises
    ------
    InvalidScheduleError, InvalidTopologyError
        As :func:`parse_schedule` does.
    """
    document = checked(data)
    if document.get("collective") != "allreduce":
        check_fields([document], (*_HEAD, "form"), lambda _: "", _may(document))
        return (
            {"": parse_head(document, parse_topology(document))},
            one(document, "form", str),
            None,
        )
    check_fields([document], (*_WHOLE, "form", *_PHASES), lambda _: "", _BOUND)
    topology = parse_topology(document)
    heads = {
        name: _in_phase(name, lambda phase: parse_head(phase, topology), document)
        for name in _PHASES
    }
    return heads, one(document, "form", str), claimed_bound(document, topology)
