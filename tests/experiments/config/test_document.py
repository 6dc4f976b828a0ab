"""Experiment files as plain data: read strictly, and with the nearest word in errors."""

from pathlib import Path

import pytest

from experiments.config.document import nearest, read_document, title_of
from experiments.config.experiment import read_experiment
from forestcoll.errors import InvalidExperimentError
from tests.experiments.config.toy import refusal


def test_decimals_stay_text_and_whole_numbers_do_not(tmp_path: Path) -> None:
    """Nothing is guessed: neither a date nor a truth value of YAML 1.1."""
    path = tmp_path / "a.yaml"
    path.write_text("a: 12.50\nb: 12\nc: 2024-01-02\nd: no\ne: true\n")
    data = read_document(path).data
    assert data == {"a": "12.50", "b": 12, "c": "2024-01-02", "d": "no", "e": True}


def test_a_mark_of_the_order_of_bytes_is_passed_over(tmp_path: Path) -> None:
    """As some editors write in front."""
    path = tmp_path / "a.yaml"
    path.write_bytes("\ufeffname: toy\n".encode())
    assert read_document(path).data == {"name": "toy"}


def test_a_fault_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("name: toy\nmethods:\n  - ring\n  - tree\n")
    error = read_document(path).fault(("methods", 1), "is odd")
    assert str(error) == f"{path}, line 4: methods[1] is odd"


def test_folders_and_other_encodings_are_refused(tmp_path: Path) -> None:
    """Neither a folder nor bytes of another encoding."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"name: \xff\xfe")
    with pytest.raises(InvalidExperimentError, match="not text in UTF-8; save it as such"):
        read_document(path)
    with pytest.raises(InvalidExperimentError, match="cannot be read: is a directory"):
        read_document(tmp_path)


def test_the_nearest_word_is_named_if_there_is_one() -> None:
    """Half of it has to agree; all known words follow in order."""
    assert nearest("depht", ["k", "depth"]) == 'did you mean "depth"? (known: depth, k)'
    assert nearest("xyz", ["k", "depth"]) == "known: depth, k"
    assert nearest(7, ["k"]) == "known: k"


def test_a_missing_file_is_an_error_not_a_traceback(tmp_path: Path) -> None:
    """The operating system's reason is in the message."""
    with pytest.raises(InvalidExperimentError, match="no such file"):
        read_experiment(tmp_path / "none.yaml")


def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    """9 aliases on each of 18 levels: 9**18 values if anyone wrote them out."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 18)]
    assert "a0 is an unknown key" in refusal(tmp_path, "\n".join([*lines, "collective: *a17"]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "name: toy\nname: toy\n",
            "line 2: the key 'name' is given twice; remove or rename one",
        ),
        ("name: [toy\n", "not valid YAML"),
    ],
)
def test_duplicate_keys_and_broken_syntax_are_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    """Neither keys given twice nor broken syntax."""
    assert message in refusal(tmp_path, text)


def test_an_experiment_of_the_toolkit_is_called_as_its_file_says() -> None:
    """Whatever folder it is in; an experiment of one's own has no title there."""
    assert title_of("bfb-table7") == "Few steps or little time, degree 4 (BFB paper, table 7)"
    assert title_of("mine") == ""
    assert title_of("bfb-table") == ""
