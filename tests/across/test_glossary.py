"""Names in code come from the glossary: none of the names that it replaced is left."""

import io
import re
import subprocess
import tokenize

from tests.command_line import ROOT

REPLACED = (
    "flowing", "at_finish", "in_turn", "few_links", "max_height", "low_height", "low_trees",
    "turned",
    "patient", "find_gates", "grove", "Grove", "like_parts", "told_findings", "program_s",
    "best_pieces",
)  # fmt: skip
"""Private terms of earlier versions; docs/glossary.md has the ones in their place."""

PHRASES = re.compile(
    r"\b(cop(y|ies) (and|or) adds?|adds? (and|or) cop(y|ies)|(adding|copying) (switch|hub|server))"
)
"""The same in prose: switches multicast and reduce."""

ALLOWED = ("forestcoll/former_names.py",)


def test_no_identifier_has_a_replaced_name() -> None:
    """Whole names and parts of names, in Python and C++; comments are prose and not looked at."""
    word = re.compile(rf"(?<![A-Za-z])({'|'.join(REPLACED)})(?![A-Za-z])")
    listed = subprocess.run(
        ["git", "ls-files", "forestcoll", "lp", "baselines", "experiments"],
        cwd=ROOT, text=True, capture_output=True, check=True,
    )  # fmt: skip
    paths = [ROOT / name for name in listed.stdout.split() if name not in ALLOWED]
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in paths
        if path.suffix in (".py", ".cpp", ".hpp")
        for name in _names(path.suffix, path.read_text(encoding="utf-8"), word)
    }
    assert not found, "\n".join(sorted(found))


def test_no_text_has_a_replaced_phrase() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.md", "*.hpp", "*.cpp", "*.ipynb"],
        cwd=ROOT, text=True, capture_output=True, check=True,
    )  # fmt: skip
    own = ("CHANGELOG.md", "tests/across/test_glossary.py")
    found = [
        f"{name}: {phrase[0]}"
        for name in listed.stdout.split()
        if name not in own and (ROOT / name).is_file()
        for phrase in PHRASES.finditer((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_a_replaced_phrase_is_found() -> None:
    assert PHRASES.search("switches that copy and add")
    assert PHRASES.search("an adding switch")
    assert not PHRASES.search("a copy is added")


def _names(suffix: str, text: str, word: re.Pattern[str]) -> list[str]:
    """Return the identifiers of a source file in which there is such a word.

    Few texts have one anywhere, and only these are read token by token.
    """
    names = _identifiers(suffix, text) if word.search(text) else []
    return [name for name in names if word.search(name)]


def _identifiers(suffix: str, text: str) -> list[str]:
    if suffix != ".py":
        return re.findall(r"[A-Za-z_]\w*", re.sub(r"//[^\n]*|\"[^\"\n]*\"", "", text))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.NAME]


def test_a_replaced_name_is_found_in_names_and_nowhere_else() -> None:
    """Not in comments and texts, in both languages."""
    word = re.compile(r"(?<![A-Za-z])(grove|turned)(?![A-Za-z])")
    assert _names(".py", "the_grove = 'turned'  # turned\n", word) == ["the_grove"]
    assert _names(".cpp", 'int turned_2 = "grove";  // grove', word) == ["turned_2"]
    assert _names(".py", "overturned = groves = 1\n", word) == []


def test_every_table_cell_is_short() -> None:
    """At most 12 words; longer explanations are prose under a heading."""
    text = (ROOT / "docs/glossary.md").read_text()
    cells = [cell for row in text.splitlines() if row.startswith("|") for cell in row.split("|")]
    assert len(cells) > 300
    assert [cell for cell in cells if len(cell.split()) > 12] == []
