"""Files that ASTRA-sim needs beside traces: system, memory and network.

Problem: a trace says who sends what; ASTRA-sim must be told to run it, and how fast links are.
Input:   a program; the options of its traces.
Output:  texts: the system in JSON; the memory in JSON; a network.
Cost:    that of the search for dimensions of the network.
Source:  astra-sim/astra-sim at 518bd51 (2026-03): ``Sys.cc``, ``CollectiveImplLookup.cc`` and the
         examples; astra-sim/astra-network-analytical: a GB/s there is 2^30 bytes a second;
         astra-sim/astra-network-ns3, ``scratch/topology``.

A network that is a product of rings, full connections and switches is written for the analytical
back end, any other one for ns-3: all its nodes and cables, with the logical dimension of its ranks.
The latency of a hop from GPU to GPU is divided among the links of a switch: half in, half out.
"""

from __future__ import annotations

import json
from fractions import Fraction

from forestcoll.errors import ExportError
from forestcoll.runtimes.simulators.chakra_trace import ChakraOptions
from forestcoll.schedule.program import Program
from forestcoll.topology.exporters.astra_sim_dimensions import astra_sim_dimensions
from forestcoll.topology.model import Link, Topology

__all__ = ["MEMORY", "network_files", "system_file"]

_CUSTOM = {
    "allreduce": "all-reduce",
    "reduce": "reduce-scatter",
    "allgather": "all-gather",
    "broadcast": "all-gather",
    "all-to-all": "all-to-all",
    "reduce-scatter": "reduce-scatter",
}
_THEIR_GB = Fraction(10**9, 2**30)  # of the GB/s in ASTRA-sim's analytical back end

MEMORY = '{\n  "memory-type": "NO_MEMORY_EXPANSION"\n}\n'
"""The file of the remote memory, which ASTRA-sim requires."""


def system_file(program: Program, options: ChakraOptions) -> str:
    """Return the system file: traces instead of a built-in collective, without other delays."""
    system = {
        "scheduling-policy": "FIFO",
        "endpoint-delay": 0,
        "preferred-dataset-splits": 1,
        f"{_CUSTOM[program.collective]}-implementation-custom": [options.prefix],
        "local-mem-bw": 50,
    }
    return json.dumps(system, indent=2) + "\n"


def network_files(program: Program, options: ChakraOptions) -> dict[str, str]:
    """Return the network by the ending of its file.

    Returns
    -------
    dict of str to str
        ``.network.yml`` for the analytical back end, or ``.ns3.txt`` (links) and ``.logical.json``
        (ranks) for ns-3.

    Raises
    ------
    ExportError
        If neither has the network: ns-3 knows no cable with two speeds.
    """
    topology = _with_alpha(program.topology, Fraction(options.alpha_us))
    try:
        dimensions = astra_sim_dimensions(topology)
    except ExportError:
        logical = {"logical-dims": [str(topology.num_compute)]}
        return {".ns3.txt": _ns3(topology), ".logical.json": json.dumps(logical, indent=2) + "\n"}
    lists = {
        "topology": [one.kind for one in dimensions],
        "npus_count": [str(one.gpus) for one in dimensions],
        "bandwidth": [repr(float(one.bandwidth_gb_s * _THEIR_GB)) for one in dimensions],
        "latency": [repr(float(1000 * one.latency_us)) for one in dimensions],
    }
    units = {"bandwidth": "  # 2^30 bytes a second", "latency": "  # ns"}
    lines = [f"{name}: [ {', '.join(v)} ]{units.get(name, '')}" for name, v in lists.items()]
    return {".network.yml": "\n".join(lines) + "\n"}


def _with_alpha(topology: Topology, alpha: Fraction) -> Topology:
    """Return the network with alpha in the latencies of its links."""

    def latency(link: Link) -> Fraction:
        ends = [topology.nodes[end].is_gpu for end in (link.tail, link.head)]
        return link.latency_us + alpha * Fraction(sum(ends), 2)

    links = tuple(
        Link(one.tail, one.head, one.bandwidth_gb_s, latency(one)) for one in topology.links
    )
    return Topology(topology.name, topology.nodes, links, topology.shared)


def _ns3(topology: Topology) -> str:
    """Return cables in the format of ns-3's example: GPUs first, then switches."""
    order = [*topology.compute, *topology.switches]
    number = {node: place for place, node in enumerate(order)}
    speeds = {(number[one.tail], number[one.head]): one for one in topology.links}
    for (a, b), one in speeds.items():
        back = speeds.get((b, a))
        if back is None or back.bandwidth_gb_s != one.bandwidth_gb_s:
            names = " and ".join(topology.nodes[order[end]].name for end in (a, b))
            raise ExportError(
                f"{topology.name}: the cable between {names} has two speeds, which ns-3 lacks; "
                "make both directions equal first"
            )
    cables = [
        f"{a} {b} {_gigabits(one.bandwidth_gb_s)}Gbps {float(one.latency_us / 1000):.9g}ms 0"
        for (a, b), one in sorted(speeds.items())
        if a < b
    ]
    switches = [str(number[node]) for node in topology.switches]
    head = [f"{len(order)} {len(switches)} {len(cables)}", " ".join(switches)]
    return "\n".join([*head, *cables]) + "\n"


def _gigabits(bandwidth_gb_s: Fraction) -> str:
    return f"{float(8 * bandwidth_gb_s):.9g}"
