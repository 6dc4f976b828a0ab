"""Parameter types of topology families: allowed values, parsing and display.

A family annotates each argument with one of these kinds. The command line (text), the Python call
(values) and the help all use it::

    Boxes = Annotated[int, Count("number of boxes", minimum=1)]
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.numbers import exact, exact_text

__all__ = [
    "Amount", "Choice", "Count", "Either", "Flag", "Flags", "Kind", "Latency", "Offsets", "Sizes",
]  # fmt: skip

_WHOLE = re.compile("[0-9]{1,9}")


class Kind(Protocol):
    """One kind of parameter."""

    @property
    def help(self) -> str:
        """The meaning of the parameter, in a few words."""

    @property
    def allowed(self) -> str:
        """The allowed values, in words that complete "it must be ..."."""

    def read(self, value: object) -> object:
        """Turn text, or a value of the right type, into the value; ValueError if it is neither."""

    def show(self, value: object) -> str:
        """Write a value as the text that :meth:`read` takes."""


def _whole(value: object) -> int:
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError


def _joined(value: object, sign: str) -> tuple[int, ...]:
    """Read whole numbers: a text in which a sign joins them, one, or several."""
    if isinstance(value, str):
        value = value.split(sign)
    return tuple(map(_whole, value if isinstance(value, list | tuple) else [value]))


def _exact(value: object, what: str) -> Fraction:
    try:
        return exact(value, what)
    except InvalidTopologyError as error:
        raise ValueError from error


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number between two bounds."""

    help: str
    minimum: int = 1
    maximum: int = 100_000

    @property
    def allowed(self) -> str:
        """The bounds."""
        return f"a whole number from {self.minimum} to {self.maximum}"

    def read(self, value: object) -> int:
        """Read ``"4"`` or 4."""
        number = _whole(value)
        if not self.minimum <= number <= self.maximum:
            raise ValueError
        return number

    def show(self, value: object) -> str:
        """Write the digits."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths of the dimensions of a grid, with a bound on their product."""

    help: str
    maximum: int = 1_000_000

    @property
    def allowed(self) -> str:
        """The form and the bound."""
        return f"whole numbers from 1 joined by x, such as 4x4, of at most {self.maximum} nodes"

    def read(self, value: object) -> tuple[int, ...]:
        """Read ``"4x4"``, 4 or (4, 4)."""
        sizes = _joined(value, "x")
        if not sizes or min(sizes) < 1 or math.prod(sizes) > self.maximum:
            raise ValueError
        return sizes

    def show(self, value: object) -> str:
        """Write ``4x4``."""
        return "x".join(map(str, self.read(value)))


@dataclass(frozen=True, slots=True)
class Offsets:
    """Some distances, in any order."""

    help: str
    maximum: int = 100_000

    @property
    def allowed(self) -> str:
        """The form and the bound."""
        return f"whole numbers from 1 to {self.maximum} joined by +, such as 3+4"

    def read(self, value: object) -> tuple[int, ...]:
        """Read ``"3+4"``, 3 or (3, 4)."""
        offsets = _joined(value, "+")
        if not offsets or min(offsets) < 1 or max(offsets) > self.maximum:
            raise ValueError
        return offsets

    def show(self, value: object) -> str:
        """Write ``3+4``."""
        return "+".join(map(str, self.read(value)))


@dataclass(frozen=True, slots=True)
class Amount:
    """A positive exact number, such as a bandwidth in GB/s."""

    help: str

    @property
    def allowed(self) -> str:
        """The forms."""
        return "a positive exact number, such as 25, 12.5 or 25/2"

    def read(self, value: object) -> Fraction:
        """Read ``"12.5"``, ``"25/2"``, an int or a Fraction."""
        number = _exact(value, self.help)
        if number <= 0:
            raise ValueError
        return number

    def show(self, value: object) -> str:
        """Write a decimal or a fraction."""
        return exact_text(self.read(value))


@dataclass(frozen=True, slots=True)
class Latency(Amount):
    """An exact number from zero, such as a latency in microseconds."""

    @property
    def allowed(self) -> str:
        """The forms."""
        return "an exact number from 0, such as 0, 0.7 or 7/10"

    def read(self, value: object) -> Fraction:
        """Read ``"0.7"``, ``"7/10"``, an int or a Fraction."""
        number = _exact(value, self.help)
        if number < 0:
            raise ValueError
        return number


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    help: str

    @property
    def allowed(self) -> str:
        """The two words."""
        return "true or false"

    def read(self, value: object) -> bool:
        """Read ``"true"``, ``"false"`` or a bool."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise ValueError

    def show(self, value: object) -> str:
        """Write true or false."""
        return str(value).lower()


@dataclass(frozen=True, slots=True)
class Flags:
    """True or false for all dimensions of a grid, or for each of them in order."""

    help: str
    maximum: int = 64

    @property
    def allowed(self) -> str:
        """The two forms."""
        return "true or false, or one of them for each dimension, such as true,false"

    def read(self, value: object) -> bool | tuple[bool, ...]:
        """Read ``"true"``, ``"true,false"``, a bool or several; equal ones are one."""
        if isinstance(value, str):
            value = value.removeprefix("(").removesuffix(")").split(",")
        flag = Flag(self.help)
        parts = value if isinstance(value, list | tuple) else [value]
        flags = tuple(flag.read(part.strip() if isinstance(part, str) else part) for part in parts)
        if not 1 <= len(flags) <= self.maximum:
            raise ValueError
        return flags[0] if len(flags) == 1 else flags

    def show(self, value: object) -> str:
        """Write ``true``, or ``true,false``."""
        read = self.read(value)
        flags = read if isinstance(read, tuple) else (read,)
        return ",".join(str(one).lower() for one in flags)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few values."""

    help: str
    choices: tuple[int | str, ...]

    @property
    def allowed(self) -> str:
        """The choices."""
        return " or ".join(map(str, self.choices))

    def read(self, value: object) -> int | str:
        """Read the text of a choice, or the choice."""
        for choice in self.choices:
            if not isinstance(value, bool) and value in (choice, str(choice)):
                return choice
        raise ValueError

    def show(self, value: object) -> str:
        """Write the choice."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Either:
    """A word that stands for a value worked out from the other parameters, or such a value."""

    word: str
    kind: Kind

    @property
    def help(self) -> str:
        """The meaning of the value."""
        return self.kind.help

    @property
    def allowed(self) -> str:
        """The allowed values, and the word."""
        return f"{self.kind.allowed}, or {self.word}"

    def read(self, value: object) -> object:
        """Read the word, or what the value is read from."""
        return self.word if value == self.word else self.kind.read(value)

    def show(self, value: object) -> str:
        """Write the word, or the value."""
        return self.word if value == self.word else self.kind.show(value)
