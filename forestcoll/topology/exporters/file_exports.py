"""Formats that networks are written in, by the name of a format or the ending of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from forestcoll.atomic_write import write_text
from forestcoll.errors import ExportError, did_you_mean
from forestcoll.topology.exporters.astra_sim_dimensions import topology_astra_sim
from forestcoll.topology.exporters.graph_text import topology_dot, topology_graphml
from forestcoll.topology.exporters.nccl_machine import topology_nccl
from forestcoll.topology.exporters.rank_files import topology_environment, topology_rank_file
from forestcoll.topology.files import topology_json, topology_yaml
from forestcoll.topology.importers.supplied import Supplied
from forestcoll.topology.model import Topology

__all__ = ["EXPORTS", "export_format", "export_topology"]


@dataclass(frozen=True, slots=True)
class _Export:
    """A format: what writes its text, and the endings of its files."""

    text: Callable[[Topology, Supplied], str]
    endings: tuple[str, ...] = ()


def _nccl(topology: Topology, supplied: Supplied) -> str:
    if supplied.gpu is None or supplied.rates is None:
        raise ExportError(
            "NCCL's topology files count links of a known kind; give it and its rate, such as "
            "--gpu sm_90 --rates nominal"
        )
    return topology_nccl(topology, supplied.gpu, supplied.rates)


EXPORTS: Mapping[str, _Export] = {
    "yaml": _Export(lambda topology, _: topology_yaml(topology), (".yaml", ".yml")),
    "json": _Export(lambda topology, _: topology_json(topology), (".json",)),
    "graphml": _Export(lambda topology, _: topology_graphml(topology), (".graphml",)),
    "dot": _Export(lambda topology, _: topology_dot(topology), (".dot", ".gv")),
    "nccl": _Export(_nccl, (".xml",)),
    "astra-sim": _Export(lambda topology, _: topology_astra_sim(topology)),
    "rankfile": _Export(lambda topology, _: topology_rank_file(topology), (".rankfile",)),
    "env": _Export(lambda topology, _: topology_environment(topology), (".env",)),
}
"""Every format by its name."""


def export_format(path: Path, named: str | None) -> str:
    """Return the name of a format, from itself or from the ending of a file.

    Raises
    ------
    ExportError
        If it is neither.
    """
    if named is not None:
        if named not in EXPORTS:
            hint = did_you_mean(named, EXPORTS, f"they are {', '.join(EXPORTS)}")
            raise ExportError(f"{named[:40]!r} is not a format of networks; {hint}")
        return named
    ending = path.suffix.lower()
    for name, known in EXPORTS.items():
        if ending in known.endings:
            return name
    raise ExportError(
        f"{path}: the ending {ending!r} is that of no format; name one with --format: "
        f"{', '.join(EXPORTS)}"
    )


def export_topology(
    topology: Topology,
    path: str | os.PathLike[str],
    named: str | None = None,
    supplied: Supplied | None = None,
) -> None:
    """Write a network to a file of another tool.

    Parameters
    ----------
    topology : Topology
    path : path
    named : str or None
        One of EXPORTS; by default that of the file's ending.
    supplied : Supplied or None
        Kind and rates of GPUs, for files that count links.

    Raises
    ------
    ExportError
        If the format cannot express the network, or the file cannot be written.
    """
    path = Path(path)
    known = EXPORTS[export_format(path, named)]
    write_text(path, known.text(topology, supplied or Supplied()))
