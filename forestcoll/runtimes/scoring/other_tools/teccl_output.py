"""TE-CCL output parser: sentences that name chunk, link and epoch of each transfer.

Problem: read sentences such as "Chunk 0 from 3 traveled over 3->2 in epoch 4 via switches 0".
Input:   its JSON. An allgather has ``7-Flows``, such sentences. An all-to-all has them "with volume
         0.5", and ``8-Chunk paths`` (in older files ``7-``): for each "Demand at 2 for chunk 1 from
         3 met by epoch 9" the paths that parts of the chunk take, hop by hop.
Output:  transfers between GPUs; in an all-to-all each path gets an interval of its chunk.
Cost:    linear.
Source:  TE-CCL (SIGCOMM 2024): its published outputs and its code. It stores the sentences of an
         all-to-all as a set, so two paths with a common hop may leave only one; the paths are read
         instead. TE-CCL rounds volumes to six digits and drops small ones. So the parser counts
         whole millionths, and rescales the shares to sum to their chunk. A sum that is off by more
         than a thousandth is an error. Everything after that is exact.

GPUs are the nodes that chunks come from, in ascending order; all other nodes are switches. Epochs
only give an order: a transfer of an epoch arrives before any later epoch begins. The length of
epochs, the file's own claims and the epochs that a link needs are not read.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.runtimes.scoring.other_tools.tool_transfers import (
    ToolChunk,
    ToolSend,
    ToolTransfers,
)
from forestcoll.topology.reading.documents import Document

__all__ = ["is_teccl_output", "read_teccl_output"]

_FLOWS = re.compile("([0-9]-)?Flows")
_PATHS = re.compile("([0-9]-)?Chunk paths")
_NUMBER = "([0-9]{1,9})"
_VOLUME = "([0-9]{1,9}(?:[.][0-9]{1,25})?(?:e-[0-9]{1,2})?)"
_HOP = f"{_NUMBER}->{_NUMBER}(?: with volume {_VOLUME})? in epoch {_NUMBER}"
_VIA = "( via switches [0-9]{1,9}(?: ?-> ?[0-9]{1,9}){0,50})?"
_FLOW = re.compile(f"Chunk {_NUMBER} from {_NUMBER} traveled over {_HOP}{_VIA}")
_STEP = re.compile(_HOP + _VIA)
_DEMAND = re.compile(f"Demand at {_NUMBER} for chunk {_NUMBER} from {_NUMBER} met by epoch [0-9]+")

_MICRO = 10**6
"""Units in which volumes are read."""

_NOISE = 2
"""By how many of them the hops of a path may differ."""

_ROUNDED = 1000
"""By how many of them those of a chunk may miss it."""


class _Hop(NamedTuple):
    tail: int
    head: int
    volume: int | None
    epoch: int
    through: bool


class _Demand(NamedTuple):
    source: int
    target: int
    chunk: int
    paths: list[list[_Hop]]
    where: tuple[str, ...]


def is_teccl_output(document: Document) -> bool:
    """Return whether a document is an output of TE-CCL."""
    return isinstance(document.data, dict) and _field(document.data, _FLOWS) is not None


def read_teccl_output(document: Document) -> ToolTransfers:
    """Read the transfers.

    Parameters
    ----------
    document : Document
        One that :func:`is_teccl_output` accepts.

    Raises
    ------
    ForestCollError
        If the document differs from what TE-CCL writes; one line with the file and the sentence.
    UnsupportedError
        If hops end at switches, as its A* writes them: the arrival that a switch forwards is
        ambiguous.
    VerificationError
        If a chunk of a GPU is never sent, or the paths of a demand do not carry its chunk.
    """
    assert isinstance(document.data, dict), "is_teccl_output"
    name = _field(document.data, _FLOWS)
    assert name is not None, "is_teccl_output"
    flows = _listed(document, document.data[name], name)
    if not flows:
        raise document.fault((name,), "is empty; there is no schedule in this file")
    if isinstance(flows[0], str) and " with volume " in flows[0]:
        return _all_to_all(document)
    return _allgather(document, name, flows)


def _field(data: Mapping[Any, object], pattern: re.Pattern[str]) -> str | None:
    """Return the first key of a kind, with any number in front."""
    return next((key for key in data if pattern.fullmatch(str(key))), None)


def _listed(document: Document, value: object, *where: str | int) -> list[object]:
    if not isinstance(value, list):
        raise document.fault(where, f"is {reprlib.repr(value)}; it must be a list")
    return value


# --- allgathers ----------------------------------------------------------------------------------


def _allgather(document: Document, name: str, flows: Sequence[object]) -> ToolTransfers:
    read = [_flow(document, one, name, number) for number, one in enumerate(flows)]
    gpus = tuple(sorted({source for _, source, _ in read}))
    rank = {gpu: place for place, gpu in enumerate(gpus)}
    count = max(chunk for chunk, _, _ in read) + 1
    _check_all_sent({(source, chunk) for chunk, source, _ in read}, gpus, count)
    sends = []
    for number, (chunk, source, hop) in enumerate(read):
        _check_ends(document, hop, rank, name, number)
        sends.append(_send(rank, rank[source] * count + chunk, hop))
    chunks = tuple(
        ToolChunk(place, -1, f"chunk {chunk} from {gpu}")
        for place, gpu in enumerate(gpus)
        for chunk in range(count)
    )
    return ToolTransfers("TE-CCL", "allgather", gpus, chunks, 1, len(chunks), tuple(sends), "epoch")


def _flow(document: Document, text: object, *where: str | int) -> tuple[int, int, _Hop]:
    found = _FLOW.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[5] is not None:
        raise document.fault(
            where,
            f"is {reprlib.repr(text)}; it must be such as "
            f"'Chunk 0 from 3 traveled over 3->2 in epoch 4 via switches 0'",
        )
    return int(found[1]), int(found[2]), _hop(found, 3)


def _hop(found: re.Match[str], at: int) -> _Hop:
    """Read the regex groups of a hop, starting at a group number."""
    tail, head, volume, epoch, via = (found[at + place] for place in range(5))
    part = None if volume is None else round(Fraction(volume) * _MICRO)
    return _Hop(int(tail), int(head), part, int(epoch), via is not None)


def _check_all_sent(sent: set[tuple[int, int]], gpus: Sequence[int], count: int) -> None:
    """Reject a missing chunk before memory is allocated for each one."""
    if len(gpus) * count == len(sent):
        return
    source, chunk = next((g, c) for g in gpus for c in range(count) if (g, c) not in sent)
    raise VerificationError(f"chunk {chunk} from {source} is never sent")


def _check_ends(document: Document, hop: _Hop, rank: Mapping[int, int], *where: str | int) -> None:
    if hop.tail == hop.head:
        raise document.fault(where, f"leads from {hop.tail} to itself")
    for end in (hop.tail, hop.head):
        if end not in rank:
            fault = document.fault(
                where,
                f"ends at {end}, from which no chunk comes, so it is a switch; hops to switches, "
                f"as TE-CCL's A* has them, are not read: which arrival is passed on is open",
            )
            raise UnsupportedError(f"unsupported: {fault}")


def _send(
    rank: Mapping[int, int], chunk: int, hop: _Hop, first: int = 0, amount: int = 1
) -> ToolSend:
    return ToolSend(
        step=hop.epoch,
        chunk=chunk,
        tail=rank[hop.tail],
        head=rank[hop.head],
        through=hop.through,
        first=first,
        amount=amount,
    )


# --- all-to-alls ---------------------------------------------------------------------------------


def _all_to_all(document: Document) -> ToolTransfers:
    demands = list(_demands(document))
    gpus = tuple(sorted({end for one in demands for end in (one.source, one.target)}))
    rank = {gpu: place for place, gpu in enumerate(gpus)}
    shares = [_shares(document, one) for one in demands]
    part = math.gcd(_MICRO, *(amount for one in shares for amount in one))
    sends, chunks = [], []
    for number, (demand, amounts) in enumerate(zip(demands, shares, strict=True)):
        chunks.append(
            ToolChunk(
                rank[demand.source],
                rank[demand.target],
                f"chunk {demand.chunk} from {demand.source} for {demand.target}",
            )
        )
        first = 0
        for path, amount in zip(demand.paths, amounts, strict=True):
            for hop in path:
                _check_ends(document, hop, rank, *demand.where)
                sends.append(_send(rank, number, hop, first // part, amount // part))
            first += amount
    units, each = _MICRO // part, _most_of_a_pair(demands)
    return ToolTransfers(
        "TE-CCL",
        "all-to-all",
        gpus,
        tuple(chunks),
        units,
        units * each * len(gpus),
        tuple(sends),
        "epoch",
    )


def _demands(document: Document) -> Iterator[_Demand]:
    assert isinstance(document.data, dict), "is_teccl_output"
    name = _field(document.data, _PATHS)
    if name is None:
        raise document.fault((), "has no '8-Chunk paths', which say how an all-to-all goes; add it")
    paths = document.data[name]
    if not isinstance(paths, dict) or not paths:
        problem = f"is {reprlib.repr(paths)}; it must be an object with a key for each demand"
        raise document.fault((name,), problem)
    for key, value in paths.items():
        found = _DEMAND.fullmatch(key)
        if found is None:
            problem = "must be such as 'Demand at 2 for chunk 1 from 3 met by epoch 9'"
            raise document.fault((name, key), problem)
        target, chunk, source = (int(found[place]) for place in (1, 2, 3))
        ways = [
            [_step(document, hop, name, key, i, j) for j, hop in enumerate(hops)]
            for i, way in enumerate(_listed(document, value, name, key))
            if (hops := _listed(document, way, name, key, i))
        ]
        yield _Demand(source, target, chunk, ways, (name, key))


def _step(document: Document, hop: object, *where: str | int) -> _Hop:
    """Read a hop: a sentence, or its epoch and a sentence."""
    text = hop[-1] if isinstance(hop, list) and len(hop) == 2 else hop
    found = _STEP.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[3] is None:
        problem = f"is {reprlib.repr(hop)}; it must be such as '3->2 with volume 0.5 in epoch 4'"
        raise document.fault(where, problem)
    return _hop(found, 1)


def _shares(document: Document, demand: _Demand) -> list[int]:
    """Return the share of its chunk that each path carries, in millionths."""
    volumes = []
    for path in demand.paths:
        parts = [hop.volume or 0 for hop in path]
        if max(parts) - min(parts) > _NOISE:
            raise document.fault(demand.where, "has a path whose hops differ in volume")
        volumes.append(parts[0])
    total = sum(volumes)
    if abs(total - _MICRO) > _ROUNDED:
        raise VerificationError(
            f"chunk {demand.chunk} from {demand.source} for {demand.target}: its paths carry "
            f"{Fraction(total, _MICRO)} of it"
        )
    if min(volumes) <= 0:
        raise document.fault(demand.where, "has a path with volume 0; leave it out")
    return _dealt(volumes, total)


def _dealt(volumes: Sequence[int], total: int) -> list[int]:
    """Divide a million in proportion, by largest remainders; ties go to the first."""
    dealt = [volume * _MICRO // total for volume in volumes]
    order = sorted(range(len(volumes)), key=lambda i: (-(volumes[i] * _MICRO % total), i))
    for place in order[: _MICRO - sum(dealt)]:
        dealt[place] += 1
    return dealt


def _most_of_a_pair(demands: Sequence[_Demand]) -> int:
    count: dict[tuple[int, int], int] = {}
    for one in demands:
        count[one.source, one.target] = count.get((one.source, one.target), 0) + 1
    return max(count.values())
