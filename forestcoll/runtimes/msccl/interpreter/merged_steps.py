"""Merged steps: arrays of steps as the executor keeps them, without nops.

Problem: the executor has no nops: the next step takes over a nop's wait, and must have a wait
         itself. Consecutive reductions into one place become one, with the count of the last. A
         step with dependents publishes a counter that counts waits and steps.
Input:   the threadblocks of an algorithm.
Output:  an entry for each step that moves data, and for each wait.
Cost:    one pass.
Source:  the parser and the kernel of the current executor (Azure/msccl-executor-nccl).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from forestcoll.runtimes.interpretation.cells import Bools, Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind, Place
from forestcoll.runtimes.msccl.algorithm import Algorithm, Instruction, Threadblock

__all__ = ["ADDS", "BUFFERS", "KINDS", "POPS", "PUSHES", "READS", "WRITES", "MergedSteps", "merge"]

KINDS = ("s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re")
"""What moves data, in the order of the codes."""

BUFFERS = ("i", "o", "s")


def _of_kinds(*names: str) -> Bools:
    return np.array([name in names for name in KINDS])


POPS = _of_kinds("r", "rcs", "rrs", "rrc", "rrcs")
"""By code: takes from its FIFO."""
PUSHES = _of_kinds("s", "rcs", "rrs", "rrcs")
READS = _of_kinds("s", "rrs", "rrc", "rrcs", "cpy", "re")
"""By code: reads its source."""
WRITES = _of_kinds("r", "rcs", "rrc", "rrcs", "cpy", "re")
ADDS = _of_kinds("rrs", "rrc", "rrcs", "re")
"""By code: adds its source to what came, or to its target."""

_CODES = {name: code for code, name in enumerate(KINDS)}
_BUFFER_CODES = {name: code for code, name in enumerate(BUFFERS)}
_OF_BLOCKS = ("block_gpu", "block_number", "send", "receive", "channel")
_OF_STEPS = (
    *("block", "number", "line", "kind", "source", "source_offset", "target", "target_offset"),
    *("count", "counter", "sets_flag"),
)
_OF_WAITS = ("wait_step", "wait_block", "wait_counter")


@dataclass(frozen=True, slots=True)
class MergedSteps:
    """The steps of all threadblocks of all GPUs, one after another.

    Parameters
    ----------
    block_gpu, block_number, send, receive, channel : ndarray (blocks,)
        Of each threadblock.
    block : ndarray (steps,)
        The threadblock of each step.
    number, line, kind, source, source_offset, target, target_offset, count : ndarray (steps,)
        ``number`` is its position in the file; kinds and buffers are codes.
    counter : ndarray (steps,)
        The executor's number of the step.
    sets_flag : ndarray (steps,)
        Whether the step signals others when it is done.
    wait_step, wait_block, wait_counter : ndarray (waits,)
        The waiting step, the threadblock that it waits for (-1: missing), and the counter that
        this threadblock must reach.
    findings : tuple of Finding
        Features that the executor rejects.
    """

    block_gpu: Ints
    block_number: Ints
    send: Ints
    receive: Ints
    channel: Ints
    block: Ints
    number: Ints
    line: Ints
    kind: Ints
    source: Ints
    source_offset: Ints
    target: Ints
    target_offset: Ints
    count: Ints
    counter: Ints
    sets_flag: Bools
    wait_step: Ints
    wait_block: Ints
    wait_counter: Ints
    findings: tuple[Finding, ...]

    @property
    def gpu(self) -> Ints:
        """The GPU of each step."""
        return self.block_gpu[self.block]

    def place(self, step: int | np.int64) -> Place:
        """Return the position of a step in the file."""
        block = self.block[step]
        return Place(
            int(self.block_gpu[block]),
            int(self.block_number[block]),
            int(self.number[step]),
            int(self.line[step]),
        )

    def name(self, step: int | np.int64) -> str:
        """Return the kind and position of a step, in words."""
        return f"{KINDS[self.kind[step]]} of {self.place(step)}"


def merge(algorithm: Algorithm) -> MergedSteps:
    """Return the steps of all threadblocks as the executor keeps them."""
    rows: list[tuple[int, ...]] = []
    waits: list[tuple[int, int, int]] = []
    findings: list[Finding] = []
    blocks: list[tuple[int, ...]] = []
    for rank, gpu in enumerate(algorithm.gpus):
        first = len(blocks)
        for number, block in enumerate(gpu.threadblocks):
            merger = _Merger(first, len(gpu.threadblocks), len(blocks), rank, number)
            merger.merge(block, rows, waits)
            findings += merger.findings
            blocks.append((rank, number, block.send, block.receive, block.channel))
    fields: dict[str, Any] = {
        **dict(zip(_OF_BLOCKS, _columns(blocks, len(_OF_BLOCKS)), strict=True)),
        **dict(zip(_OF_STEPS, _columns(rows, len(_OF_STEPS)), strict=True)),
        **dict(zip(_OF_WAITS, _columns(waits, len(_OF_WAITS)), strict=True)),
    }
    fields["sets_flag"] = fields["sets_flag"] > 0
    return MergedSteps(**fields, findings=tuple(findings))


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> Any:
    return np.array(rows, dtype=np.int64).reshape(-1, width).T.copy()


@dataclass(slots=True)
class _Merger:
    """Merges one threadblock's steps."""

    first: int
    blocks: int
    block: int
    gpu: int
    number: int
    findings: list[Finding]
    pending: list[tuple[int, int]]
    counter: int
    run: int

    def __init__(self, first: int, blocks: int, block: int, gpu: int, number: int) -> None:
        self.first, self.blocks, self.block = first, blocks, block
        self.gpu, self.number = gpu, number
        self.findings, self.pending = [], []
        self.counter, self.run = 0, 0

    def merge(
        self, block: Threadblock, rows: list[tuple[int, ...]], waits: list[tuple[int, int, int]]
    ) -> None:
        before: Instruction | None = None
        for number, one in enumerate(block.instructions):
            if one.waits_for >= 0:
                self.pending.append((one.waits_for, one.waits_step))
            if one.kind == "nop":
                self._check_nop(one, number)
                continue
            if not _is_continued(before, one):
                self._close(rows)
                waits += self._waits(one, number, len(rows))
            self.run = self.run + 1 if one.kind == "re" else 0
            rows.append(self._row(one, number))
            self.counter += 1
            before = one
        self._close(rows)

    def _row(self, one: Instruction, number: int) -> tuple[int, ...]:
        return (
            self.block,
            number,
            one.line,
            _CODES[one.kind],
            _BUFFER_CODES[one.source],
            one.source_offset,
            _BUFFER_CODES[one.target],
            one.target_offset,
            one.count,
            self.counter,
            int(one.is_waited_for),
        )

    def _waits(self, one: Instruction, number: int, row: int) -> Iterator[tuple[int, int, int]]:
        """Attach all pending waits to a step, and number it as the executor does."""
        if self.pending and one.waits_for < 0:
            place = Place(self.gpu, self.number, number, one.line)
            message = (
                f"{place}: follows a nop that waits, but waits for nothing itself, so the executor "
                "ignores the file; give it one of the nop's waits"
            )
            self.findings.append(Finding.at(Kind.DEPENDENCY, message, place))
        # The step itself does the first wait; each other one takes a number of its own.
        self.counter += max(0, len(self.pending) - 1)
        for block, counter in self.pending:
            there = block < self.blocks
            yield row, self.first + block if there else -1, counter
        self.pending.clear()

    def _close(self, rows: list[tuple[int, ...]]) -> None:
        """End a run of reductions into one place: all of them get the last one's count."""
        for row in range(len(rows) - self.run, len(rows) - 1):
            rows[row] = (*rows[row][:8], rows[-1][8], *rows[row][9:])
        self.run = 0

    def _check_nop(self, one: Instruction, number: int) -> None:
        if one.waits_for < 0:
            place = Place(self.gpu, self.number, number, one.line)
            message = (
                f"{place}: a nop that waits for nothing; the executor does not count it, so steps "
                "after it are waited for under a number that is one too high"
            )
            self.findings.append(Finding.at(Kind.NOTE, message, place))


def _is_continued(before: Instruction | None, one: Instruction) -> bool:
    return (
        before is not None
        and before.kind == one.kind == "re"
        and not before.is_waited_for
        and one.waits_for < 0
        and (before.target, before.target_offset) == (one.target, one.target_offset)
        and before.source == one.source
    )
