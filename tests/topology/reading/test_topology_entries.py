"""Entries checked piece by piece; each fault by itself is in tests/topology/test_format.py."""

from typing import Any

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.reading.documents import Document
from forestcoll.topology.reading.topology_entries import checked_entry


def data(nodes: int, links: int) -> dict[str, Any]:
    names = [f"g{i}" for i in range(nodes)]
    return {
        "name": "net",
        "nodes": [{"name": name, "kind": "compute"} for name in names],
        "links": [{"from": "g0", "to": "g1", "bandwidth_gb_s": i + 1} for i in range(links)],
    }


@pytest.mark.parametrize(("nodes", "links"), [(2, 1), (1000, 1001), (1001, 999), (2500, 0)])
def test_entries_beyond_a_piece_are_all_there_and_in_order(nodes: int, links: int) -> None:
    """Pieces have a thousand entries each."""
    entry = checked_entry(Document(data(nodes, links), "net"))
    assert [node.name for node in entry.nodes] == [f"g{i}" for i in range(nodes)]
    assert [link.bandwidth_gb_s for link in entry.links] == [i + 1 for i in range(links)]


def test_a_fault_in_a_later_piece_has_its_own_place() -> None:
    document = data(2, 3000)
    document["links"][2345]["bandwidth_gb_s"] = "fast"
    with pytest.raises(InvalidTopologyError, match=r"^net: links\[2345\].bandwidth_gb_s is 'fast'"):
        checked_entry(Document(document, "net"))


@pytest.mark.slow
def test_one_of_a_million_faults_is_reported_and_few_are_kept() -> None:
    """A thousand entries that are no mappings are reported as one, and 999 more; then it stops."""
    with pytest.raises(InvalidTopologyError, match=r"\(and 1000 more\)$"):
        checked_entry(Document({"name": "net", "nodes": [1] * 10**6}, "net"))
    many = {f"k{i}": 1 for i in range(10**6)}
    with pytest.raises(InvalidTopologyError, match=r"k0 is not a field .* \(and 22 more\)$"):
        checked_entry(Document(many, "net"))
