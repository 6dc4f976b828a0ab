"""Ways to spoil a correct step schedule, each with the message that must name the fault.

They spoil any schedule of at least three GPUs that sends something, whoever made it.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.steps import StepSchedule


def _keeping(schedule: StepSchedule, kept: list[int]) -> StepSchedule:
    """Keep some of the transfers, and the routes and times of these."""
    sends, clock = schedule.sends, schedule.clock
    step = np.unique(sends.step[kept], return_inverse=True)[1].astype(np.int32)
    left = replace(sends.taken(np.array(kept)), step=step)
    used = set(zip(left.tail.tolist(), left.head.tolist(), strict=True))
    ways = [(link, way) for link, some in schedule.routes.paths().items() for way in some]
    still = [i for i, (link, _) in enumerate(ways) if link in used]
    paths: dict[tuple[int, int], tuple[Path, ...]] = {}
    for link, way in (ways[i] for i in still):
        paths[link] = (*paths.get(link, ()), way)
    if left.path is not None:
        number = np.full(len(ways) + 1, -1, dtype=np.int32)  # the last: of -1
        number[still] = np.arange(len(still))
        left = replace(left, path=number[left.path])
    if clock is not None:
        columns = {name: getattr(clock, name) for name in ("start", "end", "left", "message")}
        some = {name: column[kept] for name, column in columns.items() if column is not None}
        clock = replace(clock, **some)
    return replace(schedule, sends=left, routes=Routes.from_paths(paths), clock=clock)


def dropped_send(schedule: StepSchedule) -> StepSchedule:
    """A transfer that matters is left out: all those of one chunk into one GPU that needs it."""
    sends, chunks = schedule.sends, schedule.chunks
    head = int(chunks.target[0]) if chunks.target[0] >= 0 else int(sends.head[-1])
    chunk = 0 if chunks.target[0] >= 0 else int(sends.chunk[-1])
    gone = (sends.chunk == chunk) & (sends.head == head)
    return _keeping(schedule, np.flatnonzero(~gone).tolist())


def unknown_rank(schedule: StepSchedule) -> StepSchedule:
    """The first transfer comes from a node that does not exist."""
    tail = schedule.sends.tail.copy()
    tail[0] = len(schedule.topology.nodes)
    return replace(schedule, sends=replace(schedule.sends, tail=tail))


def gap(schedule: StepSchedule) -> StepSchedule:
    """The last step is left empty and its transfers put into the one after."""
    step = schedule.sends.step.copy()
    step[step == step[-1]] += 1
    if len(step) <= step[-1]:
        step[:] = 1
    return replace(schedule, sends=replace(schedule.sends, step=step))


def small_chunk(schedule: StepSchedule) -> StepSchedule:
    """The first chunk is half as large: everything else doubles."""
    size = schedule.chunks.size * 2
    size[0] //= 2
    chunks = replace(schedule.chunks, size=size, whole=schedule.chunks.whole * 2)
    return replace(schedule, chunks=chunks)


def detour_over_air(schedule: StepSchedule) -> StepSchedule:
    """The first path goes from its first GPU to its last and back: no such link."""
    paths = dict(schedule.routes.paths())
    link = min(paths)
    ends = paths[link][0].nodes
    paths[link] = (Path((ends[0], ends[0], *ends[1:]), paths[link][0].multiplicity),)
    return replace(schedule, routes=Routes.from_paths(paths))


def pathless(schedule: StepSchedule) -> StepSchedule:
    """The first logical link has no paths."""
    paths = dict(schedule.routes.paths())
    del paths[min(paths)]
    return replace(schedule, routes=Routes.from_paths(paths))


def wrong_root(schedule: StepSchedule) -> StepSchedule:
    """The first chunk is said to be of another GPU; in an allreduce, of one at all."""
    root = schedule.chunks.root.copy()
    root[0] = (root[0] + 1) % schedule.topology.num_compute
    return replace(schedule, chunks=replace(schedule.chunks, root=root))


STEP_MUTATIONS: dict[str, tuple[Callable[[StepSchedule], StepSchedule], str]] = {
    "dropped send": (
        dropped_send,
        "never gets to|lacks (the )?contribution|does not have the chunk|counted twice|never sends|"
        "does not send it on",
    ),
    "unknown rank": (unknown_rank, r"sends\.tail holds"),
    "gap": (gap, "without gaps|must number the starts"),
    "small chunk": (small_chunk, "of the data; they must be"),
    "detour over air": (detour_over_air, "has no such link|which is a GPU"),
    "pathless": (pathless, "no path for this transfer|holds|routes"),
    "wrong root": (
        wrong_root,
        "of the data; they must be|it must be -1|does not have the chunk|it has one|lacks the|"
        "gets it twice",
    ),
}
"""What is wrong with a schedule, and what verify says of it."""


def early(schedule: StepSchedule) -> StepSchedule:
    """The last transfer starts at the very beginning, as do all others."""
    assert schedule.clock is not None
    start = np.zeros_like(schedule.clock.start)
    step = np.zeros_like(schedule.sends.step)
    sends = replace(schedule.sends, step=step)
    return replace(schedule, sends=sends, clock=replace(schedule.clock, start=start))


def hurried(schedule: StepSchedule) -> StepSchedule:
    """All is said to be for twice the data in the same time."""
    assert schedule.clock is not None
    clock = replace(schedule.clock, size_bytes=2 * schedule.clock.size_bytes)
    return replace(schedule, clock=clock)


CLOCK_MUTATIONS: dict[str, tuple[Callable[[StepSchedule], StepSchedule], str]] = {
    "early": (
        early,
        "does not have the chunk by then|lacks the|carries|listed twice|sends its sum before",
    ),
    "hurried": (hurried, "its bandwidth is"),
}
"""The same for a schedule with a clock that fills some link."""
