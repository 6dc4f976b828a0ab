"""Exporter of one machine to NCCL's topology XML (``NCCL_TOPO_FILE``).

Problem: NCCL counts links of a rate that it knows, and a topology has bandwidths.
Input:   a topology of one box, the kind of its GPUs, and the rates of their links.
Output:  the XML of sockets, GPUs and NVLinks or xGMI; refused where a count is not whole.
Cost:    linear in links.
Source:  NVIDIA/nccl and ROCm/rccl, ``src/graph/xml.cc``. PCIe and NICs are left out: topologies
         do not have the tree of a machine.
"""

from __future__ import annotations

from fractions import Fraction

from forestcoll.errors import ExportError, InvalidTopologyError
from forestcoll.topology.importers.link_rates import RateTable
from forestcoll.topology.model import Link, Topology

__all__ = ["topology_nccl"]

_MOST_GPUS = 64
_GCN = {"gfx906": "906", "gfx908": "908", "gfx90a": "910", "gfx942": "942", "gfx950": "950"}


def topology_nccl(topology: Topology, gpu: str, rates: RateTable) -> str:
    """Return a machine as NCCL's topology XML.

    Parameters
    ----------
    topology : Topology
        One box: GPUs, direct links, and NVSwitches.
    gpu : str
        The kind, such as ``sm_90`` or ``gfx942``.
    rates : RateTable
        The bandwidth of one link.

    Raises
    ------
    ExportError
        If there are several boxes or limits that NCCL's files lack, or a link is not a whole number
        of links of that kind.
    """
    _expect_one_box(topology)
    amd = gpu.startswith("gfx")
    link = f"xgmi.{gpu}" if amd else f"nvlink.{gpu}"
    try:
        rate = rates.of(link, topology.name)
    except InvalidTopologyError as error:
        raise ExportError(str(error)) from None
    rank = {node: i for i, node in enumerate(topology.compute)}
    bus = {node: f"0000:{16 + i:02x}:00.0" for node, i in rank.items()}
    bus |= {node: f"0000:{192 + i:02x}:00.0" for i, node in enumerate(topology.switches)}
    kind = f'gcn="{_GCN[gpu]}"' if amd else f'sm="{gpu.removeprefix("sm_")}"'
    gpu_class = "0x038000" if amd else "0x030200"
    lines = [
        '<system version="1">',
        '  <cpu numaid="0" affinity="ffffffff" arch="x86_64" vendor="GenuineIntel" familyid="6" '
        'modelid="143">',
    ]
    for node, place in rank.items():
        lines += [
            f'    <pci busid="{bus[node]}" class="{gpu_class}" link_speed="" link_width="0">',
            f'      <gpu dev="{place}" {kind} rank="{place}" gdr="1">',
        ]
        for arc in topology.links:
            if arc.tail == node:
                count = _count(topology, arc, rate, link)
                tag = "xgmi" if amd else "nvlink"
                to = gpu_class if arc.head in rank else "0x068000"
                lines.append(
                    f'        <{tag} target="{bus[arc.head]}" count="{count}" tclass="{to}"/>'
                )
        lines += ["      </gpu>", "    </pci>"]
    return "\n".join((*lines, "  </cpu>", "</system>")) + "\n"


def _expect_one_box(topology: Topology) -> None:
    boxes = {node.box for node in topology.nodes}
    rank = set(topology.compute)
    problem = ""
    if len(boxes) > 1:
        problem = "has several boxes, or nodes outside of one; export a network of one box"
    elif topology.shared:
        problem = "has shared capacities, which NCCL's files lack"
    elif len(rank) > _MOST_GPUS or len(topology.switches) > _MOST_GPUS:
        problem = f"has over {_MOST_GPUS} GPUs or switches; a machine has fewer"
    else:
        speeds = {(link.tail, link.head): link.bandwidth_gb_s for link in topology.links}
        for (tail, head), speed in speeds.items():
            switch = tail not in rank or head not in rank
            if (tail not in rank and head not in rank) or (
                switch and speeds.get((head, tail)) != speed
            ):
                problem = "has a switch whose links are not those of GPUs, equal both ways"
    if problem:
        raise ExportError(f"{topology.name}: {problem}")


def _count(topology: Topology, arc: Link, rate: Fraction, link: str) -> int:
    count = arc.bandwidth_gb_s / rate
    if count.denominator != 1:
        names = topology.node_names
        raise ExportError(
            f"{topology.name}: {names[arc.tail]} -> {names[arc.head]} has {arc.bandwidth_gb_s} "
            f"GB/s, which is not a whole number of {link} of {rate} GB/s; choose another table of "
            f"rates"
        )
    return int(count)
