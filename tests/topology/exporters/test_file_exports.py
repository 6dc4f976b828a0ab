"""Formats by their names and endings."""

import re
from pathlib import Path

import pytest

from forestcoll.errors import ExportError
from forestcoll.topology import load_topology
from forestcoll.topology.exporters.file_exports import EXPORTS, export_format, export_topology
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.supplied import Supplied
from tests.command_line import invoke


def test_an_ending_or_a_name_gives_the_format() -> None:
    for ending, name in ((".yml", "yaml"), (".GV", "dot"), (".xml", "nccl"), (".json", "json")):
        assert export_format(Path(f"a{ending}"), None) == name
    assert export_format(Path("a.yml"), "astra-sim") == "astra-sim"
    with pytest.raises(ExportError, match=r"a\.txt: the ending '\.txt' is that of no format"):
        export_format(Path("a.txt"), None)
    with pytest.raises(ExportError, match="'graph' is not a format of networks"):
        export_format(Path("a.txt"), "graph")


def test_every_format_writes_a_file(tmp_path: Path) -> None:
    network = load_topology("dgx_h100:boxes=1")
    given = Supplied(rate_table("nominal"), "sm_90")
    for name in EXPORTS:
        export_topology(network, tmp_path / name, name, given)
        assert (tmp_path / name).read_text(encoding="utf-8").endswith("\n")
    with pytest.raises(ExportError, match="give it and its rate, such as --gpu sm_90 --rates"):
        export_topology(network, tmp_path / "a.xml")
    assert not (tmp_path / "a.xml").exists()


def test_the_help_of_the_command_names_every_format() -> None:
    """It names them itself, so that the other commands load no format."""
    words = set(re.findall(r"[a-z-]+", invoke("topology", "export", "--help").stdout))
    assert set(EXPORTS) <= words
