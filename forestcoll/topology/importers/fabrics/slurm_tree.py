"""Importer of Slurm's ``topology.conf`` and ``topology.yaml``.

Problem: which switch each machine is below, and which switch is above each switch.
Input:   lines ``SwitchName=leaf0 Nodes=node[01-16]`` and ``SwitchName=core Switches=leaf[0-7]``;
         or the same in YAML, below ``tree: {switches: [...]}``. A supplied uplink.
Output:  a :class:`Fabric`.
Cost:    linear in names.
Source:  Slurm's manual pages topology.conf(5) and topology.yaml(5). ``LinkSpeed`` has no unit
         there and is not used.
"""

from __future__ import annotations

import re
from functools import partial

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.importers.fabric import Fabric
from forestcoll.topology.importers.fabrics.hostlist import expanded_names
from forestcoll.topology.importers.fabrics.switch_tree import Branch, tree_fabric
from forestcoll.topology.importers.supplied import Supplied
from forestcoll.topology.importers.text_lines import Line, text_lines
from forestcoll.topology.numbers import in_short
from forestcoll.topology.reading.documents import Document, parse_yaml

__all__ = ["fabric_from_slurm_conf", "fabric_from_slurm_yaml"]

_FIELDS = ("SwitchName", "Nodes", "Switches", "LinkSpeed")
_ENTRY = re.compile(r"([A-Za-z]{1,40})=(\S+)")
_SPEED_NOTE = "LinkSpeed has no unit in Slurm and is not used."


def fabric_from_slurm_conf(text: str, source: str, supplied: Supplied) -> Fabric:
    """Read a ``topology.conf`` of switches.

    Raises
    ------
    InvalidTopologyError
        If a line is wrong, the switches are not a tree, or no uplink is supplied.
    """
    branches: dict[str, Branch] = {}
    speeds = False
    joined = re.sub(r"\\[ \t]*\n", " ", text)
    for line in text_lines(joined, source):
        plain = line.text.partition("#")[0].split()
        if not plain:
            continue
        fields = _fields(line, plain)
        speeds = speeds or "linkspeed" in fields
        below = {
            name: expanded_names(fields[name], line.fault) if name in fields else []
            for name in ("nodes", "switches")
        }
        for switch in expanded_names(fields["switchname"], line.fault):
            if switch in branches:
                raise line.fault(f"is the second line of the switch {switch[:60]!r}; join them")
            branches[switch] = Branch(below["switches"], below["nodes"], line.fault)
    uplink = supplied.expect_uplink(source)
    return tree_fabric(branches, uplink, source, (_SPEED_NOTE,) if speeds else ())


def _fields(line: Line, words: list[str]) -> dict[str, str]:
    """Return the fields of a line by their names in small letters."""
    known = {name.lower(): name for name in _FIELDS}
    fields: dict[str, str] = {}
    for word in words:
        match = _ENTRY.fullmatch(word)
        name = match[1].lower() if match else ""
        if name == "blockname":
            raise line.fault(
                "describes blocks and no switches; give the file of topology/tree, or ibnetdiscover"
            )
        if match is None or name not in known or name in fields:
            hint = did_you_mean(word.partition("=")[0], _FIELDS, f"they are {', '.join(_FIELDS)}")
            raise line.fault(
                f"{word[:40]!r} is not a field of topology.conf, or is there twice; {hint}"
            )
        fields[name] = match[2]
    if "switchname" not in fields:
        raise line.fault("has no SwitchName; add it")
    if "nodes" not in fields and "switches" not in fields:
        raise line.fault("has neither Nodes nor Switches; the line may be cut off")
    return fields


def fabric_from_slurm_yaml(text: str, source: str, supplied: Supplied) -> Fabric:
    """Read the default tree of a ``topology.yaml``, or its only one.

    Raises
    ------
    InvalidTopologyError
        If there is no tree, it is wrong, or no uplink is supplied.
    """
    document = parse_yaml(text, source)
    place, tree = _tree(document)
    entries = tree.get("switches") if isinstance(tree, dict) else None
    if not isinstance(entries, list):
        raise document.fault((*place, "switches"), "must be the list of switches")
    branches: dict[str, Branch] = {}
    for i, entry in enumerate(entries):
        where = (*place, "switches", i)
        if not isinstance(entry, dict) or not isinstance(entry.get("switch"), str):
            raise document.fault(where, "must have a field switch, its name")
        fault = partial(document.fault, where)
        for field, value in entry.items():
            if field not in ("switch", "children", "nodes") or not isinstance(value, str):
                raise document.fault(
                    (*where, str(field)),
                    f"is {in_short(value)}; the fields are switch, children and nodes, each a "
                    f"list of names such as node[01-16]",
                )
        lists = {
            name: expanded_names(entry[name], fault) if name in entry else []
            for name in ("children", "nodes")
        }
        if entry["switch"] in branches:
            raise document.fault(where, f"is the second switch {in_short(entry['switch'])}")
        branches[entry["switch"]] = Branch(lists["children"], lists["nodes"], fault)
    return tree_fabric(branches, supplied.expect_uplink(source), source)


def _tree(document: Document) -> tuple[tuple[str | int, ...], object]:
    """Return the place and content of the tree to use."""
    data = document.data
    if not isinstance(data, list):
        raise document.fault((), "must be a list of topologies, as in topology.yaml(5)")
    trees = [(i, one) for i, one in enumerate(data) if isinstance(one, dict) and "tree" in one]
    chosen = [(i, one) for i, one in trees if one.get("cluster_default") is True] or trees
    if len(chosen) != 1:
        raise InvalidTopologyError(
            f"{document.source}: has {len(chosen)} trees of switches and no default; mark one with "
            f"cluster_default: true"
            if chosen
            else f"{document.source}: has no tree of switches; only topology/tree describes them"
        )
    i, one = chosen[0]
    return (i, "tree"), one["tree"]
