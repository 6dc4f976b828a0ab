"""A small simulator of GOAL with the rules of LogGOPSim as ATLAHS has it (o = g = O = 0, eager).

- An operation may begin when all that it requires has ended.
- A send begins when its NIC is free, and occupies it for (size - 1) G. It ends at once. Its message
  arrives L and (size - 1) G after the begin.
- A receive ends when its message has arrived and its CPU is free. The receiving NIC limits nothing.
- A calc begins when its CPU is free, and occupies it for its nanoseconds.
- The makespan is the end of the last receive or calc.
- What happens at one time has no order. Here a seeded generator draws it.
"""

import heapq
import random
from collections import defaultdict
from dataclasses import dataclass, field

from tests.runtimes.simulators.read_goal import Operation, Rank

_Place = tuple[int, str]


@dataclass
class _Run:
    ranks: list[Rank]
    latency: float
    per_byte: float
    events: list[tuple[float, float, str, _Place]] = field(default_factory=list)
    free_nic: defaultdict[tuple[int, int], float] = field(
        default_factory=lambda: defaultdict(float)
    )
    free_cpu: defaultdict[tuple[int, int], float] = field(
        default_factory=lambda: defaultdict(float)
    )
    arrived: set[tuple[int, int, int]] = field(default_factory=set)
    posted: dict[tuple[int, int, int], _Place] = field(default_factory=dict)
    ties: random.Random = field(default_factory=lambda: random.Random(1))
    end: float = 0
    done: int = 0

    def push(self, time: float, kind: str, place: _Place) -> None:
        heapq.heappush(self.events, (time, self.ties.random(), kind, place))

    def run(self) -> float:
        waiting = {
            (number, label): len(needs)
            for number, rank in enumerate(self.ranks)
            for label, needs in rank.requires.items()
        }
        dependents: defaultdict[_Place, list[_Place]] = defaultdict(list)
        for number, rank in enumerate(self.ranks):
            for label, needs in rank.requires.items():
                for need in needs:
                    dependents[number, need].append((number, label))
        for place, many in waiting.items():
            if not many:
                self.push(0, "begin", place)
        while self.events:
            time, _, kind, place = heapq.heappop(self.events)
            ended = self._step(time, kind, place)
            if ended is None:
                continue
            self.done += 1
            for after in dependents[ended]:
                waiting[after] -= 1
                if not waiting[after]:
                    self.push(time, "begin", after)
        assert self.done == len(waiting), "a deadlock"
        return self.end

    def _step(self, time: float, kind: str, place: _Place) -> _Place | None:
        """Return the operation that ends now, or None."""
        operation = self.ranks[place[0]].operations[place[1]]
        if kind == "end":
            return place
        if kind == "arrive":
            return self._arrive(time, place, operation)
        if operation.kind == "send":
            return self._send(time, place, operation)
        if operation.kind == "calc":
            return self._calc(time, place, operation)
        message = (operation.peer, place[0], operation.tag)
        self.posted[message] = place
        return self._receive(time, message) if message in self.arrived else None

    def _send(self, time: float, place: _Place, operation: Operation) -> _Place | None:
        nic = (place[0], operation.nic)
        if self.free_nic[nic] > time:
            self.push(self.free_nic[nic], "begin", place)
            return None
        cost = (operation.amount - 1) * self.per_byte
        self.free_nic[nic] = time + cost
        self.push(time + self.latency + cost, "arrive", place)
        return place

    def _calc(self, time: float, place: _Place, operation: Operation) -> None:
        cpu = (place[0], operation.cpu)
        if self.free_cpu[cpu] > time:
            self.push(self.free_cpu[cpu], "begin", place)
            return
        self.free_cpu[cpu] = time + operation.amount
        self.end = max(self.end, self.free_cpu[cpu])
        self.push(self.free_cpu[cpu], "end", place)

    def _arrive(self, time: float, place: _Place, operation: Operation) -> _Place | None:
        message = (place[0], operation.peer, operation.tag)
        if message not in self.posted:
            self.arrived.add(message)
            return None
        receiver = self.posted[message]
        cpu = (receiver[0], self.ranks[receiver[0]].operations[receiver[1]].cpu)
        if self.free_cpu[cpu] > time:
            self.push(self.free_cpu[cpu], "arrive", place)
            return None
        return self._receive(time, message)

    def _receive(self, time: float, message: tuple[int, int, int]) -> _Place:
        place = self.posted[message]
        cpu = (place[0], self.ranks[place[0]].operations[place[1]].cpu)
        self.free_cpu[cpu] = max(self.free_cpu[cpu], time)
        self.end = max(self.end, time)
        return place


def makespan_ns(ranks: list[Rank], arguments: str) -> float:
    """Run a file with LogGOPSim's arguments; returns nanoseconds."""
    words = arguments.split()
    given = dict(zip(words[::2], words[1::2], strict=True))
    assert given["-o"] == given["-g"] == given["-O"] == "0"
    largest = max(one.amount for rank in ranks for one in rank.operations.values())
    assert largest <= int(given["-S"])
    return _Run(ranks, int(given["-L"]), float(given["-G"])).run()
