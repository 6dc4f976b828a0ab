"""Importer of NCCL's graph files (``NCCL_GRAPH_DUMP_FILE``).

Problem: which rings and trees NCCL found inside a machine.
Input:   ``<graphs><graph id pattern><channel><net dev/><gpu dev/>...``; patterns 1 to 3 are trees
         whose GPUs form a chain, 4 rings, 5 NVLS, 6 CollNet.
Output:  :class:`Channels` whose GPUs are devices of the machine.
Cost:    linear in elements.
Source:  NVIDIA/nccl, ``src/graph/search.cc`` and ``graph.h``.
"""

from __future__ import annotations

from forestcoll.topology.importers.channels.chosen_channels import Channels, Ring, Tree
from forestcoll.topology.importers.xml_elements import Element, parse_elements

__all__ = ["channels_from_graph"]

_DUMP = "write it again with NCCL_GRAPH_DUMP_FILE"
_TREES, _RING, _NVLS = (1, 2, 3), 4, 5
_MOST_PATTERN = 6


def channels_from_graph(text: str, source: str) -> Channels:
    """Read a graph file of NCCL.

    Raises
    ------
    InvalidTopologyError
        If it is not such a file, or a channel has a GPU twice.
    """
    top = parse_elements(text, source)
    if top.tag != "graphs":
        raise top.fault("is not the element graphs of an NCCL graph file")
    rings: list[Ring] = []
    trees: list[Tree] = []
    nics: dict[str, None] = {}
    nvls = 0
    for graph in top.named("graph"):
        pattern = graph.whole("pattern", _DUMP, _MOST_PATTERN)
        channels = graph.named("channel")
        if pattern == _NVLS:
            nvls = max(nvls, len(channels))
            continue
        for number, channel in enumerate(channels):
            gpus, nets = _members(channel)
            nics.update(dict.fromkeys(nets))
            if pattern == _RING:
                rings.append(Ring(number, gpus, nets))
            elif pattern in _TREES:
                parents = zip(gpus, (None, *gpus), strict=False)
                trees.append(Tree(number, tuple(parents), nets))
    if not rings and not trees:
        raise top.fault(f"has no channels of rings or trees; {_DUMP}")
    return Channels("device", tuple(rings), tuple(trees), tuple(nics), nvls)


def _members(channel: Element) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return GPUs in order, and the NICs around them."""
    gpus = tuple(gpu.whole("dev", _DUMP, 10**6) for gpu in channel.named("gpu"))
    if not gpus or len(set(gpus)) < len(gpus):
        raise channel.fault(f"has no GPU, or one twice; {_DUMP}")
    return gpus, tuple(net.text("dev", _DUMP) for net in channel.named("net"))
