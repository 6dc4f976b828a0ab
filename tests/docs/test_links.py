"""Links of pages lead to files and headings that exist; ``make docs`` checks docstrings, too."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.command_line import ROOT
from tests.docs.documentation import PAGES

SITE = ROOT / "docs" / "generated"
"""Pages that the build of the site writes."""

_BLOCK = re.compile(r"^```.*?^```$", re.M | re.S)
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,4} (.+)$", re.M)


def links(text: str) -> list[str]:
    """Return the targets of a page's links, but for those to other hosts."""
    found: list[str] = _LINK.findall(_CODE.sub("", _BLOCK.sub("", text)))
    return [target for target in found if "://" not in target and not target.startswith("mailto:")]


def headings(text: str) -> Iterator[str]:
    """Yield the anchor of each heading, as hosts of code make them."""
    seen: Counter[str] = Counter()
    for heading in _HEADING.findall(_BLOCK.sub("", text)):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        yield f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
        seen[anchor] += 1


@cache
def anchors(page: Path) -> frozenset[str]:
    return frozenset(headings(page.read_text(encoding="utf-8")))


def dead(page: Path, text: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    found = []
    for target in links(text):
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if SITE in path.parents:
            continue
        if not path.exists() or (path.suffix == ".md" and anchor and anchor not in anchors(path)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert dead(page, page.read_text(encoding="utf-8")) == []


def test_dead_links_are_noticed() -> None:
    page = ROOT / "docs" / "glossary.md"
    text = "[a](nowhere.md) [b](glossary.md#nothing) [c](#nothing) [d](https://e.org) `[f](g)`"
    assert dead(page, text) == ["nowhere.md", "glossary.md#nothing", "#nothing"]
    assert list(headings("# A `b` c\n## Why?\n```\n# no\n```\n## Why?\n")) == [
        "a-b-c",
        "why",
        "why-1",
    ]
