"""Fast reader of YAML with one entry on each line, as ``write_topology`` makes it.

Problem: PyYAML takes 50 us for the line of a link; half a million of them are a large network.
Input:   text of a YAML document: a line ``name: ...``, then lists under ``nodes:`` and ``links:``,
         each entry a line such as ``  - {from: gpu0, to: "no", bandwidth_gb_s: 12.5}``. Behind
         these may come ``shared:``, which the YAML parser reads.
Output:  what :mod:`yaml_values` gives for it, or None for any other text, valid or not.
Cost:    2 us a line.
Source:  YAML 1.1; words and quoted text of characters that have no other meaning in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forestcoll.errors import ForestCollError
from forestcoll.topology.reading.yaml_values import Lines, plain_values, yaml_values

__all__ = ["EntryLines", "yaml_lines"]

_LONGEST = 4096  # characters of a line, as the pattern's backtracking needs memory for each

_VALUE = (
    r"[A-Za-z0-9][A-Za-z0-9_./+-]*(?: [A-Za-z/]+)?"  # a word, or a number with its unit
    r'|"[ !#-\[\]-~]*"'  # no escapes, printable ASCII
)
_FIELD = rf"([a-z_]+): ({_VALUE})"
_NAME = re.compile(rf"name: ({_VALUE})")
_FIELDS = re.compile(_FIELD)
_ENTRY = re.compile(rf"  - \{{{_FIELD}(?:, {_FIELD})*\}}")


@dataclass(frozen=True, slots=True)
class EntryLines:
    """Line numbers of the entries: ``nodes:`` is on line 2, ``links:`` on the line given."""

    links: int
    shared: Lines | None = None

    def __call__(self, where: Sequence[str | int]) -> int:
        """Line of the field or entry, or of the list or document around it."""
        if self.shared is not None and where and where[0] == "shared":
            return self.shared(where)
        begins = {"name": 1, "nodes": 2, "links": self.links}.get(str(where[0]) if where else "", 1)
        if len(where) < 2 or begins == 1:
            return begins
        return begins + 1 + int(where[1])


def yaml_lines(text: str) -> tuple[dict[str, object], EntryLines] | None:
    """Read a document of this form, or return None if it is of another."""
    lines = text.removesuffix("\n").split("\n")
    name = _NAME.fullmatch(lines[0])
    if name is None or lines[1:2] != ["nodes:"] or "links:" not in lines:
        return None
    middle = lines.index("links:")
    end = lines.index("shared:") if "shared:" in lines else len(lines)
    known = _Meanings(plain_values())
    nodes, links = _entries(lines[2:middle], known), _entries(lines[middle + 1 : end], known)
    shared = _rest(lines, end)
    if not nodes or not links or shared is None:
        return None
    data = {"name": known[name[1]], "nodes": nodes, "links": links, **shared[0]}
    return data, EntryLines(middle + 1, shared[1])


def _rest(lines: Sequence[str], start: int) -> tuple[dict[str, object], Lines | None] | None:
    """Read what comes behind the links, if anything; None if it is more than shared capacities."""
    if start == len(lines):
        return {}, None
    try:
        data, where = yaml_values("\n" * start + "\n".join(lines[start:]), _fault)
    except ForestCollError:
        return None  # the parser reports the fault when it reads the whole
    return (data, where) if isinstance(data, dict) and data.keys() == {"shared"} else None


def _fault(line: int | None, problem: str) -> ForestCollError:
    return ForestCollError(f"{line}: {problem}")


class _Meanings(dict[str, object]):
    """Meanings of words and quoted texts, each computed once."""

    def __init__(self, plain: dict[str, object]) -> None:
        self._plain = plain

    def __missing__(self, word: str) -> object:
        value = word[1:-1] if word[0] == '"' else self._plain[word]
        self[word] = value
        return value


def _entries(lines: Sequence[str], known: _Meanings) -> list[object] | None:
    """Read the lines of a list; None if any is of another form, or gives a field twice."""
    entries: list[object] = []
    entry_line, fields = _ENTRY.fullmatch, _FIELDS.findall
    for line in lines:
        if len(line) > _LONGEST or entry_line(line) is None:
            return None
        pairs = fields(line)
        entry = {key: known[value] for key, value in pairs}
        if len(entry) < len(pairs) or "null" in entry or "true" in entry or "false" in entry:
            return None
        entries.append(entry)
    return entries
