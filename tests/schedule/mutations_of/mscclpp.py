"""Plans of MSCCL++ with one thing wrong: what people who write them by hand get wrong."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from forestcoll.runtimes.mscclpp import Operation, Plan, PlanGpu, Span

Rows = list[Operation]
Change = Callable[[Rows, int, random.Random], bool]
"""Changes the operations of a threadblock at one place; says whether it could."""


def plan_mutants(plan: Plan, count: int, seed: int) -> Iterator[tuple[str, Plan]]:
    """Yield so many of each kind, each with its kind; fewer where there is nothing of a kind."""
    rng = random.Random(seed)
    for kind, (wanted, change) in MSCCLPP_MUTATIONS.items():
        for _ in range(count):
            places = [
                (rank, number, place)
                for rank, gpu in enumerate(plan.gpus)
                for number, work in enumerate(gpu.threadblocks)
                for place, one in enumerate(work.operations)
                if wanted(one)
            ]
            if not places:
                continue
            rank, number, place = rng.choice(places)
            gpu = plan.gpus[rank]
            rows = list(gpu.threadblocks[number].operations)
            if change(rows, place, rng):
                yield kind, _with_rows(plan, rank, number, rows)


def _with_rows(plan: Plan, rank: int, number: int, rows: Rows) -> Plan:
    blocks = list(plan.gpus[rank].threadblocks)
    blocks[number] = replace(blocks[number], operations=tuple(rows))
    gpus: list[PlanGpu] = list(plan.gpus)
    gpus[rank] = replace(gpus[rank], threadblocks=tuple(blocks))
    return replace(plan, gpus=tuple(gpus))


def _dropped(rows: Rows, place: int, rng: random.Random) -> bool:
    del rows[place]
    return True


def _fewer_channels(rows: Rows, place: int, rng: random.Random) -> bool:
    """One channel is left out of a signal or wait."""
    ids = list(rows[place].channels)
    del ids[rng.randrange(len(ids))]
    if ids:
        rows[place] = replace(rows[place], channels=tuple(ids))
    else:
        del rows[place]
    return True


def _other_channel(rows: Rows, place: int, rng: random.Random) -> bool:
    known = sorted({one for row in rows for one in row.channels})
    ids = list(rows[place].channels)
    others = [one for one in known if one not in ids]
    if not others:
        return False
    ids[rng.randrange(len(ids))] = rng.choice(others)
    rows[place] = replace(rows[place], channels=tuple(ids))
    return True


def _spans_changed(
    rows: Rows, place: int, rng: random.Random, change: Callable[[Span], Span]
) -> bool:
    side = rng.choice(("sources", "targets"))
    spans = list(getattr(rows[place], side))
    at = rng.randrange(len(spans))
    changed = change(spans[at])
    if changed == spans[at]:
        return False
    spans[at] = changed
    rows[place] = replace(rows[place], **{side: tuple(spans)})
    return True


def _index(rows: Rows, place: int, rng: random.Random) -> bool:
    """The chunk before or behind."""
    shift = rng.choice((-1, 1))
    return _spans_changed(
        rows, place, rng, lambda span: replace(span, index=max(0, span.index + shift))
    )


def _buffer(rows: Rows, place: int, rng: random.Random) -> bool:
    """Another buffer of its own, or of another GPU."""

    def other(span: Span) -> Span:
        if span.where in "ios":
            return replace(span, where=rng.choice("ios"))
        known = sorted({one.number for row in rows for one in row.targets})
        return replace(span, number=rng.choice(known))

    return _spans_changed(rows, place, rng, other)


def _relaxed(rows: Rows, place: int, rng: random.Random) -> bool:
    """A signal or wait that orders no data."""
    rows[place] = replace(rows[place], kind=f"rlx{rows[place].kind}")
    return True


def _late(rows: Rows, place: int, rng: random.Random) -> bool:
    """A put that does not wait, or does not even signal."""
    rows[place] = replace(rows[place], kind=rng.choice(("put", "pws")))
    return True


def _swapped(rows: Rows, place: int, rng: random.Random) -> bool:
    """Two operations in a row in each other's place."""
    if place + 1 == len(rows) or rows[place] == rows[place + 1]:
        return False
    rows[place : place + 2] = rows[place + 1], rows[place]
    return True


def _of(*kinds: str) -> Callable[[Operation], bool]:
    return lambda one: one.kind in kinds


_PACKETS = ("cpkt", "upkt", "ppkt", "rppkt", "repkt", "respkt", "recpkt", "recspkt", "gstorepkt")
_DATA = _of("put", "copy", "re", "gstore", "glres", "pws", "pwsf", "get", "rre", *_PACKETS)

MSCCLPP_MUTATIONS: dict[str, tuple[Callable[[Operation], bool], Change]] = {
    "dropped nop": (_of("nop"), _dropped),
    "dropped data": (_DATA, _dropped),
    "dropped signal": (_of("signal"), _fewer_channels),
    "dropped wait": (_of("wait"), _fewer_channels),
    "dropped greeting": (_of("rlxsignal", "rlxwait"), _fewer_channels),
    "other channel": (_of("signal", "wait"), _other_channel),
    "other index": (_DATA, _index),
    "other buffer": (_DATA, _buffer),
    "relaxed": (_of("signal", "wait"), _relaxed),
    "not flushed": (_of("pwsf"), _late),
    "swapped": (lambda one: True, _swapped),
}
