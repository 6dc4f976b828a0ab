"""Text of a YAML or JSON file to plain data, losing nothing and guessing nothing.

YAML and JSON libraries turn 12.5 into a binary float, keep the last of two equal keys, and YAML
1.1 reads ``no`` as false, ``1:30`` as ninety and ``010`` as eight. Here a decimal stays text, so
that it parses exactly; equal keys are an error; only ``true``, ``false``, ``null`` and whole
numbers are more than text. Every fault can be told with its file and, in YAML, its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import yaml

from forestcoll.errors import ForestCollError, InvalidTopologyError

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML built without libyaml: ten times slower, otherwise the same
    from yaml import SafeLoader  # type: ignore[assignment]

__all__ = ["Document", "parse_json", "parse_yaml"]

Where = Sequence[str | int]
"""The way to a value from the top of a document: keys of mappings, places in lists."""

_Fault = Callable[[int | None, str], ForestCollError]
"""Makes the error of a document from a line, if known, and the problem."""

_TAG = "tag:yaml.org,2002:"
_WHOLE = re.compile("[-+]?(0|[1-9][0-9]{0,17})")
_PLAIN_WORDS: dict[str, dict[str, object]] = {
    "bool": {"true": True, "True": True, "false": False, "False": False},
    "null": {"null": None, "~": None, "": None},
}
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data with the name of the file it came from, and the class of errors about it."""

    data: object
    source: str
    root: yaml.Node | None = field(default=None, repr=False)
    error: type[ForestCollError] = InvalidTopologyError

    def fault(self, where: Where, problem: str) -> ForestCollError:
        """Return an error that names the file, the line if known, the field and the problem."""
        place = "".join(map(_step, where)).removeprefix(".")
        text = f"{place} {problem}".lstrip()
        return _fault(self.error, self.source, self._line(where), text)

    def _line(self, where: Where) -> int | None:
        """Line of the field or list item, or of the innermost one around it that exists."""
        if self.root is None:
            return None
        node, line = self.root, self.root.start_mark.line
        for key in where:
            inner = _child(node, key)
            if inner is None:
                break
            node, line = inner
        return int(line) + 1


def parse_json(
    text: str, source: str, error: type[ForestCollError] = InvalidTopologyError
) -> Document:
    """Parse JSON; decimals stay text.

    Raises
    ------
    error
        For anything that is not JSON, and for a key given twice in one object.
    """
    fault = partial(_fault, error, source)

    def whole(digits: str) -> int | str:
        return int(digits) if _WHOLE.fullmatch(digits) else digits

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise _twice(fault, None, twice)
        return found

    try:
        data = json.loads(
            text, parse_float=str, parse_int=whole, parse_constant=str, object_pairs_hook=unique
        )
    except json.JSONDecodeError as invalid:
        raise fault(invalid.lineno, f"not valid JSON: {invalid.msg}") from None
    except RecursionError:
        raise fault(None, "nested too deeply") from None
    return Document(data, source, error=error)


def parse_yaml(
    text: str, source: str, error: type[ForestCollError] = InvalidTopologyError
) -> Document:
    """Parse YAML; decimals and YAML 1.1's surprises stay text.

    Raises
    ------
    error
        For anything that is not one YAML document of plain values, and for a key given twice in
        one mapping.
    """
    fault = partial(_fault, error, source)
    try:
        _check_depth(text, fault)
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as invalid:
        mark = invalid.problem_mark
        line = mark.line + 1 if mark else None
        raise fault(line, f"not valid YAML: {invalid.problem}") from None
    except yaml.YAMLError as invalid:
        raise fault(None, f"not valid YAML: {str(invalid).splitlines()[0]}") from None
    data = None if root is None else _Values(fault).of(root, 0)
    return Document(data, source, root, error)


class _Loader(SafeLoader):
    """Only what _PLAIN_WORDS and _WHOLE say is more than text."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 (PyYAML's own way to say it)


_Loader.add_implicit_resolver(_TAG + "bool", re.compile("(true|True|false|False)$"), list("tTfF"))
_Loader.add_implicit_resolver(_TAG + "null", re.compile("(null|~|)$"), ["n", "~", ""])
_Loader.add_implicit_resolver(_TAG + "int", re.compile(f"{_WHOLE.pattern}$"), list("-+0123456789"))


def _check_depth(text: str, fault: _Fault) -> None:
    """Refuse deep nesting before composing, which would overflow the C stack."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise fault(None, "nested too deeply")


class _Values:
    """Turns composed YAML nodes into plain values, each node once however often it is aliased."""

    def __init__(self, fault: _Fault) -> None:
        self._fault = fault
        self._known: dict[yaml.Node, object] = {}

    def of(self, node: yaml.Node, depth: int) -> object:
        if depth > _DEEPEST:
            raise self._error(node, "nested too deeply")
        if node not in self._known:
            self._known[node] = self._new(node, depth)
        return self._known[node]

    def _new(self, node: yaml.Node, depth: int) -> object:
        tag = node.tag.removeprefix(_TAG)
        if isinstance(node, yaml.MappingNode) and tag == "map":
            return self._mapping(node, depth)
        if isinstance(node, yaml.SequenceNode) and tag == "seq":
            return [self.of(item, depth + 1) for item in node.value]
        if isinstance(node, yaml.ScalarNode):
            text = str(node.value)
            if tag == "str":
                return text
            if tag == "int" and _WHOLE.fullmatch(text):
                return int(text)
            words = _PLAIN_WORDS.get(tag, {})
            if text in words:
                return words[text]
        shown = node.tag.replace(_TAG, "!!")
        raise self._error(node, f"the tag {shown} is not used in this format; leave it out")

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = self.of(key_node, depth + 1)
            if not isinstance(key, str):
                raise self._error(key_node, f"the key {key!r} is not text; put it in quotes")
            if key in found:
                raise _twice(self._fault, key_node.start_mark.line + 1, key)
            found[key] = self.of(value_node, depth + 1)
        return found

    def _error(self, node: yaml.Node, problem: str) -> ForestCollError:
        return self._fault(node.start_mark.line + 1, problem)


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if key.isprintable() else f".{key!r}"


def _child(node: yaml.Node, key: str | int) -> tuple[yaml.Node, int] | None:
    """The value of a key, or the item at a place, and the line where that key or item stands."""
    if isinstance(node, yaml.MappingNode):
        named = ((value, name.start_mark.line) for name, value in node.value if name.value == key)
        return next(named, None)
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key], node.value[key].start_mark.line
    return None


def _twice(fault: _Fault, line: int | None, key: str) -> ForestCollError:
    return fault(line, f"the key {key!r} is given twice; remove or rename one")


def _fault(
    error: type[ForestCollError], source: str, line: int | None, problem: str
) -> ForestCollError:
    where = source if line is None else f"{source}, line {line}"
    return error(f"{where}: {problem}")
