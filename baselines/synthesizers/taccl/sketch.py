"""Communication sketch: the links that a schedule may use, and its symmetry.

Output:  the sketch, checked as far as possible without a network; or an error that names the file,
         the line, the field and the remedy.
Source:  Shah et al., TACCL (NSDI 2023), section 3 and its published sketches.

Two fields accept more than TACCL's: ``nnodes`` may be a list of numbers of boxes, and the size in
``symmetry_offsets`` may be ``all``. So one sketch serves clusters of several sizes. Unknown fields
and repeated GPUs, which TACCL's code ignores, are errors here.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from forestcoll.errors import InvalidParameterError, did_you_mean
from forestcoll.topology.reading.documents import Document

__all__ = ["LOCAL", "NO_CONNECTIONS", "UNIQUE", "Connections", "Sketch", "sketch_of"]

LOCAL = ("none", "switch", "minmax", "maxmin")
"""Strategies inside a box: links as they are, switches as hyper-edges, balanced loads."""

UNIQUE = ("uc-min", "uc-max")
"""Whether GPUs on a switch exchange data with few others or with many."""

Connections = Mapping[int, tuple[int, ...]]
"""For each GPU of a box, its partners in other boxes, by numbers in a box."""

NO_CONNECTIONS: Connections = MappingProxyType({})

_GPU = re.compile("0|[1-9][0-9]{0,17}")  # one way to write each
_NAMED = ("direct-map", "fully-connected")
_FIELDS = (
    *("nnodes", "intranode_sketch", "internode_sketch", "symmetry_offsets", "hyperparameters"),
    "description",
)
_LOCAL_FIELDS = ("strategy", "switches", "switch_hyperedge_strategy")
_PARAMETERS = ("input_chunkup",)
_REMOTE_FIELDS = ("strategy", "internode_conn", "gpus_to_sender_rev_map", "enforce_ordering")


@dataclass(frozen=True, slots=True)
class Sketch:
    """The links that a schedule may use, and its symmetry.

    Parameters
    ----------
    source : str
        The file, for errors.
    boxes : tuple of int
        Numbers of boxes that it is for.
    local : str
        One of :data:`LOCAL`.
    switches : tuple of tuples of int
        The GPUs on each switch of a box, by number. A switch that is listed n times has n planes,
        each with an n-th of the bandwidth.
    unique : str
        One of :data:`UNIQUE`, for sketches with switches.
    connections : Connections
        None for a single box.
    pattern : str
        "direct-map" (each GPU to the same number) or "fully-connected", instead of connections.
    sources : Connections
        The GPUs whose chunks a sender takes out of the box; empty for all.
    own_first : bool
        Whether a sender sends its own chunk before those of others; unused in a reduce-scatter.
    symmetry : tuple of (int, int)
        Offset and size: in each block of that size, GPU r has the image ``(r + offset) mod size``.
        Size 0 stands for all GPUs.
    chunks : int
        Chunks of each GPU's data.
    """

    source: str
    boxes: tuple[int, ...]
    local: str = "none"
    switches: tuple[tuple[int, ...], ...] = ()
    unique: str = UNIQUE[0]
    connections: Connections = field(default_factory=lambda: NO_CONNECTIONS, hash=False)
    pattern: str = ""
    sources: Connections = field(default_factory=lambda: NO_CONNECTIONS, hash=False)
    own_first: bool = False
    symmetry: tuple[tuple[int, int], ...] = ()
    chunks: int = 1

    def reversed(self) -> Sketch:
        """Return the sketch for the network with every link reversed: receivers send.

        Receivers take over the sources of their senders; if all send to all, any may. The order
        "own chunks first" does not apply to arriving chunks and is dropped.
        """
        if self.pattern == "direct-map":
            return replace(self, own_first=False)
        back: dict[int, tuple[int, ...]] = {}
        sources: dict[int, tuple[int, ...]] = {}
        for sender, receivers in self.connections.items():
            for receiver in receivers:
                back[receiver] = (*back.get(receiver, ()), sender)
                taken = {*sources.get(receiver, ()), *self.sources.get(sender, ())}
                sources[receiver] = tuple(sorted(taken))
        return replace(
            self,
            connections=MappingProxyType(dict(sorted(back.items()))),
            sources=MappingProxyType(sources) if self.sources else NO_CONNECTIONS,
            own_first=False,
        )


def sketch_of(document: Document) -> Sketch:
    """Read a sketch.

    Raises
    ------
    ForestCollError
        An error of the document, with the file, the line if known, the field and the remedy.

    Examples
    --------
    >>> from forestcoll.topology.reading.documents import parse_json
    >>> text = '{"nnodes": 2, "intranode_sketch": {"strategy": "none"}, "internode_sketch": '
    >>> text += '{"strategy": "relay", "internode_conn": {"0": [1]}}, "symmetry_offsets": [[8, 16]]'
    >>> text += ', "hyperparameters": {"input_chunkup": 1}}'
    >>> sketch = sketch_of(parse_json(text, "sketch.json", InvalidParameterError))
    >>> sketch.boxes, dict(sketch.connections), sketch.symmetry
    ((2,), {0: (1,)}, ((8, 16),))
    """
    top = _Part(document, (), document.data)
    top.known(_FIELDS)
    boxes = _boxes(top)
    local = top.part("intranode_sketch")
    local.known(_LOCAL_FIELDS)
    strategy = local.choice("strategy", LOCAL)
    switches = _switches(local) if strategy == "switch" else ()
    remote = _remote(top) if max(boxes) > 1 or "internode_sketch" in top.given else _Remote()
    parameters = top.part("hyperparameters")
    parameters.known(_PARAMETERS)
    return Sketch(
        source=document.source,
        boxes=boxes,
        local=strategy,
        switches=switches,
        unique=_unique(local, switches) if switches else UNIQUE[0],
        connections=remote.connections,
        pattern=remote.pattern,
        sources=remote.sources,
        own_first=remote.own_first,
        symmetry=_symmetry(top),
        chunks=parameters.whole("input_chunkup", least=1),
    )


@dataclass(frozen=True, slots=True)
class _Remote:
    connections: Connections = field(default_factory=lambda: NO_CONNECTIONS)
    pattern: str = ""
    sources: Connections = field(default_factory=lambda: NO_CONNECTIONS)
    own_first: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """A mapping in the document, and its position."""

    document: Document
    where: tuple[str | int, ...]
    data: object

    @property
    def given(self) -> Mapping[str, object]:
        if not isinstance(self.data, dict):
            raise self.document.fault(
                self.where, f"is {reprlib.repr(self.data)}; it must hold fields, `name: value`"
            )
        return self.data

    def fault(self, name: str | int, problem: str) -> InvalidParameterError:
        error = self.document.fault((*self.where, name), problem)
        return InvalidParameterError(str(error))

    def known(self, names: Sequence[str]) -> None:
        for name in self.given:
            if name not in names:
                remedy = did_you_mean(name, names, f"these are {', '.join(names)}")
                raise self.fault(name, f"is not a field of a sketch; {remedy}")

    def value(self, name: str) -> object:
        if name not in self.given:
            raise self.fault(name, "is missing")
        return self.given[name]

    def part(self, name: str) -> _Part:
        return _Part(self.document, (*self.where, name), self.value(name))

    def choice(self, name: str, choices: Sequence[str]) -> str:
        value = self.value(name)
        if isinstance(value, str) and value in choices:
            return value
        raise self.fault(name, f"is {reprlib.repr(value)}; it must be one of {', '.join(choices)}")

    def whole(self, name: str, least: int) -> int:
        return self.number(name, self.value(name), least)

    def number(self, name: str | int, value: object, least: int) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        problem = f"is {reprlib.repr(value)}; it must be a whole number, {least} or more"
        raise self.fault(name, problem)

    def items(self, name: str, what: str) -> list[object]:
        value = self.value(name)
        if not isinstance(value, list):
            raise self.fault(name, f"is {reprlib.repr(value)}; it must be a list of {what}")
        return value

    def gpus(self, name: str, value: object) -> tuple[int, ...]:
        """Read a list of distinct GPUs of a box."""
        if not isinstance(value, list) or not value:
            raise self.fault(name, f"is {reprlib.repr(value)}; it must be a list of GPUs, [0, 1]")
        found = tuple(self.number(name, each, 0) for each in value)
        if len(set(found)) < len(found):
            raise self.fault(name, f"names a GPU twice: {reprlib.repr(value)}; name each once")
        return found

    def connections(self, name: str) -> Connections:
        inner = self.part(name)
        found = {}
        for gpu, others in inner.given.items():
            if not _GPU.fullmatch(gpu):
                raise inner.fault(gpu, "is not a GPU; write its number in the box, such as 0")
            found[int(gpu)] = inner.gpus(gpu, others)
        return MappingProxyType(dict(sorted(found.items())))


def _boxes(top: _Part) -> tuple[int, ...]:
    value = top.value("nnodes")
    numbers = value if isinstance(value, list) and value else [value]
    return tuple(sorted({top.number("nnodes", number, 1) for number in numbers}))


def _switches(local: _Part) -> tuple[tuple[int, ...], ...]:
    """Read the switches: any two share all GPUs or none, else planes are undefined."""
    listed = [local.gpus("switches", one) for one in local.items("switches", "lists of GPUs")]
    for i, one in enumerate(listed):
        if len(one) < 2:
            raise local.fault("switches", f"has a switch with GPU {one[0]} alone; take it out")
        for other in listed[:i]:
            if set(one) & set(other) and set(one) != set(other):
                problem = "has two switches that share some GPUs; they must share all or none"
                raise local.fault("switches", problem)
    if not listed:
        raise local.fault("switches", "is empty; list the GPUs of a switch, or strategy: none")
    return tuple(tuple(sorted(one)) for one in listed)


def _unique(local: _Part, switches: Sequence[object]) -> str:
    """Read one strategy a switch; TACCL's code applies the first to all, so all must be equal."""
    name = "switch_hyperedge_strategy"
    listed = local.items(name, f"{' or '.join(UNIQUE)}, one a switch")
    if len(listed) != len(switches):
        raise local.fault(name, f"has {len(listed)} for {len(switches)} switches; give each one")
    for value in listed:
        if value not in UNIQUE:
            raise local.fault(name, f"has {reprlib.repr(value)}; it takes {' or '.join(UNIQUE)}")
    if len(set(listed)) > 1:
        raise local.fault(name, "differs between switches; the objective has one for all of them")
    return str(listed[0])


def _remote(top: _Part) -> _Remote:
    part = top.part("internode_sketch")
    part.known(_REMOTE_FIELDS)
    part.choice("strategy", ("relay",))
    given, pattern, connections = part.value("internode_conn"), "", NO_CONNECTIONS
    if isinstance(given, str):
        pattern = part.choice("internode_conn", _NAMED)
    else:
        connections = part.connections("internode_conn")
        if not connections and max(_boxes(top)) > 1:
            problem = 'is empty; say who sends to whom, {"0": [1]}, or one of ' + ", ".join(_NAMED)
            raise part.fault("internode_conn", problem)
        if len({len(receivers) for receivers in connections.values()}) > 1:
            problem = "has senders with different numbers of receivers; give each as many"
            raise part.fault("internode_conn", problem)
    sources = NO_CONNECTIONS
    if "gpus_to_sender_rev_map" in part.given:
        sources = part.connections("gpus_to_sender_rev_map")
        for sender in sources:
            if connections and sender not in connections:
                problem = f"has {sender}, which internode_conn does not let send; leave it out"
                raise part.fault("gpus_to_sender_rev_map", problem)
    own_first = part.given.get("enforce_ordering", False)
    if not isinstance(own_first, bool):
        raise part.fault("enforce_ordering", f"is {reprlib.repr(own_first)}; write true or false")
    if own_first and not sources:
        raise part.fault("enforce_ordering", "is true without gpus_to_sender_rev_map; give both")
    return _Remote(connections, pattern, sources, own_first)


def _symmetry(top: _Part) -> tuple[tuple[int, int], ...]:
    name, found = "symmetry_offsets", []
    for pair in top.items(name, "[offset, size]"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise top.fault(name, f"has {reprlib.repr(pair)}; it takes pairs [offset, size]")
        offset = top.number(name, pair[0], 1)
        size = 0 if pair[1] == "all" else top.number(name, pair[1], 2)
        if size and offset >= size:
            raise top.fault(name, f"has the offset {offset} in a size of {size}; it must be less")
        found.append((offset, size))
    return tuple(found)
