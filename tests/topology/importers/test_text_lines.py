"""Lines of listings."""

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.text_lines import text_lines


def test_lines_have_numbers_and_no_colours_and_empty_ones_are_left_out() -> None:
    found = list(text_lines("a \n\n\x1b[4mb\x1b[0m\tc", "f"))
    assert [(line.number, line.text) for line in found] == [(1, "a"), (3, "b\tc")]
    assert str(found[1].fault("is wrong")) == "f, line 3: is wrong"
    assert len(next(iter(text_lines("x" * 4000, "f"))).shown()) < 70


def test_a_long_line_is_refused_or_skipped() -> None:
    text = "a\n" + "b" * 5000 + "\nc"
    with pytest.raises(InvalidTopologyError, match=r"^f, line 2: over 4096 characters"):
        list(text_lines(text, "f"))
    assert [line.text for line in text_lines(text, "f", skip_long=True)] == ["a", "c"]
