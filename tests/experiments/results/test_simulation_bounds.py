"""Bounds of simulations in stored rows, recomputed from the rows alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.results.simulation_bounds import rebound
from forestcoll.errors import InvalidExperimentError
from tests.command_line import document, invoke


def a_row(**changed: Any) -> dict[str, Any]:
    """A ring of 4: 1000 bytes in 30.375 us; at least 2 hops, and 250 bytes over 2 links."""
    return {
        "topology": "ring:nodes=4",
        "collective": "allgather",
        "simulated": "alpha 10 us, fair sharing, best pipeline chunks",
        "optimum": "8/3",
        "sizes": {"1000": {"time_simulated_s": 30.375e-6, "simulated_over_bound": 1.5}},
        **changed,
    }


def written(folder: Path, *rows: dict[str, Any], end: str = "") -> Path:
    path = folder / "one" / "rows.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + end)
    return path


def over(path: Path) -> list[float]:
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    return [row["sizes"]["1000"].get("simulated_over_bound") for row in rows]


def test_the_bound_is_that_of_the_size(tmp_path: Path) -> None:
    path = written(tmp_path, a_row(), a_row(optimum="1/100"), end='{"cut short')
    (found,) = rebound(tmp_path)
    assert (found.path, found.rows, found.left) == (path, 2, 0)
    # By the rate, 100 us after 10.
    assert over(path) == pytest.approx([30.375 / 20.125, 30.375 / 110])
    assert path.read_text().endswith('{"cut short')
    assert rebound(tmp_path)[0].rows == 0


@pytest.mark.parametrize(
    "lacking",
    [
        {"optimum": None},
        {"simulated": None},
        {"topology": "cut-up.yaml"},
        {"topology": "ring:nodes=4 without gpu0"},
        {"weights": [1, 2, 3, 4]},
    ],
)
def test_rows_that_lack_something_keep_what_they_have(
    lacking: dict[str, Any], tmp_path: Path
) -> None:
    path = written(tmp_path, a_row(**lacking))
    before = path.read_bytes()
    (found,) = rebound(tmp_path)
    assert (found.rows, found.left) == (0, 1)
    assert path.read_bytes() == before


def test_values_that_were_never_reached_stay_empty(tmp_path: Path) -> None:
    sizes = {"1000": {"time_simulated_s": 1.0, "simulated_over_bound": None}}
    path = written(tmp_path, a_row(sizes=sizes))
    assert rebound(tmp_path)[0].rows == 0
    assert over(path) == [None]


def test_the_command_names_the_files(tmp_path: Path) -> None:
    path = written(tmp_path, a_row())
    assert f"bounds in {path}: 1 rows changed" in invoke("results", "bounds", tmp_path).stdout
    assert document("results", "bounds", tmp_path)["files"] == []


def test_folders_without_rows_and_broken_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidExperimentError, match="no rows in it"):
        rebound(tmp_path)
    written(tmp_path, end='"simulated_over_bound" {\n')
    with pytest.raises(InvalidExperimentError, match="line 1: not JSON"):
        rebound(tmp_path)
