"""Recognition of the formats of hardware and fabric files, by content and never by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.described_fabric import fabric_from_description, is_description
from forestcoll.topology.importers.fabric import Fabric
from forestcoll.topology.importers.fabrics.infiniband_listing import (
    fabric_from_listing,
    fabric_from_ports,
)
from forestcoll.topology.importers.fabrics.slurm_tree import (
    fabric_from_slurm_conf,
    fabric_from_slurm_yaml,
)
from forestcoll.topology.importers.fabrics.sonic_links import fabric_from_sonic
from forestcoll.topology.importers.fabrics.topograph_model import fabric_from_topograph
from forestcoll.topology.importers.host import Host
from forestcoll.topology.importers.link_rates import RateTable
from forestcoll.topology.importers.machines.hwloc_topology import host_from_hwloc
from forestcoll.topology.importers.machines.nvidia_link_status import NvidiaLinks, nvidia_links
from forestcoll.topology.importers.machines.nvidia_matrix import NvidiaMatrix, nvidia_matrix
from forestcoll.topology.importers.machines.rocm_topology import host_from_rocm
from forestcoll.topology.importers.nccl_topology import host_from_nccl
from forestcoll.topology.importers.networks.astra_sim_network import topology_from_astra_sim
from forestcoll.topology.importers.networks.dot_input import topology_from_dot
from forestcoll.topology.importers.networks.graphml_input import topology_from_graphml
from forestcoll.topology.importers.networks.simai_topology import topology_from_simai
from forestcoll.topology.importers.supplied import Supplied
from forestcoll.topology.importers.taccl_input import is_taccl, topology_from_taccl
from forestcoll.topology.importers.teccl_input import is_teccl, topology_from_teccl
from forestcoll.topology.model import Topology
from forestcoll.topology.reading.documents import Document, parse_json, parse_yaml
from forestcoll.topology.reading.whole_text import whole_text

__all__ = ["FORMATS", "Format", "Part", "read_part"]

Part = Host | NvidiaMatrix | NvidiaLinks | Fabric | Topology
"""What a file describes: a machine or some of it, a network between machines, or a cluster."""

_START = 4000
"""Characters within which a format shows itself."""

_TOPOLOGY = re.compile(r"""["']?kind["']?:\s*["']?(?:compute|switch)\b""")
"""What is in the topology files of this project, which need no import."""


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
        Takes the text, the file for errors, the name of the machine or network, and what the user
        supplies.
    command : str
        What writes such a file.
    """

    name: str
    mark: re.Pattern[str]
    read: Callable[[str, str, str, Supplied], Part]
    command: str


def _nccl(text: str, source: str, name: str, supplied: Supplied) -> Host:
    return host_from_nccl(text, source, name, supplied.expect_rates(source))


def _described(text: str, source: str, *_: object) -> Fabric:
    document = parse_yaml(text, source)
    if not is_description(document):
        raise document.fault((), "has no lists `switches` and `ports`; add both")
    return fabric_from_description(document)


def _peer(
    reader: Callable[[Document], Topology], known: Callable[[Document], bool]
) -> Callable[[str, str, str, Supplied], Topology]:
    def read(text: str, source: str, *_: object) -> Topology:
        document = parse_json(text, source)
        if not known(document):
            raise document.fault((), "is not a file of that tool; check that it is the right file")
        return reader(document)

    return read


def _channels(_: str, source: str, *__: object) -> Part:
    raise InvalidTopologyError(
        f"{source}: has the channels that NCCL chose and no network; print them with `forestcoll "
        f"topology channels`, and import a dump of NCCL_TOPO_DUMP_FILE"
    )


def _mark(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


FORMATS: tuple[Format, ...] = (
    Format(
        "NCCL or RCCL topology XML",
        _mark(r"<system\b"),
        _nccl,
        "NCCL_TOPO_DUMP_FILE=topology.xml",
    ),
    Format("NCCL graph XML or log", _mark(r"<graphs\b|NCCL INFO "), _channels, "NCCL_DEBUG=INFO"),
    Format("hwloc XML", _mark(r"<topology\b"), host_from_hwloc, "lstopo --of xml --whole-io"),
    Format(
        "GraphML",
        _mark(r"<(?:[a-z]+:)?graphml\b"),
        lambda text, source, name, _: topology_from_graphml(text, source, name),
        "networkx.write_graphml",
    ),
    Format(
        "nvidia-smi topo -m",
        _mark(r"^[^\n]*\bGPU[0-9]+\b[^\n]*\bCPU Affinity"),
        lambda text, source, name, _: nvidia_matrix(text, source, name),
        "nvidia-smi topo -m",
    ),
    Format(
        "nvidia-smi nvlink --status",
        _mark(r"^GPU [0-9]+: [^\n]*\n\s*(?:Link [0-9]+:|NVML)"),
        lambda text, source, name, _: nvidia_links(text, source, name),
        "nvidia-smi nvlink --status",
    ),
    Format(
        "rocm-smi --showtopo",
        _mark(r"ROCm System Management Interface|between two GPUs ?=="),
        host_from_rocm,
        "rocm-smi --showtopo",
    ),
    Format(
        "ibnetdiscover",
        _mark(r'^# Topology file: generated on|^(?:Switch|Ca|Rt)\s+[0-9]+\s+"[SHR]-'),
        lambda text, source, *_: fabric_from_listing(text, source),
        "ibnetdiscover",
    ),
    Format(
        "ibnetdiscover -p",
        _mark(r"^(?:SW|CA|RT)\s+[0-9]+\s+[0-9]+\s+0x"),
        lambda text, source, *_: fabric_from_ports(text, source),
        "ibnetdiscover -p",
    ),
    Format(
        "Slurm topology.conf",
        _mark(r"^\s*(?i:SwitchName|BlockName)="),
        lambda text, source, _, supplied: fabric_from_slurm_conf(text, source, supplied),
        "/etc/slurm/topology.conf",
    ),
    Format(
        "Slurm topology.yaml",
        _mark(r"^\s*-\s+topology:"),
        lambda text, source, _, supplied: fabric_from_slurm_yaml(text, source, supplied),
        "/etc/slurm/topology.yaml",
    ),
    Format(
        "SONiC links",
        _mark(r"\A\s*StartDevice,"),
        lambda text, source, *_: fabric_from_sonic(text, source),
        "ansible/files/sonic_lab_links.csv",
    ),
    Format(
        "ASTRA-sim network",
        _mark(r"^(?:topology|npus_count):"),
        lambda text, source, name, _: topology_from_astra_sim(text, source, name),
        "astra-sim/inputs/network",
    ),
    Format(
        "SimAI or ns-3 topology",
        _mark(r"\A\s*[0-9]+(?: +[0-9]+){2}(?:(?: +[0-9]+){2}(?: +\S+){0,2})? *$"),
        lambda text, source, name, _: topology_from_simai(text, source, name),
        "gen_Topo_Template.py",
    ),
    Format(
        "DOT",
        _mark(r"^\s*(?:strict\s+)?(?:di)?graph\b[^\n]*\{"),
        lambda text, source, name, _: topology_from_dot(text, source, name),
        "networkx.nx_pydot.write_dot",
    ),
    Format("TACCL", _mark('"gpus_per_node"'), _peer(topology_from_taccl, is_taccl), "TACCL"),
    Format("TE-CCL", _mark('"TopologyParams"'), _peer(topology_from_teccl, is_teccl), "TE-CCL"),
    Format(
        "topograph model",
        _mark(r"^(?:capacity_blocks|blocks):|^[ -]+(?:switches|capacity_blocks|nodes):"),
        lambda text, source, _, supplied: fabric_from_topograph(text, source, supplied),
        "topograph",
    ),
    Format(
        "described fabric",
        _mark(r"^(?:switches|ports|cables):"),
        _described,
        "an editor",
    ),
)
"""Every format, the more telling marks first."""


def read_part(
    path: Path, name: str, rates: RateTable | None, supplied: Supplied | None = None
) -> Part:
    """Read a file of any of the formats.

    Parameters
    ----------
    path : Path
    name : str
        The name that a machine gets.
    rates : RateTable or None
        Needed for files that count links; None if the user named no table.
    supplied : Supplied or None
        What the user supplies beside the rates.

    Raises
    ------
    InvalidTopologyError
        If the file cannot be read, is of no known format, or not right in its own.
    """
    text = whole_text(path, InvalidTopologyError)
    start = text[:_START]
    given = replace(supplied or Supplied(), rates=rates)
    for known in FORMATS:
        if known.mark.search(start):
            return known.read(text, str(path), name, given)
    if not text.strip():
        raise InvalidTopologyError(f"{path}: is empty; write it again")
    if _TOPOLOGY.search(start):
        raise InvalidTopologyError(
            f"{path}: is a topology already; give it to the commands as it is, with a name that "
            f"ends in .yaml or .json"
        )
    raise InvalidTopologyError(
        f"{path}: is of no known format; they are {', '.join(known.name for known in FORMATS)}"
    )
