"""GOAL read back, strictly, and run: what a simulator would do, without any times."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

_SEND_OR_RECV = re.compile(
    r"(\w+): (send|recv) (\d+)b (to|from) (\d+) tag (\d+) cpu (\d+) nic (\d+)"
)
_CALC = re.compile(r"(\w+): calc (\d+) cpu (\d+)")
_REQUIRES = re.compile(r"(\w+) requires (\w+)")
_DIRECTION = {"send": "to", "recv": "from"}


@dataclass(frozen=True)
class Operation:
    """A statement with a label; ``peer``, ``tag`` and ``nic`` are -1 of a calc."""

    kind: str
    amount: int
    cpu: int
    peer: int = -1
    tag: int = -1
    nic: int = -1


@dataclass
class Rank:
    """What a rank does, by its labels, and what each needs."""

    operations: dict[str, Operation] = field(default_factory=dict)
    requires: dict[str, list[str]] = field(default_factory=dict)


def read_goal(text: str) -> list[Rank]:
    """Every line is a statement of the grammar, and labels are there before they are required."""
    lines = iter(text.splitlines())
    head = re.fullmatch(r"num_ranks (\d+)", next(lines))
    assert head, text
    ranks = [_read_rank(number, lines) for number in range(int(head[1]))]
    assert list(lines) == []
    return ranks


def _read_rank(number: int, lines: Iterator[str]) -> Rank:
    rank = Rank()
    assert next(lines) == ""
    assert next(lines) == f"rank {number} {{"
    for line in lines:
        if line == "}":
            return rank
        _read_statement(rank, line)
    raise AssertionError("a bracket stays open")


def _read_statement(rank: Rank, line: str) -> None:
    if match := _SEND_OR_RECV.fullmatch(line):
        label, kind, amount, direction, *numbers = match.groups()
        assert direction == _DIRECTION[kind]
        peer, tag, cpu, nic = map(int, numbers)
        assert max(cpu, nic) < 255
        operation = Operation(kind, int(amount), cpu, peer, tag, nic)
    elif match := _CALC.fullmatch(line):
        label, operation = match[1], Operation("calc", int(match[2]), int(match[3]))
    else:
        match = _REQUIRES.fullmatch(line)
        assert match, line
        assert {match[1], match[2]} <= set(rank.operations)
        rank.requires[match[1]].append(match[2])
        return
    assert label not in rank.operations
    rank.operations[label], rank.requires[label] = operation, []


def run(ranks: list[Rank]) -> int:
    """Do whatever can be done until nothing can; returns how many operations never are.

    A send is done at once, a receive when its send is: the one of the same ends, tag and size.
    """
    under_way: Counter[tuple[int, int, int, int]] = Counter()
    done: set[tuple[int, str]] = set()
    left = [(place, label) for place, rank in enumerate(ranks) for label in rank.operations]
    moved = True
    while moved:
        moved, waiting = False, []
        for place, label in left:
            rank, operation = ranks[place], ranks[place].operations[label]
            ready = all((place, need) in done for need in rank.requires[label])
            if ready and operation.kind == "recv":
                message = (operation.peer, place, operation.tag, operation.amount)
                ready = under_way[message] > 0
                under_way[message] -= ready
            if not ready:
                waiting.append((place, label))
                continue
            if operation.kind == "send":
                under_way[place, operation.peer, operation.tag, operation.amount] += 1
            done.add((place, label))
            moved = True
        left = waiting
    return len(left) + sum(under_way.values())


def sent(ranks: list[Rank]) -> Counter[tuple[int, int]]:
    """Bytes from rank to rank."""
    total: Counter[tuple[int, int]] = Counter()
    for place, rank in enumerate(ranks):
        for operation in rank.operations.values():
            if operation.kind == "send":
                total[place, operation.peer] += operation.amount
    return total
