"""Read and write topology files, YAML or JSON by their suffix; read those of other tools."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forestcoll.atomic_write import reason, write_whole
from forestcoll.errors import ExportError, InvalidTopologyError
from forestcoll.topology.changed_file import is_changed, topology_from_changes
from forestcoll.topology.families.family_spec import family_topology, names_family
from forestcoll.topology.format import topology_document, topology_from_document
from forestcoll.topology.model import Topology
from forestcoll.topology.reading.documents import Document, parse_json, parse_yaml
from forestcoll.topology.reading.whole_text import whole_text

__all__ = ["SUFFIXES", "read_topology", "topology_json", "topology_yaml", "write_topology"]

SUFFIXES = (".yaml", ".yml", ".json")
"""Endings of topology files."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_DEEPEST = 20  # files that are each based on the next
_NOT_PLAIN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_NUMBERS = ("bandwidth_gb_s", "latency_us")


def read_topology(path: str | os.PathLike[str]) -> Topology:
    """Read a topology file, an input of TE-CCL or a topology of TACCL's.

    Parameters
    ----------
    path : path
        Ends in .yaml, .yml or .json.

    Raises
    ------
    InvalidTopologyError
        If it cannot be read or is not in the format; in one line, with the file, the line if
        known, the field, the value found and the remedy.
    """
    return _read(Path(path), ())


def _read(path: Path, around: tuple[Path, ...]) -> Topology:
    """Read a file; ``around`` are the files that are based on it."""
    if _is_folder(path):
        raise InvalidTopologyError(f"{path}: is a directory; name a topology file in it")
    suffix = _suffix(path)
    text = whole_text(path, InvalidTopologyError)
    parse = parse_json if suffix == ".json" else parse_yaml
    document = parse(text, str(path))
    if not is_changed(document):
        return _topology(document)
    files = (*around, path.resolve())
    if path.resolve() in around:
        raise document.fault(("base",), "leads back to this file; base it on another")
    if len(files) > _DEEPEST:
        raise document.fault(("base",), f"is file {len(files)} in a row; take fewer")
    return topology_from_changes(document, lambda base: _base(base, files))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:
        raise InvalidTopologyError(f"{path}: cannot be read: {reason(error)}") from None


def _base(base: str, files: tuple[Path, ...]) -> Topology:
    """Make the network that a file is based on: a family, or a file beside it."""
    if names_family(base):
        return family_topology(base)
    return _read(files[-1].parent / base, files)


def write_topology(topology: Topology, path: str | os.PathLike[str]) -> None:
    """Write a topology file; :func:`read_topology` gives back an equal topology.

    The same topology gives the same bytes.

    Raises
    ------
    InvalidTopologyError
        If the suffix is not one of SUFFIXES or the file cannot be written.
    """
    path = Path(path)
    text = topology_json(topology) if _suffix(path) == ".json" else topology_yaml(topology)

    def write(draft: Path) -> None:
        draft.write_bytes(text.encode())

    try:
        write_whole(path, write)
    except ExportError as error:
        raise InvalidTopologyError(str(error)) from None


def topology_yaml(topology: Topology) -> str:
    """Return the topology as YAML, one line a node, link or shared capacity."""
    document = topology_document(topology)
    lines = [f"name: {_yaml_text(document['name'])}"]
    for part in list(document)[1:]:
        entries = document[part]
        lines += [f"{part}:"] if entries else [f"{part}: []"]
        lines += [f"  - {_yaml_flow(entry)}" for entry in entries]
    return "\n".join(lines) + "\n"


def topology_json(topology: Topology) -> str:
    """Return the topology as JSON, one line a node, link or shared capacity."""
    document = topology_document(topology)
    parts = [f'  "name": {json.dumps(document["name"])}']
    for part in list(document)[1:]:
        entries = ",\n".join(f"    {json.dumps(entry)}" for entry in document[part])
        parts.append(f'  "{part}": [\n{entries}\n  ]' if entries else f'  "{part}": []')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _topology(document: Document) -> Topology:
    # Imported here: a network that no file holds needs none of these.
    from forestcoll.topology.importers.taccl_input import is_taccl, topology_from_taccl
    from forestcoll.topology.importers.teccl_input import is_teccl, topology_from_teccl

    if is_teccl(document):
        return topology_from_teccl(document)
    if is_taccl(document):
        return topology_from_taccl(document)
    return topology_from_document(document)


def _yaml_flow(entry: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {_yaml_value(key, v)}" for key, v in entry.items()) + "}"


def _yaml_value(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) or key in _NUMBERS:
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(_yaml_value("", one) for one in value) + "]"
    if isinstance(value, dict):
        return _yaml_flow(value)
    return _yaml_text(value)


def _yaml_text(text: str) -> str:
    """Return text as YAML, in quotes if some reader might not take it as plain text."""
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_PLAIN:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')  # names are printable
    return f'"{escaped}"'


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidTopologyError(
            f"{path}: the name has the suffix {suffix!r}; a topology file ends in "
            f"{', '.join(SUFFIXES)}"
        )
    return suffix
