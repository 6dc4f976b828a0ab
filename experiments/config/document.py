"""Strict reading of experiment files as plain data, as for topology files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

import yaml

from forestcoll.bounded_read import read_text_at_most
from forestcoll.errors import InvalidExperimentError, did_you_mean
from forestcoll.topology.reading.documents import Document, parse_yaml

__all__ = ["MOST_BYTES", "Document", "nearest", "read_document", "title_of"]

MOST_BYTES = 4_000_000
"""Size limit of a file: weights of a hundred thousand GPUs by name; bundled files have 5 kB."""


def read_document(path: Path) -> Document:
    """Read a YAML file; decimals stay text, and no value is guessed.

    Raises
    ------
    InvalidExperimentError
        If the file cannot be read, is not YAML of plain values, or repeats a key.
    """
    text = read_text_at_most(path, MOST_BYTES, InvalidExperimentError)
    return parse_yaml(text, str(path), InvalidExperimentError)


def nearest(word: object, known: Iterable[str]) -> str:
    """Return a remark for an error message: the likeliest known word, and all known words.

    Examples
    --------
    >>> nearest("rnig", ["ring", "multitree"])
    'did you mean "ring"? (known: multitree, ring)'
    """
    words = sorted(known)
    near, known_words = did_you_mean(word, words, "", '"{}"'.format), f"known: {', '.join(words)}"
    return f"{near} ({known_words})" if near else known_words


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
    for place in resources.files("experiments").iterdir():
        for file in place.iterdir() if place.is_dir() else [place]:
            if file.name.endswith(".yaml"):
                yield file.read_text(encoding="utf-8")
