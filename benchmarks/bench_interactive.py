"""Measure interactive waiting times: start-up, files, what-if, rescheduling after a failure.

    python -m benchmarks.bench_interactive [--runs 5] [--beside OTHER/.venv/bin/python]

Commands are timed as processes, library calls on a live topology object of 1024 A100 GPUs; medians.
``--beside`` runs the same commands by the Python of another checkout, in turn with this one's.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.machine import machine, median_of
from forestcoll import failures, generate, load_topology, replan, tightest_cuts, upgrades
from forestcoll.topology import Topology

CLUSTER = "dgx_a100:boxes=128"
DEAD = (1, 40)

COMMANDS = {
    "forestcoll --help": ["--help"],
    f"forestcoll optimum {CLUSTER}": ["optimum", CLUSTER],
    "forestcoll topology show FILE (8 MB of YAML, 512 x 512 links)": ["topology", "show", "FILE"],
}


def main() -> None:
    """Measure and print a line for each question."""
    parser = argparse.ArgumentParser(description="Seconds that people wait for.")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--beside", type=Path, help="python of another checkout")
    args = parser.parse_args()
    print(machine())
    pythons = [Path(sys.executable), *([args.beside] if args.beside else [])]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "dense.yaml")
        file.write_text(dense_yaml(512))
        for name, arguments in COMMANDS.items():
            words = [str(file) if word == "FILE" else word for word in arguments]
            seconds: dict[Path, list[float]] = {python: [] for python in pythons}
            for _ in range(args.runs):
                for python in pythons:
                    seconds[python].append(command_s(python, words))
            medians = [statistics.median(times) for times in seconds.values()]
            beside = f"   {medians[1]:7.2f} s there" if len(medians) > 1 else ""
            print(f"{medians[0]:7.2f} s{beside}   {name}")
    whole = load_topology(CLUSTER)
    old = generate(whole).schedule
    for name, work in questions(whole, old).items():
        median, _ = median_of(args.runs, lambda work=work: work, lambda work: work())  # type: ignore[misc]
        print(f"{median:7.3f} s   {name}")


def command_s(python: Path, arguments: list[str]) -> float:
    """Return how long a command takes."""
    began = time.perf_counter()
    subprocess.run(
        [python, "-m", "forestcoll", *arguments], check=True, capture_output=True, cwd="/"
    )
    return time.perf_counter() - began


def questions(whole: Topology, old: Any) -> dict[str, Callable[[], object]]:
    """Return what is asked of a live topology."""
    asked: dict[str, Callable[[], object]] = {
        "failures of 1024 GPUs": lambda: failures(whole),
        "upgrades of 1024 GPUs": lambda: upgrades(whole),
        "three tightest cuts of 1024 GPUs": lambda: tightest_cuts(whole),
    }
    for dead in DEAD:
        parts = [f"b{3 * i}.gpu{i % 8} - ib" for i in range(dead)]
        for same_k in (True, False):
            name = f"replan 1024 GPUs, {dead} dead NICs, {'same k' if same_k else 'the optimum'}"
            asked[name] = lambda parts=parts, same_k=same_k: replan(  # type: ignore[misc]
                old, whole.without(*parts), same_k=same_k
            )
    return asked


def dense_yaml(side: int) -> str:
    """Return a topology file with N GPUs and N switches, each GPU linked to each switch."""
    lines = ["name: dense", "nodes:"]
    lines += [f"  - {{name: g{i}, kind: compute}}" for i in range(side)]
    lines += [f"  - {{name: s{i}, kind: switch}}" for i in range(side)]
    lines.append("links:")
    lines += [
        f"  - {{from: g{i}, to: s{j}, bandwidth_gb_s: 1, both: true}}"
        for i in range(side)
        for j in range(side // 2)
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
