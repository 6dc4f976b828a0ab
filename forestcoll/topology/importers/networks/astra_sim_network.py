"""Importer of networks of ASTRA-sim's analytical back end.

Problem: which network ``topology: [Ring, Switch]``, ``npus_count: [4, 8]`` means.
Input:   a kind, a number of GPUs, GB/s and ns for each dimension. Bandwidth and latency are those
         of one link in one direction, between GPUs or from a GPU to a switch.
Output:  a topology whose rank r has the coordinates of r in mixed radix, the first fastest.
Cost:    linear in links.
Source:  astra-sim/astra-network-analytical, ``example_network.yml`` and ``congestion_aware/``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import exact, in_short
from forestcoll.topology.reading.documents import Document, parse_yaml

__all__ = ["KINDS", "Dimension", "dimensions_topology", "topology_from_astra_sim"]

KINDS = ("Ring", "FullyConnected", "Switch")
_FIELDS = ("topology", "npus_count", "bandwidth", "latency")
_MOST_DIMENSIONS = 16
_MOST_GPUS = 1_000_000


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension: its kind, number of GPUs, and the GB/s and us of each link."""

    kind: str
    gpus: int
    bandwidth_gb_s: Fraction
    latency_us: Fraction


def topology_from_astra_sim(text: str, source: str, name: str) -> Topology:
    """Read a network of ASTRA-sim's analytical back end.

    Raises
    ------
    InvalidTopologyError
        If a field is missing, unknown or wrong, or the network is too large.
    """
    document = parse_yaml(text, source)
    data = document.data
    if not isinstance(data, dict):
        raise document.fault((), f"must have the fields {', '.join(_FIELDS)}")
    for field in data:
        if field not in _FIELDS:
            hint = did_you_mean(field, _FIELDS, f"the fields are {', '.join(_FIELDS)}")
            raise document.fault((str(field),), f"is not a field of ASTRA-sim's; {hint}")
    lists = [_list(document, data.get(field), field) for field in _FIELDS]
    if len({len(values) for values in lists}) > 1:
        sizes = ", ".join(f"{f} {len(v)}" for f, v in zip(_FIELDS, lists, strict=True))
        raise document.fault((), f"has lists of different lengths ({sizes}); give each dimension")
    dimensions = [_dimension(document, i, *each) for i, each in enumerate(zip(*lists, strict=True))]
    try:
        return dimensions_topology(dimensions, name)
    except InvalidTopologyError as error:
        raise document.fault((), str(error)) from None


def _list(document: Document, value: object, field: str) -> list[object]:
    if not isinstance(value, list) or not 1 <= len(value) <= _MOST_DIMENSIONS:
        raise document.fault(
            (field,), f"must be a list of 1 to {_MOST_DIMENSIONS} entries, one a dimension"
        )
    return value


def _dimension(
    document: Document, i: int, kind: object, gpus: object, bandwidth: object, latency: object
) -> Dimension:
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS, f"write one of {', '.join(KINDS)}")
        raise document.fault(("topology", i), f"is {in_short(kind)}; {hint}")
    if not isinstance(gpus, int) or isinstance(gpus, bool) or not 1 <= gpus <= _MOST_GPUS:
        raise document.fault(
            ("npus_count", i), f"is {in_short(gpus)}; it must be a number from 1 to {_MOST_GPUS}"
        )
    width = _number(document, ("bandwidth", i), bandwidth)
    if width <= 0:
        raise document.fault(("bandwidth", i), f"is {in_short(bandwidth)}; it must be above 0 GB/s")
    delay = _number(document, ("latency", i), latency)
    if delay < 0:
        raise document.fault(("latency", i), f"is {in_short(latency)}; it must be 0 ns or more")
    return Dimension(str(kind), gpus, width, delay / 1000)


def _number(document: Document, where: tuple[str | int, ...], value: object) -> Fraction:
    try:
        return exact(value, "")
    except InvalidTopologyError as error:
        raise document.fault(where, str(error).strip()) from None


def dimensions_topology(dimensions: Sequence[Dimension], name: str) -> Topology:
    """Make the network of some dimensions.

    Raises
    ------
    InvalidTopologyError
        If it is too large.
    """
    gpus = prod(dimension.gpus for dimension in dimensions)
    links = sum(gpus * _links_a_gpu(dimension) for dimension in dimensions)
    switches = sum(gpus // one.gpus for one in dimensions if one.kind == "Switch")
    expect_size(gpus + switches, links, name)
    builder = TopologyBuilder()
    inner = dimensions[0].gpus if len(dimensions) > 1 else gpus
    names = [builder.gpu(f"gpu{rank}", rank // inner, rank % inner) for rank in range(gpus)]
    stride = 1
    for place, dimension in enumerate(dimensions):
        for number, ranks in enumerate(_lines(gpus, stride, dimension.gpus)):
            _join(builder, dimension, [names[rank] for rank in ranks], f"dim{place}.switch{number}")
        stride *= dimension.gpus
    return builder.build(name)


def _links_a_gpu(dimension: Dimension) -> int:
    """Return how many links enter or leave a GPU in one dimension, both ways counted."""
    return {"Ring": 4, "Switch": 4}.get(dimension.kind, 2 * (dimension.gpus - 1))


def _lines(gpus: int, stride: int, length: int) -> Iterator[list[int]]:
    """Yield the ranks that differ in one coordinate only."""
    for begin in range(0, gpus, stride * length):
        for offset in range(stride):
            yield [begin + offset + i * stride for i in range(length)]


def _join(builder: TopologyBuilder, dimension: Dimension, gpus: list[str], switch: str) -> None:
    speed = dimension.bandwidth_gb_s, dimension.latency_us
    if len(gpus) < 2:
        return
    if dimension.kind == "Switch":
        builder.switch(switch)
        for gpu in gpus:
            builder.link(gpu, switch, *speed)
    elif dimension.kind == "FullyConnected" or len(gpus) == 2:
        for one, other in combinations(gpus, 2):
            builder.link(one, other, *speed)
    else:
        for one, other in zip(gpus, gpus[1:] + gpus[:1], strict=True):
            builder.link(one, other, *speed)
