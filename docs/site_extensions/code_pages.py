"""Pages of the code that the documentation names: `core/optimality.py` becomes a link to it.

A path in backticks is looked up from the top folder, then from each package, then by its name if
only one file has it. A folder stands for its ``__init__``. A reference of a docstring to a name
that has no entry of its own leads to its module.
"""

import re
import subprocess
from collections import Counter
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from sphinx.application import Sphinx

import forestcoll  # noqa: F401 - homes reads its stub
from forestcoll.lazy_loading import homes

__all__ = ["code_file", "setup"]

ROOT = Path(__file__).parents[2]
_SUFFIXES = (".py", ".pyi", ".cpp", ".hpp", ".yaml", ".toml")
_PLACES = (
    "",
    "forestcoll/",
    "forestcoll/core/",
    "forestcoll/native/",
    "experiments/",
    "baselines/",
)
_LINKED = re.compile(r'href="(?:\.\./)*code/([\w./-]+)\.html[#"]')

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>
<meta name="viewport" content="width=device-width"><style>{style}
@media (prefers-color-scheme: dark) {{ {dark} body, .highlight {{ background: #131416; }} }}
body {{ margin: 1rem; font-family: system-ui; }} a {{ color: #2a5adf; }} .linenos {{ opacity: .5; }}
pre {{ font-size: 13px; line-height: 1.4; }}</style></head>
<body><p><a href="{home}">ForestColl toolkit</a> / {name}</p>{code}</body></html>"""


@cache
def _files() -> frozenset[str]:
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return frozenset(name for name in listed.stdout.split() if name.endswith(_SUFFIXES))


@cache
def _by_name() -> dict[str, str]:
    count = Counter(Path(name).name for name in _files())
    return {Path(name).name: name for name in _files() if count[Path(name).name] == 1}


def code_file(named: str) -> str | None:
    """Return the file that a path on a page names, from the top folder; None if there is none."""
    path = named + "__init__.py" if named.endswith("/") else named
    found = (place + path for place in _PLACES if place + path in _files())
    return next(found, _by_name().get(named))


def _link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make references of paths in backticks."""
    if app.builder.format != "html":
        return
    up = "../" * app.builder.get_target_uri(docname).count("/")
    for literal in list(doctree.findall(nodes.literal)):
        file = code_file(literal.astext())
        if file is not None and not isinstance(literal.parent, nodes.reference):
            link = nodes.reference("", "", refuri=f"{up}code/{file}.html", internal=True)
            literal.replace_self(link)
            link += literal


def _module(app: Sphinx, env: Any, node: Any, text: nodes.Element) -> nodes.Element | None:
    """Resolve a reference of a docstring: to the public name, or else to the module's code."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    public = _public().get(target)
    if public is not None:
        domain = env.get_domain("py")
        found: nodes.Element | None = domain.resolve_xref(
            env, node["refdoc"], app.builder, "obj", public, node, text
        )
        return found
    parts = target.split(".")
    paths = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    found_files = (code_file(f"{path}{end}") for path in paths for end in (".py", "/"))
    file = next((one for one in found_files if one is not None), None)
    if file is None or len(parts) == 1:
        return None
    up = "../" * app.builder.get_target_uri(node["refdoc"]).count("/")
    return nodes.reference("", "", text, refuri=f"{up}code/{file}.html", internal=True)


@cache
def _public() -> dict[str, str]:
    """Return the public names of ``import forestcoll`` by those in their modules."""
    return {f"{home}.{name}": f"forestcoll.{name}" for name, home in homes("forestcoll").items()}


def _write(app: Sphinx, exception: Exception | None) -> None:
    """Write a page for each file that some page leads to."""
    if exception is not None or app.builder.format != "html":
        return
    pages = Path(app.outdir).rglob("*.html")
    linked = {file for page in pages for file in _LINKED.findall(page.read_text("utf-8"))}
    for file in sorted(linked):
        _write_page(Path(app.outdir), file)


def _write_page(folder: Path, file: str) -> None:
    light = HtmlFormatter(linenos="inline", anchorlinenos=True, lineanchors="L")
    text = (ROOT / file).read_text(encoding="utf-8")
    page = folder / "code" / f"{file}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(
        _PAGE.format(
            name=escape(file),
            style=light.get_style_defs(),
            dark=HtmlFormatter(style="monokai").get_style_defs(),
            home="../" * (file.count("/") + 1) + "index.html",
            code=highlight(text, get_lexer_for_filename(file), light),
        ),
        encoding="utf-8",
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the steps."""
    app.connect("doctree-resolved", _link)
    app.connect("missing-reference", _module)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
