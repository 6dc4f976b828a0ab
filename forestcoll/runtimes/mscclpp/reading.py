"""MSCCL++ plan parser for untrusted files.

Problem: parse an untrusted JSON text that the loader itself hardly checks.
Input:   a file, or its text.
Output:  a :class:`Plan`, and remarks on fields that the loader would ignore.
Cost:    one pass; memory of some twenty times the text, which is limited to MOST_BYTES.
Source:  the loader of MSCCL++ v0.8 and later (microsoft/mscclpp): a missing required key crashes
         it, and it ignores unknown keys; values that it would trust unchecked are checked here.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import jiter

from forestcoll.bounded_read import expect_at_most, expect_few_objects, read_at_most
from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.mscclpp.execution_plan import (
    KINDS,
    NO_MOST_BYTES,
    Loop,
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    RemoteBuffer,
    Span,
    SwitchGroup,
)

__all__ = ["MOST_BYTES", "PlanReading", "is_plan", "parse_plan", "read_plan"]

MOST_BYTES = 64_000_000
"""Some half a million operations."""

_MOST_OBJECT_BYTES = 600_000_000  # 64 MB of puts and gets take 500 MB
_REMEDY = "use fewer instances"
_MOST_REMARKS = 50
_LONGEST = 255
_LARGEST = 2**31 - 1
_REQUIRED = ("name", "collective", "protocol", "inplace", "gpus")
_BUFFERS = ("i", "o", "s")
_CHANNELS = ("memory", "port", "switch")
_OLD = ("chunkGroups", "inputChunks")  # keys of the format before v0.8
_CHANNEL_KINDS = frozenset(
    {"signal", "wait", "rlxsignal", "rlxwait", "flush", "put", "pws", "pwsf", "get"}
)


def is_plan(path: Path | str) -> bool:
    """Return whether a file has the words of all fields that a plan must have.

    Raises InvalidScheduleError if the file cannot be read, or is larger than a plan may be.
    """
    data = read_at_most(Path(path), MOST_BYTES, InvalidScheduleError, _REMEDY)
    return all(f'"{key}"'.encode() in data for key in _REQUIRED)


@dataclass(frozen=True, slots=True)
class PlanReading:
    """A parsed plan, with remarks on fields that the loader ignores."""

    plan: Plan
    remarks: tuple[str, ...]


def read_plan(path: Path | str) -> PlanReading:
    """Parse a file.

    Raises InvalidScheduleError if the file is invalid; the message names the field, its value and
    the values allowed.
    """
    data = read_at_most(Path(path), MOST_BYTES, InvalidScheduleError, _REMEDY)
    return parse_plan(data, str(path))


def parse_plan(text: str | bytes, name: str = "text") -> PlanReading:
    """Parse a text; errors refer to it by ``name``.

    Raises InvalidScheduleError as :func:`read_plan` does.
    """
    data = text.encode() if isinstance(text, str) else text
    expect_at_most(data, MOST_BYTES, name, InvalidScheduleError, _REMEDY)
    expect_few_objects(data, name, InvalidScheduleError, _MOST_OBJECT_BYTES)
    try:
        value = jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        raise InvalidScheduleError(
            f"{name}: not JSON: {error}; write the file again, it may be cut off"
        ) from None
    remarks: list[str] = []
    plan = _plan(_Record(value, name, "", remarks))
    return PlanReading(plan, tuple(remarks))


@dataclass(slots=True)
class _Record:
    """An object of the file, its position, and the keys that were read."""

    value: Any
    name: str
    path: str
    remarks: list[str]
    asked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if type(self.value) is not dict:
            self.refuse(f"{self.path or 'all'} is {_short(self.value)}; it must be an object")

    def has(self, key: str) -> bool:
        self.asked.add(key)
        return key in self.value

    def get(self, key: str, default: Any = None) -> Any:
        if not self.has(key):
            if default is None:
                self.refuse(
                    f"{self.at(key)} is missing; add it, since the loader crashes without it"
                )
            return default
        return self.value[key]

    def whole(
        self, key: str, default: int | None = None, low: int = 0, high: int = _LARGEST
    ) -> int:
        return self.number(self.get(key, default), self.at(key), low, high)

    def number(self, found: Any, path: str, low: int = 0, high: int = _LARGEST) -> int:
        """Check that a value is an integer, and return it."""
        if type(found) is not int or not low <= found <= high:
            self.wrong(path, found, f"a whole number from {low} to {high}")
        return found

    def text(self, key: str, default: str | None = None) -> str:
        found = self.get(key, default)
        if type(found) is not str or len(found) > _LONGEST:
            self.wrong(self.at(key), found, f"text of at most {_LONGEST} letters")
        return found

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str:
        return self.word(self.get(key), self.at(key), allowed)

    def word(self, found: Any, path: str, allowed: tuple[str, ...]) -> str:
        """Check that a value is one of a set of words, and return it."""
        if type(found) is not str or found not in allowed:
            self.wrong(path, found, f"one of {', '.join(allowed)}")
        return found

    def flag(self, key: str, default: bool | None = None) -> bool:
        found = self.get(key, default)
        if type(found) is not bool:
            self.wrong(self.at(key), found, "true or false")
        return found

    def items(self, key: str, *, required: bool = False) -> list[Any]:
        """Return a list field; an empty list if it is optional and missing."""
        found = self.get(key, None if required else [])
        if type(found) is not list:
            self.wrong(self.at(key), found, "a list")
        return found

    def wholes(self, key: str) -> tuple[int, ...]:
        found = enumerate(self.items(key))
        return tuple(self.number(one, f"{self.at(key)}[{i}]") for i, one in found)

    def records(self, key: str, *, required: bool = False) -> Iterator[_Record]:
        for i, one in enumerate(self.items(key, required=required)):
            record = _Record(one, self.name, f"{self.at(key)}[{i}]", self.remarks)
            yield record
            record.close()

    def record(self, key: str) -> _Record:
        return _Record(self.get(key), self.name, self.at(key), self.remarks)

    def close(self) -> None:
        """Add remarks on the fields that were not read."""
        for key in [key for key in self.value if key not in self.asked]:
            if len(self.remarks) < _MOST_REMARKS:
                place = self.at(key[:40])
                self.remarks.append(f"{place} is unknown, and ignored by the loader")

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, path: str, found: Any, due: str) -> NoReturn:
        self.refuse(f"{path} is {_short(found)}; it must be {due}")

    def refuse(self, message: str) -> NoReturn:
        raise InvalidScheduleError(f"{self.name}: {message}")


def _short(found: Any) -> str:
    return reprlib.repr(found)


def _plan(record: _Record) -> Plan:
    gpus = [_gpu(rank, one) for rank, one in enumerate(record.records("gpus", required=True))]
    if not gpus:
        record.refuse("gpus is []; it must have an entry for each GPU")
    found = Plan(
        name=record.text("name"),
        collective=record.text("collective"),
        protocol=record.text("protocol"),
        in_place=record.flag("inplace"),
        gpus=tuple(gpus),
        reuse_resources=record.flag("reuse_resources", False),
        double_scratch=record.flag("use_double_scratch_buffer", False),
        buffer_alignment=record.whole("buffer_alignment", 16, 1),
        block_threads=record.whole("num_threads_per_block", 1024, 1),
        min_bytes=record.whole("min_message_size", 0),
        max_bytes=record.whole("max_message_size", NO_MOST_BYTES, 0, NO_MOST_BYTES),
    )
    record.close()
    return found


def _gpu(rank: int, record: _Record) -> PlanGpu:
    old = next((key for key in _OLD if key in record.value), "")
    if old:
        record.refuse(
            f"{record.at(old)} is of the format before v0.8 of MSCCL++, which the loader no longer "
            f"takes; write the plan with a current version"
        )
    if record.whole("id") != rank:
        record.wrong(record.at("id"), record.value["id"], f"{rank}, its place in the list")
    memory, port, switch = _channels(record)
    return PlanGpu(
        input_chunks=record.whole("input_chunks", low=1),
        output_chunks=record.whole("output_chunks", low=1),
        scratch_chunks=record.whole("scratch_chunks"),
        threadblocks=tuple(
            _threadblock(i, one)
            for i, one in enumerate(record.records("threadblocks", required=True))
        ),
        memory_channels=memory,
        port_channels=port,
        switch_channels=switch,
        remote_buffers=tuple(map(_remote_buffer, record.records("remote_buffers", required=True))),
        semaphores=tuple(
            one.whole("init_value", low=-_LARGEST) for one in record.records("semaphores")
        ),
    )


def _channels(
    record: _Record,
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[SwitchGroup, ...]]:
    """Return the peers of memory channels, those of port channels, and the switch channels."""
    peers: dict[str, list[int]] = {"memory": [], "port": []}
    groups: list[SwitchGroup] = []
    for one in record.records("channels", required=True):
        kind = one.one_of("channel_type", _CHANNELS)
        if kind == "switch":
            if one.has("buff") and not one.has("buffer_type"):
                record.refuse(
                    f"{one.at('buff')} is of an older format of MSCCL++, which the loader no "
                    f"longer takes (now buffer_type); write the plan with a current version"
                )
            buffer = one.one_of("buffer_type", _BUFFERS)
            groups += [_group(buffer, each) for each in one.records("rank_groups", required=True)]
        else:
            peers[kind] += one.wholes("connected_to")
    return tuple(peers["memory"]), tuple(peers["port"]), tuple(groups)


def _group(buffer: str, record: _Record) -> SwitchGroup:
    ranks = record.wholes("ranks")
    if record.whole("size") != len(ranks):
        record.wrong(record.at("size"), record.value["size"], f"{len(ranks)}, as there are ranks")
    return SwitchGroup(buffer, ranks)


def _remote_buffer(record: _Record) -> RemoteBuffer:
    types = record.items("access_channel_types", required=True)
    place = record.at("access_channel_types")
    access = tuple(record.word(one, f"{place}[{i}]", _CHANNELS[:2]) for i, one in enumerate(types))
    return RemoteBuffer(record.whole("rank"), record.one_of("type", _BUFFERS), access)


def _threadblock(number: int, record: _Record) -> PlanThreadblock:
    if record.whole("id") != number:
        record.wrong(record.at("id"), record.value["id"], f"{number}, its place in the list")
    channels = _by_type(record, "channels", "channel_type", "channel_ids", _CHANNELS)
    buffers = _by_type(
        record, "remote_buffer_refs", "access_channel_type", "remote_buffer_ids", _CHANNELS[:2]
    )
    return PlanThreadblock(
        operations=tuple(map(_operation, record.records("ops", required=True))),
        memory_channels=channels["memory"],
        port_channels=channels["port"],
        switch_channels=channels["switch"],
        memory_buffers=buffers["memory"],
        port_buffers=buffers["port"],
    )


def _by_type(
    record: _Record, key: str, type_key: str, ids_key: str, types: tuple[str, ...]
) -> Mapping[str, tuple[int, ...]]:
    """Return the channel numbers that a threadblock lists, by the type of channel."""
    found: dict[str, tuple[int, ...]] = dict.fromkeys(_CHANNELS, ())
    for one in record.records(key, required=key == "channels"):
        one.has("buff")  # the loader parses it, and uses it nowhere
        found[one.one_of(type_key, types)] += one.wholes(ids_key)
    return found


def _operation(record: _Record, *, inside: bool = False) -> Operation:
    kind = record.one_of("name", KINDS)
    if kind == "pipeline":
        return _pipeline(record, inside)
    channel_type = record.one_of("channel_type", _CHANNELS) if record.has("channel_type") else ""
    if not channel_type and kind in _CHANNEL_KINDS:
        record.refuse(f"{record.at('channel_type')} is missing; {kind} needs it")
    part, parts = _part(record)
    record.has("reduce_op")  # the loader ignores it: sums only
    return Operation(
        kind=kind,
        sources=_spans(record, "src_buff", channel_type),
        targets=_spans(record, "dst_buff", channel_type),
        channel_type=channel_type,
        channels=record.wholes("channel_ids"),
        semaphores=record.wholes("semaphore_ids"),
        barrier=record.whole("barrier_id") if kind == "barrier" else 0,
        meeting=record.whole("num_threadblocks", low=1) if kind == "barrier" else 0,
        part=part,
        parts=parts,
    )


def _pipeline(record: _Record, inside: bool) -> Operation:
    if inside:
        record.refuse(f"{record.path} is a pipeline in a pipeline; take it out")
    context = record.record("iter_context")
    loop = Loop(context.whole("unit_size", low=1), context.whole("num_chunks", low=1))
    context.close()
    inner = tuple(_operation(one, inside=True) for one in record.records("ops", required=True))
    return Operation("pipeline", loop=loop, inner=inner)


def _part(record: _Record) -> tuple[int, int]:
    if not record.has("tbg_info"):
        return 0, 1
    info = record.record("tbg_info")
    parts = info.whole("tbg_size", low=1)
    part = info.whole("tb_id", high=parts - 1)
    info.close()
    return part, parts


_PLACES: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("buffer_id", "remote", lambda channel: channel in ("memory", "port")),
    ("switch_channel_id", "switch", lambda channel: channel == "switch"),
)


def _spans(record: _Record, key: str, channel_type: str) -> tuple[Span, ...]:
    return tuple(_span(one, channel_type) for one in record.records(key))


def _span(record: _Record, channel_type: str) -> Span:
    index, size = record.whole("index"), record.whole("size", low=1)
    for key, where, fits in _PLACES:
        if record.has(key):
            record.has("type")
            if not fits(channel_type):
                record.refuse(
                    f"{record.at(key)} is given, but channel_type of its operation is "
                    f"{channel_type or 'missing'}; the loader does not take that"
                )
            reached = "port" if channel_type == "port" else where
            return Span(reached, index, size, record.whole(key))
    return Span(record.one_of("type", _BUFFERS), index, size)
