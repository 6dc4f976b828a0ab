"""From the text of a schedule file to a forest, refusing whatever is not in the format.

A file of 1024 GPUs has a million edges and a hundred thousand paths, so fields are checked as
columns, one field over all trees (or routes, or paths) at a time; only a fault is looked up one
by one.
"""

from __future__ import annotations

import gc
import json
import re
import reprlib
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from forestcoll.bottleneck import Optimum
from forestcoll.collective import collective_of
from forestcoll.errors import InvalidScheduleError, VerificationError
from forestcoll.schedule.collectives import Allreduce, AnySchedule
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.topology.documents import Document
from forestcoll.topology.format import topology_from_document
from forestcoll.topology.model import Topology

__all__ = ["FORMAT", "VERSION", "Head", "parse_heads", "parse_schedule"]

T = TypeVar("T")

FORMAT = "forestcoll-schedule"
VERSION = 1

_WHOLE = ("format", "version", "collective", "topology")
_PHASE = ("collective", "method", "k", "congestion", "congestion_decimal", "optimum")
_HEAD = tuple(dict.fromkeys([*_WHOLE[:2], *_PHASE[:-1], "topology", "optimum"]))
_MAY = ("weights",)
_PHASES = ("reduce", "gather")
_COLLECTIVES = ("allgather", "reduce-scatter", "broadcast", "reduce")
_OPTIMUM = ("inverse_rate", "k", "congestion", "cut")
_TREE = ("root", "multiplicity", "edges")
_PHYSICAL_TREE = ("root", "multiplicity", "walks")
_ROUTE = ("from", "to", "paths")
_PATH = ("nodes", "multiplicity")

_FRACTION = re.compile("[0-9]{1,300}(/[0-9]{1,300})?")  # few enough digits to fit a float
_LARGEST = 2**63 - 1
_CERTAINLY_HELD = 10**8  # entries of an array that any machine has room for

_Record = dict[str, Any]
_Where = Callable[[int], str]
"""Names the i-th record of a column: "trees[3]"."""


class _Decimal(str):
    """A number with a point, kept as its text: nothing is lost, and it is no integer."""

    __slots__ = ()
    __repr__ = str.__str__


def parse_schedule(text: str) -> AnySchedule:
    """Read the text of a schedule file; one with ``walks`` in place of ``routes`` is multicast.

    Raises
    ------
    InvalidScheduleError
        If the text is not in the format; names the field, the value found and the remedy.
    InvalidTopologyError
        If the topology inside is not valid.
    VerificationError
        If a tree gives a GPU two parents.
    """
    document = _document(text)
    if document.get("collective") != "allreduce":
        _check_fields([document], (*_HEAD, *_trees_of(document)), lambda _: "", _MAY)
        return _forest(document, _topology(document))
    _check_fields([document], (*_WHOLE, *_PHASES), lambda _: "")
    topology = _topology(document)
    phases = [
        _in_phase(name, lambda phase: _forest(phase, topology), document, _trees_of)
        for name in _PHASES
    ]
    reduce, gather = phases
    if isinstance(reduce, MulticastForest) and isinstance(gather, MulticastForest):
        return Allreduce(reduce, gather)
    if isinstance(reduce, MulticastForest) or isinstance(gather, MulticastForest):
        _refuse("only one of reduce and gather lists walks; both must, or both list routes")
    return Allreduce(reduce, gather)


def _trees_of(document: _Record) -> tuple[str, str]:
    """Return the fields that hold the trees of a forest."""
    return ("trees", "walks" if "walks" in document else "routes")


def _forest(document: _Record, topology: Topology) -> Forest | MulticastForest:
    head = _head(document, topology)
    if "walks" in document:
        return _multicast(document, head)
    root, multiplicity, parent = _trees(_one(document, "trees", list), head)
    return Forest(
        **vars(head),
        root=root,
        multiplicity=multiplicity,
        parent=parent,
        routes=_routes(_one(document, "routes", list), topology),
    )


def _in_phase(
    name: str,
    read: Callable[[_Record], T],
    document: _Record,
    more: Callable[[_Record], Collection[str]] = lambda _: (),
) -> T:
    """Read a phase of an allreduce; what is wrong in it is named as a field of it."""
    phase: _Record = _one(document, name, dict)
    try:
        _check_fields([phase], (*_PHASE, *more(phase)), lambda _: "", _MAY)
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


def parse_heads(text: str) -> tuple[dict[str, Head], str]:
    """Read the head of a binary schedule file; return its phases and the form of their trees.

    The phases of an allreduce are "reduce" and "gather"; any other schedule is one, "".

    Raises
    ------
    InvalidScheduleError, InvalidTopologyError
        As :func:`parse_schedule` does.
    """
    document = _document(text)
    if document.get("collective") != "allreduce":
        _check_fields([document], (*_HEAD, "form"), lambda _: "", _MAY)
        return {"": _head(document, _topology(document))}, _one(document, "form", str)
    _check_fields([document], (*_WHOLE, "form", *_PHASES), lambda _: "")
    topology = _topology(document)
    heads = {
        name: _in_phase(name, lambda phase: _head(phase, topology), document) for name in _PHASES
    }
    return heads, _one(document, "form", str)


def _topology(document: _Record) -> Topology:
    return topology_from_document(Document(_one(document, "topology", dict), "topology"))


def _head(document: _Record, topology: Topology) -> Head:
    collective = _one(document, "collective", str)
    if collective not in _COLLECTIVES:
        _wrong("collective", collective, f"one of {', '.join((*_COLLECTIVES, 'allreduce'))}")
    reduction = collective in ("reduce-scatter", "reduce")
    weights = _weights(document, topology)
    if (due := collective_of(weights, reduction)) != collective:
        _wrong("collective", collective, f"{due!r}, by the weights")
    method = _one(document, "method", str)
    if not method or not method.isprintable():
        _wrong("method", method, "the printable name of who made the schedule")
    congestion = _fraction(document, "congestion")
    _check_decimal(document, congestion)
    k = _whole(document, "k")
    claim = _optimum(document, topology, weights, reduction)
    return Head(topology, method, k, congestion, claim, weights, reduction)


def _weights(document: _Record, topology: Topology) -> tuple[int, ...]:
    """Return the weights of all ranks, 1 where the file gives none."""
    if "weights" not in document:
        return (1,) * topology.num_compute
    weights = _of_type(_one(document, "weights", list), int, lambda i: f"weights[{i}]")
    if len(weights) != topology.num_compute:
        _wrong("weights", weights, f"a list of {topology.num_compute} integers, one for each GPU")
    _numbers(weights, 0, _LARGEST, lambda i: f"weights[{i}]")
    return tuple(weights)


# --- the document ------------------------------------------------------------------------------


def _document(text: str) -> _Record:
    """Parse the JSON and check that it is a schedule of the version we read."""
    try:
        with _collector_paused():
            data = json.loads(
                text, object_pairs_hook=_unique, parse_float=_Decimal, parse_constant=_Decimal
            )
    except json.JSONDecodeError as error:
        _refuse(f"line {error.lineno}: not JSON: {error.msg}; is it complete?")
    except RecursionError:
        _refuse("nested too deeply to be a schedule")
    except ValueError:  # an integer of more digits than Python converts
        _refuse("holds an integer of thousands of digits; no schedule needs one")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        _refuse(f'not a schedule; a schedule is a JSON object with "format": "{FORMAT}"')
    if data.get("version") != VERSION or isinstance(data["version"], bool):
        _wrong("version", data.get("version"), f"{VERSION}, the version this release reads")
    return data


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Hold the garbage collector while a million small lists are made: they take half the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _unique(pairs: list[tuple[str, Any]]) -> _Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        _refuse(f"the field {twice!r} is given twice in one object; remove one")
    return record


def _check_decimal(document: _Record, congestion: Fraction) -> None:
    """The decimal beside the exact congestion is the nearest to it, so that nobody is misled."""
    found = document["congestion_decimal"]
    if type(found) not in (_Decimal, int) or float(str(found)) != float(congestion):
        _wrong("congestion_decimal", found, f"{float(congestion)}, which is {congestion}")


def _optimum(
    document: _Record, topology: Topology, weights: tuple[int, ...], reduction: bool
) -> Optimum | None:
    if document["optimum"] is None:
        return None
    claim = _one(document, "optimum", dict)
    _check_fields([claim], _OPTIMUM, lambda _: "optimum.")
    cut = _one(claim, "cut", list, "optimum.")
    return Optimum(
        topology=topology,
        inverse_rate=_fraction(claim, "inverse_rate", "optimum."),
        cut=tuple(_nodes([cut], topology, lambda _: "optimum.cut")),
        k=_whole(claim, "k", "optimum."),
        congestion=_fraction(claim, "congestion", "optimum."),
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
    _check_records(trees, _TREE, _tree)
    ranks = head.topology.num_compute
    root, amount = _roots(trees, ranks)
    lists = _column(trees, "edges", list, _tree)
    _check_size(sum(map(len, lists)), len(trees), ranks)
    parent = np.full((len(trees), ranks), -1, dtype=np.int32)
    for batch, edges in enumerate(lists):
        ends = _edges(edges, batch, ranks)
        ends = ends[:, ::-1] if head.reduction else ends
        if np.bincount(ends[:, 1], minlength=1).max() > 1:
            _two_parents(head, batch, int(root[batch]), ends)
        parent[batch, ends[:, 1]] = ends[:, 0]
    return root, amount, parent


def _roots(trees: list[_Record], ranks: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return roots and multiplicities of the batches."""
    root = _numbers(_column(trees, "root", int, _tree), 0, ranks - 1, _in(_tree, "root"))
    amount = _column(trees, "multiplicity", int, _tree)
    return root.astype(np.int32), _numbers(amount, 1, _LARGEST, _in(_tree, "multiplicity"))


def _check_size(edges: int, batches: int, ranks: int) -> None:
    """A few megabytes of trees without edges do not ask for an array of gigabytes."""
    if batches * ranks > _CERTAINLY_HELD and 2 * edges < batches * (ranks - 1):
        _refuse(
            f"trees lists {edges} edges in all, but {batches} trees on {ranks} GPUs have "
            f"{batches * (ranks - 1)}; is the file complete?"
        )


def _edges(edges: list[Any], batch: int, ranks: int) -> npt.NDArray[np.int64]:
    """Return the edges of a tree as rows (sender, receiver)."""
    if not (set(map(type, edges)) <= {list} and set(map(len, edges)) <= {2}):
        at = next(i for i, edge in enumerate(edges) if type(edge) is not list or len(edge) != 2)
        _wrong(f"{_tree(batch)}.edges[{at}]", edges[at], "a pair [sender, receiver] of ranks")
    ends = _of_type(
        list(chain.from_iterable(edges)), int, lambda i: f"{_tree(batch)}.edges[{i // 2}]"
    )
    where = f"{_tree(batch)}.edges"
    return _numbers(ends, 0, ranks - 1, lambda i: f"{where}[{i // 2}]").reshape(-1, 2)


def _two_parents(head: Head, batch: int, root: int, ends: npt.NDArray[np.int64]) -> NoReturn:
    child = int(np.flatnonzero(np.bincount(ends[:, 1]) > 1)[0])
    names = [head.topology.nodes[position].name for position in head.topology.compute]
    first, second = (names[parent] for parent in ends[ends[:, 1] == child, 0][:2].tolist())
    fault = (
        f"sends its sum twice, to {first} and to {second}, so it would be counted twice"
        if head.reduction
        else f"is a child twice, of {first} and of {second}"
    )
    raise VerificationError(f"tree {batch}, rooted at {names[root]}: {names[child]} {fault}")


def _routes(routes: list[Any], topology: Topology) -> Routes:
    """Return the paths of all logical links, sorted by (tail, head)."""
    _check_records(routes, _ROUTE, _route)
    last = topology.num_compute - 1
    tail = _numbers(_column(routes, "from", int, _route), 0, last, _in(_route, "from"))
    head = _numbers(_column(routes, "to", int, _route), 0, last, _in(_route, "to"))
    order = np.lexsort((head, tail)).tolist()
    lists = _column(routes, "paths", list, _route)
    lists = [lists[i] for i in order]
    first_path = [0, *accumulate(map(len, lists))]

    def path(j: int) -> str:
        place = bisect_right(first_path, j) - 1
        return f"{_route(order[place])}.paths[{j - first_path[place]}]"

    paths = list(chain.from_iterable(lists))
    _check_records(paths, _PATH, path)
    nodes = _column(paths, "nodes", list, path)
    amount = _column(paths, "multiplicity", int, path)
    return Routes(
        tail=tail[order].astype(np.int32),
        head=head[order].astype(np.int32),
        first_path=np.array(first_path, dtype=np.int64),
        multiplicity=_numbers(amount, 1, _LARGEST, _in(path, "multiplicity")),
        first_hop=np.array([0, *accumulate(map(len, nodes))], dtype=np.int64),
        hop=np.array(_nodes(nodes, topology, _in(path, "nodes")), dtype=np.int32),
    )


def _multicast(document: _Record, head: Head) -> MulticastForest:
    """Return the forest of a file that lists walks."""
    trees, nodes = _one(document, "trees", list), _one(document, "walks", list)
    _check_records(trees, _PHYSICAL_TREE, _tree)
    root, multiplicity = _roots(trees, head.topology.num_compute)
    _of_type(nodes, list, _walk)
    lists = _column(trees, "walks", list, _tree)
    first_walk = [0, *accumulate(map(len, lists))]

    def entry(i: int) -> str:
        tree = bisect_right(first_walk, i) - 1
        return f"{_tree(tree)}.walks[{i - first_walk[tree]}]"

    walk = _of_type(list(chain.from_iterable(lists)), int, entry)
    return MulticastForest(
        **vars(head),
        root=root,
        multiplicity=multiplicity,
        first_walk=np.array(first_walk, dtype=np.int64),
        walk=_numbers(walk, 0, len(nodes) - 1, entry).astype(np.int32),
        walks=Walks(
            first_node=np.array([0, *accumulate(map(len, nodes))], dtype=np.int64),
            node=np.array(_nodes(nodes, head.topology, _walk), dtype=np.int32),
        ),
    )


def _tree(i: int) -> str:
    return f"trees[{i}]"


def _route(i: int) -> str:
    return f"routes[{i}]"


def _walk(i: int) -> str:
    return f"walks[{i}]"


def _in(where: _Where, key: str) -> _Where:
    return lambda i: f"{where(i)}.{key}"


def _nodes(lists: list[list[Any]], topology: Topology, where: _Where) -> list[int]:
    """Return the positions of the nodes named in some lists, one after the other."""
    position = topology.position_of
    names = list(chain.from_iterable(lists))
    if set(map(type, names)) <= {str} and position.keys() >= set(names):
        return [position[name] for name in names]
    for i, listed in enumerate(lists):
        for name in listed:
            if type(name) is not str or name not in position:
                _wrong(where(i), name, f"names of nodes of {topology.name}")
    return []


# --- fields ------------------------------------------------------------------------------------


def _check_records(records: list[Any], fields: Collection[str], where: _Where) -> None:
    """Every record is an object with exactly these fields."""
    _of_type(records, dict, where)
    _check_fields(records, fields, lambda i: f"{where(i)}.")


def _check_fields(
    records: list[_Record], fields: Collection[str], prefix: _Where, optional: Collection[str] = ()
) -> None:
    wanted, may = set(fields), set(optional)
    for i, record in enumerate(records):
        if record.keys() - may != wanted:
            for field in fields:
                if field not in record:
                    _refuse(f"{prefix(i)}{field} is missing; add it")
            extra = next(key for key in record if key not in wanted | may)
            known = ", ".join((*fields, *optional))
            _refuse(f"{prefix(i)}{extra!r} is not in the format; the fields here are {known}")


def _column(records: list[_Record], key: str, kind: type, where: _Where) -> list[Any]:
    return _of_type([record[key] for record in records], kind, _in(where, key))


def _of_type(values: list[Any], kind: type, where: _Where) -> list[Any]:
    """Return the values if all are of exactly this type (a bool is no int)."""
    if not set(map(type, values)) <= {kind}:
        at = next(i for i, value in enumerate(values) if type(value) is not kind)
        _wrong(where(at), values[at], _KINDS[kind])
    return values


def _numbers(values: list[int], low: int, high: int, where: _Where) -> npt.NDArray[np.int64]:
    """Return integers as an array if all lie between low and high."""
    if values and not low <= min(values) <= max(values) <= high:
        at = next(i for i, value in enumerate(values) if not low <= value <= high)
        _wrong(where(at), values[at], f"between {low} and {high}")
    return np.array(values, dtype=np.int64)


_KINDS: Mapping[type, str] = {
    dict: "an object",
    int: "an integer",
    list: "a list",
    str: "text",
}


def _one(record: _Record, key: str, kind: type, prefix: str = "") -> Any:
    return _of_type([record[key]], kind, lambda _: prefix + key)[0]


def _whole(record: _Record, key: str, prefix: str = "") -> int:
    value: int = _one(record, key, int, prefix)
    if not 0 < value <= _LARGEST:
        _wrong(prefix + key, value, f"positive and at most {_LARGEST}")
    return value


def _fraction(record: _Record, key: str, prefix: str = "") -> Fraction:
    value: str = _one(record, key, str, prefix)
    top, _, bottom = value.partition("/")
    if not _FRACTION.fullmatch(value) or not int(bottom or 1):
        _wrong(prefix + key, value, 'an exact number in quotes: "3" or "127/25"')
    return Fraction(int(top), int(bottom or 1))


def _wrong(field: str, found: object, allowed: str) -> NoReturn:
    _refuse(f"{field} is {reprlib.repr(found)}; it must be {allowed}")


def _refuse(problem: str) -> NoReturn:
    raise InvalidScheduleError(problem)
