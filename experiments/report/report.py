"""Results as one page of HTML, in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.report.sources import Source
from forestcoll.atomic_write import write_whole
from forestcoll.errors import ExportError
from forestcoll.extras import missing

__all__ = ["check_ending", "write_report"]


def check_ending(file: Path) -> None:
    """Refuse a file that no browser would take for a page.

    Raises
    ------
    ExportError
    """
    if file.suffix.lower() not in (".html", ".htm"):
        raise ExportError(f"{file}: unknown ending; use .html")


def write_report(
    sources: Sequence[Source], file: Path, title: str = "", remarks: Sequence[str] = ()
) -> Path:
    """Write a page with the figures and the table of some results; equal rows give equal bytes.

    Parameters
    ----------
    sources : sequence of Source
        From :func:`experiments.report.sources.read_sources`.
    file : Path
        Ending in .html.
    title : str
        If empty, that of the experiment, or how many there are.
    remarks : sequence of str
        For the top of the page.

    Raises
    ------
    ExportError
        For another ending, or a file that cannot be written.
    ForestCollError
        If plotly is not installed.
    """
    check_ending(file)
    script = _plotly()
    from experiments.report.page import page

    text = page(sources, script, title or _title(sources), remarks)
    # A folder's name may hold bytes that are no text; they are shown as "?".
    content = text.encode("utf-8", errors="replace")
    write_whole(file, lambda draft: _write(draft, content))
    return file


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def _title(sources: Sequence[Source]) -> str:
    return sources[0].title if len(sources) == 1 else f"Results of {len(sources)} experiments"


def _plotly() -> str:
    """Return the script of plotly.js, which the package plotly brings."""
    try:
        from plotly.offline import get_plotlyjs
    except ModuleNotFoundError as error:
        raise missing(error, "results html") or error from None
    return str(get_plotlyjs())
