"""Reader of single fields from the network section of another tool's file."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from forestcoll.errors import ForestCollError, did_you_mean
from forestcoll.topology.reading.documents import Document

__all__ = ["Section"]

Value_co = TypeVar("Value_co", covariant=True)
Value = TypeVar("Value")


class _Kind(Protocol[Value_co]):
    """The kinds of the families' parameters, with the type that they read to."""

    @property
    def help(self) -> str:
        """The meaning of the value, in a few words."""

    @property
    def allowed(self) -> str:
        """The allowed values, in words that complete "it must be ..."."""

    def read(self, value: object) -> Value_co:
        """Turn text, or a value of the right type, into the value; ValueError if it is neither."""


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping in a document, with its place there and errors about its fields."""

    document: Document
    place: tuple[str, ...]
    given: Mapping[str, object]

    def read(self, kind: _Kind[Value], *where: str | int) -> Value:
        """Return the value of a field that must be there, or of an item in it.

        Raises
        ------
        ForestCollError
            In one line: the file, the field, the value found and the remedy.
        """
        value: object = self.given
        for key in where:
            if isinstance(value, Mapping) and key not in value:
                raise self.fault(f"is missing; add it ({kind.help})", *where)
            assert isinstance(value, Mapping | list), "items are asked for of lists"
            value = value[key]  # type: ignore[index]
        try:
            return kind.read(value)
        except ValueError:
            problem = f"is {reprlib.repr(value)}; it must be {kind.allowed} ({kind.help})"
            raise self.fault(problem, *where) from None

    def refuse(self, field: str, reason: str) -> None:
        """Refuse a field that does not apply here, if it is given."""
        if field in self.given:
            raise self.fault(f"is given, {reason}", field)

    def refuse_unknown(self, fields: Sequence[str], tool: str) -> None:
        """Refuse all fields that the tool does not have."""
        for field in self.given:
            if field not in fields:
                hint = did_you_mean(field, fields, f"the fields are {', '.join(fields)}")
                raise self.fault(f"is not a field of {tool}'s; {hint}", field)

    def fault(self, problem: str, *where: str | int) -> ForestCollError:
        """Return an error about a field, or an item in it."""
        return self.document.fault((*self.place, *where), problem)
