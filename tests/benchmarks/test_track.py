"""The history of benchmarks: a line for each network of a run, below those before it."""

import csv
from pathlib import Path

from benchmarks.track import COLUMNS, HISTORY, append, entries

ABOUT = {"date": "2026-11-28", "commit": "abc", "machine": "2 x toy", "load": "0.5"}
RUN = {
    "rows": [
        {"name": "ring", "status": "ok", "runs": 3, "gpus": 4, "native_s": 0.00123456, "k": 1},
        {"name": "slow", "status": "timeout", "runs": 0, "native_s": None},
    ]
}


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_runs_are_appended(tmp_path: Path) -> None:
    """The heads once; four digits of what is measured; nothing for what was not reached."""
    path = tmp_path / "history.csv"
    for _ in range(2):
        append(entries(RUN, ABOUT), path)
    lines = read(path)
    assert [line["name"] for line in lines] == ["ring", "slow"] * 2
    assert (lines[0]["native_s"], lines[0]["machine"]) == ("0.001235", "2 x toy")
    assert (lines[1]["native_s"], lines[1]["status"]) == ("", "timeout")


def test_the_kept_history_has_machine_and_commit_in_every_line() -> None:
    lines = read(HISTORY)
    assert lines
    assert tuple(lines[0]) == COLUMNS
    assert all(line["machine"] and line["commit"] and line["date"] for line in lines)
