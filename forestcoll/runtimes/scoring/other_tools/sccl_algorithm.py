"""Parser of SCCL, msccl-tools and TACCL algorithms (JSON): steps of sends of addresses.

Problem: read the transfers of ``{"msccl_type": "step", "sends": [[0, 0, 1], ...]}``.
Input:   their JSON (``sccl_type`` or ``msccl_type`` names the type of an object): an algorithm with
         its steps and its collective. A send is [address, from, to], in TACCL [address, from, to,
         time, link], or ends in "rrc" (the receiver adds) or null. A collective has chunks, each
         with an address and the ranks that have it first (``pre``) and last (``post``). Chunks of
         one address are summed up where they meet.
Output:  transfers; the collective is inferred from its pre- and postconditions, not its name.
Cost:    linear.
Source:  SCCL (PPoPP 2021) and TACCL (NSDI 2023): what their published code writes and reads. No
         such file is published with them.

A step sends only data from before the step. In a reduction, a send without an explicit kind adds,
as MSCCL's tools compile it. The topology of the file, times, links and rounds are not read.
TACCL's allreduces send all addresses that ``instance.chunks`` counts. Their collective may list
fewer, since it holds the chunks of one buffer.
"""

from __future__ import annotations

import reprlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.scoring.other_tools.tool_transfers import (
    ToolChunk,
    ToolSend,
    ToolTransfers,
)
from forestcoll.topology.reading.documents import Document

__all__ = ["is_sccl_algorithm", "read_sccl_algorithm"]

_TYPES = ("msccl_type", "sccl_type")
_MOST_RANKS = 100_000
_MOST_ADDRESSES = 1_000_000
_COLUMNS = (3, 4, 5, 6)
"""What a send may have."""

_ADDS = "rrc"


class _Send(NamedTuple):
    step: int
    place: int
    address: int
    tail: int
    head: int
    adds: bool | None


class _Item(NamedTuple):
    """An address: the ranks that have a part of it first, and those that get it."""

    pre: tuple[int, ...]
    post: frozenset[int]


class _Meaning(NamedTuple):
    """A collective by ForestColl's name, the chunk of each address, all units, whether it sums."""

    collective: str
    chunks: Mapping[int, ToolChunk]
    whole: int
    sums: bool


def is_sccl_algorithm(document: Document) -> bool:
    """Return whether a document is an object of SCCL, MSCCL's tools or TACCL."""
    return isinstance(document.data, dict) and any(key in document.data for key in _TYPES)


def read_sccl_algorithm(document: Document) -> ToolTransfers:
    """Read the transfers.

    Parameters
    ----------
    document : Document
        One that :func:`is_sccl_algorithm` accepts.

    Raises
    ------
    ForestCollError
        If the document differs from what these tools write; one line with the file and the field.
    UnsupportedError
        If its collective is not supported: a gather, scatter, scan or custom collective.
    """
    top = document.data
    assert isinstance(top, dict), "is_sccl_algorithm"
    kind = next(top[key] for key in _TYPES if key in top)
    if kind != "algorithm":
        raise document.fault((), f"is {reprlib.repr(kind)} of SCCL's; an algorithm has steps")
    collective = _object(document, top.get("collective"), "collective")
    nodes = _whole(document, collective.get("nodes"), 1, _MOST_RANKS, "collective", "nodes")
    sends, columns = _sends(document, top.get("steps"), nodes)
    items = _items(document, collective.get("chunks"), nodes)
    meaning = _meaning(document, items, nodes)
    chunks, whole = meaning.chunks, meaning.whole
    if meaning.collective == "allreduce":
        chunks = _all_chunks(document, top.get("instance"), chunks, sends)
        whole = len(chunks)
    order = {address: number for number, address in enumerate(chunks)}
    return ToolTransfers(
        tool="SCCL" if columns == min(_COLUMNS) else "TACCL",
        collective=meaning.collective,
        gpus=tuple(range(nodes)),
        chunks=tuple(chunks.values()),
        units=1,
        whole=whole,
        sends=tuple(_placed(document, one, order, meaning.sums) for one in sends),
    )


def _placed(document: Document, one: _Send, order: Mapping[int, int], sums: bool) -> ToolSend:
    if one.address not in order:
        problem = f"is of address {one.address}, which no chunk of the collective has"
        raise document.fault(("steps", one.step, "sends", one.place), problem)
    adds = sums if one.adds is None else one.adds
    return ToolSend(one.step, order[one.address], one.tail, one.head, adds)


# --- fields --------------------------------------------------------------------------------------


def _object(document: Document, value: object, *where: str | int) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise document.fault(where, f"is {reprlib.repr(value)}; it must be an object")
    return value


def _list(document: Document, value: object, *where: str | int) -> list[Any]:
    if not isinstance(value, list):
        raise document.fault(where, f"is {reprlib.repr(value)}; it must be a list")
    return value


def _whole(document: Document, value: object, least: int, most: int, *where: str | int) -> int:
    if type(value) is not int or not least <= value <= most:
        problem = f"is {reprlib.repr(value)}; it must be a whole number from {least} to {most}"
        raise document.fault(where, problem)
    return value


def _sends(document: Document, value: object, nodes: int) -> tuple[list[_Send], int]:
    """Return the sends of all steps, and the largest number of columns."""
    found, columns = [], min(_COLUMNS)
    for step, item in enumerate(_list(document, value, "steps")):
        sends = _object(document, item, "steps", step).get("sends")
        for place, send in enumerate(_list(document, sends, "steps", step, "sends")):
            found.append(_send(document, send, nodes, step, place))
            columns = max(columns, len(send))
    return found, columns


def _send(document: Document, value: object, nodes: int, step: int, place: int) -> _Send:
    where = ("steps", step, "sends", place)
    row = _list(document, value, *where)
    if len(row) not in _COLUMNS:
        problem = f"is {reprlib.repr(row)}; it must be [address, from, to], or as TACCL has it"
        raise document.fault(where, problem)
    address = _whole(document, row[0], 0, _MOST_ADDRESSES, *where, 0)
    tail, head = (_whole(document, row[i], 0, nodes - 1, *where, i) for i in (1, 2))
    if tail == head:
        raise document.fault(where, f"is from {tail} to itself")
    if len(row) == min(_COLUMNS) or (len(row) < max(_COLUMNS) and _is_number(row[-1])):
        return _Send(step, place, address, tail, head, None)
    if row[-1] not in (None, _ADDS):
        problem = f"is {reprlib.repr(row[-1])}; it must be {_ADDS!r} (the receiver adds) or null"
        raise document.fault((*where, len(row) - 1), problem)
    return _Send(step, place, address, tail, head, row[-1] == _ADDS)


def _is_number(value: object) -> bool:
    """Whether a value can be a time or the number of a link."""
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- what the collective is ----------------------------------------------------------------------


def _items(document: Document, value: object, nodes: int) -> dict[int, _Item]:
    pre: dict[int, list[int]] = defaultdict(list)
    post: dict[int, frozenset[int]] = {}
    for number, item in enumerate(_list(document, value, "collective", "chunks")):
        where = ("collective", "chunks", number)
        chunk = _object(document, item, *where)
        address = _whole(document, chunk.get("addr"), 0, _MOST_ADDRESSES, *where, "addr")
        first = _ranks(document, chunk.get("pre"), nodes, *where, "pre")
        last = frozenset(_ranks(document, chunk.get("post"), nodes, *where, "post"))
        if len(first) != 1 or not last:
            raise _unknown(document, f"chunk {number} is at {len(first)} ranks at first")
        if post.setdefault(address, last) != last:
            raise _unknown(document, f"chunks of address {address} end at different ranks")
        pre[address] += first
    if not pre:
        raise document.fault(("collective", "chunks"), "is empty; a collective has chunks")
    return {address: _Item(tuple(pre[address]), post[address]) for address in sorted(pre)}


def _ranks(document: Document, value: object, nodes: int, *where: str | int) -> list[int]:
    return [
        _whole(document, rank, 0, nodes - 1, *where, place)
        for place, rank in enumerate(_list(document, value, *where))
    ]


def _meaning(document: Document, items: Mapping[int, _Item], nodes: int) -> _Meaning:
    """Infer the collective from its pre- and postconditions."""
    ranks = tuple(range(nodes))
    to_all = {len(item.post) == nodes for item in items.values()}
    parts = {tuple(sorted(item.pre)) == ranks for item in items.values()}
    single = {len(item.pre) == 1 for item in items.values()}
    if to_all == {True} and single == {True}:
        return _gathering(document, items, nodes)
    if to_all == {True} and parts == {True}:
        chunks = {one: ToolChunk(-1, -1, f"address {one}") for one in items}
        return _Meaning("allreduce", chunks, len(chunks), True)
    if any(len(item.post) > 1 for item in items.values()):
        raise _unknown(document, "some addresses end at several ranks, but not all")
    if parts == {True}:
        return _reduction(document, items, nodes)
    if single == {True}:
        return _exchange(document, items, nodes)
    raise _unknown(document, "some addresses hold parts of some ranks, but not of all")


def _gathering(document: Document, items: Mapping[int, _Item], nodes: int) -> _Meaning:
    chunks = {one: ToolChunk(item.pre[0], -1, f"address {one}") for one, item in items.items()}
    name = _by_roots(document, chunks, nodes, "allgather", "broadcast")
    return _Meaning(name, chunks, len(chunks), False)


def _reduction(document: Document, items: Mapping[int, _Item], nodes: int) -> _Meaning:
    chunks = {one: ToolChunk(min(item.post), -1, f"address {one}") for one, item in items.items()}
    name = _by_roots(document, chunks, nodes, "reduce-scatter", "reduce")
    return _Meaning(name, chunks, len(chunks), True)


def _by_roots(
    document: Document, chunks: Mapping[int, ToolChunk], nodes: int, of_all: str, of_one: str
) -> str:
    """Distinguish a collective of all roots, with equal shares, from that of a single root."""
    count = Counter(chunk.root for chunk in chunks.values())
    if len(count) == nodes and len(set(count.values())) == 1:
        return of_all
    if len(count) == 1:
        return of_one
    raise _unknown(document, "ranks have different numbers of addresses")


def _exchange(document: Document, items: Mapping[int, _Item], nodes: int) -> _Meaning:
    """Read an all-to-all with equal amounts for all pairs; a rank's own part may be missing."""
    chunks = {
        one: ToolChunk(item.pre[0], min(item.post), f"address {one}") for one, item in items.items()
    }
    count = Counter((chunk.root, chunk.target) for chunk in chunks.values())
    pairs = [(a, b) for a, b in count if a != b]
    if len(pairs) < nodes * (nodes - 1) or len(set(count.values())) > 1:
        raise _unknown(document, "pairs of ranks have different numbers of addresses, or none")
    return _Meaning("all-to-all", chunks, nodes * count[pairs[0]], False)


def _all_chunks(
    document: Document,
    instance: object,
    listed: Mapping[int, ToolChunk],
    sends: Sequence[_Send],
) -> Mapping[int, ToolChunk]:
    """Return the chunks of an allreduce: the listed ones, or the number in the instance."""
    if all(one.address in listed for one in sends):
        return listed
    counted = _object(document, instance, "instance").get("chunks")
    count = _whole(document, counted, 1, _MOST_ADDRESSES, "instance", "chunks")
    return {one: ToolChunk(-1, -1, f"address {one}") for one in range(count)}


def _unknown(document: Document, why: str) -> UnsupportedError:
    fault = document.fault(("collective",), f"is none that is known here: {why}")
    return UnsupportedError(
        f"unsupported: {fault}; known are allgather, reduce-scatter, broadcast, reduce, allreduce "
        f"and all-to-all, of equal parts"
    )
