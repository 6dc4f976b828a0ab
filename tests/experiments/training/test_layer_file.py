"""One's own layers from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.training.layer_file import read_layers
from experiments.training.parallelism import Layer
from forestcoll.errors import InvalidParameterError

HEAD = "name,forward_us,backward_us,parameter_bytes,routed_bytes\n"


def file_with(folder: Path, text: str) -> Path:
    path = folder / "layers.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_layers_come_in_their_order(tmp_path: Path) -> None:
    path = file_with(tmp_path, HEAD + "first,10,20.5,1000,\nfirst,1,2,0,64\n")
    assert read_layers(path) == [
        Layer("0 first", 1e-5, 2.05e-5, 1000),
        Layer("1 first", 1e-6, 2e-6, 0, 64),
    ]


def test_routed_bytes_may_be_left_out(tmp_path: Path) -> None:
    path = file_with(tmp_path, "name,forward_us,backward_us,parameter_bytes\na,1,2,3\n")
    assert read_layers(path) == [Layer("0 a", 1e-6, 2e-6, 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column 'name'"),
        ("name,forward_us\na,1\n", "has no column 'backward_us'"),
        (HEAD, "has no layers"),
        (HEAD + "a,x,1,1,\n", "line 2: forward_us is 'x'"),
        (HEAD + "a,1,-1,1,\n", "line 2: backward_us is '-1'"),
        (HEAD + "a,1,1,1e99,\n", "line 2: parameter_bytes is '1e99'"),
        (HEAD + "a,1,1,1,nan\n", "line 2: routed_bytes is 'nan'"),
        (HEAD + "a,1\n", "line 2: backward_us is ''"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message) as refused:
        read_layers(file_with(tmp_path, text))
    assert "layers.csv" in str(refused.value)


def test_missing_and_huge_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="none"):
        read_layers(tmp_path / "none.csv")
    with pytest.raises(InvalidParameterError, match="layers"):
        read_layers(file_with(tmp_path, "x" * 5 * 2**20))
