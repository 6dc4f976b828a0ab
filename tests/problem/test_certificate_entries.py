"""What certificates are made of: numbers in text, exact or refused."""

from fractions import Fraction
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from forestcoll.problem.certificate_entries import Count, Entry, Exact, Name, Price


class Wire(Entry):
    """An entry with all there is."""

    tail: Name
    head: Name
    width: Exact
    price: Price
    trees: Count


WRITTEN = {"from": "a", "to": "b", "width": "127/25", "price": "0", "trees": 3}


def test_entries_survive_a_round_trip() -> None:
    """The ends of a link are "from" and "to" in files; numbers are text, counts are numbers."""
    wire = Wire.model_validate(WRITTEN)
    assert (wire.tail, wire.head) == ("a", "b")
    assert (wire.width, wire.price, wire.trees) == (Fraction(127, 25), 0, 3)
    assert wire.model_dump(mode="json", by_alias=True) == WRITTEN
    made = Wire(tail="a", head="b", width=Fraction(127, 25), price=Fraction(0), trees=3)
    assert made == wire


def test_an_entry_has_its_fields_and_no_others() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Wire.model_validate(WRITTEN | {"colour": "red"})
    with pytest.raises(ValidationError, match="frozen"):
        Wire.model_validate(WRITTEN).trees = 4  # type: ignore[misc]
    with pytest.raises(ValidationError, match="at least 1 character"):
        Wire.model_validate(WRITTEN | {"from": ""})


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (Exact, "0", "it must be positive"),
        (Exact, "0/7", "it must be positive"),
        (Exact, "1/0", "it must be a positive exact number as text"),
        (Exact, "-1", "it must be a positive exact number as text"),
        (Exact, "0.5", "it must be a positive exact number as text"),
        (Exact, 1, "it must be a positive exact number as text"),
        (Exact, "9" * 301, "it must be a positive exact number as text"),
        (Price, "0.0", "it must be a positive exact number as text"),
        (Price, 1, "it must be a positive exact number as text"),
        (Count, -1, "it must be a whole number from 0 up"),
        (Count, "-1", "it must be a whole number from 0 up"),
        (Count, True, "it must be a whole number from 0 up"),
        (Count, 1.0, "it must be a whole number from 0 up"),
    ],
)
def test_invalid_numbers_are_reported(kind: Any, value: object, problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        TypeAdapter(kind).validate_python(value)


def test_long_numbers_are_exact() -> None:
    """Counts of many digits come as text, as JSON has no whole numbers of any length."""
    assert TypeAdapter(Count).validate_python("9" * 40) == 10**40 - 1
    assert TypeAdapter(Exact).validate_python("1/" + "3" * 40) == Fraction(3, 10**40 - 1)
    assert TypeAdapter(Price).validate_python("2/3") == Fraction(2, 3)


@pytest.mark.parametrize("nothing", ["0", 0])
def test_a_price_may_be_nothing(nothing: object) -> None:
    """As text or as a number; what is positive is read as other numbers are."""
    price: TypeAdapter[Fraction] = TypeAdapter(Price)
    assert price.validate_python(nothing) == 0
    assert price.validate_python("1/2") == Fraction(1, 2)
