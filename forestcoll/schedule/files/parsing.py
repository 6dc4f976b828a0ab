"""From the text of a schedule file to a forest, refusing whatever is not in the format.

A file of 1024 GPUs has a million edges and a hundred thousand paths, so fields are checked as
columns, one field over all trees (or routes, or paths) at a time; only a fault is looked up one
by one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidScheduleError, VerificationError
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.collective import collective_of
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.files.bound_document import parse_bound
from forestcoll.schedule.files.fields import (
    LARGEST,
    Record,
    check_fields,
    check_records,
    column,
    fraction,
    maker,
    node_positions,
    numbers,
    of_type,
    one,
    refuse,
    weights_of,
    whole,
    within,
    wrong,
)
from forestcoll.schedule.files.plain_data import Decimal, full_document, read_document
from forestcoll.schedule.files.ranges import check_path_rows
from forestcoll.schedule.files.stepwise_document import FLOW_FIELDS, STEP_FIELDS
from forestcoll.schedule.files.stepwise_parsing import flows_of, steps_of_lists
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.documents import Document
from forestcoll.topology.format import topology_from_document
from forestcoll.topology.model import Topology

__all__ = [
    "FORMAT",
    "STEPWISE_VERSION",
    "VERSION",
    "Head",
    "parse_heads",
    "parse_schedule",
    "parse_stepwise_head",
    "stepwise_form",
]

T = TypeVar("T")

FORMAT = "forestcoll-schedule"
VERSION = 1
"""Of files that hold forests and allreduces of them."""

STEPWISE_VERSION = 2
"""Of files that hold step schedules and flow schedules."""

_WHOLE = ("format", "version", "collective", "topology")
_PHASE = ("collective", "method", "k", "congestion", "congestion_decimal", "optimum")
_HEAD = tuple(dict.fromkeys([*_WHOLE[:2], *_PHASE[:-1], "topology", "optimum"]))
_MAY = ("weights",)
_BOUND = ("bound",)
_PHASES = ("reduce", "gather")
_COLLECTIVES = ("allgather", "reduce-scatter", "broadcast", "reduce")
_OPTIMUM = ("inverse_rate", "k", "congestion", "cut")
_TREE = ("root", "multiplicity", "edges")
_PHYSICAL_TREE = ("root", "multiplicity", "walks")
_ROUTE = ("from", "to", "paths")
_PATH = ("nodes", "multiplicity")
_STEPWISE = ("format", "version", "form", "topology")
_STEP_LISTS = ("chunks", "columns", "sends", "routes")

_CERTAINLY_HELD = 10**8  # entries of an array that any machine has room for


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
    document = _document(data)
    if document["version"] == STEPWISE_VERSION:
        return _stepwise(document)
    if document.get("collective") != "allreduce":
        check_fields([document], (*_HEAD, *_trees_of(document)), lambda _: "", _MAY)
        return _forest(document, _topology(document))
    check_fields([document], (*_WHOLE, *_PHASES), lambda _: "", _BOUND)
    topology = _topology(document)
    bound = _bound(document, topology)
    phases = [
        _in_phase(name, lambda phase: _forest(phase, topology), document, _trees_of)
        for name in _PHASES
    ]
    reduce, gather = phases
    if isinstance(reduce, MulticastForest) and isinstance(gather, MulticastForest):
        return Allreduce(reduce, gather, bound)
    if isinstance(reduce, MulticastForest) or isinstance(gather, MulticastForest):
        refuse("only one of reduce and gather lists walks; both must, or both list routes")
    return Allreduce(reduce, gather, bound)


def _stepwise(document: Record) -> StepSchedule | FlowSchedule:
    """Return the step schedule or the flow schedule of a file."""
    if stepwise_form(document) == "flows":
        check_fields([document], (*_STEPWISE, *FLOW_FIELDS, "routes"), lambda _: "")
        topology = _topology(document)
        routes = _routes(one(document, "routes", list), topology)
        check_path_rows(routes)
        return flows_of(document, topology, routes)
    check_fields([document], (*_STEPWISE, *STEP_FIELDS, *_STEP_LISTS), lambda _: "", _MAY)
    topology = _topology(document)
    routes = _routes(one(document, "routes", list), topology, in_order=True)
    check_path_rows(routes)
    return steps_of_lists(document, topology, routes)


def stepwise_form(document: Record) -> str:
    """Return what a file of the second version holds.

    Raises
    ------
    InvalidScheduleError
    """
    form = document.get("form")
    if form not in ("steps", "flows"):
        wrong("form", form, "'steps' or 'flows'")
    return str(form)


def parse_stepwise_head(text: str) -> tuple[Record, Topology] | None:
    """Read the head of a binary file of steps or flows; None if it is one of forests.

    Raises
    ------
    InvalidScheduleError, InvalidTopologyError
        As :func:`parse_schedule` does.
    """
    document = _document(full_document(text))
    if document["version"] != STEPWISE_VERSION:
        return None
    steps = stepwise_form(document) == "steps"
    said, may = (STEP_FIELDS, _MAY) if steps else (FLOW_FIELDS, ())
    check_fields([document], (*_STEPWISE, *said), lambda _: "", may)
    return document, _topology(document)


def _bound(document: Record, topology: Topology) -> AllreduceBound | None:
    """Return the bound of an allreduce, if the file claims one."""
    if document.get("bound") is None:
        return None
    return parse_bound(one(document, "bound", dict), topology)


def _trees_of(document: Record) -> tuple[str, str]:
    """Return the fields that hold the trees of a forest."""
    return ("trees", "walks" if "walks" in document else "routes")


def _forest(document: Record, topology: Topology) -> Forest | MulticastForest:
    head = _head(document, topology)
    if "walks" in document:
        return _multicast(document, head)
    root, multiplicity, parent = _trees(one(document, "trees", list), head)
    return Forest(
        **vars(head),
        root=root,
        multiplicity=multiplicity,
        parent=parent,
        routes=_routes(one(document, "routes", list), topology),
    )


def _in_phase(
    name: str,
    read: Callable[[Record], T],
    document: Record,
    more: Callable[[Record], Collection[str]] = lambda _: (),
) -> T:
    """Read a phase of an allreduce; what is wrong in it is named as a field of it."""
    phase: Record = one(document, name, dict)
    try:
        check_fields([phase], (*_PHASE, *more(phase)), lambda _: "", _MAY)
        return read(phase)
    except InvalidScheduleError as error:
        raise InvalidScheduleError(f"{name}.{error}") from None
    except VerificationError as error:
        raise VerificationError(f"phase {name}: {error}") from None


@dataclass(frozen=True)
class Head:
    """What a schedule says apart from its trees and routes, as the fields of a forest."""

    topology: Topology
    method: str
    k: int
    congestion: Fraction
    optimum: Optimum | None
    weights: tuple[int, ...]
    reduction: bool


def parse_heads(text: str) -> tuple[dict[str, Head], str, AllreduceBound | None]:
    """Read the head of a binary schedule file: phases, the form of their trees, a bound.

    The phases of an allreduce are "reduce" and "gather"; any other schedule is one, "".

    Raises
    ------
    InvalidScheduleError, InvalidTopologyError
        As :func:`parse_schedule` does.
    """
    document = _document(full_document(text))
    if document.get("collective") != "allreduce":
        check_fields([document], (*_HEAD, "form"), lambda _: "", _MAY)
        return {"": _head(document, _topology(document))}, one(document, "form", str), None
    check_fields([document], (*_WHOLE, "form", *_PHASES), lambda _: "", _BOUND)
    topology = _topology(document)
    heads = {
        name: _in_phase(name, lambda phase: _head(phase, topology), document) for name in _PHASES
    }
    return heads, one(document, "form", str), _bound(document, topology)


def _topology(document: Record) -> Topology:
    return topology_from_document(Document(one(document, "topology", dict), "topology"))


def _head(document: Record, topology: Topology) -> Head:
    collective = one(document, "collective", str)
    if collective not in _COLLECTIVES:
        wrong("collective", collective, f"one of {', '.join((*_COLLECTIVES, 'allreduce'))}")
    reduction = collective in ("reduce-scatter", "reduce")
    weights = weights_of(document, topology)
    if (due := collective_of(weights, reduction)) != collective:
        wrong("collective", collective, f"{due!r}, by the weights")
    method = maker(document)
    congestion = fraction(document, "congestion")
    _check_decimal(document, congestion)
    k = whole(document, "k")
    claim = _optimum(document, topology, weights, reduction)
    return Head(topology, method, k, congestion, claim, weights, reduction)


# --- the document ------------------------------------------------------------------------------


def _document(data: Any) -> Record:
    """Check that data is a schedule of the version we read."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        refuse(f'not a schedule; a schedule is a JSON object with "format": "{FORMAT}"')
    known = (VERSION, STEPWISE_VERSION)
    if data.get("version") not in known or isinstance(data["version"], bool):
        versions = " or ".join(map(str, known))
        wrong("version", data.get("version"), f"{versions}, the versions this release reads")
    return data


def _check_decimal(document: Record, congestion: Fraction) -> None:
    """The decimal beside the exact congestion is the nearest to it, so that nobody is misled."""
    found = document["congestion_decimal"]
    if type(found) not in (Decimal, int) or float(str(found)) != float(congestion):
        wrong("congestion_decimal", found, f"{float(congestion)}, which is {congestion}")


def _optimum(
    document: Record, topology: Topology, weights: tuple[int, ...], reduction: bool
) -> Optimum | None:
    if document["optimum"] is None:
        return None
    claim = one(document, "optimum", dict)
    check_fields([claim], _OPTIMUM, lambda _: "optimum.")
    cut = one(claim, "cut", list, "optimum.")
    return Optimum(
        topology=topology,
        inverse_rate=fraction(claim, "inverse_rate", "optimum."),
        cut=tuple(node_positions([cut], topology, lambda _: "optimum.cut").tolist()),
        k=whole(claim, "k", "optimum."),
        congestion=fraction(claim, "congestion", "optimum."),
        weights=weights,
        reduction=reduction,
    )


# --- trees and routes --------------------------------------------------------------------------


def _trees(
    trees: list[Any], head: Head
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return roots, multiplicities and parents of the batches.

    Edges run as the data does, in a reduction from child to parent.
    """
    check_records(trees, _TREE, _tree)
    ranks = head.topology.num_compute
    root, amount = _roots(trees, ranks)
    lists = [tree["edges"] for tree in trees]
    lifted = bool(lists) and all(isinstance(edges, np.ndarray) for edges in lists)
    if not lifted:
        of_type(lists, list, within(_tree, "edges"))
    lengths = list(map(len, lists))
    _check_size(sum(lengths), len(trees), ranks)
    batch = np.repeat(np.arange(len(trees)), lengths)
    ends = _lifted(lists, ranks) if lifted else _edges(lists, ranks)
    ends = ends[:, ::-1] if head.reduction else ends
    parent = np.full((len(trees), ranks), -1, dtype=np.int32)
    parent[batch, ends[:, 1]] = ends[:, 0]
    if np.count_nonzero(parent >= 0) < len(ends):  # an entry was overwritten
        _two_parents(head, root, batch, ends)
    return root, amount, parent


def _roots(trees: list[Record], ranks: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return roots and multiplicities of the batches."""
    root = numbers(column(trees, "root", int, _tree), 0, ranks - 1, within(_tree, "root"))
    amount = column(trees, "multiplicity", int, _tree)
    return root.astype(np.int32), numbers(amount, 1, LARGEST, within(_tree, "multiplicity"))


def _check_size(edges: int, batches: int, ranks: int) -> None:
    """A few megabytes of trees without edges do not ask for an array of gigabytes."""
    if batches * ranks > _CERTAINLY_HELD and 2 * edges < batches * (ranks - 1):
        refuse(
            f"trees lists {edges} edges in all, but {batches} trees on {ranks} GPUs have "
            f"{batches * (ranks - 1)}; is the file complete?"
        )


def _lifted(arrays: list[npt.NDArray[np.int64]], ranks: int) -> npt.NDArray[np.int64]:
    """Return the edges of all trees, one after the other, if all are among the ranks."""
    ends = np.concatenate(arrays)
    if ends.size and not 0 <= ends.min() <= ends.max() < ranks:
        refuse(f"an edge leads beyond rank {ranks - 1}")  # to be told in full of its list
    return ends


def _edges(lists: list[list[Any]], ranks: int) -> npt.NDArray[np.int64]:
    """Return the edges of all trees, one after the other, as rows (sender, receiver)."""
    edges = list(chain.from_iterable(lists))

    def edge(i: int) -> str:
        first = [0, *accumulate(map(len, lists))]
        tree = bisect_right(first, i) - 1
        return f"{_tree(tree)}.edges[{i - first[tree]}]"

    if not (set(map(type, edges)) <= {list} and set(map(len, edges)) <= {2}):
        at = next(i for i, pair in enumerate(edges) if type(pair) is not list or len(pair) != 2)
        wrong(edge(at), edges[at], "a pair [sender, receiver] of ranks")
    ends = of_type(list(chain.from_iterable(edges)), int, lambda i: edge(i // 2))
    return numbers(ends, 0, ranks - 1, lambda i: edge(i // 2)).reshape(-1, 2)


def _two_parents(
    head: Head,
    root: npt.NDArray[np.int32],
    batch: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> NoReturn:
    """Name the first tree in which a GPU has two parents, and its first such GPU."""
    names = [head.topology.nodes[position].name for position in head.topology.compute]
    entry = batch * len(names) + ends[:, 1]
    entries, counts = np.unique(entry, return_counts=True)
    twice = entries[counts > 1][0]
    tree, child = divmod(int(twice), len(names))
    first, second = (names[parent] for parent in ends[entry == twice, 0][:2].tolist())
    fault = (
        f"sends its sum twice, to {first} and to {second}, so it would be counted twice"
        if head.reduction
        else f"is a child twice, of {first} and of {second}"
    )
    raise VerificationError(f"tree {tree}, rooted at {names[root[tree]]}: {names[child]} {fault}")


def _routes(routes: list[Any], topology: Topology, *, in_order: bool = False) -> Routes:
    """Return the paths of all logical links, sorted by (tail, head).

    Those of a step schedule are listed in order, as transfers may name paths by their place; they
    join any nodes.
    """
    check_records(routes, _ROUTE, _route)
    last = (len(topology.nodes) if in_order else topology.num_compute) - 1
    tail = numbers(column(routes, "from", int, _route), 0, last, within(_route, "from"))
    head = numbers(column(routes, "to", int, _route), 0, last, within(_route, "to"))
    order = np.lexsort((head, tail)).tolist()
    if in_order and order != list(range(len(order))):
        at = next(i for i, place in enumerate(order) if i != place)
        refuse(f"{_route(at)} is out of order; sort routes by from and to")
    lists = column(routes, "paths", list, _route)
    lists = [lists[i] for i in order]
    first_path = [0, *accumulate(map(len, lists))]

    def path(j: int) -> str:
        place = bisect_right(first_path, j) - 1
        return f"{_route(order[place])}.paths[{j - first_path[place]}]"

    paths = list(chain.from_iterable(lists))
    check_records(paths, _PATH, path)
    nodes = column(paths, "nodes", list, path)
    amount = column(paths, "multiplicity", int, path)
    return Routes(
        tail=tail[order].astype(np.int32),
        head=head[order].astype(np.int32),
        first_path=np.array(first_path, dtype=np.int64),
        multiplicity=numbers(amount, 1, LARGEST, within(path, "multiplicity")),
        first_hop=_rows(nodes),
        hop=node_positions(nodes, topology, within(path, "nodes")),
    )


def _multicast(document: Record, head: Head) -> MulticastForest:
    """Return the forest of a file that lists walks."""
    trees, nodes = one(document, "trees", list), one(document, "walks", list)
    check_records(trees, _PHYSICAL_TREE, _tree)
    root, multiplicity = _roots(trees, head.topology.num_compute)
    of_type(nodes, list, _walk)
    lists = column(trees, "walks", list, _tree)
    first_walk = [0, *accumulate(map(len, lists))]

    def entry(i: int) -> str:
        tree = bisect_right(first_walk, i) - 1
        return f"{_tree(tree)}.walks[{i - first_walk[tree]}]"

    walk = of_type(list(chain.from_iterable(lists)), int, entry)
    return MulticastForest(
        **vars(head),
        root=root,
        multiplicity=multiplicity,
        first_walk=np.array(first_walk, dtype=np.int64),
        walk=numbers(walk, 0, len(nodes) - 1, entry).astype(np.int32),
        walks=Walks(
            first_node=_rows(nodes),
            node=node_positions(nodes, head.topology, _walk),
        ),
    )


def _rows(lists: list[list[Any]]) -> npt.NDArray[np.int64]:
    """Return where each list starts, and the last one ends, when they stand one after the other."""
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])


def _tree(i: int) -> str:
    return f"trees[{i}]"


def _route(i: int) -> str:
    return f"routes[{i}]"


def _walk(i: int) -> str:
    return f"walks[{i}]"
