"""Importer of our own description of a fabric, for networks of which no tool has a file.

    switches: [leaf0, leaf1, {name: spine0, sharp: true}]
    cables:
      - {between: [leaf0, spine0], bandwidth: 400 Gb/s, count: 4}
      - {between: [leaf1, spine0], bandwidth: 400 Gb/s, count: 4}
    ports:
      - {switch: leaf0, machine: node0, nics: "mlx5_[0-3]"}
      - {switch: leaf1, machine: node1, nics: "mlx5_[0-3]", bandwidth: 200 Gb/s}

Names of machines and NICs are patterns. Without ``bandwidth`` a port is as fast as its NIC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.importers.fabric import Cable, Fabric, Port
from forestcoll.topology.numbers import in_short
from forestcoll.topology.reading.documents import Document
from forestcoll.topology.reading.units import bandwidth_gb_s

__all__ = ["fabric_from_description", "is_description"]

_MOST_CABLES = 1_000_000


def is_description(document: Document) -> bool:
    """Return whether a file is such a description."""
    return isinstance(document.data, dict) and {"switches", "ports"} <= document.data.keys()


def fabric_from_description(document: Document) -> Fabric:
    """Read a description of a fabric.

    Raises
    ------
    InvalidTopologyError
        If a field is missing, unknown or of the wrong kind, or a switch is not declared.
    """
    data = document.data
    assert isinstance(data, dict), "is_description has looked"
    _expect_fields(document, (), data, ("switches", "cables", "ports"))
    switches: dict[str, bool] = {}
    for where, entry in _entries(document, data, "switches"):
        name, multicast = _switch(document, where, entry)
        if name in switches:
            raise document.fault(where, f"is the second switch named {name!r}; rename one")
        switches[name] = multicast

    def known(where: tuple[str | int, ...], value: object) -> str:
        if not isinstance(value, str) or value not in switches:
            hint = did_you_mean(value, switches, "add it to switches")
            raise document.fault(where, f"is {in_short(value)}, which is no switch; {hint}")
        return value

    cables = tuple(_cables(document, data, known))
    ports = tuple(_ports(document, data, known))
    sharp = frozenset(name for name, multicast in switches.items() if multicast)
    return Fabric(tuple(switches), cables, ports, sharp)


_Known = Callable[[tuple[str | int, ...], object], str]


def _switch(document: Document, where: tuple[str | int, ...], entry: object) -> tuple[str, bool]:
    if isinstance(entry, str) and entry:
        return entry, False
    fields = _mapping(document, where, entry, ("name", "sharp"))
    name, sharp = fields.get("name"), fields.get("sharp", False)
    if not isinstance(name, str) or not name:
        raise document.fault((*where, "name"), "must be the name of the switch")
    if not isinstance(sharp, bool):
        raise document.fault((*where, "sharp"), f"is {in_short(sharp)}; it must be true or false")
    return name, sharp


def _cables(document: Document, data: Mapping[str, object], known: _Known) -> Iterator[Cable]:
    summed: dict[tuple[str, str], Fraction] = {}
    for where, entry in _entries(document, data, "cables"):
        fields = _mapping(document, where, entry, ("between", "bandwidth", "count"))
        ends = fields.get("between")
        if not isinstance(ends, list) or len(ends) != 2 or ends[0] == ends[1]:
            raise document.fault((*where, "between"), "must be a list of two switches")
        one, other = (known((*where, "between", i), end) for i, end in enumerate(ends))
        count = fields.get("count", 1)
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST_CABLES:
            raise document.fault(
                (*where, "count"),
                f"is {in_short(count)}; it must be a number of cables, from 1 to {_MOST_CABLES}",
            )
        if "bandwidth" not in fields:
            raise document.fault((*where, "bandwidth"), "is missing; add it, such as 400 Gb/s")
        pair = (one, other) if (other, one) not in summed else (other, one)
        width = count * _bandwidth(document, where, fields["bandwidth"])
        summed[pair] = summed.get(pair, Fraction(0)) + width
    for (one, other), width in summed.items():
        yield Cable(one, other, width)


def _ports(document: Document, data: Mapping[str, object], known: _Known) -> Iterator[Port]:
    for where, entry in _entries(document, data, "ports"):
        fields = _mapping(document, where, entry, ("switch", "machine", "nics", "bandwidth"))
        texts = {}
        for name, default in (("machine", None), ("nics", "*")):
            value = fields.get(name, default)
            if not isinstance(value, str) or not value:
                raise document.fault((*where, name), "must be a name, or a pattern such as node*")
            texts[name] = value
        width = fields.get("bandwidth")
        yield Port(
            known((*where, "switch"), fields.get("switch")),
            texts["machine"],
            texts["nics"],
            bandwidth_gb_s=None if width is None else _bandwidth(document, where, width),
        )


def _bandwidth(document: Document, where: tuple[str | int, ...], value: object) -> Fraction:
    try:
        width = bandwidth_gb_s(value)
    except InvalidTopologyError as error:
        raise document.fault((*where, "bandwidth"), str(error).strip()) from None
    if width <= 0:
        raise document.fault((*where, "bandwidth"), f"is {in_short(value)}; it must be above 0")
    return width


def _entries(
    document: Document, data: Mapping[str, object], name: str
) -> Iterator[tuple[tuple[str | int, ...], object]]:
    entries = data.get(name, [])
    if not isinstance(entries, list):
        raise document.fault((name,), "must be a list")
    return (((name, i), entry) for i, entry in enumerate(entries))


def _mapping(
    document: Document, where: tuple[str | int, ...], entry: object, fields: tuple[str, ...]
) -> Mapping[str, object]:
    if not isinstance(entry, dict):
        raise document.fault(where, f"must be a mapping of {', '.join(fields)}")
    _expect_fields(document, where, entry, fields)
    return entry


def _expect_fields(
    document: Document,
    where: tuple[str | int, ...],
    entry: Mapping[str, object],
    fields: tuple[str, ...],
) -> None:
    for field in entry:
        if field not in fields:
            hint = did_you_mean(field, fields, f"the fields are {', '.join(fields)}")
            raise document.fault((*where, str(field)), f"is no field; {hint}")
