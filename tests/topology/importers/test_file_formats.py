"""Formats are known by their content."""

import re
from pathlib import Path

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabric import Fabric
from forestcoll.topology.importers.file_formats import FORMATS, read_part
from forestcoll.topology.importers.host import Host
from forestcoll.topology.importers.link_rates import rate_table
from tests.topology.importers.nccl_dumps import cpu, gpu, system

DUMP = system(cpu(0, gpu(0, {"gpu1": 1}), gpu(1, {"gpu0": 1})))


def written(tmp_path: Path, text: str, name: str = "file.txt") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dump_is_a_machine_whatever_its_name(tmp_path: Path) -> None:
    part = read_part(written(tmp_path, DUMP), "n", rate_table("nominal"))
    assert isinstance(part, Host)
    assert part.name == "n"


def test_a_description_is_a_fabric_and_needs_no_rates(tmp_path: Path) -> None:
    part = read_part(written(tmp_path, "switches: [a]\nports: []\n"), "n", None)
    assert part == Fabric(("a",), (), ())


def test_counted_links_need_a_table(tmp_path: Path) -> None:
    with pytest.raises(InvalidTopologyError, match=r"counts links and .*; choose --rates nominal"):
        read_part(written(tmp_path, DUMP), "n", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file.txt: is of no known format; they are NCCL or RCCL topology XML,"),
        ("hello", "file.txt: is of no known format;"),
        ("switches: [a]\n", "has no lists `switches` and `ports`; add both"),
    ],
)
def test_other_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        read_part(written(tmp_path, text), "n", None)


def test_every_format_has_its_name_and_command() -> None:
    assert len({known.name for known in FORMATS}) == len(FORMATS)
    assert all(known.command for known in FORMATS)
