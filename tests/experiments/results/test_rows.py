"""The file of rows survives kills, full disks and rivals."""

import json
import math
import os
from pathlib import Path

import pytest

from experiments.results.rows import Row, RowFile, Status, latest, read_rows
from forestcoll.errors import ForestCollError, InvalidExperimentError


def a_row(point: str, **changes: object) -> Row:
    columns: dict[str, object] = {
        "experiment": "toy",
        "point": point,
        "cluster": "ring",
        "topology": "ring:nodes=3",
        "collective": "allgather",
        "method": "ring",
        "parameters": {"a": 1},
        "repetition": 0,
        "status": Status.OK,
        "limit_s": 60.0,
        "limit_memory_gb": 4.0,
        "time": "2026-01-01T00:00:00+00:00",
        **changes,
    }
    return Row(**columns)  # type: ignore[arg-type]


def test_a_row_is_read_back_as_it_was() -> None:
    """Exact numbers, statuses and text of any script survive."""
    row = a_row("p", status=Status.FAILED, reason="línea\n2", algbw="800/3", ratio=0.5)
    assert Row.from_json(row.to_json()) == row
    assert "\n" not in row.to_json()


def test_rows_of_an_earlier_version_lack_columns() -> None:
    """New code reads rows from before there were other measures, chunks and steps."""
    old = json.loads(a_row("p", algbw="800/3").to_json())
    for column in NEW_COLUMNS:
        del old[column]
    row = Row.from_json(json.dumps(old))
    assert row == a_row("p", algbw="800/3")
    assert all(getattr(row, column) is None for column in NEW_COLUMNS)


NEW_COLUMNS = (
    *("algbw_synchronous", "algbw_synchronous_gb_s", "algbw_makespan", "algbw_makespan_gb_s"),
    *("chunks", "steps"),
)


def test_columns_of_a_later_version_are_passed_over() -> None:
    """Old code reads new rows."""
    row = a_row("p")
    assert Row.from_json(row.to_json()[:-1] + ', "mood": "good"}') == row


def test_a_half_written_last_line_is_dropped(tmp_path: Path) -> None:
    """A kill in the middle of the third row leaves two; the next row has its own line."""
    path = tmp_path / "rows.jsonl"
    with RowFile(path) as file:
        for name in "abc":
            file.append(a_row(name))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert [row.point for row in read_rows(path)] == ["a", "b"]
    with RowFile(path) as file:
        assert [row.point for row in file.rows] == ["a", "b"]
        file.append(a_row("c"))
    assert path.read_bytes() == whole


def test_fresh_starts_over(tmp_path: Path) -> None:
    """Nothing of the earlier run is left."""
    path = tmp_path / "rows.jsonl"
    with RowFile(path) as file:
        file.append(a_row("a"))
    with RowFile(path, fresh=True) as file:
        assert file.rows == []
    assert path.read_bytes() == b""


def test_a_spoilt_line_is_an_error_that_names_it(tmp_path: Path) -> None:
    """What no kill can have done is not passed over in silence."""
    path = tmp_path / "rows.jsonl"
    path.write_text(a_row("a").to_json() + "\nnonsense\n")
    with pytest.raises(InvalidExperimentError, match=r"rows\.jsonl, line 2: not a row"):
        read_rows(path)


def test_two_runs_cannot_write_the_same_rows(tmp_path: Path) -> None:
    """The second gets an error and touches nothing."""
    path = tmp_path / "rows.jsonl"
    with RowFile(path) as file:
        file.append(a_row("a"))
        with pytest.raises(InvalidExperimentError, match="another run"):
            RowFile(path, fresh=True)
    assert len(read_rows(path)) == 1


def test_a_full_disk_leaves_no_half_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write cut short is taken back, and said."""
    path = tmp_path / "rows.jsonl"
    whole_write = os.write
    with RowFile(path) as file:
        file.append(a_row("a"))
        with monkeypatch.context() as full:
            full.setattr(os, "write", lambda to, data: whole_write(to, data[:10]))
            with pytest.raises(ForestCollError, match="cannot write"):
                file.append(a_row("b"))
        file.append(a_row("c"))
    assert [row.point for row in read_rows(path)] == ["a", "c"]


def test_the_last_row_of_a_point_counts() -> None:
    """A rerun after a timeout supersedes it."""
    rows = [a_row("a", status=Status.TIMEOUT), a_row("b"), a_row("a")]
    assert latest(rows)["a"].status is Status.OK


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("gpus", "x", "gpus is 'x'; it should be a valid integer"),
        ("generation_s", "fast", "generation_s is 'fast'; it should be a valid number"),
        ("parameters", [1], "parameters is [1]; it should be a"),
        ("algbw", "fast", "'fast' is not an exact number"),
        ("algbw", "1/0", "'1/0' is not an exact number"),
        ("algbw_synchronous", "1.5", "'1.5' is not an exact number"),
        ("algbw_makespan", "-1", "'-1' is not an exact number"),
        ("status", "paused", "status is 'paused', which is not of ok, timeout"),
        ("experiment", None, "experiment is None; it should be a valid string"),
        ("algbw_gb_s", math.nan, "algbw_gb_s is nan; it should be a finite number"),
        ("generation_s", math.inf, "generation_s is inf; it should be a finite number"),
        ("sizes", {"1024": {"time_simulated_s": math.nan}}, "sizes is nan; it should be a"),
        ("parameters", {"effort": -math.inf}, "parameters is -inf; it should be a"),
    ],
)
def test_wrong_types_are_named(tmp_path: Path, column: str, value: object, message: str) -> None:
    """The reader of the file says so, in one line, instead of pandas later on."""
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({**json.loads(a_row("a").to_json()), column: value}) + "\n")
    with pytest.raises(InvalidExperimentError) as caught:
        read_rows(path)
    assert f"rows.jsonl, line 1: not a row of results: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)
