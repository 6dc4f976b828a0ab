"""Files with several algorithms."""

from pathlib import Path

import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.msccl import read_all, several_algorithms
from forestcoll.runtimes.msccl.interpreter import interpret
from tests.runtimes.msccl_programs import changed, line_of, ring_allgather, ring_allreduce

FIRST, SECOND = ring_allgather(3), ring_allreduce(2)


def written(folder: Path, text: str) -> Path:
    path = folder / "file.xml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("head", "tail"),
    [("", ""), ("<algos>\n", "</algos>\n"), ('<?xml version="1.0"?>\n<all>\n', "</all>\n")],
    ids=["one after another", "inside another element", "with a prologue"],
)
def test_each_is_read_with_the_lines_of_the_file(head: str, tail: str, tmp_path: Path) -> None:
    found = read_all(written(tmp_path, head + FIRST + "<!-- <algo> -->\n" + SECOND + tail))
    assert [one.algorithm.collective for one in found] == ["allgather", "allreduce"]
    above = head.count("\n") + FIRST.count("\n") + 1
    step = found[1].algorithm.gpus[1].threadblocks[0].instructions[0]
    assert step.line == above + line_of(SECOND, 1, 0, 0)
    assert [one.remarks[0].line for one in found] == [1 + head.count("\n"), 1 + above]
    assert "one of 2 algorithms" in found[0].remarks[0].message


def test_one_algorithm_is_read_as_ever(tmp_path: Path) -> None:
    found = read_all(written(tmp_path, FIRST))
    assert len(found) == 1
    assert found[0].remarks == ()


def test_each_is_executed_for_itself(tmp_path: Path) -> None:
    """The second has a wrong offset; its line is that of the file."""
    line = line_of(SECOND, 0, 0, 0)
    path = written(tmp_path, FIRST + changed(SECOND, line, srcoff=0))
    results = [interpret(one.algorithm) for one in read_all(path)]
    assert [one.is_right for one in results] == [True, False]
    wrong = [finding for finding in results[1].findings if finding.is_wrong]
    assert any(FIRST.count("\n") + line in one.lines for one in wrong)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FIRST + SECOND[:-20], ": not XML"),
        ("<algos>\n<algo/>\n" + FIRST + "</algos>", "file.xml:2: ngpus is 0"),
        ("<algos></algos>", "1: begins with algos; an algorithm of MSCCL begins with algo"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]>\n" + FIRST + SECOND, "has a document type"),
    ],
)
def test_errors_name_the_line_of_the_file(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidScheduleError, match=message):
        read_all(written(tmp_path, text))


def test_too_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several_algorithms, "_MOST_ALGORITHMS", 2)
    with pytest.raises(InvalidScheduleError, match="has over 2 algorithms; split the file"):
        read_all(written(tmp_path, FIRST * 3))
