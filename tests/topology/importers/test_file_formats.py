"""Formats are known by their content."""

import re
from pathlib import Path

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology
from forestcoll.topology.files import topology_json, topology_yaml
from forestcoll.topology.importers.fabric import Fabric
from forestcoll.topology.importers.file_formats import FORMATS, read_part
from forestcoll.topology.importers.host import Host
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.model import Topology
from tests.topology.importers.nccl_dumps import cpu, gpu, system
from tests.topology.importers.small_files import FABRICS, SMALL_FILES

TWO_GPUS = load_topology("complete:nodes=2")
DUMP = system(cpu(0, gpu(0, {"gpu1": 1}), gpu(1, {"gpu0": 1})))


def written(tmp_path: Path, text: str, name: str = "file.txt") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dump_of_any_name_is_a_machine(tmp_path: Path) -> None:
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
        ("", "file.txt: is empty; write it again"),
        ("hello", "file.txt: is of no known format; they are NCCL or RCCL topology XML,"),
        (topology_yaml(TWO_GPUS), "file.txt: is a topology already; give it to the"),
        (topology_json(TWO_GPUS), "file.txt: is a topology already; give it to the"),
        ("switches: [a]\n", "has no lists `switches` and `ports`; add both"),
    ],
)
def test_other_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        read_part(written(tmp_path, text), "n", None)


def test_every_format_has_its_name_and_command() -> None:
    assert len({known.name for known in FORMATS}) == len(FORMATS)
    assert all(known.command for known in FORMATS)


@pytest.mark.parametrize("name", [*SMALL_FILES, *FABRICS])
def test_each_small_file_is_of_one_format_only(name: str) -> None:
    """But that topograph's models begin as descriptions do, and Slurm's YAML has nodes, too."""
    text, _ = (SMALL_FILES | FABRICS)[name]
    found = [known.name for known in FORMATS if known.mark.search(text[:4000])]
    assert set(found[1:]) <= {"topograph model", "described fabric"}
    assert (len(found) > 1) == (name.startswith("topograph") or name == "slurm-yaml")


def test_files_of_peers_are_networks(tmp_path: Path) -> None:
    taccl = '{"name": "a_1MB", "gpus_per_node": 4, "alpha": 1, "node_betas_list": [8], '
    path = written(tmp_path, taccl + '"node_invbws_list": [8]}')
    part = read_part(path, "n", None)
    assert isinstance(part, Topology)
    assert part.num_compute == 4
    teccl = written(tmp_path, '{"TopologyParams": {"name": "NDv2"}}', "t.json")
    assert isinstance(read_part(teccl, "n", None), Topology)
    with pytest.raises(InvalidTopologyError, match="is not a file of that tool"):
        read_part(written(tmp_path, '["gpus_per_node"]'), "n", None)
