"""Any YAML of plain values, with its lines and its bounds."""

import pytest
import yaml

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.reading import yaml_values as module
from forestcoll.topology.reading.yaml_values import Lines, plain_values, yaml_values


def fault(line: int | None, problem: str) -> InvalidTopologyError:
    return InvalidTopologyError(f"{line}: {problem}")


def read(text: str) -> tuple[object, Lines]:
    data, lines = yaml_values(text, fault)
    assert lines is not None
    return data, lines


BLOCKS = """\
# a comment
top:
  - a: 1
    "b": "2"
  - c: &it [x,
            y]
  - *it
? other
: >
  folded
  text
empty: {}
"""


def test_plain_text_is_read_as_by_pyyaml() -> None:
    """PyYAML's own loader gives the same for text and whole numbers."""
    data, _ = read(BLOCKS)
    assert data == yaml.safe_load(BLOCKS)


@pytest.mark.parametrize(
    ("where", "line"),
    [
        ((), 2),
        (("top",), 2),
        (("top", 0, "a"), 3),
        (("top", 0, "b"), 4),
        (("top", 0, "gone"), 3),
        (("top", 1, "c", 1), 6),
        (("top", 2), 7),
        (("top", 2, 1), 6),
        (("top", 9), 2),
        (("other", "deeper"), 8),
        (("empty",), 12),
    ],
)
def test_lines_are_those_of_keys_and_items(where: tuple[str | int, ...], line: int) -> None:
    """Counted in BLOCKS; of what is not there, the line of what is around it."""
    assert read(BLOCKS)[1](where) == line


def test_unquoted_words_have_their_plain_values() -> None:
    known = plain_values()
    assert [known[word] for word in ("true", "~", "-12", "012", "no", "1.5")] == [
        *(True, None, -12, "012", "no", "1.5")
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &x [*x]", "1: nested too deeply"),
        ("a: 1\nb: *x", "2: not valid YAML: found undefined alias"),
        ("a: &x 1\nb: &x 2", "2: not valid YAML: the anchor &x is given twice"),
        ("? [a]\n: b", "1: the key ['a'] is not text"),
        ("- " * 22 + "a", "None: nested too deeply"),
        ("[&a " + "[" * 15 + "]" * 15 + ",\n" + "[" * 6 + "*a" + "]" * 7, "2: nested too deeply"),
        ("a\n---\nb", "2: not valid YAML: but found another document"),
        ("a: !!bool yes", "1: the tag !!bool is not used"),
    ],
)
def test_yaml_beyond_plain_text_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InvalidTopologyError) as caught:
        read(text)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("text", ["", "# only a comment\n"])
def test_a_text_without_a_document_is_nothing_on_no_line(text: str) -> None:
    """Unlike a document of null."""
    assert yaml_values(text, fault) == (None, None)
    assert read("null")[0] is None


def test_too_many_values_or_characters_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted as they come: a list of five items has six values, with itself."""
    monkeypatch.setattr(module, "MOST_VALUES", 6)
    assert read("[1, 2, 3, 4, 5]")[0] == [1, 2, 3, 4, 5]
    with pytest.raises(InvalidTopologyError, match="has over 6 values in YAML; check that it is"):
        read("[1, 2, 3, 4, 5, 6]")
    monkeypatch.setattr(module, "MOST_CHARACTERS", 10)
    with pytest.raises(InvalidTopologyError, match="of YAML; check that it is the right file"):
        read("[1, 2, 3, 4, 5]")
