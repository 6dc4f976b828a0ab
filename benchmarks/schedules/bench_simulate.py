"""Measure compilation, detection of symmetric transfers, and simulation at scale.

    python -m benchmarks.schedules.bench_simulate [--runs 3] [--boxes 128]

A gigabyte in eight pipeline chunks, and in the best number of those tried. Transfers with equal
fair shares are simulated as one class, and also one by one if that takes only seconds.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from benchmarks.machine import machine, median_of
from forestcoll import compile_program, generate, load_topology
from forestcoll.schedule.simulate import AlphaBeta, Sharing, Simulator, best_chunk_count

SIZE = 10**9
FEW = 200_000  # streams of which one simulation takes about a second

CLUSTERS = (
    "dgx_a100:boxes={boxes}", "dgx_h100:boxes={boxes}", "mi250:boxes={half}", "torus:dims=16x16",
    "ring:nodes=256",
)  # fmt: skip


def main() -> None:
    """Print a line for each cluster and collective."""
    parser = argparse.ArgumentParser(description="Seconds of simulations.")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--boxes", type=int, default=128)
    args = parser.parse_args()
    print(machine())
    heads = (
        "transfers",
        "streams",
        "lower",
        "classes",
        "8 pipeline chunks",
        "best",
        "pipeline_chunks",
        "fifo, 8",
    )
    print(f"{'':36}" + "".join(f"{head:>11}" for head in heads))
    for name in CLUSTERS:
        spec = name.format(boxes=args.boxes, half=args.boxes // 2)
        for collective in ("allgather", "allreduce"):
            print(f"{spec:24} {collective:10} " + _line(spec, collective, args.runs), flush=True)


def _line(spec: str, collective: str, runs: int) -> str:
    schedule: Any = generate(load_topology(spec), collective=collective).schedule
    start = time.perf_counter()
    program = compile_program(schedule)
    lowered = time.perf_counter() - start
    start = time.perf_counter()
    simulator = Simulator(program)
    streams = simulator.streams
    classes = time.perf_counter() - start
    runs = runs if streams < FEW else 1
    eight, _ = median_of(runs, lambda: simulator, lambda one: one.run(SIZE, pipeline_chunks=8))
    start = time.perf_counter()
    best = best_chunk_count(simulator, SIZE)
    searched = time.perf_counter() - start
    fifo = AlphaBeta(sharing=Sharing.FIFO)
    start = time.perf_counter()
    simulator.run(SIZE, fifo, 8)
    queued = time.perf_counter() - start
    cells = [f"{program.num_transfers}", f"{streams}"]
    cells += [f"{seconds:.2f}" for seconds in (lowered, classes, eight, searched)]
    cells += [f"{best.pipeline_chunks}", f"{queued:.2f}"]
    return "".join(f"{cell:>11}" for cell in cells)


if __name__ == "__main__":
    main()
