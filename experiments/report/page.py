"""The page of results: one HTML file that loads no other."""

from __future__ import annotations

import base64
import hashlib
import importlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.figures.plotly_renderer import template
from experiments.report.experiment_section import Section, facts
from experiments.report.rows_table import RowsTable, details
from experiments.report.sources import Source
from forestcoll.atomic_write import write_whole
from forestcoll.errors import ExportError
from forestcoll.extras import missing

if TYPE_CHECKING:
    import jinja2

__all__ = ["check_ending", "page", "write_report"]

_MOST_PANELS = 12
"""Of a figure; the others are folded away."""


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
    MissingPackageError
        If plotly or Jinja2 is not installed.
    """
    check_ending(file)
    several = f"Results of {len(sources)} experiments"
    title = title or (sources[0].title if len(sources) == 1 else several)
    # A folder's name may hold bytes that are no text; they are shown as "?".
    content = page(sources, _plotly(), title, remarks).encode("utf-8", errors="replace")
    write_whole(file, lambda draft: _write(draft, content))
    return file


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def _plotly() -> str:
    """Return the script of plotly.js, which the package plotly brings; Jinja2 must be there."""
    try:
        from plotly.offline import get_plotlyjs

        importlib.import_module("jinja2")
    except ModuleNotFoundError as error:
        raise missing(error, "results html") or error from None
    return str(get_plotlyjs())


def page(sources: Sequence[Source], plotly: str, title: str, remarks: Sequence[str] = ()) -> str:
    """Return the page; the browser itself refuses networks, and scripts other than these.

    Parameters
    ----------
    plotly : str
        The script of plotly.js.
    remarks : sequence of str
        For the top of the page.
    """
    rows = [row for source in sources for row in source.rows]
    scripts = [plotly.replace("</script", "<\\/script"), _asset("page.js")]
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return _environment().from_string(_asset("page.html")).render(
        title=title, policy=policy, facts=facts(rows), remarks=remarks, scripts=scripts,
        sections=[Section(source) for source in sources], table=RowsTable(sources),
        details=details(rows), css=_asset("page.css"), most_panels=_MOST_PANELS,
        templates=[template(dark=False), template(dark=True)],
    )  # fmt: skip


def _environment() -> jinja2.Environment:
    """Return what fills the page: texts cannot be anything but texts, as names come from files."""
    import jinja2

    made = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    form = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    made.policies["json.dumps_kwargs"] = form
    made.filters["counted"] = _counted
    return made


def _counted(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _asset(name: str) -> str:
    return (resources.files("experiments.report") / "assets" / name).read_text(encoding="utf-8")


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
