"""Recognition of the formats of hardware and fabric files, by content and never by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.described_fabric import (
    fabric_from_description,
    is_description,
)
from forestcoll.topology.importers.fabric import Fabric
from forestcoll.topology.importers.host import Host
from forestcoll.topology.importers.link_rates import RateTable
from forestcoll.topology.importers.nccl_topology import host_from_nccl
from forestcoll.topology.model import Topology
from forestcoll.topology.reading.documents import parse_yaml
from forestcoll.topology.reading.whole_text import whole_text

__all__ = ["FORMATS", "Format", "Part", "read_part"]

Part = Host | Fabric | Topology
"""What a file describes: a machine, a network between machines, or all of a cluster."""

_START = 4000
"""Characters within which a format shows itself."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    Parameters
    ----------
    name : str
        As people call it.
    mark : pattern
        What the start of such a file contains.
    read : callable
        Takes the text, the file for errors, the name of the machine, and the rates of links.
    command : str
        What writes such a file.
    """

    name: str
    mark: re.Pattern[str]
    read: Callable[[str, str, str, RateTable | None], Part]
    command: str


def _nccl(text: str, source: str, name: str, rates: RateTable | None) -> Host:
    return host_from_nccl(text, source, name, _expect_rates(rates, source))


def _described(text: str, source: str, _: str, __: RateTable | None) -> Fabric:
    document = parse_yaml(text, source)
    if not is_description(document):
        raise document.fault((), "has no lists `switches` and `ports`; add both")
    return fabric_from_description(document)


FORMATS: tuple[Format, ...] = (
    Format(
        "NCCL or RCCL topology XML",
        re.compile(r"<system\b"),
        _nccl,
        "NCCL_TOPO_DUMP_FILE=topology.xml",
    ),
    Format(
        "described fabric",
        re.compile(r"^(switches|ports|cables):", re.MULTILINE),
        _described,
        "an editor",
    ),
)
"""Every format, the more telling marks first."""


def read_part(path: Path, name: str, rates: RateTable | None) -> Part:
    """Read a file of any of the formats.

    Parameters
    ----------
    path : Path
    name : str
        The name that a machine gets.
    rates : RateTable or None
        Needed for files that count links; None if the user named no table.

    Raises
    ------
    InvalidTopologyError
        If the file cannot be read, is of no known format, or not right in its own.
    """
    text = whole_text(path, InvalidTopologyError)
    start = text[:_START]
    for known in FORMATS:
        if known.mark.search(start):
            return known.read(text, str(path), name, rates)
    raise InvalidTopologyError(
        f"{path}: is of no known format; they are {', '.join(known.name for known in FORMATS)}"
    )


def _expect_rates(rates: RateTable | None, source: str) -> RateTable:
    if rates is None:
        raise InvalidTopologyError(
            f"{source}: counts links and does not have their bandwidths; choose --rates nominal "
            f"(data sheets), --rates runtime (what NCCL and RCCL assume) or a file of rates "
            f"(`forestcoll topology rates` prints them)"
        )
    return rates
