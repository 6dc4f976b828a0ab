"""The busiest threadblock of a runtime's file: the limit of a rate besides the links.

Problem: a threadblock does its steps one after another, at the rate of its machine. A connection
         between two GPUs is as fast as the threadblocks that serve it, each with its own part.
Input:   an algorithm of MSCCL or a plan of MSCCL++ that the interpreters found right; rates of a
         threadblock.
Output:  the threadblock with the largest share of the data of a call, and the rate that it allows.
Cost:    one pass.
Source:  the executors of MSCCL and MSCCL++, which divide the steps of a file among threadblocks
         before they run. Rates are those of :mod:`forestcoll.runtimes.scoring.threadblock_rates`.

A step counts once: a step that receives, reduces and sends on takes as long as a copy. Steps that
receive count, as data lies in a FIFO first. In a plan, what is written counts, or what is read from
other GPUs if that is more; signals and waits take no time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.runtimes.mscclpp.execution_plan import Operation, Plan
from forestcoll.runtimes.scoring.sent_data import RuntimeFile
from forestcoll.runtimes.scoring.threadblock_rates import MachineRate

__all__ = ["BusiestThreadblock", "busiest_threadblock"]


@dataclass(frozen=True, slots=True)
class BusiestThreadblock:
    """The threadblock that takes longest.

    Parameters
    ----------
    machine : MachineRate
    gb_s : Fraction
        The rate of a threadblock there, with the protocol of the file.
    gpu, threadblock : int
        The first of the largest share: its rank, and its number.
    share : Fraction
        What it moves, as a share of the data of a call.
    """

    machine: MachineRate
    gb_s: Fraction
    gpu: int
    threadblock: int
    share: Fraction

    @property
    def algbw_gb_s(self) -> Fraction | None:
        """The rate of the file if no link were slower; None if nothing moves."""
        return self.gb_s / self.share if self.share else None


def busiest_threadblock(
    file: RuntimeFile, machine: MachineRate, part: Fraction
) -> BusiestThreadblock:
    """Find the busiest threadblock.

    Parameters
    ----------
    part : Fraction
        A chunk's part of the data of a call.
    """
    chunks, gpu, block = max(
        ((chunks, -gpu, -block) for gpu, block, chunks in _work(file)), default=(Fraction(0), 0, 0)
    )
    protocol = "Simple" if isinstance(file, Plan) else file.protocol
    return BusiestThreadblock(machine, machine.gb_s(protocol), -gpu, -block, chunks * part)


def _work(file: RuntimeFile) -> Iterator[tuple[int, int, Fraction]]:
    """Yield the rank, the number of the threadblock, and the chunks of all its steps."""
    if isinstance(file, Plan):
        for rank, member in enumerate(file.gpus):
            for number, block in enumerate(member.threadblocks):
                yield rank, number, sum(map(_of_operation, block.operations), Fraction(0))
        return
    for rank, gpu in enumerate(file.gpus):
        for number, one in enumerate(gpu.threadblocks):
            counts = (step.count for step in one.instructions if step.kind != "nop")
            yield rank, number, Fraction(sum(counts))


def _of_operation(one: Operation) -> Fraction:
    """Return the chunks that an operation moves; of a group of threadblocks, its part."""
    written = sum(span.size for span in one.targets)
    read = sum(span.size for span in one.sources if span.where == "remote")
    inner = sum(map(_of_operation, one.inner), Fraction(0))
    return Fraction(max(written, read), one.parts) + inner
