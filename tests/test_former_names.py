"""Former names work for this version, with a note, and mean the same as the current ones."""

import json
import re
import warnings

import pytest

import forestcoll
from forestcoll.former_names import (
    COLUMNS,
    COMMANDS,
    FUNCTIONS,
    OPTIONS,
    PARAMETERS,
    SIMULATION,
    FormerNameWarning,
    current_arguments,
    renamed,
)
from tests.command_line import ROOT, invoke


@pytest.mark.parametrize("names", [FUNCTIONS, COMMANDS, OPTIONS, PARAMETERS, SIMULATION, COLUMNS])
def test_no_former_name_is_a_current_one(names):
    """Otherwise a note would be wrong, or a name would be translated twice."""
    assert not set(names) & set(names.values())


def test_a_former_parameter_is_translated_with_a_note():
    """The order stays: max_height comes first, as max_depth."""
    with pytest.warns(FormerNameWarning, match="max_height is now called max_depth"):
        assert list(renamed({"max_height": 4, "k": 1}, PARAMETERS).items()) == [
            ("max_depth", 4),
            ("k", 1),
        ]


def test_both_names_at_once_are_left_for_the_reader_to_refuse():
    """Neither value is dropped: the former name is then unknown."""
    both = {"max_height": 4, "max_depth": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert renamed(both, PARAMETERS) == both


def test_arguments_are_translated_up_to_a_double_dash():
    """``heights`` is a command in the first place only; behind ``--`` everything is a name."""
    with pytest.warns(FormerNameWarning) as notes:
        found = current_arguments(["heights", "heights", "--max-height=3", "--", "--pieces"])
    assert found == ["depths", "heights", "--max-depth=3", "--", "--pieces"]
    assert [str(note.message).partition(" ")[0] for note in notes] == ["heights", "--max-height"]


def test_the_command_line_takes_former_names_and_says_so_in_a_line():
    """A ring of 4 GPUs has trees of depth 2 at least (two hops to the farthest GPU)."""
    former = invoke("heights", "ring:nodes=4", "--max-height", "3", "--json")
    current = invoke("depths", "ring:nodes=4", "--max-depth", "3", "--json")
    assert (former.exit_code, current.exit_code) == (0, 0)
    assert json.loads(former.stdout) == json.loads(current.stdout)
    assert "note: heights is now called depths; " in former.stderr
    assert "note: --max-height is now called --max-depth; " in former.stderr
    assert current.stderr == ""


def test_functions_and_their_options_are_found_by_former_names():
    """A ring of 4 GPUs within 3 hops, asked for by both names."""
    with pytest.warns(FormerNameWarning, match="lower is now called compile_program"):
        assert forestcoll.lower is forestcoll.compile_program
    with pytest.warns(FormerNameWarning, match="max_height is now called max_depth"):
        former = forestcoll.generate("ring:nodes=4", max_height=3)
    assert former.schedule == forestcoll.generate("ring:nodes=4", max_depth=3).schedule
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        forestcoll.nonsense  # noqa: B018


def test_the_glossary_lists_every_former_name_of_users():
    """Each name stands in its table of former names, beside the current one."""
    text = (ROOT / "docs/glossary.md").read_text().partition("## Former names")[2]
    rows = [re.findall(r"[\w-]+", row) for row in text.splitlines() if row.startswith("| ")]
    for names in (FUNCTIONS, COMMANDS, OPTIONS, PARAMETERS):
        for former, current in names.items():
            assert any(
                former.lstrip("-") in (word.lstrip("-") for word in row)
                and current.lstrip("-") in (word.lstrip("-") for word in row)
                for row in rows
            ), former
