"""Exporter of networks to ASTRA-sim's analytical back end, where it can express them.

Problem: which dimensions of rings, full connections and switches make a given network.
Input:   a topology whose ranks count through the dimensions, the first fastest.
Output:  the four lists of ASTRA-sim's YAML. A typed error for any other network.
Cost:    the network is made again for each candidate; there are few.
         Multicast of switches is left out, as ASTRA-sim has none.
Source:  none. Candidates come from the links of GPU 0. The network of a candidate is compared with
         the given one link by link, so that nothing is written which means another network.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from forestcoll.errors import ExportError
from forestcoll.topology.importers.networks.astra_sim_network import Dimension, dimensions_topology
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import exact_text

__all__ = ["astra_sim_dimensions", "topology_astra_sim"]

_Speed = tuple[Fraction, Fraction]


def topology_astra_sim(topology: Topology) -> str:
    """Return the network as YAML of ASTRA-sim's analytical back end.

    Raises
    ------
    ExportError
        If no dimensions make this network, or a number is not a decimal.
    """
    return _yaml(astra_sim_dimensions(topology))


def astra_sim_dimensions(topology: Topology) -> tuple[Dimension, ...]:
    """Return the dimensions of ASTRA-sim that make the network.

    Raises ExportError if there are none.
    """
    view = _View(topology)
    for dimensions in view.candidates(1, ()):
        if _View(dimensions_topology(dimensions, topology.name)) == view:
            return dimensions
    raise ExportError(
        f"{topology.name}: is not a product of rings, full connections and switches whose ranks "
        f"count through the dimensions; ASTRA-sim's analytical files lack it; write GraphML"
    )


class _View:
    """A network without names: links between ranks, and switches by what they join."""

    def __init__(self, topology: Topology) -> None:
        self.gpus = topology.num_compute
        rank = {node: i for i, node in enumerate(topology.compute)}
        self.links: dict[tuple[int, int], _Speed] = {}
        ports: dict[int, dict[tuple[int, bool], _Speed]] = {v: {} for v in topology.switches}
        self.plain = not topology.shared
        for link in topology.links:
            speed = link.bandwidth_gb_s, link.latency_us
            if link.tail in rank and link.head in rank:
                self.links[rank[link.tail], rank[link.head]] = speed
            elif link.tail in rank:
                ports[link.head][rank[link.tail], True] = speed
            elif link.head in rank:
                ports[link.tail][rank[link.head], False] = speed
            else:
                self.plain = False  # a cable between switches
        self.switches = sorted(sorted(found.items()) for found in ports.values())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _View)
            and self.plain
            and other.plain
            and (self.gpus, self.links, self.switches) == (other.gpus, other.links, other.switches)
        )

    __hash__ = None  # type: ignore[assignment]

    def candidates(
        self, stride: int, before: tuple[Dimension, ...]
    ) -> Iterator[tuple[Dimension, ...]]:
        """Yield dimensions that agree with the links of GPU 0, from the first to the last."""
        if not self.plain:
            return
        if stride == self.gpus:
            yield before or (Dimension("Ring", 1, Fraction(1), Fraction(0)),)
            return
        for size in range(2, self.gpus // stride + 1):
            if (self.gpus // stride) % size == 0:
                for kind, speed in self._kinds(stride, size):
                    made = Dimension(kind, size, *speed)
                    yield from self.candidates(stride * size, (*before, made))

    def _kinds(self, stride: int, size: int) -> Iterator[tuple[str, _Speed]]:
        """Yield the kinds of a dimension that the links of GPU 0 allow."""
        line = [i * stride for i in range(size)]
        for found in self.switches:
            if sorted({gpu for (gpu, _), _ in found}) == line:
                yield "Switch", found[0][1]
        for kind, ends in (("FullyConnected", line[1:]), ("Ring", [line[1], line[-1]])):
            speeds = {self.links.get((0, end)) for end in ends}
            speed = speeds.pop()
            if not speeds and speed is not None and (kind == "Ring" or size > 3):
                yield kind, speed


def _yaml(dimensions: tuple[Dimension, ...]) -> str:
    lists = {
        "topology": [one.kind for one in dimensions],
        "npus_count": [str(one.gpus) for one in dimensions],
        "bandwidth": [_decimal(one.bandwidth_gb_s, "GB/s") for one in dimensions],
        "latency": [_decimal(1000 * one.latency_us, "ns") for one in dimensions],
    }
    units = {"bandwidth": "  # GB/s", "latency": "  # ns"}
    lines = [f"{name}: [ {', '.join(v)} ]{units.get(name, '')}" for name, v in lists.items()]
    return "\n".join(lines) + "\n"


def _decimal(value: Fraction, unit: str) -> str:
    text = exact_text(value)
    if "/" in text:
        raise ExportError(
            f"{text} {unit} is not a decimal of six digits, which ASTRA-sim needs; round the "
            f"numbers of the network first"
        )
    return text if "." in text else f"{text}.0"
