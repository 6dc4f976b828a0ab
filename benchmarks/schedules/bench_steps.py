"""Measure a step schedule of millions of rows: make, verify, write, read, transpose, compile.

    python -m benchmarks.schedules.bench_steps [--nodes 32x32] [--windows 2]

Every GPU of a torus gets every shard in equal parts from its neighbours that are nearer to the
shard's owner, as breadth-first broadcasts (BFB) do. This gives about N^2 rows times the sending
neighbours. ``--windows`` cuts every shard first, for more rows. The reduction is the transposed
schedule. Peak memory is that of the process so far.
"""

from __future__ import annotations

import argparse
import math
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from forestcoll.compilation import compile_program
from forestcoll.schedule import (
    Chunks,
    Intervals,
    Routes,
    Sends,
    StepSchedule,
    cost,
    read_schedule,
    synchronous,
    time_reversed,
    verify,
    write_schedule,
)
from forestcoll.schedule import Path as Way
from forestcoll.topology import Topology, load_topology

T = TypeVar("T")


def shortest_paths(topology: Topology, windows: int = 1) -> StepSchedule:
    """Make an allgather over shortest paths, each shard in equal parts from all nearer neighbours.

    GPUs must come first among the nodes, and be joined by links of their own.
    """
    size = topology.num_compute
    distance = _distances(topology)
    head, tail = _links(topology)
    step, chunk, sender, receiver, place, among = [], [], [], [], [], []
    for source in range(size):
        away = distance[source]
        on = away[tail] + 1 == away[head]
        starts, ends = tail[on], head[on]
        order = np.lexsort((starts, ends))
        starts, ends = starts[order], ends[order]
        count = np.bincount(ends, minlength=size)
        rank = np.arange(len(ends)) - np.repeat(np.cumsum(count) - count, count)
        step.append(away[ends] - 1)
        chunk.append(np.full(len(ends), source))
        sender.append(starts)
        receiver.append(ends)
        place.append(rank)
        among.append(count[ends])
    parts = np.concatenate(among)
    unit = math.lcm(*np.unique(parts).tolist())
    columns = [np.concatenate(each) for each in (step, chunk, sender, receiver)]
    first = (np.concatenate(place) * unit) // parts
    amount = unit // parts
    window = np.repeat(np.arange(windows) * unit, len(first))
    sends = Sends.sorted(
        *(np.tile(each, windows) for each in columns),
        interval=Intervals(np.tile(first, windows) + window, np.tile(amount, windows)),
    )
    shard = unit * windows
    return StepSchedule(
        topology=topology,
        method="shortest paths",
        collective="allgather",
        chunks=Chunks.equal(np.arange(size), whole=size * shard, size=shard),
        sends=sends,
        routes=Routes.from_paths(
            {(t, h): (Way((t, h), 1),) for t, h in zip(tail.tolist(), head.tolist(), strict=True)}
        ),
    )


def _links(topology: Topology) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return head and tail of every link."""
    ends = [(link.head, link.tail) for link in topology.links]
    head, tail = np.array(ends, dtype=np.int64).T
    return head, tail


def _distances(topology: Topology) -> npt.NDArray[np.int64]:
    """Return the links from each GPU to each."""
    head, tail = _links(topology)
    size = topology.num_compute
    graph = csr_array((np.ones(len(head)), (tail, head)), shape=(size, size))
    return np.asarray(dijkstra(graph, unweighted=True), dtype=np.int64)


def _timed(what: str, run: Callable[[], T]) -> T:
    began = time.perf_counter()
    made = run()
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{what:24} {seconds:7.2f} s   peak {peak:.2f} GiB", flush=True)
    return made


def main() -> None:
    """Print times and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", default="32x32", help="sides of the torus")
    parser.add_argument("--windows", type=int, default=2, help="windows of each shard")
    options = parser.parse_args()
    topology = load_topology(f"torus:dims={options.nodes}")
    made = _timed("made", lambda: shortest_paths(topology, options.windows))
    print(f"{len(made.sends):,} rows, {made.num_steps} steps, {topology.num_compute} GPUs")
    verdict = _timed("verified", lambda: verify(made))
    print(f"{float(verdict.algbw_gb_s or 0):.4f} GB/s pipelined")
    _timed("cost", lambda: cost(made))
    _timed("in steps", lambda: synchronous(made))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "steps.npz"
        _timed("written", lambda: write_schedule(made, file))
        print(f"{file.stat().st_size / 1e6:.1f} MB")
        again = _timed("read", lambda: read_schedule(file))
        if not _timed("compared", lambda: again == made):
            raise SystemExit("the file holds another schedule")
    turned = _timed("turned round", lambda: time_reversed(made, topology))
    _timed("verified, of sums", lambda: verify(turned))
    program = _timed("lowered", lambda: compile_program(made))
    print(f"{program.num_transfers:,} transfers, {len(program.need):,} needs")


if __name__ == "__main__":
    main()
