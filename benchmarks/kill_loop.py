"""Crash test of experiment runs: ``kill -9`` at random moments, restart, and check the rows.

Each round runs an experiment of points that sleep, compute, hang in native code beyond their limit,
and leave children behind. Until the experiment is finished, the harness, a watchdog or a worker is
killed at a random moment, and the run is restarted; the last run is undisturbed. Then each point
must have exactly one final row with the correct status. Every row from before a kill must be
unchanged, and no process may be left.

    python benchmarks/kill_loop.py --rounds 50
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import yaml

MARK = "FORESTCOLL_KILL_LOOP"
KINDS = ("harness", "watchdog", "worker")
HARNESS = "import typer; from experiments.cli import run; typer.run(run)"
METHODS = """
import ctypes, os, subprocess, sys, time
from baselines.registry import METHODS

def naps(topology):
    time.sleep(0.2)
    return METHODS["ring"].generate(topology)

def hangs(topology):
    ctypes.PyDLL(None).sleep(60)

def breeds(topology):
    for alone in (False, True):
        subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"],
                         start_new_session=alone)
    return naps(topology)
"""
EXPECTED = {"naps": "ok", "hangs": "timeout", "breeds": "ok"}


class Round:
    """One experiment in a folder of its own."""

    def __init__(self, folder: Path, sizes: int, jobs: int) -> None:
        experiment = {
            "name": "kills",
            "topologies": [{"family": "ring", "parameters": {"nodes": list(range(3, 3 + sizes))}}],
            "methods": [{"name": f"kill_loop_methods:{name}"} for name in EXPECTED],
            "limits": {"seconds": 1, "memory_gb": 2},
        }
        self.rows = folder / "results" / "kills" / "rows.jsonl"
        self.points = sizes * len(EXPECTED)
        self.mark = f"{MARK}={uuid.uuid4().hex}"
        (folder / "kills.yaml").write_text(yaml.safe_dump(experiment))
        (folder / "kill_loop_methods.py").write_text(METHODS)
        self._log = folder / "log"
        self._command = [
            sys.executable, "-P", "-c", HARNESS, str(folder / "kills.yaml"), "--jobs", str(jobs),
            "--results", str(folder / "results"), "--no-figures", "--json",
        ]  # fmt: skip
        name, _, value = self.mark.partition("=")
        path = os.pathsep.join([str(folder), *filter(None, sys.path)])
        self._environment = {**os.environ, name: value, "PYTHONPATH": path}

    @contextlib.contextmanager
    def harness(self) -> Iterator[subprocess.Popen[bytes]]:
        """Start a run."""
        with self._log.open("wb") as log:
            process = subprocess.Popen(
                self._command, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def victims(self, harness: int) -> dict[str, list[int]]:
        """Return the running processes by what they are."""
        watchdogs = [pid for pid in marked(self.mark) if parent(pid) == harness]
        workers = [pid for pid in marked(self.mark) if parent(pid) in watchdogs]
        return {"harness": [harness], "watchdog": watchdogs, "worker": workers}

    def whole_rows(self) -> bytes:
        """Return the finished lines of the file of rows."""
        content = self.rows.read_bytes() if self.rows.exists() else b""
        return content[: content.rfind(b"\n") + 1]

    def check(self) -> None:
        """See that every point has one final row, as it should be, and nothing is left."""
        content = self.rows.read_bytes()
        assert content.endswith(b"\n"), "half a row"
        rows = [json.loads(line) for line in content.splitlines()]
        final = [row for row in rows if not row["killed"]]
        counts = collections.Counter(row["point"] for row in final)
        assert len(counts) == self.points, f"{self.points - len(counts)} points are lost"
        assert set(counts.values()) == {1}, f"points are doubled: {counts}"
        for row in final:
            expected = EXPECTED[row["method"].partition(":")[2]]
            assert row["status"] == expected, f"{row['method']}: {row['status']}, {row['reason']}"
        assert all(row["status"] == "failed" for row in rows if row["killed"])


def marked(mark: str) -> list[int]:
    """Return the processes that have inherited an environment variable."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def play(
    round_: Round, chance: random.Random, runs: int, within: float
) -> collections.Counter[str]:
    """Run, kill and resume until all is done; return what was killed, and how many were left."""
    killed: collections.Counter[str] = collections.Counter()
    for _ in range(runs):
        with round_.harness() as harness:
            for kind in (chance.choice(KINDS), "harness"):
                wait(harness, chance.uniform(0, within))
                killed[kind] += kill(round_, harness, kind, chance)
    with round_.harness() as harness:
        harness.wait(120)
        assert harness.returncode == 0, f"exit code {harness.returncode}"
    nobody_left(round_)
    round_.check()
    return killed


def wait(harness: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait a while, shorter if the run ends."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        harness.wait(seconds)


def kill(round_: Round, harness: subprocess.Popen[bytes], kind: str, chance: random.Random) -> int:
    """Kill one process of a kind, if any runs; return how many were killed."""
    victims = round_.victims(harness.pid)[kind]
    if harness.poll() is not None or not victims:
        return 0
    before = round_.whole_rows()
    try:
        os.kill(chance.choice(victims), signal.SIGKILL)
    except ProcessLookupError:
        return 0  # it has just ended
    if kind == "harness":
        harness.wait()
        nobody_left(round_)
    assert round_.whole_rows().startswith(before), "a finished row is lost"
    return 1


def nobody_left(round_: Round) -> None:
    deadline = time.monotonic() + 5
    while left := marked(round_.mark):
        assert time.monotonic() < deadline, f"processes are left: {left}"
        time.sleep(0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--sizes", type=int, default=2, help="topologies; 3 points each")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3, help="runs of a round that are disturbed")
    parser.add_argument("--within", type=float, default=4, help="seconds between two kills")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    total: collections.Counter[str] = collections.Counter()
    for number in range(1, given.rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            killed = play(
                Round(Path(folder), given.sizes, given.jobs), chance, given.runs, given.within
            )
        total += killed
        print(f"round {number}: killed {dict(killed)}; all rows there", flush=True)
    points = 3 * given.sizes * given.rounds
    print(
        f"{given.rounds} rounds, {sum(total.values())} kills ({dict(total)}), {points} points: "
        f"each exactly once, 0 rows lost, 0 halves, 0 processes left"
    )


if __name__ == "__main__":
    main()
