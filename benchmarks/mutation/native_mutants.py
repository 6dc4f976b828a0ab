"""Mutants of a C++ file: one small fault each, made in its text.

clang-format has formatted the text: operators have spaces, types have none. Left out: comments,
includes, messages, what only reports progress or reserves memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

__all__ = ["NativeMutant", "mutants_of_text"]


@dataclass(frozen=True, slots=True)
class NativeMutant:
    """One fault: a line, and the line in its place.

    ``twin`` counts the mutants before it that read the same.
    """

    line: int
    kind: str
    before: str
    after: str
    twin: int = 0

    @property
    def name(self) -> str:
        """A name that stays when lines move."""
        return f"{self.before.strip()} -> {self.after.strip()} #{self.twin}"

    def applied(self, text: str) -> str:
        """Return the text with this fault."""
        lines = text.splitlines(keepends=True)
        ending = lines[self.line - 1][len(lines[self.line - 1].rstrip("\n")) :]
        lines[self.line - 1] = self.after + ending
        return "".join(lines)


SWAPS = (
    ("comparison", " < ", " <= "),
    ("comparison", " <= ", " < "),
    ("comparison", " > ", " >= "),
    ("comparison", " >= ", " > "),
    ("comparison", " == ", " != "),
    ("comparison", " != ", " == "),
    ("operator", " + ", " - "),
    ("operator", " - ", " + "),
    ("operator", " * ", " / "),
    ("operator", " / ", " * "),
    ("operator", " % ", " / "),
    ("operator", " += ", " -= "),
    ("operator", " -= ", " += "),
    ("and, or", " && ", " || "),
    ("and, or", " || ", " && "),
    ("function", "std::min(", "std::max("),
    ("function", "std::max(", "std::min("),
    ("function", "any_of(", "all_of("),
    ("function", "none_of(", "any_of("),
    ("function", "all_of(", "any_of("),
    ("function", "max_element(", "min_element("),
    ("function", "min_element(", "max_element("),
    ("constant", "true", "false"),
    ("constant", "false", "true"),
    ("other end", ".tail", ".head"),
    ("other end", ".head", ".tail"),
    ("other end", "in_[", "out_["),
    ("other end", "out_[", "in_["),
    ("statement", "continue;", "break;"),
    ("statement", "break;", "continue;"),
)
SILENT = re.compile(
    r"progress|reserve\(|shrink_to_fit|throw|static_assert|^\s*(#|//|using|template)"
)
NUMBER = re.compile(r"(?<![\w.\"])(\d+)(?![\w.\"])")
SIGN = re.compile(r"(?<=[( ])!(?=[\w(])")
CONDITION = re.compile(
    r"^(\s*(?:\} else )?if \()(?!const|auto)(.+)(\)(?: \{)?(?: [^()]*;| \w.*;)?)$"
)
EFFECT = re.compile(
    r"^\s+(?!return|delete)(?:(?:\+\+|--)\S+|[\w.\->\[\]:]+\(.*\)|[\w.\->\[\]():]+ [-+*/|&]?= .+);$"
)


def mutants_of_text(text: str) -> list[NativeMutant]:
    """Return all mutants."""
    found, seen = [], Counter[str]()
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.partition(" // ")[0]
        for mutant in _of_line(number, line, code) if depth > 0 else ():
            found.append(replace(mutant, twin=seen[mutant.name]))
            seen[mutant.name] += 1
        depth += _deeper(line)
    return found


def _deeper(line: str) -> int:
    """Return by how many braces a line goes in; those of namespaces do not count."""
    return 0 if "namespace" in line else line.count("{") - line.count("}")


def _of_line(number: int, line: str, code: str) -> Iterator[NativeMutant]:
    if SILENT.search(code) or '"' in code:
        return
    for kind, old, new in SWAPS:
        for at in re.finditer(re.escape(old), code):
            yield NativeMutant(number, kind, line, code[: at.start()] + new + code[at.end() :])
    for at in NUMBER.finditer(code):
        after = code[: at.start()] + str(int(at[1]) + 1) + code[at.end() :]
        yield NativeMutant(number, "constant", line, after)
    for at in SIGN.finditer(code):
        yield NativeMutant(number, "sign", line, code[: at.start()] + code[at.end() :])
    held = CONDITION.match(code)
    if held and held[2].count("(") == held[2].count(")"):
        for value in ("true", "false"):
            yield NativeMutant(number, "condition", line, f"{held[1]}{value}{held[3]}")
    if EFFECT.match(code) and code.count("(") == code.count(")") and "operator" not in code:
        yield NativeMutant(number, "statement", line, re.sub(r"\S.*", ";", code))
