"""A fabric of InfiniBand switches and cables, however its listing prints them.

Problem: a listing has each cable from both ends, parallel cables one by one, and adapters that are
         parts of switches.
Input:   switches and cables by GUID and number of the port.
Output:  a :class:`Fabric`: every cable once, parallel ones summed up, ports that are down and SHARP
         aggregation nodes left out with a note.
Cost:    linear in cables.
Source:  none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.fabric import Cable, Fabric, Port
from forestcoll.topology.importers.fabrics.infiniband_rates import (
    adapter_names,
    is_aggregation_node,
    link_gb_s,
    switch_name,
)
from forestcoll.topology.importers.text_lines import Line

__all__ = ["CableEnd", "InfinibandFabric"]

_MOST_CABLES = 2_000_000
_SOME = 5


@dataclass(frozen=True, slots=True)
class CableEnd:
    """A port: is it a switch's, its node's GUID, its number, the node's description."""

    is_switch: bool
    guid: str
    port: int
    description: str


class InfinibandFabric:
    """Collects cables; ``fabric`` returns the whole."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._switches: dict[str, str] = {}
        self._cables: dict[tuple[tuple[str, int], tuple[str, int]], Fraction] = {}
        self._ends: dict[tuple[str, int], CableEnd] = {}
        self._images: dict[str, str] = {}
        self._ports_of: Counter[str] = Counter()
        self._down: list[str] = []
        self._complaints = 0
        self._aggregation: set[str] = set()

    def add_switch(self, guid: str, description: str) -> None:
        """Add a switch; one that is known keeps its first description."""
        self._switches.setdefault(guid, description)

    def add_image(self, guid: str, image: str) -> None:
        """Add the GUID of the whole adapter that a node is part of."""
        self._images[guid] = image

    def add_complaint(self) -> None:
        """Count a message of the tool on what it could not reach."""
        self._complaints += 1

    def add_down(self, description: str) -> None:
        """Add a port that is down."""
        self._down.append(switch_name(description))

    def add(self, line: Line, one: CableEnd, other: CableEnd, width: str, speed: str) -> None:
        """Add a cable as one of its ends sees it.

        Raises
        ------
        InvalidTopologyError
            If both ends see different rates, or an end has two cables.
        """
        for end in (one, other):
            if end.is_switch:
                self.add_switch(end.guid, end.description)
        rate = link_gb_s(width, speed)
        if rate is None:
            if width not in ("??", "") and speed != "???":
                raise line.fault(
                    f"has the unknown rate {width[:10]} {speed[:10]}; correct it, such as 4xNDR"
                )
            self.add_down(one.description)
            return
        if len(self._cables) >= _MOST_CABLES:
            raise line.fault(f"over {_MOST_CABLES} cables; check that it is the right file")
        first, second = sorted([(one.guid, one.port), (other.guid, other.port)])
        known = self._cables.setdefault((first, second), rate)
        if known != rate:
            raise line.fault(
                f"port {one.port} of {one.description[:60]!r} is listed with another rate at the "
                f"other end of its cable; write the file again"
            )
        for end in (one, other):
            self._ends.setdefault((end.guid, end.port), end)

    def fabric(self) -> Fabric:
        """Return switches, cables and ports.

        Raises
        ------
        InvalidTopologyError
            If there is no switch.
        """
        if not self._switches:
            raise InvalidTopologyError(
                f"{self._source}: lists no switch; write it with ibnetdiscover, as root"
            )
        names = self._names()
        self._ports_of = Counter(
            self._images.get(end.guid, end.guid) for end in self._ends.values() if not end.is_switch
        )
        cables: dict[tuple[str, str], Fraction] = {}
        ports: list[Port] = []
        for keys, rate in self._cables.items():
            ends = [self._ends[key] for key in keys]
            if all(end.is_switch for end in ends):
                one, other = sorted(names[end.guid] for end in ends)
                if one != other:
                    cables[one, other] = cables.get((one, other), Fraction(0)) + rate
            elif ends[0].is_switch or ends[1].is_switch:
                adapter, switch = sorted(ends, key=lambda end: end.is_switch)
                if is_aggregation_node(adapter.description):
                    self._aggregation.add(names[switch.guid])
                else:
                    ports.append(self._port(names[switch.guid], adapter, rate))
        return Fabric(
            tuple(names.values()),
            tuple(Cable(*pair, rate) for pair, rate in cables.items()),
            tuple(ports),
            frozenset(),
            tuple(self._notes(ports)),
        )

    def _port(self, switch: str, adapter: CableEnd, rate: Fraction) -> Port:
        machine, nic = adapter_names(adapter.description)
        image = self._images.get(adapter.guid, adapter.guid)
        # NCCL knows a port by the GUID of its whole adapter, which several ports may share.
        guid = image if self._ports_of[image] == 1 else adapter.guid
        return Port(switch, machine, nic, guid.lstrip("0"), rate)

    def _names(self) -> dict[str, str]:
        """Return the names of the switches: short ones where they are distinct."""
        short = {guid: switch_name(text) or guid for guid, text in self._switches.items()}
        counts = Counter(short.values())
        return {
            guid: name if counts[name] == 1 else f"{name}_{guid}" for guid, name in short.items()
        }

    def _notes(self, ports: list[Port]) -> list[str]:
        notes = []
        if self._complaints:
            notes.append(
                f"The listing has {self._complaints} messages on parts that did not answer, so it "
                f"may lack some."
            )
        if self._down:
            some = ", ".join(f"{name} {n}" for name, n in Counter(self._down).most_common(_SOME))
            notes.append(f"Ports that are down are left out: {len(self._down)} ({some}).")
        if self._aggregation:
            notes.append(
                f"SHARP aggregation nodes of {len(self._aggregation)} switches are left out; a "
                f"description of the fabric with `sharp: true` has them."
            )
        unnamed = sum(not port.machine for port in ports)
        if unnamed:
            notes.append(
                f"Adapters that the fabric names by GUID only: {unnamed}; a dump of "
                f"NCCL_TOPO_DUMP_FILE has the GUIDs of its NICs."
            )
        if any(port.nic.startswith("*_") for port in ports):
            notes.append("HCA-1 of a machine is its NIC numbered 0, HCA-2 the one numbered 1.")
        return notes
