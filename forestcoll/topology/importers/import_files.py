"""Import of a cluster from several files: machines, their fabric, or a whole network.

Problem: an engineer has a dump of each machine, or of one for all, and a listing of the fabric.
Input:   files of any known format, in the order of the ranks; or a fabric in words.
Output:  a topology, with notes on what the files leave open.
Source:  none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabric import Fabric
from forestcoll.topology.importers.file_formats import Part, read_part
from forestcoll.topology.importers.host import Host
from forestcoll.topology.importers.join_machines import Imported, join_machines
from forestcoll.topology.importers.link_rates import RateTable
from forestcoll.topology.importers.machines.nvidia_link_status import NvidiaLinks
from forestcoll.topology.importers.machines.nvidia_machine import nvidia_host
from forestcoll.topology.importers.machines.nvidia_matrix import NvidiaMatrix
from forestcoll.topology.importers.supplied import MissingFactError, Supplied
from forestcoll.topology.model import Topology

__all__ = ["import_files"]


def import_files(
    files: Sequence[tuple[str | None, Path]],
    fabric: Path | str | None = None,
    rates: RateTable | None = None,
    nics: str = "*",
    machines: int = 1,
    supplied: Supplied | None = None,
    name: str = "cluster",
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
    supplied : Supplied or None
        What the user supplies where files lack it, beside the rates.
    name : str
        Of the network that machines are joined to.

    Raises
    ------
    MissingFactError
        If facts are missing; the message names all options that supply them, as far as the files
        tell.
    InvalidTopologyError
        If a file cannot be read, or the parts do not make a network.
    """
    given = replace(supplied or Supplied(), rates=rates)
    join = partial(_joined, files, nics=nics, machines=machines, name=name)
    try:
        return join(fabric, given)
    except MissingFactError as first:
        others = ", ".join(_also_missing(join, fabric, given, first))
        if not others:
            raise
        raise MissingFactError(
            f"{first}; with {first.option}, also missing: {others}", first.option
        ) from None


def _also_missing(
    join: Callable[[Path | str | None, Supplied], Imported],
    fabric: Path | str | None,
    given: Supplied,
    missing: MissingFactError,
) -> Iterator[str]:
    """Yield the options that a user would be asked for after the first, one by one."""
    asked = {missing.option}
    while True:
        fabric = "rails" if missing.option == "--fabric" else fabric
        given = replace(given, **missing.stand_in)
        try:
            join(fabric, given)
        except MissingFactError as error:
            if error.option in asked:
                return
            asked.add(error.option)
            missing = error
            yield error.option
        except InvalidTopologyError:  # a stand-in may contradict the files; nothing more is known
            return
        else:
            return


def _joined(
    files: Sequence[tuple[str | None, Path]],
    fabric: Path | str | None,
    given: Supplied,
    *,
    nics: str,
    machines: int,
    name: str,
) -> Imported:
    rates = given.rates
    parts = [(path, read_part(path, own or path.stem, rates, given)) for own, path in files]
    if len(files) == 1 and files[0][0] is None:
        parts = [(path, _as_node(part)) for path, part in parts]
    if isinstance(fabric, Path):
        parts.append((fabric, read_part(fabric, fabric.stem, rates, given)))
    whole = [(path, part) for path, part in parts if isinstance(part, Topology)]
    if whole:
        path, topology = whole[0]
        if len(parts) > 1 or fabric is not None:
            raise InvalidTopologyError(f"{path}: is a whole network; import it without other files")
        if machines != 1:
            raise InvalidTopologyError(
                f"{path}: is a whole network, and --machines {machines} is for the dump of one "
                f"machine; leave it out"
            )
        return Imported(topology, (), _unused(given, nics, joined=False))
    hosts = _hosts([part for _, part in parts], given)
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
    made = join_machines(_copies(hosts, machines), joined, nics, name)
    return replace(made, unused=_unused(given, nics, joined=joined is not None))


def _unused(given: Supplied, nics: str, *, joined: bool) -> tuple[str, ...]:
    """Return the options that had no effect; only a fabric has NICs to choose for."""
    return given.unused if joined or nics == "*" else ("--nics", *given.unused)


def _as_node(part: Part) -> Part:
    """Return a machine that no other needs to be told from as ``node``."""
    if isinstance(part, Host):
        return replace(part, name="node")
    return replace(part, machine="node") if isinstance(part, NvidiaMatrix) else part


def _hosts(parts: Sequence[Part], supplied: Supplied) -> list[Host]:
    """Return the machines; outputs of nvidia-smi with one name are of one machine."""
    matrices = [part for part in parts if isinstance(part, NvidiaMatrix)]
    links = {part.machine: part for part in parts if isinstance(part, NvidiaLinks)}
    if len(matrices) == len(links) == 1:  # they need no names
        (only,) = links.values()
        links = {matrices[0].machine: only}
    hosts = []
    for part in parts:
        if isinstance(part, NvidiaMatrix):
            hosts.append(nvidia_host(part, links.pop(part.machine, None), supplied))
        elif isinstance(part, Host):
            hosts.append(part)
    if links:
        machine, part = next(iter(links.items()))
        raise InvalidTopologyError(
            f"{part.source}: lists NVLinks and not where they lead to; add the output of "
            f"nvidia-smi topo -m of the same machine, as in {machine}=FILE {machine}=FILE"
        )
    return hosts


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
