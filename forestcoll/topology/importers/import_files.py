"""Import of a cluster from several files: machines, their fabric, or a whole network.

Problem: an engineer has a dump of each machine, or of one for all, and a listing of the fabric.
Input:   files of any known format, in the order of the ranks; or a fabric in words.
Output:  a topology, with notes on what the files leave open.
Source:  none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.cluster import Imported, cluster
from forestcoll.topology.importers.fabric import Fabric
from forestcoll.topology.importers.formats import read_part
from forestcoll.topology.importers.host import Host
from forestcoll.topology.importers.link_rates import RateTable
from forestcoll.topology.model import Topology

__all__ = ["import_files"]


def import_files(
    files: Sequence[tuple[str | None, Path]],
    fabric: Path | str | None = None,
    rates: RateTable | None = None,
    nics: str = "*",
    machines: int = 1,
) -> Imported:
    """Read files and join them to one topology.

    Parameters
    ----------
    files : sequence of (name or None, path)
        Where no name is given, a machine has the name of its file without suffix, or ``node`` if
        it is the only file.
    fabric : Path, str or None
        A file of the fabric, or words such as ``rails``.
    rates : RateTable or None
        Bandwidths of links that the files count.
    nics : str
        Patterns of the names of the NICs to use.
    machines : int
        How many equal machines a single dump stands for.

    Raises
    ------
    InvalidTopologyError
        If a file cannot be read, or the parts do not make a network.
    """
    unnamed = "node" if len(files) == 1 else ""
    parts = [(path, read_part(path, name or unnamed or path.stem, rates)) for name, path in files]
    if isinstance(fabric, Path):
        parts.append((fabric, read_part(fabric, fabric.stem, rates)))
    whole = [(path, part) for path, part in parts if isinstance(part, Topology)]
    if whole:
        path, topology = whole[0]
        if len(parts) > 1 or fabric is not None:
            raise InvalidTopologyError(f"{path}: is a whole network; import it without other files")
        return Imported(topology, ())
    hosts = [part for _, part in parts if isinstance(part, Host)]
    fabrics = [(path, part) for path, part in parts if isinstance(part, Fabric)]
    if len(fabrics) + isinstance(fabric, str) > 1:
        raise InvalidTopologyError(
            f"{fabrics[-1][0]}: is a second fabric; give one file, or words with --fabric"
        )
    if not hosts:
        raise InvalidTopologyError(
            f"{fabrics[0][0]}: has switches and no GPUs; add a dump of each machine "
            f"(NCCL_TOPO_DUMP_FILE, or nvidia-smi topo -m)"
        )
    joined = fabric if isinstance(fabric, str) else next((part for _, part in fabrics), None)
    return cluster(_copies(hosts, machines), joined, nics)


def _copies(hosts: Sequence[Host], machines: int) -> list[Host]:
    if machines == 1:
        return list(hosts)
    if len(hosts) != 1:
        raise InvalidTopologyError(
            f"--machines {machines} is for one dump, and {len(hosts)} are given; give a dump for "
            f"each machine, or one"
        )
    (host,) = hosts
    renamed = [replace(host, name=f"{host.name}{i}", notes=()) for i in range(machines)]
    return [replace(renamed[0], notes=host.notes), *renamed[1:]]
