"""Pages of all kept figures and notebooks: those of results/ and notebooks/, by themselves."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import yaml

__all__ = ["SETS", "gallery_pages"]

ROOT = Path(__file__).parents[2]

SETS = {
    "forestcoll": "Figures of the ForestColl paper",
    "bfb": "Figures of the BFB paper",
    "teccl": "Figures of the TE-CCL paper",
    "taccl": "Figures of the TACCL paper",
    "own": "Figures of our own",
}
"""Beginnings of the names below results/, and the titles of their pages."""


def gallery_pages() -> dict[str, str]:
    """Return the pages of Markdown, by file name."""
    titles = _titles()
    pages: dict[str, list[str]] = {f"02-{name}.md": [f"# {SETS[name]}"] for name in SETS}
    for folder in sorted((ROOT / "results").iterdir()):
        pictures = sorted(folder.glob("*.png"))
        if pictures:
            start = re.split(r"[-_]", folder.name)[0]
            page = pages[f"02-{start if start in SETS else 'own'}.md"]
            page.append(_shown(folder.name, titles.get(folder.name), pictures))
    made = {name: "\n\n".join(parts) + "\n" for name, parts in pages.items()}
    return {"01-notebooks.md": _notebooks()} | made


def _titles() -> dict[str, str]:
    """Return the titles of experiments by their names, from the YAML files."""
    text = ((path.read_text("utf-8")) for path in (ROOT / "experiments").rglob("*.yaml"))
    found = (
        (re.search(r"^name: (.*)$", one, re.M), re.search(r"^title: (.*)$", one, re.M))
        for one in text
    )
    return {name[1]: str(yaml.safe_load(title[1])) for name, title in found if name and title}


def _shown(name: str, title: str | None, pictures: list[Path]) -> str:
    parts = [f"## {title or name}", f"Rows and figures: `results/{name}/`."]
    for picture in pictures:
        link = quote(f"../../../results/{name}/{picture.name}")
        parts.append(f"![{title or name}: {picture.stem}]({link})")
    return "\n\n".join(parts)


def _notebooks() -> str:
    """Return the page of notebooks: the title and the first sentences of each."""
    parts = ["# Notebooks", "Each is kept with its outputs, and runs in the tests."]
    files = sorted((ROOT / "notebooks").glob("*.ipynb"))
    readme = sorted((ROOT / "notebooks").glob("README.md"))
    for file in files:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        text = "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "markdown"))
        title, _, rest = text.partition("\n")
        first = next((part for part in rest.split("\n\n") if part.strip()), "")
        parts.append(f"- [{title.lstrip('# ')}](../../../notebooks/{file.name})")
        plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(first.split()))
        sentences = re.match(r".*[.:]", plain)
        parts.append("  " + sentences[0] if sentences else "")
    listed = "\n".join(f"../../../notebooks/{file.name}" for file in [*files, *readme])
    parts.append("```{toctree}\n:hidden:\n\n" + listed + "\n```")
    return "\n\n".join(parts) + "\n"
