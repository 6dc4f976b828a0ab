"""Format detection and reading of other synthesizers' files.

Problem: is an untrusted JSON file TE-CCL's, TACCL's or SCCL's?
Input:   a path.
Output:  the transfers in it, or an error that names the file, the field and what is known.
Cost:    one pass; MOST_BYTES at most.
"""

from __future__ import annotations

from pathlib import Path

from forestcoll.bounded_read import read_start, read_text_at_most
from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.scoring.other_tools.sccl_algorithm import (
    is_sccl_algorithm,
    read_sccl_algorithm,
)
from forestcoll.runtimes.scoring.other_tools.teccl_output import is_teccl_output, read_teccl_output
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolTransfers
from forestcoll.topology.reading.documents import Document, parse_json

__all__ = ["MOST_BYTES", "is_json", "read_tool_file"]

MOST_BYTES = 32_000_000
"""The largest that are published have a third of a megabyte."""

_START = 1000  # bytes, in which the first sign is


def is_json(path: Path) -> bool:
    """Return whether a file begins like a JSON object or list.

    Raises InvalidScheduleError if the file cannot be read.
    """
    start = read_start(path, _START, InvalidScheduleError).removeprefix(b"\xef\xbb\xbf")
    return start.strip(b" \t\r\n")[:1] in (b"{", b"[")


def read_tool_file(path: Path) -> ToolTransfers:
    """Read an output of TE-CCL, or an algorithm of TACCL, SCCL or MSCCL's tools.

    Raises
    ------
    InvalidScheduleError
        If the file has none of these formats, or differs from what these tools write.
    UnsupportedError
        As of :mod:`forestcoll.runtimes.scoring.other_tools.teccl_output` and ``sccl_algorithm``.
    VerificationError
        As of the former.
    """
    text = read_text_at_most(path, MOST_BYTES, InvalidScheduleError)
    return _transfers(parse_json(text, str(path), InvalidScheduleError))


def _transfers(document: Document) -> ToolTransfers:
    if is_sccl_algorithm(document):
        return read_sccl_algorithm(document)
    if is_teccl_output(document):
        return read_teccl_output(document)
    raise document.fault(
        (),
        "has an unknown format: files of TE-CCL have '7-Flows', those of TACCL and SCCL "
        "'sccl_type' or 'msccl_type', plans of MSCCL++ 'gpus' and 'inplace', and MSCCL's files are "
        "XML; check our schedules by verify",
    )
