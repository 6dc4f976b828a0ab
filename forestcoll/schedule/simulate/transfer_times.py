"""Timelines: when each pipeline chunk of each transfer is sent and arrives in a simulation.

Problem: a makespan does not show which transfers wait, and for what.
Input:   a simulation with its timeline; the program that was simulated.
Output:  times, the chain of pipeline chunks that ends last, a CSV file.
Cost:    four numbers for each class of transfers and pipeline chunk; the file has a line for each
         transfer and pipeline chunk.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from forestcoll.atomic_write import write_whole
from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.schedule.program import Program

__all__ = ["Timeline", "check_times", "write_timeline"]

_COLUMNS = (
    *("transfer", "row", "data_of", "sender", "receiver", "pipeline_chunk", "bytes"),
    *("start_s", "flow_s", "arrival_s", "end_s"),
)

_MOST = 2 * 10**6  # pipeline chunks of all rows in memory, lines of a file
_EXACT = ".12g"  # times are multiples of ticks, which are finer

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Timeline:
    """Times in seconds from the beginning, rows x pipeline chunks.

    Transfers of one class share a row: no simulation by fair shares can distinguish them.

    Parameters
    ----------
    row : int32 array of length T
        The row of each transfer of the program.
    start_s : float array
        When the pipeline chunk begins to wait for its latency: what it depends on has ended.
    flow_s : float array
        When it has waited, also for its costs and for its link, and begins to flow.
    arrival_s : float array
        When its last byte arrives.
    end_s : float array
        When its receiver has added it; where nothing is added, the arrival.
    share : float array, optional
        The pipeline chunk's share of its transfer; equal ones if not given. By a time plan,
        transfers may have fewer than there are columns: the share of the others is 0.
    """

    row: npt.NDArray[np.int32] = field(repr=False)
    start_s: _Floats = field(repr=False)
    flow_s: _Floats = field(repr=False)
    arrival_s: _Floats = field(repr=False)
    end_s: _Floats = field(repr=False)
    share: _Floats | None = field(default=None, repr=False)

    @property
    def pipeline_chunks(self) -> int:
        """Number of pipeline chunks of each transfer."""
        return int(self.end_s.shape[1])

    @property
    def first(self) -> npt.NDArray[np.int64]:
        """The first transfer of each row."""
        return np.unique(self.row, return_index=True)[1]

    def last_chain(self, program: Program) -> list[tuple[int, int]]:
        """Return the chain of pipeline chunks that ends last, as rows and pipeline chunks.

        Each starts when the one before it ends, unless a clock or a barrier delays it. So without
        these the times from ``start_s`` to ``end_s`` along the chain add up to the makespan. By a
        time plan each starts once the first data of all that it depends on have arrived.
        """
        if not self.end_s.size:
            return []
        ready, first = self.end_s if self.share is None else self.flow_s, self.first
        row, chunk = divmod(int(self.end_s.argmax()), self.pipeline_chunks)
        chain = [(row, chunk)]
        while before := self._before(program.dependencies(int(first[row])), row, chunk):
            row, chunk = max(before, key=lambda one: float(ready[one]))
            chain.append((row, chunk))
        return chain[::-1]

    def _before(
        self, needed: npt.NDArray[np.integer], row: int, chunk: int
    ) -> list[tuple[int, int]]:
        """Return what a pipeline chunk may have waited for; by a plan, all that it depends on."""
        before = [(int(self.row[t]), chunk) for t in needed]
        if self.share is not None:
            return before
        start = self.start_s[row, chunk]
        earlier = int(np.searchsorted(self.end_s[row, :chunk], start, side="right")) - 1
        before += [(row, earlier)] if earlier >= 0 else []
        return [one for one in before if self.end_s[one] <= start]


def check_times(row: npt.NDArray[np.int32], pipeline_chunks: int) -> None:
    """Check that a timeline with these rows of transfers fits into memory.

    Raises
    ------
    InvalidParameterError
        If it has over two million pipeline chunks.
    """
    many = (int(row.max(initial=-1)) + 1) * pipeline_chunks
    if many > _MOST:
        raise InvalidParameterError(
            f"a timeline of {many} pipeline chunks is too long; it may have {_MOST}, so ask for "
            f"fewer"
        )


def write_timeline(timeline: Timeline, program: Program, size_bytes: int, path: Path | str) -> None:
    """Write a CSV file with a line for each transfer and pipeline chunk; times are in seconds.

    Raises
    ------
    ExportError
        If there are over two million lines, or the file cannot be written.
    """
    lines = program.num_transfers * timeline.pipeline_chunks
    if lines > _MOST:
        raise ExportError(
            f"{path}: {lines} pipeline chunks of all transfers are more than {_MOST} lines; "
            f"ask for fewer pipeline chunks, or for a picture"
        )

    def write(draft: Path) -> None:
        with draft.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(_COLUMNS)
            lines.writerows(_lines(timeline, program, size_bytes))

    write_whole(Path(path), write)


def _lines(timeline: Timeline, program: Program, size_bytes: int) -> Iterator[tuple[object, ...]]:
    names = [program.topology.nodes[v].name for v in program.topology.ends]
    chunks = timeline.pipeline_chunks
    times = (timeline.start_s, timeline.flow_s, timeline.arrival_s, timeline.end_s)
    for t in range(program.num_transfers):
        row, root = int(timeline.row[t]), int(program.chunks.root[program.chunk[t]])
        data_of = names[root] if root >= 0 else ""
        ends = names[program.tail[t]], names[program.head[t]]
        size = float(program.size(t) * size_bytes)
        shares = [1 / chunks] * chunks if timeline.share is None else timeline.share[row].tolist()
        for chunk, share in enumerate(shares):
            if share:
                at = (f"{time[row, chunk]:{_EXACT}}" for time in times)
                yield t, row, data_of, *ends, chunk, f"{size * share:{_EXACT}}", *at
