"""Lists of results: tuples that show as a line, a table and a data frame."""

import sys
from dataclasses import dataclass
from fractions import Fraction
from xml.etree import ElementTree

import pytest

import forestcoll
from forestcoll.errors import MissingPackageError
from forestcoll.topology.in_brief import InARow
from forestcoll.topology.in_rows import InRows

BOXES = "dgx_a100:boxes=4"


@dataclass(frozen=True, repr=False)
class Point(InARow):
    """A row with a number, or without."""

    name: str
    algbw_gb_s: Fraction | None

    def in_a_row(self) -> dict[str, object]:
        return {"name": self.name, "algbw_gb_s": self.algbw_gb_s, "never": None}


class Points(InRows[Point]):
    __slots__ = ()
    what = "point"


POINTS = Points([Point("<b>", Fraction(800, 3)), Point("no", None)])

LISTS = [
    (forestcoll.failures(BOXES), "<5 outcomes: 25.8065 to 233.333 GB/s>"),
    (forestcoll.upgrades(BOXES), "<4 outcomes: 266.667 to 361.29 GB/s>"),
    (forestcoll.tightest_cuts(BOXES), "<2 cuts: 266.667 to 335.484 GB/s>"),
    (forestcoll.rate_by_depth("dgx_a100:boxes=2"), "<2 depths: 50 to 346.667 GB/s>"),
    (forestcoll.best_k("mi250:boxes=2", 2).choices, "<2 choices: 320 to 341.333 GB/s>"),
    (Points(), "<0 points>"),
    (POINTS[:1], "<1 point: 266.667 GB/s>"),
]


@pytest.mark.parametrize(("shown", "line"), LISTS, ids=lambda one: type(one).__name__)
def test_a_list_is_a_tuple_that_prints_as_a_line(shown: InRows, line: str) -> None:
    """And a table in notebooks, with a row for each entry below its labels."""
    assert isinstance(shown, tuple)
    assert repr(shown) == line
    table = ElementTree.fromstring(shown._repr_html_().replace("<br>", "<br/>"))
    assert len(table.findall("tr")) == 1 + len(shown)
    assert len(shown.to_frame()) == len(shown)


def test_slices_keep_the_display_and_entries_are_themselves() -> None:
    assert type(POINTS[:1]) is Points
    assert POINTS[:1] == (POINTS[0],)
    assert tuple(POINTS) == POINTS
    assert hash(POINTS) == hash(tuple(POINTS))


def test_columns_without_any_value_are_left_out_and_names_are_no_markup() -> None:
    shown = POINTS._repr_html_()
    assert "never" not in shown
    assert "&lt;b&gt;" in shown
    assert ">266.667<" in shown


def test_exact_numbers_are_floats_in_a_frame() -> None:
    frame = POINTS.to_frame()
    assert frame["algbw_gb_s"].dtype == float
    assert frame["algbw_gb_s"][0] == pytest.approx(800 / 3)
    assert frame["algbw_gb_s"].isna().tolist() == [False, True]


def test_of_many_rows_a_notebook_shows_some() -> None:
    many = Points([POINTS[0]] * 100)
    assert many._repr_html_().count("<tr>") == 61
    assert "to_frame() has all" in many._repr_html_()
    assert len(many.to_frame()) == 100


def test_without_pandas_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match="experiments"):
        POINTS.to_frame()
