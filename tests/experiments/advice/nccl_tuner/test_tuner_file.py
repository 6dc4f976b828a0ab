"""The plugin's file, written and read back."""

from pathlib import Path

import pytest

from experiments.advice.nccl_tuner.tuner_file import (
    MOST_BYTES,
    TunerLine,
    read_tuner_file,
    tuner_text,
)
from forestcoll.errors import InvalidParameterError
from tests.experiments.advice.nccl_tuner.plugin import chosen

LINES = [
    TunerLine("reduce-scatter", 0, 99, "ring", "ll", 2, 2, 16),
    TunerLine("reduce-scatter", 100, MOST_BYTES, "pat", "simple", 4, -1, -1),
]


def test_a_file_reads_back(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(tuner_text(LINES, ["of a test", "x" * 400]))
    assert "\nreducescatter,0,99,ring,ll,2,2,16\n" in file.read_text()
    assert max(map(len, file.read_text().splitlines())) < 255
    assert read_tuner_file(file) == LINES
    assert chosen(file, "reducescatter", 99, 2, 16) == ("ring", "ll", 2)
    assert chosen(file, "reducescatter", 99, 3, 16) is None
    assert chosen(file, "reducescatter", 100, 3, 16) == ("pat", "simple", 4)


def test_examples_of_the_plugin_are_read(tmp_path: Path) -> None:
    """With the two optional fields, and with blanks."""
    file = tmp_path / "a.csv"
    file.write_text("# a comment\n\nallreduce, 0,65536,tree,simple ,2,1,-1,-1,1\n")
    assert read_tuner_file(file) == [TunerLine("allreduce", 0, 65536, "tree", "simple", 2, 1, -1)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("allreduce,0,9,tree,simple,2,1", "line 1 has 7 fields; the plugin reads 8 to 10"),
        ("alltoall,0,9,ring,ll,1,1,1", "'alltoall', which the plugin does not know; it knows br"),
        ("allreduce,0,9,star,ll,1,1,1", "'star'"),
        ("allreduce,0,9,ring,LL,1,1,1", "'LL'"),
        ("allreduce,0,many,ring,ll,1,1,1", "a size or count that is no number"),
    ],
)
def test_what_the_plugin_would_take_for_something_else_is_refused(
    line: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_text(line + "\n")
    with pytest.raises(InvalidParameterError, match=message):
        read_tuner_file(file)
