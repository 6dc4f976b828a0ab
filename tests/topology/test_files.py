"""Topology files, written and read back to the same bytes."""

import os
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import (
    Link,
    Node,
    NodeKind,
    Topology,
    load_topology,
    read_topology,
    write_topology,
)
from forestcoll.topology.files import topology_yaml
from tests.topology.texts import GOOD, read


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".json"])
@pytest.mark.parametrize(
    "spec", ["mi250:boxes=2", "dgx_h100:boxes=3,nics=nodes", "fat_tree:leaves=3,hosts=2,spines=3"]
)
def test_families_round_trip_through_files(tmp_path, spec, suffix):
    """Same topology, same bytes, and back."""
    topology = load_topology(spec)
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    write_topology(topology, first)
    assert read_topology(first) == topology
    write_topology(read_topology(first), second)
    assert first.read_bytes() == second.read_bytes()


def test_written_yaml_is_readable(tmp_path):
    """One line a node or link, equal twins as both, decimals as decimals."""
    nodes = (Node("gpu0", NodeKind.COMPUTE, 0, 0), Node("no", NodeKind.SWITCH, multicast=True))
    links = (
        Link(0, 1, Fraction(25, 2), Fraction(1, 3)),
        Link(1, 0, Fraction(25, 2), Fraction(1, 3)),
    )
    assert topology_yaml(Topology("net 1", nodes, links)) == (
        'name: "net 1"\n'
        "nodes:\n"
        "  - {name: gpu0, kind: compute, box: 0, index: 0}\n"
        '  - {name: "no", kind: switch, multicast: true}\n'
        "links:\n"
        '  - {from: gpu0, to: "no", bandwidth_gb_s: 12.5, latency_us: 1/3, both: true}\n'
    )


def test_bytes_that_are_not_text(tmp_path):
    path = tmp_path / "net.yaml"
    path.write_bytes(b"name: \xe9")
    with pytest.raises(InvalidTopologyError, match="not text in UTF-8; save it as such"):
        read_topology(path)


def test_a_directory_or_an_unknown_suffix_cannot_be_written(tmp_path):
    topology = read(tmp_path, GOOD)
    with pytest.raises(InvalidTopologyError, match=r"\.txt'; a topology file ends in \.yaml"):
        write_topology(topology, tmp_path / "net.txt")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidTopologyError, match=r"cannot be written"):
        write_topology(topology, os.path.join(tmp_path, "file", "net.json"))
