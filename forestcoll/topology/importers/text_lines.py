"""Lines of a text listing, with their numbers for errors and without terminal colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from forestcoll.errors import InvalidTopologyError

__all__ = ["Line", "text_lines"]

_LONGEST = 4096
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, without the white space at its end."""

    number: int
    text: str
    source: str

    def fault(self, problem: str) -> InvalidTopologyError:
        """Return an error that names the file and the line."""
        return InvalidTopologyError(f"{self.source}, line {self.number}: {problem}")

    def shown(self) -> str:
        """Return the start of the line for a message."""
        return repr(self.text[:60])


def text_lines(text: str, source: str, *, skip_long: bool = False) -> Iterator[Line]:
    """Yield the lines that are not empty.

    Parameters
    ----------
    text : str
    source : str
        The file, for errors.
    skip_long : bool
        Leave out lines of over 4096 characters instead of refusing them, as logs have some.

    Raises
    ------
    InvalidTopologyError
        If a line is too long.
    """
    begin, number = 0, 0
    while begin < len(text):
        number += 1
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if end - begin <= _LONGEST:
            line = _ESCAPES.sub("", text[begin:end]).rstrip()
            if line:
                yield Line(number, line, source)
        elif not skip_long:
            raise InvalidTopologyError(
                f"{source}, line {number}: over {_LONGEST} characters; check that it is the right "
                f"file"
            )
        begin = end + 1
