"""Findings: where, and whether they make an algorithm wrong."""

from forestcoll.runtimes.interpretation.findings import Finding, Findings, Kind, Place


def test_a_place_prints_its_known_fields() -> None:
    assert str(Place(1, 2, 3, 40)) == "GPU 1, threadblock 2, step 3 (line 40)"
    assert str(Place(1)) == "GPU 1"
    assert str(Place(line=7)) == "line 7"
    assert str(Place()) == "algo"


def test_a_finding_is_at_its_first_place_and_names_all_lines_once() -> None:
    places = (Place(0, 1, 2, 30), Place(1, 0, 0, 5), Place(0, 1, 2, 30), Place(2))
    one = Finding.at(Kind.RACE, "both write", *places)
    assert (one.gpu, one.threadblock, one.step, one.line) == (0, 1, 2, 30)
    assert one.others == places[1:]
    assert one.lines == (30, 5)
    assert Finding.at(Kind.NOTE, "nowhere").lines == ()


def test_only_notes_leave_it_right() -> None:
    note, limit = Finding(Kind.NOTE, "odd"), Finding(Kind.LIMIT, "too many")
    assert Findings((note,)).is_right
    assert not Findings((limit, note)).is_right
    assert Findings(()).is_right
