"""MSCCL XML parser for untrusted files, which keeps the line of every element.

Problem: parse an untrusted text of elements ``algo``, ``gpu``, ``tb`` and ``step``, and ``copy``.
Input:   a file, or its text.
Output:  an :class:`Algorithm`, and remarks where the executor would read the file differently.
Cost:    one pass; memory of a few times the text, which is limited to MOST_BYTES.
Source:  the parser of the current executor (Azure/msccl-executor-nccl), which knows neither types
         nor prologues and ignores a file without one of its required attributes; that of
         microsoft/msccl for ``custom``; ``ncclize`` of SCCL and TACCL for ``copy``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from forestcoll.bounded_read import expect_at_most, read_at_most
from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.msccl.algorithm import (
    ALIASES,
    COLLECTIVES,
    CUSTOM,
    PROTOCOLS,
    Algorithm,
    Gpu,
    Instruction,
    Threadblock,
)

__all__ = ["MOST_BYTES", "Reading", "Remark", "parse_algorithm", "read_algorithm", "read_leniently"]

MOST_BYTES = 64_000_000
"""Over half a million steps."""

_REMEDY = "use fewer instances"
_MOST_REMARKS = 50
_DEPTH = 16
_LONGEST = 255
_LARGEST = 2**31 - 1
_LARGEST_BYTES = 2**63 - 1
_NUMBER = re.compile("-?[0-9]{1,19}")
_INSIDE = {"algo": "", "gpu": "algo", "copy": "gpu", "tb": "gpu", "step": "tb"}
_KINDS = frozenset({"s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"})
_STEP_NUMBERS = ("s", "srcoff", "dstoff", "cnt", "depid", "deps")
_BUFFERS = frozenset({"i", "o", "s"})

_Attributes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Remark:
    """A feature of a file that the current executor does not accept.

    Parameters
    ----------
    line : int
        Of the file.
    missing : str
        The missing attribute whose value was assumed, if that is the problem.
    """

    message: str
    line: int
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A parsed algorithm, with remarks where the executor reads the file differently."""

    algorithm: Algorithm
    remarks: tuple[Remark, ...]


def read_algorithm(path: Path | str) -> Algorithm:
    """Parse a file, which must have every attribute that the executor needs.

    Raises InvalidScheduleError if the file is invalid; the message names the line, the attribute
    and the remedy.
    """
    found = read_leniently(path)
    for remark in found.remarks:
        if remark.missing:
            raise InvalidScheduleError(f"{path}:{remark.line}: {remark.message}; add it")
    return found.algorithm


def read_leniently(path: Path | str) -> Reading:
    """Parse a file that may lack attributes of ``algo``; remarks name the assumed values.

    Raises
    ------
    InvalidScheduleError
        As :func:`read_algorithm`, except for missing attributes with an assumed value.
    """
    data = read_at_most(Path(path), MOST_BYTES, InvalidScheduleError, _REMEDY)
    return parse_algorithm(data, str(path))


def parse_algorithm(text: str | bytes, name: str = "text") -> Reading:
    """Parse a text; errors refer to it by ``name``.

    Raises InvalidScheduleError as :func:`read_leniently` does.
    """
    data = text.encode() if isinstance(text, str) else text
    expect_at_most(data, MOST_BYTES, name, InvalidScheduleError, _REMEDY)
    parser = _Parser(name)
    parser.read(data)
    return parser.reading()


@dataclass(slots=True)
class _OpenBlock:
    """A threadblock under construction."""

    number: int
    send: int
    receive: int
    channel: int
    line: int
    steps: list[Instruction] = field(default_factory=list)


@dataclass(slots=True)
class _OpenGpu:
    """A GPU under construction."""

    rank: int
    chunks: tuple[int, int, int]
    line: int
    blocks: dict[int, Threadblock] = field(default_factory=dict)
    copies: list[tuple[int, int]] = field(default_factory=list)


class _Parser:
    """Event-driven parser; every error names the line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._remarks: list[Remark] = []
        self._open: list[str] = []
        self._head: dict[str, str] | None = None
        self._head_line = 0
        self._gpus: dict[int, Gpu] = {}
        self._gpu: _OpenGpu | None = None
        self._block: _OpenBlock | None = None
        self._numbers: dict[str, int] = {}
        self._has_copies = False
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.XmlDeclHandler = self._declaration
        self._parser.CharacterDataHandler = self._text

    def read(self, data: bytes) -> None:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            self._refuse(
                f"not XML: {reason}; write the file again, it may be cut off", error.lineno
            )
        if b"\t" in data:
            line = data.count(b"\n", 0, data.index(b"\t")) + 1
            self._remark("the executor does not read tabs; use spaces", line)

    def reading(self) -> Reading:
        head = self._head
        if head is None:
            self._refuse("has no element algo; this is no algorithm of MSCCL", 1)
        gpus = self._ranked(head)
        collective = self._collective(head)
        in_place = self._flag(head, "inplace", False)
        algorithm = Algorithm(
            name=self._assumed(head, "name", "unnamed"),
            protocol=self._protocol(head),
            channels=self._given(head, "nchannels", lambda: _channels(gpus)),
            chunks_per_loop=self._given(
                head, "nchunksperloop", lambda: _chunks(ALIASES.get(collective, collective), gpus)
            ),
            collective=collective,
            in_place=in_place,
            out_of_place=self._flag(head, "outofplace", not in_place),
            min_bytes=self._given(head, "minBytes", lambda: 0, _LARGEST_BYTES),
            max_bytes=self._given(head, "maxBytes", lambda: 0, _LARGEST_BYTES),
            gpus=gpus,
        )
        if not algorithm.chunks_per_loop:
            self._refuse("nchunksperloop is 0; it must be 1 or more", self._head_line)
        return Reading(algorithm, tuple(self._remarks))

    # Elements.

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "step" and self._block is not None and self._open[-1] == "tb":
            self._open.append(tag)
            self._block.steps.append(self._step(attributes))
            return
        parent, tag = self._open[-1] if self._open else "", tag[:40]
        self._open.append(tag)
        if len(self._open) > _DEPTH:
            self._refuse(f"elements within elements, {_DEPTH} deep; take out {tag}")
        if tag not in _INSIDE:
            self._unknown(tag, parent)
        elif _INSIDE[tag] != parent:
            where = f"inside {_INSIDE[tag]}" if _INSIDE[tag] else "around all others"
            self._refuse(f"{tag} stands in {parent or 'nothing'}; it must stand {where}")
        elif tag == "algo":
            self._head, self._head_line = attributes, self._line
        elif tag == "gpu":
            self._gpu = self._open_gpu(attributes)
        elif tag == "copy":
            self._copy(attributes)
        else:
            self._block = self._open_block(attributes)

    def _end(self, tag: str) -> None:
        self._open.pop()
        if tag == "tb" and self._block is not None and self._gpu is not None:
            one, self._block = self._block, None
            self._gpu.blocks[one.number] = Threadblock(
                one.send, one.receive, one.channel, tuple(one.steps), one.line
            )
        elif tag == "gpu" and self._gpu is not None:
            gpu, self._gpu = self._gpu, None
            copies = tuple(gpu.copies)
            self._gpus[gpu.rank] = Gpu(*gpu.chunks, self._numbered(gpu), gpu.line, copies)

    def _unknown(self, tag: str, parent: str) -> None:
        if not parent:
            self._refuse(f"begins with {tag}; an algorithm of MSCCL begins with algo")
        if tag == "op" and parent == "tb":
            self._refuse(
                "op is of SCCL's second form, which names one buffer of each operation; write the "
                "file with ncclize(old_format=True)"
            )
        if len(self._remarks) >= _MOST_REMARKS:
            self._refuse(f"{tag} and too many others are no elements of MSCCL; take them out")
        self._remark(f"{tag} is not an element of MSCCL; it is ignored", self._line)

    def _doctype(self, *_: object) -> NoReturn:
        self._refuse("has a document type, which may define entities; take it out")

    def _declaration(self, *_: object) -> None:
        self._remark("the executor does not read <?xml ...?>; take it out", self._line)

    def _text(self, text: str) -> None:
        if not text.isspace():
            self._refuse(f"text between elements, {text[:20].strip()!r}; take it out")

    def _open_gpu(self, attributes: _Attributes) -> _OpenGpu:
        rank = self._number(attributes, "id", "gpu", 0)
        if rank in self._gpus:
            self._refuse(f"gpu {rank} is there twice; number GPUs from 0 up")
        chunks = (
            self._number(attributes, "i_chunks", "gpu", 0),
            self._number(attributes, "o_chunks", "gpu", 0),
            self._number(attributes, "s_chunks", "gpu", 0),
        )
        return _OpenGpu(rank, chunks, self._line)

    def _open_block(self, attributes: _Attributes) -> _OpenBlock:
        number = self._number(attributes, "id", "tb", 0)
        if self._gpu is not None and number in self._gpu.blocks:
            self._refuse(f"tb {number} is there twice in its GPU; number them from 0 up")
        return _OpenBlock(
            number,
            self._number(attributes, "send", "tb"),
            self._number(attributes, "recv", "tb"),
            self._number(attributes, "chan", "tb"),
            self._line,
        )

    def _copy(self, attributes: _Attributes) -> None:
        assert self._gpu is not None
        if not self._has_copies:
            self._has_copies = True
            self._remark(
                "copy is of SCCL's tools and done before all steps here; executors of MSCCL ignore "
                "it, so write a step of type cpy instead",
                self._line,
            )
        ends = (self._number(attributes, key, "copy", 0) for key in ("i_off", "o_off"))
        self._gpu.copies.append((next(ends), next(ends)))

    def _step(self, attributes: _Attributes) -> Instruction:
        assert self._block is not None
        number, source, target, count, waits_for, waits_step = self._step_numbers(attributes)
        place = len(self._block.steps)
        if number != place:
            self._remark(
                f"s is {number} where it should be {place}; the executor goes by the order in the "
                "file",
                self._line,
            )
        if count < 0:
            self._wrong(attributes, "cnt", "step", "0 or more")
        if attributes.get("type") not in _KINDS:
            self._wrong(attributes, "type", "step", "one of " + ", ".join(sorted(_KINDS)))
        for buffer in ("srcbuf", "dstbuf"):
            if attributes.get(buffer) not in _BUFFERS:
                self._wrong(attributes, buffer, "step", "i, o or s")
        if attributes.get("hasdep") not in ("0", "1"):
            self._wrong(attributes, "hasdep", "step", "0 or 1")
        return Instruction(
            attributes["type"],
            attributes["srcbuf"],
            source,
            attributes["dstbuf"],
            target,
            count,
            waits_for,
            waits_step,
            attributes["hasdep"] == "1",
            self._line,
        )

    def _step_numbers(self, attributes: _Attributes) -> list[int]:
        """Return the integers of a step; a cache holds most of them."""
        known = self._numbers
        try:
            return [known[attributes[key]] for key in _STEP_NUMBERS]
        except KeyError:
            return [self._number(attributes, key, "step") for key in _STEP_NUMBERS]

    # All of it.

    def _ranked(self, head: dict[str, str]) -> tuple[Gpu, ...]:
        ranks = sorted(self._gpus)
        due = self._given(head, "ngpus", lambda: len(ranks))
        if not due or due != len(ranks) or ranks[-1] != due - 1:
            self._refuse(
                f"ngpus is {due} and there are the GPUs {_in_brief(ranks)}; there must be 0 to "
                "ngpus - 1, and one at least",
                self._head_line,
            )
        return tuple(self._gpus[rank] for rank in ranks)

    def _numbered(self, gpu: _OpenGpu) -> tuple[Threadblock, ...]:
        numbers = sorted(gpu.blocks)
        if numbers and numbers[-1] != len(numbers) - 1:
            self._refuse(
                f"gpu {gpu.rank} has the threadblocks {_in_brief(numbers)}; number them from 0 up, "
                "leaving out none",
                gpu.line,
            )
        return tuple(gpu.blocks[number] for number in numbers)

    # Attributes.

    def _number(
        self,
        attributes: _Attributes,
        key: str,
        tag: str,
        least: int = -1,
    ) -> int:
        text = attributes.get(key)
        if text is None:
            self._wrong(attributes, key, tag, "a whole number")
        number = self._numbers.get(text)
        if number is None:
            if not _NUMBER.fullmatch(text):
                self._wrong(attributes, key, tag, "a whole number")
            number = int(text)
            if -1 <= number <= _LARGEST and len(self._numbers) < 2**16:
                self._numbers[text] = number
        if not least <= number <= _LARGEST:
            self._wrong(attributes, key, tag, f"from {least} to {_LARGEST}")
        return number

    def _given(
        self, head: _Attributes, key: str, assumed: Callable[[], int], most: int = _LARGEST
    ) -> int:
        if key in head:
            return self._head_number(head, key, most)
        value = assumed()
        self._missing(key, str(value))
        return value

    def _head_number(self, head: _Attributes, key: str, most: int) -> int:
        text = head[key]
        if not _NUMBER.fullmatch(text) or not 0 <= int(text) <= most:
            self._refuse(
                f"{key} of algo is {text[:40]!r}; it must be a whole number from 0 to {most}",
                self._head_line,
            )
        return int(text)

    def _assumed(self, head: _Attributes, key: str, value: str) -> str:
        if key not in head:
            self._missing(key, value)
        if len(head.get(key, value)) > _LONGEST:
            self._refuse(f"{key} of algo has over {_LONGEST} letters; shorten it", self._head_line)
        return head.get(key, value)

    def _collective(self, head: _Attributes) -> str:
        if "coll" not in head:
            self._missing("coll", CUSTOM)
            return CUSTOM
        found = self._one_of(head, "coll", (*COLLECTIVES, *ALIASES, CUSTOM))
        taken = ALIASES.get(found, "those of NCCL" if found == CUSTOM else found)
        if taken != found:
            self._remark(f"coll is {found}; the executor takes {taken} only", self._head_line)
        return found

    def _flag(self, head: _Attributes, key: str, value: bool) -> bool:
        text = self._assumed(head, key, str(int(value)))
        if text not in ("0", "1"):
            self._refuse(f"{key} of algo is {text[:40]!r}; it must be 0 or 1", self._head_line)
        return text == "1"

    def _protocol(self, head: _Attributes) -> str:
        return self._one_of({"proto": self._assumed(head, "proto", "Simple")}, "proto", PROTOCOLS)

    def _one_of(self, head: _Attributes, key: str, values: Sequence[str]) -> str:
        text = head.get(key)
        if text is None or text not in values:
            found = "missing" if text is None else repr(text[:40])
            allowed = ", ".join(values)
            self._refuse(f"{key} of algo is {found}; it must be one of {allowed}", self._head_line)
        return text

    # Words.

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _missing(self, key: str, value: str) -> None:
        message = f"algo has no {key}, so the executor ignores the file; {value} is assumed"
        self._remarks.append(Remark(message, self._head_line, key))

    def _remark(self, message: str, line: int) -> None:
        if len(self._remarks) < _MOST_REMARKS:
            self._remarks.append(Remark(message, line))

    def _wrong(self, attributes: _Attributes, key: str, tag: str, due: str) -> NoReturn:
        found = repr(attributes[key][:40]) if key in attributes else "missing"
        self._refuse(f"{key} of {tag} is {found}; it must be {due}")

    def _refuse(self, message: str, line: int | None = None) -> NoReturn:
        raise InvalidScheduleError(
            f"{self._name}:{self._line if line is None else line}: {message}"
        )


def _channels(gpus: Sequence[Gpu]) -> int:
    return 1 + max((block.channel for gpu in gpus for block in gpu.threadblocks), default=0)


def _chunks(collective: str, gpus: Sequence[Gpu]) -> int:
    """Chunks of all GPUs together if they exceed the smaller buffer."""
    if collective == "allgather":
        return max(gpu.output_chunks for gpu in gpus)
    if collective == "reducescatter":
        return max(gpu.input_chunks for gpu in gpus)
    return max(max(gpu.input_chunks, gpu.output_chunks) for gpu in gpus)


def _in_brief(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown}, ... {numbers[-1]} ({len(numbers)})" if len(numbers) > 8 else shown or "none"
