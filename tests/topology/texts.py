"""A topology file in text, and how it is read or refused."""

from pathlib import Path

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import Topology, read_topology

GOOD = """\
name: pair
nodes:
  - {name: a, kind: compute}
  - {name: b, kind: compute}
links:
  - {from: a, to: b, bandwidth_gb_s: 1, both: true}
"""


def read(tmp_path: Path, text: str, name: str = "net.yaml") -> Topology:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_topology(path)


def fault(tmp_path: Path, text: str, name: str = "net.yaml") -> str:
    """The message with which a file is refused; one line that starts with the file's path."""
    with pytest.raises(InvalidTopologyError) as caught:
        read(tmp_path, text, name)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / name))
    assert "\n" not in message
    assert len(message) < 400
    assert caught.value.exit_code == 2
    return message.removeprefix(str(tmp_path / name))
