"""Export to GOAL, the input of the simulators LogGOPSim and ATLAHS.

Problem: an established network simulator should be able to run any schedule.
Input:   a program; the size of the data; the time to add a byte.
Output:  a text: the sends, receives and sums of each rank, with the operations that each requires.
Cost:    linear in transfers and dependencies.
Source:  T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009; the
         dialect is what LogGOPSim's txt2bin reads: one statement a line, ``requires`` after both of
         its labels, 32-bit tags (the largest stands for any tag), ``calc`` in nanoseconds.

A transfer becomes a send and a receive. Its number is their tag, so they match in any order of
arrival. A sum is a ``calc`` that requires the receive. A send requires the receive of each
dependency, or the ``calc`` of a dependency that adds. Ranks are GPUs. The simulator provides the
network, so the file holds no paths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import ExportError
from forestcoll.runtimes.between_gpus import between_gpus
from forestcoll.runtimes.partition import Partition
from forestcoll.schedule.program import Program

__all__ = ["GoalOptions", "goal"]

_MOST_TRANSFERS = 2**32 - 1
_MOST_BYTES = 2**63


@dataclass(frozen=True, slots=True)
class GoalOptions:
    """Options of a GOAL export.

    Parameters
    ----------
    size_bytes : int
        Size of the data; 1 MiB by default.
    gamma_s_per_gb : Fraction or int
        Seconds in which a GPU adds a gigabyte.
    """

    size_bytes: int = 2**20
    gamma_s_per_gb: Fraction | int = 0


def goal(program: Program, size_bytes: int, gamma_s_per_gb: Fraction | int = 0) -> str:
    """Write a program in GOAL.

    Parameters
    ----------
    size_bytes : int
        Size of the data, as nccl-tests define it. Borders between units are rounded down to whole
        bytes; transfers without any byte are left out.
    gamma_s_per_gb : Fraction or int
        Seconds in which a GPU adds a gigabyte, which is nanoseconds a byte. The file lists sums
        even at zero cost.

    Returns
    -------
    str
        Deterministic: the same text for the same program.

    Raises
    ------
    UnsupportedError
        If a switch multicasts or reduces, which no rank of a simulator does.
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
    """Operations of the ranks, in the order of the transfers."""

    def __init__(self, program: Program, size_bytes: int, gamma: Fraction) -> None:
        self._program, self._gamma = program, gamma
        self._tail, self._head = program.tail.tolist(), program.head.tolist()
        self._adds = program.reduce.tolist()
        self._bytes = self._sizes(size_bytes)

    def lines(self) -> Iterator[str]:
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
