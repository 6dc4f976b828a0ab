"""Streaming reader of YAML with plain values, with limits on depth and size.

Problem: a tree of PyYAML's nodes takes 50 to 150 bytes for each byte of the text, and the limits
         would apply only to the whole tree; ruamel.yaml takes 25 times as long.
Input:   text of one YAML document.
Output:  plain data, and the lines on which its fields and items stand.
Cost:    2 us an event (a value, or an end of a list or mapping).
Source:  events of libyaml, in the order of YAML 1.1; which values are more than text is our choice.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from forestcoll.errors import ForestCollError

try:
    from yaml import CSafeLoader as Loader
except ImportError:  # PyYAML built without libyaml: ten times slower, otherwise the same
    from yaml import SafeLoader as Loader  # type: ignore[assignment]

__all__ = ["MOST_CHARACTERS", "MOST_VALUES", "WHOLE", "Lines", "plain_values", "yaml_values"]

Where = Sequence[str | int]
"""The way to a value from the top of a document: keys of mappings, places in lists."""

Fault = Callable[[int | None, str], ForestCollError]
"""Makes the error of a document from a line, if known, and the problem."""

WHOLE = re.compile("[-+]?(0|[1-9][0-9]{0,17})")
"""A number that is read as one; others stay text."""

WORDS: dict[str, dict[str, object]] = {
    "bool": {"true": True, "True": True, "false": False, "False": False},
    "null": {"null": None, "~": None, "": None},
}
"""Unquoted words that are more than text, by their tag."""

MOST_CHARACTERS = 16_000_000
MOST_VALUES = 3_000_000
_DEEPEST = 20
_TAG = "tag:yaml.org,2002:"
_REMEDY = (
    "check that it is the right file; large networks are read with one node or link a line, as "
    "`forestcoll topology export` writes them, or as JSON"
)


@dataclass(frozen=True, slots=True)
class Lines:
    """Line numbers of the fields and items of a document.

    Parameters
    ----------
    data : object
        The document.
    first : int
        The line on which it begins, from 1.
    of : dict
        By the id of a mapping or list in it: the line of each entry, or one line for all.
    """

    data: object
    first: int
    of: dict[int, int | array[int]]

    def __call__(self, where: Where) -> int:
        """Line of the field or list item, or of the innermost one around it that exists."""
        value, line = self.data, self.first
        for key in where:
            place = _place(value, key)
            if place is None:
                break
            lines = self.of[id(value)]
            line = lines if isinstance(lines, int) else lines[place]
            value = value[key]  # type: ignore[index]
        return line


def _place(value: object, key: str | int) -> int | None:
    """Return the number of the entry that a key names in a mapping or list."""
    if isinstance(value, dict) and key in value:
        return list(value).index(key)
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return key
    return None


def yaml_values(text: str, fault: Fault) -> tuple[object, Lines | None]:
    """Read one YAML document of plain values; a text without any is None and has no lines.

    Raises
    ------
    ForestCollError
        Made by ``fault``, if the text is not YAML, or has several documents, tags, keys that are
        not text or given twice, deep nesting, or too many characters or values.
    """
    if len(text) > MOST_CHARACTERS:
        raise fault(None, f"has over {MOST_CHARACTERS // 10**6} MB of YAML; {_REMEDY}")
    if text.count(",") > MOST_VALUES:  # fail early: the exact count would take seconds
        raise fault(None, f"has over {MOST_VALUES} values in YAML; {_REMEDY}")
    reader = _Reader(fault)
    try:
        for event in yaml.parse(text, Loader=Loader):
            reader.take(event)
    except yaml.MarkedYAMLError as invalid:
        mark = invalid.problem_mark
        line = mark.line + 1 if mark else None
        if "nesting depth" in (invalid.problem or ""):  # PyYAML from 6.0.4 on counts itself
            raise fault(None, "nested too deeply") from None
        raise fault(line, f"not valid YAML: {invalid.problem}") from None
    except yaml.YAMLError as invalid:
        raise fault(None, f"not valid YAML: {str(invalid).splitlines()[0]}") from None
    if reader.documents == 0:
        return None, None
    return reader.top, Lines(reader.top, reader.first, reader.lines)


class PlainValues(dict[str, object]):
    """Meanings of unquoted words, each computed once: a word, a whole number, or text."""

    def __missing__(self, word: str) -> object:
        value: object = int(word) if WHOLE.fullmatch(word) else word
        self[word] = value
        return value


def plain_values() -> PlainValues:
    """Return the meaning of the words that are more than text, which learns the others."""
    return PlainValues({word: value for words in WORDS.values() for word, value in words.items()})


_NO_KEY = object()


class _Open:
    """A mapping or list whose end has not come yet; ``height`` is that of what it holds so far."""

    __slots__ = ("anchor", "height", "key", "line", "lines", "value")

    def __init__(self, value: Any, line: int, anchor: str | None) -> None:
        self.value, self.line, self.anchor = value, line, anchor
        self.lines = array("I")
        self.key: object = _NO_KEY
        self.height = 0


class _Reader:
    """Takes events one by one; in the end ``top`` is the document."""

    def __init__(self, fault: Fault) -> None:
        self.top: object = None
        self.first = 1
        self.lines: dict[int, int | array[int]] = {}
        self._fault = fault
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[object, int | None]] = {}
        self._plain = plain_values()
        self.documents = self._values = 0

    def take(self, event: Any) -> None:
        """Process one event."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._add(self._scalar(event), event.start_mark.line + 1)
        elif kind is yaml.MappingStartEvent:
            self._begin(event, {}, "map")
        elif kind is yaml.SequenceStartEvent:
            self._begin(event, [], "seq")
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._end()
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self.documents += 1
            if self.documents > 1:
                raise self._error(event, "not valid YAML: but found another document")

    def _add(self, value: object, line: int) -> None:
        """Put a value into what is around it: an item, a key, or the value of the last key."""
        self._values += 1
        if self._values > MOST_VALUES:
            raise self._fault(None, f"has over {MOST_VALUES} values in YAML; {_REMEDY}")
        if not self._open:
            self.top, self.first = value, line
            return
        around = self._open[-1]
        if type(around.value) is list:
            around.value.append(value)
            around.lines.append(line)
        elif around.key is _NO_KEY:
            self._key(around, value, line)
        else:
            around.value[around.key] = value
            around.key = _NO_KEY

    def _key(self, around: _Open, key: object, line: int) -> None:
        if not isinstance(key, str):
            raise self._fault(line, f"the key {key!r} is not text; put it in quotes")
        if key in around.value:
            raise self._fault(line, f"the key {key!r} is given twice; remove or rename one")
        around.key = key
        around.lines.append(line)

    def _begin(self, event: Any, value: object, tag: str) -> None:
        if event.tag not in (None, "!", _TAG + tag):
            raise self._tagged(event)
        if len(self._open) > _DEEPEST:
            raise self._fault(None, "nested too deeply")
        if event.anchor:
            self._name(event, value, None)  # not to be repeated inside of itself
        self._open.append(_Open(value, event.start_mark.line + 1, event.anchor))

    def _end(self) -> None:
        closed = self._open.pop()
        lines, height = closed.lines, closed.height + 1
        same = not lines or lines[0] == lines[-1]
        self.lines[id(closed.value)] = (lines[0] if lines else closed.line) if same else lines
        if closed.anchor:
            self._anchors[closed.anchor] = closed.value, height
        self._nest(height)
        self._add(closed.value, closed.line)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise self._error(event, "not valid YAML: found undefined alias")
        value, height = self._anchors[event.anchor]
        if height is None or len(self._open) + height > _DEEPEST:
            raise self._error(event, "nested too deeply")
        self._nest(height)
        self._add(value, event.start_mark.line + 1)

    def _nest(self, height: int) -> None:
        if self._open:
            self._open[-1].height = max(self._open[-1].height, height)

    def _name(self, event: Any, value: object, height: int | None) -> None:
        if event.anchor in self._anchors:
            raise self._error(event, f"not valid YAML: the anchor &{event.anchor} is given twice")
        self._anchors[event.anchor] = value, height

    def _scalar(self, event: Any) -> object:
        text: str = event.value
        if event.tag in (None, "!"):
            value = self._plain[text] if event.implicit[0] else text
        else:
            value = self._as_tagged(event, text)
        if event.anchor:
            self._name(event, value, 0)
        return value

    def _as_tagged(self, event: Any, text: str) -> object:
        tag = event.tag.removeprefix(_TAG)
        if tag == "str":
            return text
        if tag == "int" and WHOLE.fullmatch(text):
            return int(text)
        if text not in WORDS.get(tag, {}):
            raise self._tagged(event)
        return WORDS[tag][text]

    def _tagged(self, event: Any) -> ForestCollError:
        shown = event.tag.replace(_TAG, "!!")
        return self._error(event, f"the tag {shown} is not used in this format; leave it out")

    def _error(self, event: Any, problem: str) -> ForestCollError:
        return self._fault(event.start_mark.line + 1, problem)
