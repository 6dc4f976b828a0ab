"""Files as text, within bounds."""

import re
from pathlib import Path

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.reading.whole_text import MOST_BYTES, whole_text


def test_line_ends_and_a_byte_order_mark_are_as_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_bytes("\ufeffa\r\nb\rc\n".encode())
    assert whole_text(path, InvalidTopologyError) == "a\nb\nc\n"


def test_a_file_too_large_is_refused_without_reading_it(tmp_path: Path) -> None:
    """A hole of a terabyte, which no machine could hold."""
    path = tmp_path / "net.yaml"
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(InvalidTopologyError, match=rf"^{re.escape(str(path))}: has over 32 MB"):
        whole_text(path, InvalidTopologyError)
    assert MOST_BYTES == 32 * 10**6


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"\xe9", "not text in UTF-8; save it as such"), (None, "cannot be read: no such file")],
)
def test_faults_have_the_named_class(tmp_path: Path, content: bytes | None, problem: str) -> None:
    path = tmp_path / "net.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidTopologyError, match=problem):
        whole_text(path, InvalidTopologyError)
