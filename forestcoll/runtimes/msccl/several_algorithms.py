"""Reading of MSCCL XML files with more than one algorithm.

Problem: tools write several algorithms into one file, one after another or inside another element.
Input:   a file.
Output:  a reading of each; every remark and error names the line of the whole file.
Cost:    two passes: one finds where algorithms begin and end, the other parses each.
Source:  ours. The executor reads one algorithm a file.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.parsers import expat

from forestcoll.bounded_read import read_at_most
from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.msccl.reading import MOST_BYTES, Reading, Remark, parse_algorithm

__all__ = ["read_all"]

_MOST_ALGORITHMS = 200
_PROLOGUE = re.compile(rb"\s*<\?xml[^>]*\?>")
_FIRST, _LAST = b"<all>", b"</all>"
"""Around the whole text, so that algorithms one after another are one document."""


def read_all(path: Path | str) -> list[Reading]:
    """Read all algorithms of a file, in their order; a file of one gives one.

    Raises InvalidScheduleError as :func:`forestcoll.runtimes.msccl.read_leniently` does.
    """
    data = read_at_most(Path(path), MOST_BYTES, InvalidScheduleError, "use fewer instances")
    parts = _parts(data, str(path))
    if len(parts) < 2:
        return [parse_algorithm(data, str(path))]
    note = f"one of {len(parts)} algorithms of the file; the executor reads one a file, so split it"
    readings = []
    for begin, end in parts:
        # The lines above keep the numbers of lines as they are in the file.
        above = b"\n" * data.count(b"\n", 0, begin)
        reading = parse_algorithm(above + data[begin:end], str(path))
        remark = Remark(note, 1 + len(above))
        readings.append(replace(reading, remarks=(remark, *reading.remarks)))
    return readings


def _parts(data: bytes, name: str) -> list[tuple[int, int]]:
    """Return the first byte and the end of each element algo; none if the text is no XML."""
    found: list[tuple[int, int]] = []
    begin = open_algos = 0
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal begin, open_algos
        if tag == "algo":
            open_algos += 1
            if open_algos == 1:
                begin = parser.CurrentByteIndex - len(_FIRST)

    def end(tag: str) -> None:
        nonlocal open_algos
        if tag == "algo":
            open_algos -= 1
            if not open_algos:
                place = parser.CurrentByteIndex - len(_FIRST)
                # Of <algo ... /> the parser gives the end of the element, of </algo> its begin.
                ends_here = data[place : place + 2] != b"</"
                found.append((begin, place if ends_here else data.index(b">", place) + 1))
        if len(found) > _MOST_ALGORITHMS:
            raise InvalidScheduleError(
                f"{name}: has over {_MOST_ALGORITHMS} algorithms; split the file"
            )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    # Inside another element no prologue may stand; blanks keep the places of bytes.
    prologue = _PROLOGUE.match(data)
    last = 0 if prologue is None else prologue.end()
    bare = re.sub(rb"[^\n]", b" ", data[:last]) + data[last:]
    try:
        parser.Parse(_FIRST + bare + _LAST, True)
    except expat.ExpatError:
        return []  # the reader of one algorithm reports the error
    return found
