"""Programs in GOAL, the input of the simulators LogGOPSim and ATLAHS.

Problem: a simulator of networks that others trust should read any schedule.
Input:   a program; the size of the data; what a byte costs to add.
Output:  a text: for each rank its sends, receives and sums, and what each of them requires.
Cost:    linear in transfers and needs.
Source:  T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009; the
         dialect is what LogGOPSim's txt2bin reads: one statement a line, ``requires`` after both of
         its labels, 32-bit tags (the largest stands for any tag), ``calc`` in nanoseconds.

A transfer is a send and a receive with its own number as their tag, so each finds the other however
late it is. What it adds is a ``calc`` that requires the receive. A send requires, of each transfer
that its own needs, the receive, or the calc if that one adds. Ranks are the GPUs; networks are the
simulator's, so paths are not in the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import ExportError
from forestcoll.schedule.export.between_gpus import between_gpus
from forestcoll.schedule.export.partition import Partition
from forestcoll.schedule.program import Program

__all__ = ["GoalOptions", "goal"]

_MOST_TRANSFERS = 2**32 - 1
_MOST_BYTES = 2**63


@dataclass(frozen=True, slots=True)
class GoalOptions:
    """What a text in GOAL is for.

    Parameters
    ----------
    size_bytes : int
        Of the data; 1 MiB if not given.
    gamma_s_per_gb : Fraction or int
        Seconds in which a GPU adds a gigabyte.
    """

    size_bytes: int = 2**20
    gamma_s_per_gb: Fraction | int = 0


def goal(program: Program, size_bytes: int, gamma_s_per_gb: Fraction | int = 0) -> str:
    """Write a program in GOAL.

    Parameters
    ----------
    program : Program
    size_bytes : int
        Of the data, as nccl-tests define it. Where units do not come out as whole bytes, borders
        are rounded down; transfers without any byte are left out.
    gamma_s_per_gb : Fraction or int
        Seconds in which a GPU adds a gigabyte, which is nanoseconds a byte. Sums are in the file
        also if they cost nothing.

    Returns
    -------
    str
        The same for the same program.

    Raises
    ------
    UnsupportedError
        If a switch copies or adds, which no rank of a simulator does.
    ExportError
        If there is no data, or more than GOAL can number.

    Examples
    --------
    >>> import forestcoll
    >>> ring = forestcoll.generate("ring:nodes=2,bidirectional=false")
    >>> print(goal(forestcoll.compile_program(ring), size_bytes=10), end="")
    num_ranks 2
    <BLANKLINE>
    rank 0 {
    l1: send 5b to 1 tag 0
    l2: recv 5b from 1 tag 1
    }
    <BLANKLINE>
    rank 1 {
    l1: recv 5b from 0 tag 0
    l2: send 5b to 0 tag 1
    }
    """
    _check(program, size_bytes, gamma_s_per_gb)
    program = between_gpus(program)
    return "\n".join(_Writer(program, size_bytes, Fraction(gamma_s_per_gb)).lines()) + "\n"


def _check(program: Program, size_bytes: int, gamma: Fraction | int) -> None:
    if not 0 < size_bytes < _MOST_BYTES:
        raise ExportError(f"the size is {size_bytes} bytes; GOAL takes 1 to 2^63 - 1")
    if gamma < 0:
        raise ExportError(f"gamma is {gamma} s/GB; adding takes 0 or more")
    if program.num_transfers >= _MOST_TRANSFERS:
        raise ExportError(
            f"{program.num_transfers} transfers are more than GOAL has tags, 2^32 - 1; take fewer "
            "pieces or a smaller network"
        )


class _Writer:
    """What the ranks do, in the order of the transfers."""

    def __init__(self, program: Program, size_bytes: int, gamma: Fraction) -> None:
        self._program, self._gamma = program, gamma
        self._tail, self._head = program.tail.tolist(), program.head.tolist()
        self._adds = program.reduce.tolist()
        self._bytes = self._sizes(size_bytes)

    def lines(self) -> Iterator[str]:
        """Write it all."""
        ranks = self._program.topology.num_compute
        done_by: list[list[int]] = [[] for _ in range(ranks)]
        for transfer, amount in enumerate(self._bytes):
            if amount:
                done_by[self._tail[transfer]].append(transfer)
                done_by[self._head[transfer]].append(transfer)
        yield f"num_ranks {ranks}"
        for rank, transfers in enumerate(done_by):
            yield ""
            yield f"rank {rank} {{"
            yield from self._of_rank(rank, transfers)
            yield "}"

    def _of_rank(self, rank: int, transfers: list[int]) -> Iterator[str]:
        label = 0
        come: dict[int, int] = {}
        for transfer in transfers:
            amount, label = self._bytes[transfer], label + 1
            if self._tail[transfer] == rank:
                yield f"l{label}: send {amount}b to {self._head[transfer]} tag {transfer}"
                needs = self._program.dependencies(transfer).tolist()
                yield from (f"l{label} requires l{come[n]}" for n in needs if n in come)
                continue
            yield f"l{label}: recv {amount}b from {self._tail[transfer]} tag {transfer}"
            if self._adds[transfer]:
                label += 1
                yield f"l{label}: calc {math.ceil(self._gamma * amount)}"
                yield f"l{label} requires l{label - 1}"
            come[transfer] = label

    def _sizes(self, size_bytes: int) -> list[int]:
        cut, program = Partition(self._program, size_bytes), self._program
        chunk, first, amount = (
            column.tolist() for column in (program.chunk, program.first, program.amount)
        )
        spans = (cut.span(*row) for row in zip(chunk, first, amount, strict=True))
        return [end - begin for begin, end in spans]
