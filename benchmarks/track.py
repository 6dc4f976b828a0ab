"""Append a run of ``bench_generate`` to the history of benchmarks, with its machine and commit.

    python -m benchmarks.bench_generate --runs 3 --limit 20 --json build/bench.json
    python -m benchmarks.track build/bench.json

Each row of ``history.csv`` is one network of one run. Wall-clock seconds depend on what else the
machine does, so its load is a column; CPU seconds and peak memory hardly do.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import machine

__all__ = ["COLUMNS", "HISTORY", "append", "entries"]

HISTORY = Path(__file__).with_name("history.csv")

_ABOUT = ("date", "commit", "machine", "load")
_MEASURED = ("native_s", "with_paths_s", "cpu_s", "verify_s", "peak_mb")
_COUNTED = ("name", "status", "runs", "gpus", "k", "trees", "depth")
COLUMNS = (*_ABOUT, *_COUNTED, *_MEASURED)


def entries(document: Mapping[str, Any], about: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the lines of a run: facts about it, then each network's counts and measurements."""
    return [
        {
            **about,
            **{name: str(row.get(name, "")) for name in _COUNTED},
            **{name: _digits(row.get(name)) for name in _MEASURED},
        }
        for row in document["rows"]
    ]


def append(lines: list[dict[str, str]], path: Path = HISTORY) -> None:
    """Add lines at the end of a history; begin it with the names of the columns."""
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(lines)


def about_now() -> dict[str, str]:
    """Return the day, the commit (with + where files differ from it), the machine and its load."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
        cwd=HISTORY.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": described.stdout.strip(),
        "machine": machine(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


if __name__ == "__main__":
    append(entries(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), about_now()))
