"""A measure as it is declared: a field of a class, with all that stands beside it."""

from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.measures.measure import Measure, duration, exactly, measure, measures_of, share


@dataclass
class Declared:
    """Three measures, and a field that is none."""

    speed: float | None = measure("how fast", how=lambda made: made.v, label="speed", unit="m/s")
    speed_exactly: str | None = exactly("speed", compared=True)
    marks: dict[str, int] = measure("all of them", empty=dict)  # noqa: RUF009
    other: int = 3


def test_a_class_declares_measures_by_the_names_of_its_fields() -> None:
    found = measures_of(Declared)
    assert list(found) == ["speed", "speed_exactly", "marks"]
    assert [one.name for one in found.values()] == list(found)
    assert found["speed"].meaning == "how fast"
    assert (found["speed_exactly"].exact_of, found["speed_exactly"].compared) == ("speed", True)


def test_missing_values_have_their_declared_default() -> None:
    """Each instance has an empty value of its own."""
    one, other = Declared(), Declared()
    assert (one.speed, one.speed_exactly, one.marks) == (None, None, {})
    assert one.marks is not other.marks


def test_values_are_computed_from_the_result_and_size() -> None:
    """With the size of the data where it depends on it; None without a way to take it."""
    made: Any = SimpleNamespace(v=Fraction(7, 2))
    assert measures_of(Declared)["speed"].of(made) == Fraction(7, 2)
    sized = Measure(how=lambda made, size: made.v * size, sized=True)
    assert sized.of(made, 4) == 14
    assert Measure().of(made) is None


def test_an_axis_has_the_unit_in_brackets_if_there_is_one() -> None:
    assert measures_of(Declared)["speed"].axis == "speed (m/s)"
    assert Measure(label="depth").axis == "depth"


@pytest.mark.parametrize(
    ("value", "text"), [(266.6667, "266.67"), (13, "13"), (None, ""), ("a cut", "a cut")]
)
def test_a_cell_is_short(value: object, text: str) -> None:
    """Two decimals, or what the measure itself makes of the row."""
    row = SimpleNamespace(speed=value)
    assert measures_of(Declared)["speed"].text(row) == text
    assert Measure(name="speed", cell=lambda row: f"<{row.speed}>").text(row) == f"<{value}>"


def test_times_and_shares_for_people() -> None:
    assert [duration(time) for time in (None, 0.9994, 1, 61)] == ["", "999.4 ms", "1.0 s", "61.0 s"]
    assert [share(part) for part in (1, 1 / 3, 0)] == ["100.0%", "33.3%", "0.0%"]
