"""What a step schedule between GPUs delivers, unit by unit and moment by moment.

The definition, written down: a GPU has of each unit of each chunk a set of contributions (or has it
or not), and at every moment first what arrives is taken in, then what leaves is read.
"""

from collections import defaultdict

from forestcoll.schedule import StepSchedule


def delivers(schedule: StepSchedule) -> bool:
    """Whether every sender has what it sends and all that is due arrives, no unit twice.

    In a reduction, whether each contribution is counted once where a sum is due. All ends are GPUs.
    """
    return _sums_up(schedule) if schedule.reduction else _copies(schedule)


def _rows(schedule: StepSchedule) -> list[tuple[int, int, int, int, int, int, int, bool]]:
    """(start, end, chunk, tail, head, first, end of units, adds)."""
    sends, clock, interval = schedule.sends, schedule.clock, schedule.intervals
    start = sends.step if clock is None else clock.start
    end = sends.step + 1 if clock is None else clock.end
    columns = (start, end, sends.chunk, sends.tail, sends.head)
    parts = (interval.first, interval.first + interval.amount, sends.reduce)
    return list(zip(*(column.tolist() for column in (*columns, *parts)), strict=True))


def _copies(schedule: StepSchedule) -> bool:
    """No GPU gets what it has, or anything twice."""
    chunks = schedule.chunks
    since = {
        (c, int(root), u): 0
        for c, root in enumerate(chunks.root)
        for u in range(int(chunks.size[c]))
    }
    rows = _rows(schedule)
    for _, end, chunk, _, head, low, high, _ in rows:
        for unit in range(low, high):
            if (chunk, head, unit) in since:
                return False
            since[chunk, head, unit] = end
    for start, _, chunk, tail, _, low, high, _ in rows:
        if any(since.get((chunk, tail, unit), start + 1) > start for unit in range(low, high)):
            return False
    everyone = range(schedule.topology.num_compute)
    for c, size in enumerate(chunks.size.tolist()):
        target = int(chunks.target[c])
        due = everyone if schedule.collective != "all-to-all" else [target]
        if any((c, gpu, unit) not in since for gpu in due for unit in range(size)):
            return False
    return True


def _sums_up(schedule: StepSchedule) -> bool:
    gpus, chunks = range(schedule.topology.num_compute), schedule.chunks
    part = {
        (c, gpu, u): frozenset([gpu])
        for c, size in enumerate(chunks.size.tolist())
        for gpu in gpus
        for u in range(size)
    }
    rows = _rows(schedule)
    under_way: dict[tuple[int, int], frozenset[int]] = {}
    for now in sorted({row[0] for row in rows} | {row[1] for row in rows}):
        coming = defaultdict(list)
        for i, (_, end, chunk, _, head, low, high, adds) in enumerate(rows):
            if end == now:
                for unit in range(low, high):
                    coming[chunk, head, unit].append((adds, under_way[i, unit]))
        for cell, arrivals in coming.items():
            if len(arrivals) > 1 and not all(adds for adds, _ in arrivals):
                return False
            for adds, what in arrivals:
                if adds and part[cell] & what:
                    return False
                part[cell] = part[cell] | what if adds else what
        for i, (start, _, chunk, tail, _, low, high, _) in enumerate(rows):
            if start == now:
                for unit in range(low, high):
                    under_way[i, unit] = part[chunk, tail, unit]
    everyone = frozenset(gpus)
    for c, size in enumerate(chunks.size.tolist()):
        root = int(chunks.root[c])
        due = gpus if schedule.collective == "allreduce" else [root]
        if any(part[c, gpu, unit] != everyone for gpu in due for unit in range(size)):
            return False
    return True
