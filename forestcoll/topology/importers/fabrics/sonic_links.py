"""Importer of SONiC's tables of links (``sonic_lab_links.csv``).

Problem: which port of which device is cabled to which, at what speed.
Input:   CSV with the columns StartDevice, StartPort, EndDevice, EndPort and BandWidth in Mbit/s.
Output:  a :class:`Fabric`. A device is a switch if its ports have names of switches' ports; any
         other is a machine, and its port a NIC.
Cost:    linear in lines.
Source:  sonic-net/sonic-mgmt, ``ansible/files``; SONiC's ``speed`` is in Mbit/s.
"""

from __future__ import annotations

import csv
import re
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabric import Cable, Fabric, Port
from forestcoll.topology.importers.text_lines import Line, text_lines

__all__ = ["fabric_from_sonic"]

_COLUMNS = ("StartDevice", "StartPort", "EndDevice", "EndPort", "BandWidth")
_MOST_LINKS = 1_000_000
_MBIT_PER_GB_S = 8000
_SPEED = re.compile(r"([1-9][0-9]{0,8})([MGT]?)")
_FACTORS = {"": 1, "M": 1, "G": 1000, "T": 10**6}
_SWITCH_PORT = re.compile(r"(?:Ethernet|PortChannel|etp|Eth|swp)[0-9/]{1,9}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}")


def fabric_from_sonic(text: str, source: str) -> Fabric:
    """Read a table of links.

    Raises
    ------
    InvalidTopologyError
        If a column is missing, a line has no two ports or no speed, or a port has two cables.
    """
    lines = list(text_lines(text, source))
    if not lines or len(lines) > _MOST_LINKS:
        raise InvalidTopologyError(f"{source}: has no links, or over {_MOST_LINKS}")
    header = _cells(lines[0])
    if missing := [name for name in _COLUMNS if name not in header]:
        raise lines[0].fault(f"has no column {missing[0]}; add it")
    places = [header.index(name) for name in _COLUMNS]
    links: list[tuple[tuple[str, str], tuple[str, str], Fraction]] = []
    used: set[tuple[str, str]] = set()
    for line in lines[1:]:
        cells = _cells(line)
        if len(cells) < max(places) + 1:
            raise line.fault(f"has {len(cells)} columns of {len(header)}; it may be cut off")
        one, port, other, other_port, speed = (cells[i] for i in places)
        ends = (one, port), (other, other_port)
        for end in ends:
            if not all(_NAME.fullmatch(word) for word in end):
                raise line.fault(f"{' '.join(end)[:60]!r} is not a device and port; correct it")
            if end in used:
                raise line.fault(f"port {port} of {end[0]} has a second cable; remove one")
            used.add(end)
        if one == other:
            raise line.fault(f"is a cable from {one} to itself; remove it")
        links.append((*ends, _gb_s(line, speed)))
    return _fabric(links, source)


def _cells(line: Line) -> list[str]:
    try:
        (row,) = csv.reader([line.text], strict=True)
    except csv.Error as error:
        raise line.fault(f"is not a line of CSV: {error}; correct it") from None
    return [cell.strip() for cell in row]


def _gb_s(line: Line, text: str) -> Fraction:
    match = _SPEED.fullmatch(text)
    if match is None:
        raise line.fault(f"has the BandWidth {text[:20]!r}; write Mbit/s, such as 100000, or 100G")
    return Fraction(int(match[1]) * _FACTORS[match[2]], _MBIT_PER_GB_S)


def _fabric(links: list[tuple[tuple[str, str], tuple[str, str], Fraction]], source: str) -> Fabric:
    ports_of: dict[str, list[str]] = {}
    for one, other, _ in links:
        for device, port in (one, other):
            ports_of.setdefault(device, []).append(port)
    switches = [
        device
        for device, ports in ports_of.items()
        if all(_SWITCH_PORT.fullmatch(port) for port in ports)
    ]
    known = set(switches)
    if not switches:
        raise InvalidTopologyError(
            f"{source}: has no switch: a switch's ports are Ethernet0, Ethernet4 and so on"
        )
    cables: dict[tuple[str, str], Fraction] = {}
    ports: list[Port] = []
    between = 0
    for one, other, width in links:
        inside = [end[0] in known for end in (one, other)]
        if all(inside):
            first, second = sorted((one[0], other[0]))
            cables[first, second] = cables.get((first, second), Fraction(0)) + width
        elif any(inside):
            (switch, _), (machine, nic) = (one, other) if inside[0] else (other, one)
            ports.append(Port(switch, machine, nic, bandwidth_gb_s=width))
        else:
            between += 1
    notes = [f"Machines of the table: {len(ports_of) - len(known)}, by the names of their ports."]
    if between:
        notes.append(f"Cables between machines are left out: {between}.")
    return Fabric(
        tuple(switches),
        tuple(Cable(*pair, width) for pair, width in cables.items()),
        tuple(ports),
        notes=tuple(notes),
    )
