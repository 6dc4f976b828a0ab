"""Strict parser of YAML and JSON files to plain data: decimals stay exact, equal keys are errors.

YAML and JSON libraries turn 12.5 into a binary float and keep the last of two equal keys. YAML
1.1 reads ``no`` as false, ``1:30`` as ninety and ``010`` as eight. Here a decimal stays text, so
that it parses exactly; equal keys are an error; only ``true``, ``false``, ``null`` and whole
numbers are more than text. Errors name the file and, in YAML, the line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from forestcoll.bounded_read import expect_few_objects
from forestcoll.errors import ForestCollError, InvalidTopologyError

__all__ = ["Document", "parse_json", "parse_yaml"]

Where = Sequence[str | int]
"""The way to a value from the top of a document: keys of mappings, places in lists."""

_WHOLE_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data with the name of its file and the class of its errors."""

    data: object
    source: str
    lines: Callable[[Where], int] | None = field(default=None, repr=False, compare=False)
    error: type[ForestCollError] = InvalidTopologyError

    def fault(self, where: Where, problem: str) -> ForestCollError:
        """Return an error that names the file, the line if known, the field and the problem."""
        place = "".join(map(_step, where)).removeprefix(".")
        text = f"{place} {problem}".lstrip()
        line = None if self.lines is None else self.lines(where)
        return _fault(self.error, self.source, line, text)


def parse_json(
    text: str, source: str, error: type[ForestCollError] = InvalidTopologyError
) -> Document:
    """Parse JSON; decimals stay text.

    Raises
    ------
    error
        For anything that is not JSON, for a key given twice in one object, and for more values
        than memory should hold.
    """
    expect_few_objects(text, source, error)
    fault = partial(_fault, error, source)

    def whole(digits: str) -> int | str:
        return int(digits) if len(digits.lstrip("-")) <= _WHOLE_DIGITS else digits

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = next(key for key, count in counts.items() if count > 1)
            raise fault(None, f"the key {twice!r} is given twice; remove or rename one")
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
    from forestcoll.topology.reading.yaml_lines import yaml_lines
    from forestcoll.topology.reading.yaml_values import yaml_values  # loads PyYAML

    data, lines = yaml_lines(text) or yaml_values(text, partial(_fault, error, source))
    return Document(data, source, lines, error)


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if key.isprintable() else f".{key!r}"


def _fault(
    error: type[ForestCollError], source: str, line: int | None, problem: str
) -> ForestCollError:
    where = source if line is None else f"{source}, line {line}"
    return error(f"{where}: {problem}")
