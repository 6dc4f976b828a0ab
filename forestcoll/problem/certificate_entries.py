"""Field types of certificates: exact numbers, counts and names, in JSON."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)

__all__ = [
    "Count", "CutPrice", "Entry", "Exact", "ForwardingPrice", "LimitPrice", "Name", "Price",
    "Prices", "SharedLink",
]  # fmt: skip

_WRITTEN = {"tail": "from", "head": "to"}  # names in files, where they differ
_DIGITS = "[0-9]{1,300}"
_FRACTION = re.compile(f"{_DIGITS}(/{_DIGITS})?")


def _fraction(value: object) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, str) or not _FRACTION.fullmatch(value) or re.search("/0+$", value):
        raise ValueError('it must be a positive exact number as text, such as "3" or "127/25"')
    if not (number := Fraction(value)):
        raise ValueError("it must be positive")
    return number


def _price(value: object) -> Fraction:
    return Fraction(0) if value == "0" or value == 0 else _fraction(value)


def _whole(value: object) -> int:
    """Read a whole number from 0 up; files hold numbers of many digits as text."""
    if isinstance(value, str) and re.fullmatch(_DIGITS, value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("it must be a whole number from 0 up")
    return value


Exact = Annotated[
    Fraction,
    PlainValidator(_fraction),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": f"^{_FRACTION.pattern}$"}),
]
"""A positive exact number."""

Price = Annotated[
    Fraction,
    PlainValidator(_price),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": f"^{_FRACTION.pattern}$"}),
]
"""An exact number from 0 up."""

Count = Annotated[int, PlainValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 0})]
Name = Annotated[str, Field(min_length=1)]


class Entry(BaseModel):
    """An object with exactly its fields; the ends of a link are "from" and "to" in files."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        populate_by_name=True,
        alias_generator=lambda name: _WRITTEN.get(name, name),
    )


class SharedLink(Entry):
    """A link that a shared capacity holds."""

    tail: Name
    head: Name


class LimitPrice(Entry):
    """A shared capacity, and its price."""

    name: Name
    price: Price


class CutPrice(Entry):
    """A node set that misses a GPU, and its price."""

    nodes: list[Name]
    price: Price


class ForwardingPrice(Entry):
    """A node that only forwards, and its price."""

    switch: Name
    price: Price


class Prices(Entry):
    """Prices of cuts, of what forwards, and of shared capacities; those not named are 0.

    A link needs the sum of the prices of the cuts that it leaves (in a reduction: enters), plus the
    price of its head, less that of its tail (in a reduction: the reverse), less those of the shared
    capacities that hold it, or 0 if that is negative.
    """

    cuts: list[CutPrice]
    switches: list[ForwardingPrice]
    shared: list[LimitPrice]
