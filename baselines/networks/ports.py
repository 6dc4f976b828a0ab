"""Load of each GPU port from the rings or chains that are already placed.

Problem: place one course after another such that the busiest port has the least load.
Output:  the penalty of one more course on a port.
Source:  a greedy choice of ours, where NCCL and RCCL search or have lists (see ``ring``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from baselines.networks.hamiltonian import Successors
from baselines.networks.switch_paths import router_of
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["MOST_LANES", "STEEPNESS", "Ports", "has_direct_links"]

MOST_LANES = 16
"""Limit on the lanes of a GPU, and so on the numbers of rings tried by default."""

STEEPNESS = 4
"""Exponent of the load in the penalty: it makes busy ports expensive."""


def has_direct_links(topology: Topology) -> bool:
    """Whether a link leads from a GPU to a GPU."""
    is_gpu = np.isin(np.arange(len(topology.nodes)), topology.compute)
    tail, head = topology.link_ends
    return bool((is_gpu[tail] & is_gpu[head]).any())


class Ports:
    """Number of courses over each port; a port is a link out of a GPU.

    The penalty of a course is its contribution to the sum over all ports of
    (courses / bandwidth) ** ``STEEPNESS``. The slowness of a link is ``scale`` / bandwidth.
    """

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.router = router_of(topology)
        self.load: dict[tuple[int, int], int] = {}
        widths = [link.bandwidth_gb_s for link in topology.links]
        self.scale = math.lcm(*(width.numerator for width in widths))
        slow = {width: int(self.scale / width) for width in set(widths)}
        self.slowness = {
            (link.tail, link.head): slow[width]
            for link, width in zip(topology.links, widths, strict=True)
        }
        gpus = set(topology.compute)
        self._beside: dict[int, list[int]] = {gpu: [] for gpu in gpus}
        for tail, head in self.slowness:
            if tail in gpus and head in gpus:
                self._beside[tail].append(head)
        self._has_direct = any(self._beside.values())
        self.port = cache(self._find_port)  # many rings and chains have the same hops

    def add(self, port: tuple[int, int], courses: int) -> None:
        """Add courses to a port, or remove them if negative."""
        self.load[port] = self.load.get(port, 0) + courses

    @property
    def worst(self) -> int:
        """Rings per bandwidth on the busiest port."""
        return max(rings * self.slowness[port] for port, rings in self.load.items())

    def _find_port(self, tail: int, head: int) -> tuple[int, int]:
        """The (first) link by which a GPU sends to another."""
        ways = self.router.next_hops(tail, head)
        if not ways:
            names = [self.topology.nodes[gpu].name for gpu in (tail, head)]
            raise UnsupportedError(
                f"unsupported: no ring or chain over direct links was found, and switches do not "
                f"lead from {names[0]} to {names[1]}"
            )
        return tail, ways[0][1]

    def penalty(self, port: tuple[int, int]) -> int:
        """The increase of the sum by one more ring on a port."""
        load, slowness = self.load.get(port, 0), self.slowness[port]
        return int(((load + 1) ** STEEPNESS - load**STEEPNESS) * slowness**STEEPNESS)

    def lanes(self, gpus: Sequence[int]) -> int:
        """The most lanes from one of these GPUs to others over direct links, up to ``MOST_LANES``.

        The lanes of a link are its bandwidth divided by that of the narrowest link among them.
        """
        rows = [
            [self.slowness[gpus[a], gpus[b]] for b in row]
            for a, row in enumerate(self.direct(gpus))
        ]
        narrowest = max((slow for row in rows for slow in row), default=0)
        return min(MOST_LANES, max(sum(narrowest // slow for slow in row) for row in rows))

    def direct(self, gpus: Sequence[int]) -> Successors:
        """The direct links among some GPUs, by place, the widest first."""
        if not self._has_direct:
            return ((),) * len(gpus)
        place_of = {gpu: place for place, gpu in enumerate(gpus)}
        rows = []
        for a in gpus:
            beside = (b for b in self._beside[a] if b in place_of)
            widest = sorted((self.slowness[a, b], place_of[b]) for b in beside)
            rows.append(tuple(place for _, place in widest))
        return tuple(rows)

    def ways(self, gpus: Sequence[int]) -> Successors:
        """The GPUs that each can send to, over links or through switches, by place.

        GPUs behind the widest ports come first, then descending from the sender.
        """
        rows = []
        for place, tail in enumerate(gpus):
            onward = [(place - step) % len(gpus) for step in range(1, len(gpus))]
            there = [head for head in onward if self.router.hops(tail, gpus[head])]
            slowness = {head: self.slowness[self.port(tail, gpus[head])] for head in there}
            rows.append(tuple(sorted(there, key=slowness.__getitem__)))
        return tuple(rows)
