"""Rank plans from a program: deadlock-free rounds of sends and receives.

Problem: processes execute a program by its own rule, and never wait for each other in a cycle.
Input:   a program; the number of elements of the data.
Output:  a plan for each rank.
Cost:    linear in transfers, dependencies and ranks.
Source:  ours. A transfer is in the round after its last dependency, at both of its ends. So its
         data has arrived in an earlier round. All ranks use one order of rounds and post all
         messages of a round at once, so the first unfinished round can always proceed. A rank plays
         each switch that multicasts or reduces: rank i modulo N for the i-th switch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from forestcoll.errors import InvalidParameterError, VerificationError
from forestcoll.runtimes.execution.rank_plan import OWN, Message, Part, RankPlan, Round
from forestcoll.runtimes.partition import Partition
from forestcoll.schedule.program import Program

__all__ = ["rank_plans"]

_FROM_ROOT = ("allgather", "broadcast", "all-to-all")
_TO_ROOT = ("reduce-scatter", "reduce")


def rank_plans(program: Program, elements: int) -> list[RankPlan]:
    """Return the plan of each rank.

    Parameters
    ----------
    program : Program
        It may be wrong: an execution reveals errors in its data.
    elements : int
        Of the data, as :class:`forestcoll.schedule.sends.Chunks` defines it.

    Returns
    -------
    list of RankPlan
        By rank. Transfers without elements are left out.

    Raises
    ------
    InvalidParameterError
        If there is no element.
    VerificationError
        If a transfer depends on a later one, or on one that ends elsewhere than it starts.

    Examples
    --------
    >>> import forestcoll
    >>> ring = forestcoll.generate("ring:nodes=3,bidirectional=false").schedule
    >>> plan = rank_plans(forestcoll.compile_program(ring), elements=3)[0]
    >>> [[message.peer for message in one.sends] for one in plan.rounds]
    [[1], [1]]
    """
    if elements < 1:
        raise InvalidParameterError(f"data of {elements} elements cannot be sent; take 1 or more")
    return _Planner(program, elements).plans()


@dataclass(frozen=True, slots=True)
class _Interval:
    """The interval that a transfer moves, in elements of its chunk."""

    begin: int
    end: int
    source: int
    add: bool


class _Planner:
    """State that the plans of all ranks share."""

    def __init__(self, program: Program, elements: int) -> None:
        self.program = program
        self.cut = Partition(program, elements)
        self.ranks = program.topology.num_compute
        self.given = [self._places(self._has_at_first(rank)) for rank in range(self.ranks)]
        self.due = [self._places(self._has_at_last(rank)) for rank in range(self.ranks)]
        self.tail, self.head = program.tail.tolist(), program.head.tolist()
        self.chunk = program.chunk.tolist()
        self.intervals = [self._interval(transfer) for transfer in range(program.num_transfers)]

    def plans(self) -> list[RankPlan]:
        rounds = self._rounds()
        sums = {which: [self._sum(p) for p in getattr(self, which)] for which in ("given", "due")}
        return [
            RankPlan(
                rank=rank,
                collective=self.program.collective,
                root=self._root(),
                given=tuple(sums["given"]),
                due=tuple(sums["due"]),
                sent=self._between(rank, of="root", by="target"),
                received=self._between(rank, of="target", by="root"),
                rounds=rounds[rank],
                result=self._result(rank),
            )
            for rank in range(self.ranks)
        ]

    def _has_at_first(self, rank: int) -> Iterable[int]:
        """Chunks of which a rank has a part first, in their order."""
        everyone = self.program.collective not in _FROM_ROOT
        root = self.program.chunks.root
        return (chunk for chunk in self.cut.order if everyone or root[chunk] == rank)

    def _has_at_last(self, rank: int) -> Iterable[int]:
        """Chunks that a rank must have whole last, in their order."""
        chunks, collective = self.program.chunks, self.program.collective
        whose = chunks.target if collective == "all-to-all" else chunks.root
        everyone = collective not in (*_TO_ROOT, "all-to-all")
        return (chunk for chunk in self.cut.order if everyone or whose[chunk] == rank)

    def _places(self, chunks: Iterable[int]) -> dict[int, int]:
        order = list(chunks)
        begins = accumulate(map(self.cut.length, order), initial=0)
        return dict(zip(order, begins, strict=False))

    def _sum(self, places: dict[int, int]) -> int:
        return sum(map(self.cut.length, places))

    def _root(self) -> int:
        rooted = self.program.collective in ("broadcast", "reduce") and len(self.program.chunks)
        return int(self.program.chunks.root[0]) if rooted else -1

    def _between(self, rank: int, *, of: str, by: str) -> tuple[int, ...]:
        """Count the elements of a rank in an all-to-all, by the rank at the other end."""
        if self.program.collective != "all-to-all":
            return ()
        counts = [0] * self.ranks
        own, other = (getattr(self.program.chunks, end).tolist() for end in (of, by))
        for chunk in self.cut.order:
            counts[other[chunk]] += self.cut.length(chunk) if own[chunk] == rank else 0
        return tuple(counts)

    def _interval(self, transfer: int) -> _Interval:
        first, amount = int(self.program.first[transfer]), int(self.program.amount[transfer])
        begin, end = self.cut.span(self.chunk[transfer], first, amount)
        return _Interval(begin, end, transfer, bool(self.program.reduce[transfer]))

    def _player(self, end: int) -> int:
        """The rank that plays an end: the GPU itself, or the rank that plays the switch."""
        return end if end < self.ranks else (end - self.ranks) % self.ranks

    def _rounds(self) -> list[tuple[Round, ...]]:
        depth: list[int] = []
        sends, receives = _by_rank_and_round(self.ranks), _by_rank_and_round(self.ranks)
        for transfer, moved in enumerate(self.intervals):
            needs = self.program.dependencies(transfer).tolist()
            self._check(transfer, needs)
            depth.append(1 + max((depth[need] for need in needs), default=-1))
            if moved.begin == moved.end:
                continue
            tail, head = self._player(self.tail[transfer]), self._player(self.head[transfer])
            length, parts = moved.end - moved.begin, self._brought(transfer, needs)
            sends[tail][depth[-1]].append(Message(transfer, head, length, parts))
            receives[head][depth[-1]].append(Message(transfer, tail, length))
        return [_in_order(one, other) for one, other in zip(receives, sends, strict=True)]

    def _check(self, transfer: int, needs: list[int]) -> None:
        start = self.chunk[transfer], self.tail[transfer]
        for need in needs:
            # A round takes only data of earlier rounds; a later dependency would wait for itself.
            if need >= transfer:
                raise VerificationError(f"transfer {transfer} needs {need}, which is not before it")
            if (self.chunk[need], self.head[need]) != start:
                raise VerificationError(
                    f"transfer {transfer} takes chunk {start[0]} from end {start[1]}, but "
                    f"{need}, which it needs, brings chunk {self.chunk[need]} to {self.head[need]}"
                )

    def _brought(self, transfer: int, needs: list[int]) -> tuple[Part, ...]:
        """The content of a transfer: its sender's own part, with its dependencies applied."""
        moved, chunk, tail = self.intervals[transfer], self.chunk[transfer], self.tail[transfer]
        applied = [self.intervals[need] for need in needs]
        own = self.given[tail].get(chunk) if tail < self.ranks else None
        return self._applied(own, applied, moved.begin, moved.end, at=0)

    def _result(self, rank: int) -> tuple[Part, ...]:
        """The result of a rank: its own part, with all received transfers applied."""
        came = defaultdict(list)
        for transfer, head in enumerate(self.head):
            if head == rank:
                came[self.chunk[transfer]].append(self.intervals[transfer])
        return tuple(
            part
            for chunk, at in self.due[rank].items()
            for part in self._applied(
                self.given[rank].get(chunk), came[chunk], 0, self.cut.length(chunk), at
            )
        )

    @staticmethod
    def _applied(
        own: int | None, applied: list[_Interval], begin: int, end: int, at: int
    ) -> tuple[Part, ...]:
        """Apply intervals in their order to the own part, from ``begin`` to ``end`` of a chunk."""
        parts: list[Part] = []
        if own is not None and begin < end:
            parts.append(Part(OWN, own + begin, at, end - begin))
        for one in applied:
            low, high = max(begin, one.begin), min(end, one.end)
            if low < high:
                place = at + low - begin
                new = Part(one.source, low - one.begin, place, high - low, one.add)
                parts = [part for part in parts if not _hides(new, part)] + [new]
        return tuple(parts)


def _by_rank_and_round(ranks: int) -> list[defaultdict[int, list[Message]]]:
    return [defaultdict(list) for _ in range(ranks)]


def _hides(new: Part, old: Part) -> bool:
    """Whether a newer part overwrites an older one completely."""
    return not new.add and new.at <= old.at and old.at + old.length <= new.at + new.length


def _in_order(
    receives: dict[int, list[Message]], sends: dict[int, list[Message]]
) -> tuple[Round, ...]:
    """Return the rounds of a rank, without empty ones."""
    return tuple(
        Round(tuple(receives.get(depth, ())), tuple(sends.get(depth, ())))
        for depth in sorted({*receives, *sends})
    )
