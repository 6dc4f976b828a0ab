"""Importer of the channels that NCCL logs (``NCCL_DEBUG=INFO``).

Problem: which rings and trees a run used, in all machines.
Input:   the lines ``Channel 00/08 : 0 1 2 3`` of rank 0, ``Trees [0] 1/-1/-1->0->-1 [1] ...`` of
         every rank (children -> rank -> parent), ``NET/IB : Using [0]mlx5_0:1/IB ...`` and
         ``16 nvls channels``; any other lines, and anything before NCCL's own text.
Output:  :class:`Channels` whose GPUs are ranks.
Cost:    linear in lines.
Source:  NVIDIA/nccl, ``src/init.cc`` and ``src/graph/rings.cc``.
"""

from __future__ import annotations

import re

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.channels.chosen_channels import Channels, Ring, Tree
from forestcoll.topology.importers.text_lines import Line, text_lines

__all__ = ["channels_from_log"]

_MOST_RANKS = 1_000_000
_RING = re.compile(r"NCCL INFO Channel ([0-9]{1,4})/[0-9]{1,4} :((?:\s+[0-9]{1,7})+)\s*$")
_TREES = re.compile(r"NCCL INFO Trees (.*)$")
_TREE = re.compile(
    r"\[([0-9]{1,4})\] (-1|[0-9]{1,7})(?:/(-1|[0-9]{1,7}))?(?:/(-1|[0-9]{1,7}))?"
    r"->(-1|[0-9]{1,7})->(-1|[0-9]{1,7})"
)
_NICS = re.compile(r"NCCL INFO NET/(?:IB|Socket|OFI|Plugin) : Using (.*)$")
_NIC = re.compile(r"\[[0-9]{1,4}\]([A-Za-z][A-Za-z0-9_.-]{0,40}(?::[0-9]{1,2})?)")
_NVLS = re.compile(r"NCCL INFO .*?([0-9]{1,4}) nvls channels")
_GREP = "keep the lines of one communicator only, such as those of one job"


def channels_from_log(text: str, source: str) -> Channels:
    """Read a log of NCCL.

    Raises
    ------
    InvalidTopologyError
        If it has no channels, or those of several communicators.
    """
    rings: dict[int, tuple[int, ...]] = {}
    parents: dict[int, dict[int, int]] = {}
    nics: tuple[str, ...] = ()
    nvls = 0
    for line in text_lines(text, source, skip_long=True):
        if "NCCL INFO " not in line.text:
            continue
        if match := _RING.search(line.text):
            _add_ring(line, rings, int(match[1]), tuple(map(int, match[2].split())))
        elif match := _TREES.search(line.text):
            for entry in _TREE.finditer(match[1]):
                _add_arc(line, parents, entry)
        elif match := _NICS.search(line.text):
            nics = nics or tuple(found[1] for found in _NIC.finditer(match[1]))
        elif match := _NVLS.search(line.text):
            nvls = max(nvls, int(match[1]))
    if not rings and not parents:
        raise InvalidTopologyError(
            f"{source}: has no channels; run with NCCL_DEBUG=INFO and "
            f"NCCL_DEBUG_SUBSYS=INIT,GRAPH, and keep the output of all ranks"
        )
    return Channels(
        "rank",
        tuple(Ring(channel, gpus) for channel, gpus in sorted(rings.items())),
        tuple(_tree(channel, found) for channel, found in sorted(parents.items())),
        nics,
        nvls,
    )


def _add_ring(
    line: Line, rings: dict[int, tuple[int, ...]], channel: int, gpus: tuple[int, ...]
) -> None:
    if len(set(gpus)) < len(gpus):
        raise line.fault(f"channel {channel} has a rank twice; {_GREP}")
    if rings.setdefault(channel, gpus) != gpus:
        raise line.fault(f"channel {channel} is a second ring of that number; {_GREP}")


def _add_arc(line: Line, parents: dict[int, dict[int, int]], entry: re.Match[str]) -> None:
    """Add the place of one rank in one tree, of which -1 is none."""
    channel, rank, parent = int(entry[1]), int(entry[5]), int(entry[6])
    found = parents.setdefault(channel, {})
    if rank < 0 or len(found) >= _MOST_RANKS:
        raise line.fault(f"tree {channel} has no rank, or over {_MOST_RANKS}; {_GREP}")
    if found.setdefault(rank, parent) != parent:
        raise line.fault(f"rank {rank} has a second parent in tree {channel}; {_GREP}")


def _tree(channel: int, parents: dict[int, int]) -> Tree:
    return Tree(
        channel,
        tuple((rank, None if up < 0 else up) for rank, up in sorted(parents.items())),
    )
