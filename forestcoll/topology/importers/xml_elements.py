"""Size-limited XML reader for dumps of hardware: elements with attributes, lines and children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn
from xml.parsers import expat

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.numbers import exact

__all__ = ["Element", "parse_elements"]

_DEPTH = 64
_MOST_ELEMENTS = 200_000
_LONGEST = 1024


@dataclass(slots=True)
class Element:
    """An element with its attributes, its children in order, its text and its line for errors."""

    tag: str
    attributes: Mapping[str, str]
    source: str
    line: int
    children: list[Element] = field(default_factory=list)
    content: str = ""

    def walk(self) -> Iterator[Element]:
        """Yield the element and all below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.walk()

    def named(self, tag: str) -> list[Element]:
        """Return the children with a tag."""
        return [child for child in self.children if child.tag == tag]

    def fault(self, problem: str) -> InvalidTopologyError:
        """Return an error that names the file, the line and the element."""
        return InvalidTopologyError(f"{self.source}, line {self.line}: {self.tag} {problem}")

    def text(self, name: str, remedy: str) -> str:
        """Return an attribute that must be there and not be empty."""
        value = self.attributes.get(name, "")
        if not value:
            raise self.fault(f"has no {name}; {remedy}")
        return value

    def number(self, name: str, remedy: str, most: int = 10**9) -> Fraction:
        """Return an attribute as an exact number from 0 to ``most``."""
        text = self.text(name, remedy)
        try:
            value = exact(text, name) if len(text) < 40 else None
        except InvalidTopologyError:
            value = None
        if value is None or not 0 <= value <= most:
            raise self.fault(f"has {name}={text[:40]!r}; it must be a number from 0 to {most}")
        return value

    def whole(self, name: str, remedy: str, most: int = 10**6) -> int:
        """Return an attribute as a whole number from 0 to ``most``."""
        value = self.number(name, remedy, most)
        if value.denominator != 1:
            raise self.fault(f"has {name}={self.attributes[name]!r}; it must be a whole number")
        return int(value)


def parse_elements(text: str, source: str, most: int = _MOST_ELEMENTS) -> Element:
    """Parse an XML document; entities are refused, and no document type is loaded.

    Raises
    ------
    InvalidTopologyError
        If the text is not XML, is nested over 64 deep, or has over ``most`` elements.
    """
    return _Parser(source, most).read(text)


class _Parser:
    def __init__(self, source: str, most: int) -> None:
        self._source = source
        self._most = most
        self._open: list[Element] = []
        self._top: Element | None = None
        self._count = 0
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = lambda _: self._open.pop()
        self._parser.EntityDeclHandler = self._entity
        self._parser.CharacterDataHandler = self._text
        self._parser.buffer_text = True

    def read(self, text: str) -> Element:
        try:
            # Dumps copied from a terminal begin with empty lines, which XML does not allow.
            blank = len(text) - len(text.lstrip())
            self._skipped = text.count("\n", 0, blank)
            self._parser.Parse(text.lstrip(), True)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            self._refuse(
                f"not XML: {reason}; write the file again, it may be cut off", error.lineno
            )
        assert self._top is not None, "the parser refuses a text without elements"
        return self._top

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        self._count += 1
        if self._count > self._most:
            self._refuse(f"over {self._most} elements; a dump of one machine has fewer", line)
        if len(self._open) >= _DEPTH:
            self._refuse(f"elements within elements, over {_DEPTH} deep", line)
        if max(map(len, (tag, *attributes, *attributes.values()))) > _LONGEST:
            self._refuse(f"a name or value of over {_LONGEST} characters", line)
        element = Element(tag, attributes, self._source, line + self._skipped)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._top = element
        self._open.append(element)

    def _text(self, text: str) -> None:
        if self._open and not text.isspace():
            self._open[-1].content += text

    def _entity(self, *_: object) -> None:
        self._refuse("declares an entity; write its text out", self._parser.CurrentLineNumber)

    def _refuse(self, problem: str, line: int) -> NoReturn:
        raise InvalidTopologyError(f"{self._source}, line {line + self._skipped}: {problem}")
