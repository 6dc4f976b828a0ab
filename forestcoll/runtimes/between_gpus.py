"""Join transfers to and from switches into transfers between GPUs.

Problem: runtimes know GPUs only, but some methods send to switches and from them.
Input:   a program.
Output:  the same program with transfers between GPUs only, over the same links.
Cost:    linear in transfers, dependencies, and the parts that switches divide transfers into.
Source:  ours. A transfer from a switch consists of parts of its dependencies, traced back to the
         GPUs that sent them. No switch may send a unit twice; then each part becomes one transfer.
         It depends on what its first GPU needed, and arrives when it reaches its last GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from forestcoll.errors import UnsupportedError
from forestcoll.schedule.multicast import Walks
from forestcoll.schedule.program import Program, Starts

__all__ = ["between_gpus"]


@dataclass(frozen=True, slots=True)
class _Part:
    """Units that came over one path from a GPU.

    Parameters
    ----------
    origin : int
        The transfer with which they left the GPU.
    paths : tuple of int
        The paths that they have taken since.
    """

    first: int
    end: int
    origin: int
    paths: tuple[int, ...]

    def within(self, first: int, end: int) -> _Part | None:
        """Return the part between two units, or None if it is empty."""
        first, end = max(first, self.first), min(end, self.end)
        return replace(self, first=first, end=end) if first < end else None


def between_gpus(program: Program) -> Program:
    """Join the transfers to and from switches into transfers between GPUs.

    Raises UnsupportedError if a switch multicasts or reduces.

    Parameters
    ----------
    program : Program
        Of a correct schedule.

    Returns
    -------
    Program
        The same object if no transfer begins or ends at a switch. Data that a switch receives and
        does not forward is left out.

    Examples
    --------
    >>> import forestcoll
    >>> program = forestcoll.compile_program(forestcoll.generate("paper_example"))
    >>> between_gpus(program) is program  # forests cross switches on paths from GPU to GPU
    True
    """
    gpus = program.topology.num_compute
    if (program.tail < gpus).all() and (program.head < gpus).all():
        return program
    return _Joining(program).joined()


class _Joining:
    """Units that arrived at switches and their paths, by transfer."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._gpus = program.topology.num_compute
        self._tail, self._head = program.tail.tolist(), program.head.tolist()
        self._first = program.first.tolist()
        ends = program.first + program.amount
        self._end = ends.tolist()
        self._waiting: dict[int, list[_Part]] = {}
        """By transfer to a switch, the parts that have not been sent on."""
        self._came: dict[int, tuple[_Part, ...]] = {}
        """By transfer to a switch, all of its parts."""

    def joined(self) -> Program:
        parts: list[_Part] = []
        last: list[int] = []
        for transfer, head in enumerate(self._head):
            found = list(self._parts(transfer))
            if head < self._gpus:
                parts += found
                last += [transfer] * len(found)
            else:
                self._came[transfer] = tuple(found)
                self._waiting[transfer] = found
        return self._written(parts, last)

    def _parts(self, transfer: int) -> Iterator[_Part]:
        """Yield the parts of a transfer, by unit; remove them from the switch where they wait."""
        first, end = self._first[transfer], self._end[transfer]
        path = int(self._program.path[transfer])
        if self._tail[transfer] < self._gpus:
            yield _Part(first, end, transfer, (path,))
            return
        needs = self._program.dependencies(transfer).tolist()
        found = sorted(
            (one for need in needs for one in self._taken(need, first, end)),
            key=lambda one: one.first,
        )
        for one in found:
            # Two transfers brought this unit, and the switch sends it once.
            if one.first < first:
                raise self._not_passed_on(self._tail[transfer], "reduces data")
            if one.first > first:
                break
            first = one.end
            yield replace(one, paths=(*one.paths, path))
        if first != end:
            raise AssertionError("a switch sends on what has not come to it")

    def _taken(self, need: int, first: int, end: int) -> list[_Part]:
        """Remove units from those that one transfer brought."""
        common = [part for one in self._came[need] if (part := one.within(first, end))]
        left: list[_Part] = []
        taken: list[_Part] = []
        for one in self._waiting[need]:
            some = one.within(first, end), one.within(one.first, first), one.within(end, one.end)
            taken += [part for part in some[:1] if part]
            left += [part for part in some[1:] if part]
        # Units that came, but wait no longer, were sent on before.
        if sum(one.end - one.first for one in taken) != sum(p.end - p.first for p in common):
            raise self._not_passed_on(self._head[need], "multicasts data")
        self._waiting[need] = left
        return taken

    def _not_passed_on(self, end: int, does: str) -> UnsupportedError:
        topology = self._program.topology
        return UnsupportedError(
            f"unsupported: switch {topology.nodes[topology.ends[end]].name} {does} in this "
            "schedule, and the format has transfers between GPUs only; make it without multicast"
        )

    def _written(self, parts: list[_Part], last: list[int]) -> Program:
        """Write each part as a transfer: sent with its first hop, received with its last hop."""
        program = self._program
        origin = np.array([part.origin for part in parts], dtype=np.int64)
        first = np.array([part.first for part in parts], dtype=np.int64)
        end = np.array([part.end for part in parts], dtype=np.int64)
        needs = _needs(program, parts, last)
        counts = np.array([0, *map(len, needs)], dtype=np.int64)
        flat = [need for each in needs for need in each]
        starts = program.starts
        return replace(
            program,
            chunk=program.chunk[origin],
            first=first,
            amount=end - first,
            tail=program.tail[origin],
            head=program.head[last],
            path=np.arange(len(parts), dtype=np.int32),
            reduce=program.reduce[last],
            first_need=np.cumsum(counts),
            need=np.array(flat, dtype=np.int32),
            message=program.message[origin],
            step=program.step[origin],
            paths=_end_to_end(program.paths, parts),
            starts=starts and Starts(starts.size_bytes, starts.tick_us, starts.tick[origin]),
        )


def _needs(program: Program, parts: list[_Part], last: list[int]) -> list[list[int]]:
    """Return the dependencies of each part: those of its origin that share units with it."""
    come: dict[int, list[int]] = {}
    for number, transfer in enumerate(last):
        come.setdefault(transfer, []).append(number)
    return [
        sorted(
            number
            for need in program.dependencies(part.origin).tolist()
            for number in come[need]
            if parts[number].within(part.first, part.end)
        )
        for part in parts
    ]


def _end_to_end(paths: Walks, parts: list[_Part]) -> Walks:
    ways: list[tuple[int, ...]] = []
    for part in parts:
        way = paths.nodes(part.paths[0])
        for path in part.paths[1:]:
            way += paths.nodes(path)[1:]
        ways.append(way)
    lengths = np.array([0, *map(len, ways)], dtype=np.int64)
    nodes = np.array([node for way in ways for node in way], dtype=np.int32)
    return Walks(np.cumsum(lengths), nodes)
