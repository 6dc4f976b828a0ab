"""Files of which no more is read than they may have."""

from pathlib import Path

import pytest

from forestcoll.bounded_read import expect_at_most, read_at_most
from forestcoll.errors import InvalidScheduleError, InvalidTopologyError


def test_one_byte_more_tells_that_there_is_more(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_at_most(file, 5, InvalidScheduleError) == b"12345"
    assert read_at_most(file, 3, InvalidScheduleError) == b"1234"


def test_what_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidTopologyError, match=r"none: cannot be read: no such file [^\n]*$"):
        read_at_most(tmp_path / "none", 9, InvalidTopologyError)


def test_too_much_is_refused_with_what_may_help() -> None:
    expect_at_most(b"12", 2, "it", InvalidScheduleError)
    with pytest.raises(InvalidScheduleError, match=r"^it: has over 0 MB.*the right file, or pray$"):
        expect_at_most(b"123", 2, "it", InvalidScheduleError, "pray")
    with pytest.raises(InvalidScheduleError, match=r"the right file$"):
        expect_at_most(b"123", 2, "it", InvalidScheduleError)
