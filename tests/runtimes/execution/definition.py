"""Plans of small collectives, and what a library is to make of them.

As ``python -m tests.runtimes.execution.definition BACKEND FILE``, one of the processes: it asserts
that the library's own collectives, which the real comparison trusts, do what their definition says.
"""

import sys
from pathlib import Path

import numpy as np

from forestcoll.runtimes.execution.rank_plan import RankPlan
from forestcoll.runtimes.execution.transport import Backend, Transport, open_transport

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all")

RANKS = 3
UNEQUAL, EQUAL = (2, 0, 3), (2, 2, 2)
"""Elements that belong to each rank."""

ROOT = 2


def plans_of(collective: str, parts: tuple[int, ...]) -> list[RankPlan]:
    """What collectives read of a plan; there is nothing to do in it."""
    whole, none = (sum(parts),) * RANKS, (0,) * RANKS
    at_root = tuple(sum(parts) * (rank == ROOT) for rank in range(RANKS))
    given, due = {
        "allgather": (parts, whole),
        "reduce-scatter": (whole, parts),
        "allreduce": (whole, whole),
        "broadcast": (at_root, whole),
        "reduce": (whole, at_root),
        "all-to-all": (whole, tuple(RANKS * part for part in parts)),
    }[collective]
    pairs = collective == "all-to-all"
    return [
        RankPlan(
            rank=rank,
            collective=collective,
            root=ROOT if collective in ("broadcast", "reduce") else -1,
            given=given,
            due=due,
            sent=parts if pairs else none,
            received=(parts[rank],) * RANKS if pairs else none,
            rounds=(),
            result=(),
        )
        for rank in range(RANKS)
    ]


def expect_definition(transport: Transport, collective: str, parts: tuple[int, ...]) -> None:
    """Rank r has 100 r, 100 r + 1 and so on."""
    plans = plans_of(collective, parts)
    given = [100 * p.rank + np.arange(p.given[p.rank], dtype=np.int64) for p in plans]
    mine = transport.array(given[transport.rank].copy())
    found = transport.values(transport.collective(plans[transport.rank], mine))
    begins = np.cumsum((0, *parts))
    part = slice(begins[transport.rank], begins[transport.rank + 1])
    wanted = {
        "allgather": lambda: np.concatenate(given),
        "reduce-scatter": lambda: sum(given)[part],
        "allreduce": lambda: sum(given),
        "broadcast": lambda: given[ROOT],
        "reduce": lambda: sum(given)[: plans[0].due[transport.rank]],
        "all-to-all": lambda: np.concatenate([one[part] for one in given]),
    }[collective]()
    assert found.tolist() == wanted.tolist(), (collective, transport.rank, found, wanted)
    assert transport.values(mine).tolist() == given[transport.rank].tolist(), collective


def expect_order(transport: Transport) -> None:
    """Two messages to each other rank, of different sizes, come in the order they are sent in."""
    others = [rank for rank in range(RANKS) if rank != transport.rank]
    sends = [
        (p, transport.array(np.full(n, 10 * transport.rank + n))) for n in (4, 2) for p in others
    ]
    receives = [(p, transport.array(np.zeros(n, dtype=np.int64))) for n in (4, 2) for p in others]
    transport.exchange(receives, sends)
    for peer, array in receives:
        values = transport.values(array).tolist()
        assert values == [10 * peer + len(values)] * len(values)
    transport.exchange([], [])


def main(backend: str, meeting: Path) -> None:
    transport = open_transport(Backend(backend), str(meeting))
    assert transport.size == RANKS
    for parts in (UNEQUAL, EQUAL):
        for collective in COLLECTIVES:
            expect_definition(transport, collective, parts)
    expect_order(transport)
    transport.barrier()
    sys.stdout.write(f"<rank {transport.rank} is content>\n")  # lines of ranks may run together
    sys.stdout.flush()
    transport.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
