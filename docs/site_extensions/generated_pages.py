"""Navigation from marked lists of links, and pages that are made at build time.

Pages are plain Markdown, which any host shows. The links after a mark become a part of the
navigation. The pages made here are written below docs/generated, which git ignores.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from site_extensions.command_pages import command_pages
from site_extensions.gallery_pages import gallery_pages
from site_extensions.python_pages import python_pages

__all__ = ["navigation", "setup"]

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#:\s]+\.(?:md|ipynb))\)")
_FOLDER = re.compile(r"\[([^\]]+)\]\(([^)#:\s]+)\)")
_MARKED = re.compile(
    r"(?:^## (?P<title>[^\n]*)\n+)?<!-- navigation -->\n(?P<links>.*?)(?=^#|^```|<!-- nav|\Z)",
    re.M | re.S,
)
_MADE = {
    "docs/command-line": ("generated/commands", command_pages),
    "docs/python": ("generated/python", python_pages),
    "docs/gallery": ("generated/gallery", gallery_pages),
}
"""Pages that lead to generated ones, the folder of these below docs, and what makes them."""


def navigation(text: str) -> str:
    """Return the hidden tables of contents of a page: one for each mark, with the links after it.

    They reach from ``<!-- navigation -->`` to the next heading or mark, in a list or in prose; the
    heading before the mark is the caption.
    """
    tables = []
    for found in _MARKED.finditer(text):
        pages = {page: _title(text) for text, page in reversed(_LINK.findall(found["links"]))}
        entries = [f"{title} <{page}>" for page, title in reversed(pages.items())]
        tables.append(_contents(entries, caption=found["title"] or ""))
    return "".join(tables)


def _title(text: str) -> str:
    """Return the text of a link as a title: without marks, with a capital."""
    plain = " ".join(text.replace("`", "").split())
    return plain[0].upper() + plain[1:]


def without_folders(text: str, page: Path) -> str:
    """Return a page whose links to folders are plain text: a site has no page of a folder."""
    return _FOLDER.sub(lambda link: link[1] if (page.parent / link[2]).is_dir() else link[0], text)


def _contents(pages: list[str], caption: str = "") -> str:
    head = f":caption: {caption}\n" if caption else ""
    return "\n\n```{toctree}\n:hidden:\n" + head + "\n" + "\n".join(pages) + "\n```\n"


def _write(app: Sphinx, config: Config) -> None:
    """Write the generated pages; those that stay the same keep their time."""
    for place, make in _MADE.values():
        folder = ROOT / "docs" / place
        folder.mkdir(parents=True, exist_ok=True)
        pages = make()
        for old in folder.glob("*.md"):
            if old.name not in pages:
                old.unlink()
        for name, text in pages.items():
            file = folder / name
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")


def _read(app: Sphinx, docname: str, content: list[str]) -> None:
    """Append the navigation to index pages and to those that lead to generated pages."""
    if docname in _MADE:
        place, _ = _MADE[docname]
        made = sorted((ROOT / "docs" / place).glob("*.md"))
        content[0] += _contents([f"{place}/{file.name}" for file in made])
    else:
        content[0] += navigation(content[0])
    if docname.split("/")[1:2] != ["generated"] and not docname.startswith("notebooks/"):
        content[0] = without_folders(content[0], Path(app.env.doc2path(docname)))


def _redirect(app: Sphinx, exception: Exception | None) -> None:
    """Let the top of the site lead to its first page."""
    if exception is None and app.builder.format == "html":
        text = '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html">\n'
        (Path(app.outdir) / "index.html").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect all."""
    app.connect("config-inited", _write)
    app.connect("source-read", _read)
    app.connect("build-finished", _redirect)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
