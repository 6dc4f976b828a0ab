"""Titles of the bundled experiments, for figures drawn from rows alone."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources

import yaml

__all__ = ["title_of"]


def title_of(name: str) -> str:
    """Return the title of a bundled experiment; an empty text for any other.

    Parameters
    ----------
    name : str
        Its name in rows, such as "bfb-table7".
    """
    for text in _files():
        if f"\nname: {name}\n" in text:
            return str(yaml.safe_load(text).get("title") or "")
    return ""


def _files() -> Iterator[str]:
    """Yield the texts of the toolkit's experiment files."""
    for place in resources.files("experiments").iterdir():
        for file in place.iterdir() if place.is_dir() else [place]:
            if file.name.endswith(".yaml"):
                yield file.read_text(encoding="utf-8")
