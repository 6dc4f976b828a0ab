"""Rows as typed tables come back as they were."""

import json
from pathlib import Path

import pandas as pd
import pytest

from experiments.results.frames import from_frame, read_parquet, to_frame, write_parquet
from forestcoll.errors import InvalidExperimentError
from tests.experiments.samples import rings_of_rows as some_rows


def test_parquet_is_typed_and_comes_back_as_it_was(tmp_path: Path) -> None:
    """Whole numbers stay whole beside missing ones; what is nested is JSON."""
    rows = some_rows((0.1, 0.2))
    frame = to_frame(rows)
    assert from_frame(frame) == rows
    path = write_parquet(rows, tmp_path / "a.parquet")
    assert read_parquet(path) == rows
    stored = pd.read_parquet(path)
    kinds = {"depth": "int64", "generation_s": "float64", "verified": "bool", "gpus": "int64"}
    for column, kind in kinds.items():
        assert str(stored[column].dtype).lower() in (kind, f"{kind}ean"), column
    assert json.loads(stored["parameters"][0])["fast"] is True


def test_parquet_of_something_else_is_a_typed_error(tmp_path: Path) -> None:
    """A table without our columns, and a file that is no parquet at all."""
    path = tmp_path / "a.parquet"
    pd.DataFrame({"a": [1]}).to_parquet(path)
    with pytest.raises(InvalidExperimentError, match="not rows of results"):
        read_parquet(path)
    path.write_text("hello")
    with pytest.raises(InvalidExperimentError, match=r"a\.parquet"):
        read_parquet(path)


def test_parquet_of_the_wrong_types_is_a_typed_error(tmp_path: Path) -> None:
    """A column of words where numbers belong."""
    file = tmp_path / "rows.parquet"
    to_frame(some_rows()).astype({"gpus": "string"}).assign(gpus="x").to_parquet(file)
    with pytest.raises(InvalidExperimentError, match="not rows of results"):
        read_parquet(file)
