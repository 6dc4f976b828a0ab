"""Importer of NVIDIA topograph's models of clusters.

Problem: which switch each machine is below; which machines share an NVLink domain.
Input:   YAML: ``switches`` with the switches below each (a mapping, or a list with names), and
         ``blocks`` or ``capacity_blocks`` of machines below a switch. A supplied uplink.
Output:  a :class:`Fabric` with NVLink domains of several machines.
Cost:    linear in names.
Source:  NVIDIA/topograph, ``tests/models``, older and newer form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from forestcoll.errors import ForestCollError
from forestcoll.topology.importers.fabric import Fabric
from forestcoll.topology.importers.fabrics.hostlist import expanded_names
from forestcoll.topology.importers.fabrics.switch_tree import Branch, tree_fabric
from forestcoll.topology.importers.supplied import Supplied
from forestcoll.topology.numbers import in_short
from forestcoll.topology.reading.documents import Document, parse_yaml

__all__ = ["fabric_from_topograph"]

_Where = tuple[str | int, ...]
_SOME = 4


def fabric_from_topograph(text: str, source: str, supplied: Supplied) -> Fabric:
    """Read a model of topograph's.

    Raises
    ------
    InvalidTopologyError
        If a field is wrong, the switches are not a tree, or no uplink is supplied.
    """
    document = parse_yaml(text, source)
    data = document.data
    if not isinstance(data, dict):
        raise document.fault((), "must have the fields switches and blocks")
    machines: dict[str, list[str]] = {}
    domains: dict[str, list[str]] = {}
    by_block: dict[str, list[str]] = {}
    for where, block in _blocks(document, data):
        nodes = _names(document, (*where, "nodes"), block.get("nodes", []))
        if isinstance(block.get("name"), str):
            by_block[str(block["name"])] = nodes
        if isinstance(block.get("switch"), str):
            machines.setdefault(str(block["switch"]), []).extend(nodes)
        for domain in _domains(block):
            domains.setdefault(domain, []).extend(nodes)
    branches: dict[str, Branch] = {}
    for where, name, switch in _switches(document, data):
        below = _names(document, (*where, "switches"), switch.get("switches", []))
        nodes = _names(document, (*where, "nodes"), switch.get("nodes", []))
        for block_name in _names(
            document, (*where, "capacity_blocks"), switch.get("capacity_blocks", [])
        ):
            if block_name not in by_block:
                raise document.fault(
                    where, f"has the block {block_name[:60]!r}, which is not described"
                )
            nodes += by_block[block_name]
        nodes += machines.pop(name, [])
        if name in branches:
            raise document.fault(where, f"is the second switch named {name[:60]!r}; rename one")
        branches[name] = Branch(below, nodes, _fault_at(document, where))
    for name, nodes in machines.items():  # leaves that only blocks name
        branches[name] = Branch((), nodes, _fault_at(document, ("blocks",)))
    for name in [below for branch in branches.values() for below in branch.switches]:
        # Leaves without machines are named by the switch above them only.
        branches.setdefault(name, Branch((), (), _fault_at(document, ("switches",))))
    fabric = tree_fabric(branches, supplied.expect_uplink(source), source)
    several = {name: tuple(nodes) for name, nodes in domains.items() if len(nodes) > 1}
    return replace(fabric, domains=tuple(several.items()), notes=(*fabric.notes, *_notes(several)))


def _fault_at(document: Document, where: _Where) -> Callable[[str], ForestCollError]:
    return lambda problem: document.fault(where, problem)


def _blocks(
    document: Document, data: Mapping[str, object]
) -> Iterator[tuple[_Where, Mapping[str, object]]]:
    for field in ("blocks", "capacity_blocks"):
        entries = data.get(field, [])
        if not isinstance(entries, list):
            raise document.fault((field,), "must be a list")
        for i, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise document.fault((field, i), "must be a mapping with nodes")
            yield (field, i), entry


def _switches(
    document: Document, data: Mapping[str, object]
) -> Iterator[tuple[_Where, str, Mapping[str, object]]]:
    entries = data.get("switches", {})
    if isinstance(entries, dict):
        pairs = [(("switches", str(name)), name, entry) for name, entry in entries.items()]
    elif isinstance(entries, list):
        pairs = [
            (("switches", i), entry.get("name") if isinstance(entry, dict) else None, entry)  # type: ignore[misc]
            for i, entry in enumerate(entries)
        ]
    else:
        raise document.fault(("switches",), "must be a list or a mapping of switches")
    for where, name, entry in pairs:
        if not isinstance(entry, dict) or not isinstance(name, str):
            raise document.fault(where, f"is {in_short(entry)}; it must be a mapping with a name")
        yield where, name, entry


def _names(document: Document, where: _Where, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise document.fault(where, f"is {in_short(value)}; it must be a list of names")
    return [name for text in value for name in expanded_names(text, _fault_at(document, where))]


def _domains(block: Mapping[str, object]) -> Iterator[str]:
    """Yield the NVLink domain of a block; of nested ones the innermost."""
    if isinstance(block.get("nvlink"), str):
        yield str(block["nvlink"])
    found: dict[object, object] = {}
    for field in ("labels", "annotations"):
        marks = block.get(field)
        if isinstance(marks, dict):
            found |= {key: v for key, v in marks.items() if str(key).startswith("accelerat")}
    inner = [key for key in found if str(key).endswith(("sub-domain", "level-0"))]
    for key in (inner or list(found))[:1]:
        domain = found[key]
        if isinstance(domain, str):
            yield domain


def _notes(domains: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    if not domains:
        return ()
    some = ", ".join(f"{name} of {len(nodes)}" for name, nodes in list(domains.items())[:_SOME])
    return (f"Machines of an NVLink domain share its NVSwitches: {len(domains)} ({some}).",)
