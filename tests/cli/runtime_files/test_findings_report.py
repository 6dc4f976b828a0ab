"""Findings for people and for machines."""

from forestcoll.cli.runtime_files.findings_report import lines_of, record_of
from forestcoll.runtimes.interpretation.findings import Finding, Findings, Kind, Place


def test_five_of_a_kind_are_shown_and_the_others_counted() -> None:
    races = [Finding(Kind.RACE, f"race {number}") for number in range(7)]
    data = [Finding(Kind.DATA, "x" * 1000), Finding(Kind.NOTE, "odd")]
    lines = list(lines_of([*races, *data], Findings((), more=(Kind.RACE,))))
    assert lines[:2] == ["race: race 0", "race: race 1"]
    assert lines[5] == "race: 2 or more others; see --json"
    assert lines[6] == f"data: {'x' * 400} ..."
    assert lines[7] == "odd"


def test_a_record_has_all_that_is_known() -> None:
    found = record_of(Finding.at(Kind.LIMIT, "many", Place(1, 2, 3, 4), Place(line=9)))
    assert (found["kind"], found["wrong"], found["message"]) == ("limit", True, "many")
    assert (found["gpu"], found["threadblock"], found["step"]) == (1, 2, 3)
    assert (found["line"], found["lines"]) == (4, [4, 9])
