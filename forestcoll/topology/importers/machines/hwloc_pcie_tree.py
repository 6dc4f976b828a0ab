"""The PCIe tree of a machine in hwloc's XML.

Problem: what GPUs and NICs get through PCIe switches, bridges and sockets.
Input:   PCI devices with the elements between them and their sockets.
Output:  switches and links; chains of bridges with one branch are one link.
Cost:    the number of elements times their depth.
Source:  hwloc; rates between sockets are those of a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.topology.importers.host import HostLink, HostSwitch, both_ways
from forestcoll.topology.importers.supplied import Supplied
from forestcoll.topology.importers.xml_elements import Element

__all__ = ["LSTOPO", "PciDevice", "PcieTree", "pcie_gb_s"]

LSTOPO = "write it with lstopo --of xml --whole-io"
"""The remedy for a file that lacks something."""


@dataclass(frozen=True, slots=True)
class PciDevice:
    """A GPU or NIC, and the PCI elements between it and its socket, outside in."""

    name: str
    element: Element
    socket: int
    pcie: tuple[Element, ...]


def pcie_gb_s(element: Element) -> Fraction | None:
    """Return the GB/s of a device's PCIe link; None if the file does not have it.

    Raises
    ------
    InvalidTopologyError
        If it is no number.
    """
    text = element.attributes.get("pci_link_speed", "")
    if not text.strip("0. "):
        return None
    # hwloc prints a binary float: 15.753846 is 16 lanes of 8 GT/s.
    return element.number("pci_link_speed", LSTOPO, 10**5)


_End = tuple[tuple[str, ...], Fraction | None]


class PcieTree:
    """The PCIe tree of a machine; chains of bridges with one branch are one link."""

    def __init__(self, gpus: Sequence[PciDevice], nics: Sequence[PciDevice]) -> None:
        self.switches: list[HostSwitch] = []
        self.links: list[HostLink] = []
        self.ends: dict[int, _End] = {}
        self._sockets: list[tuple[str, Element]] = []
        self._gpus = {id(gpu.pcie[-1]): gpu.name for gpu in gpus}
        self._nics = {id(nic.pcie[-1]) for nic in nics}
        self._used = {id(step) for device in (*gpus, *nics) for step in device.pcie}

    def add(self, element: Element, above: str | None, width: Fraction | None) -> None:
        """Add what is below an element; ``width`` is the narrowest link since ``above``."""
        kind = element.attributes.get("type", "")
        below = element.named("object")
        if kind in ("Bridge", "PCIDev"):
            if id(element) not in self._used:
                return
            if above is None:
                above = self._machine()
            own = pcie_gb_s(element)
            width = min((w for w in (width, own) if w is not None), default=None)
            if id(element) in self._nics:
                self.ends[id(element)] = ((above,), width)
            if gpu := self._gpus.get(id(element)):
                self._link(element, gpu, above, width)
            below = [child for child in below if self._holds(child)]
            if len(below) > 1 and "pci_busid" in element.attributes:
                name = f"pcie{sum(s.name.startswith('pcie') for s in self.switches)}"
                self.switches.append(HostSwitch(name))
                self._link(element, name, above, width)
                above, width = name, None
        elif kind == "Package":
            self._sockets.append((f"socket{len(self._sockets)}", element))
            if self._holds(element):
                above = self._sockets[-1][0]
                self.switches.append(HostSwitch(above))
        for child in below:
            self.add(child, above, width)

    def _holds(self, element: Element) -> bool:
        return any(id(one) in self._used for one in element.walk())

    def _machine(self) -> str:
        """Return a node for PCIe devices that hwloc puts below no socket."""
        if not any(switch.name == "machine" for switch in self.switches):
            self.switches.append(HostSwitch("machine"))
        return "machine"

    def _link(self, element: Element, one: str, other: str, width: Fraction | None) -> None:
        if width is None:
            raise element.fault(
                f"has no pci_link_speed, and {one} no other link; {LSTOPO}, as root"
            )
        self.links += both_ways(one, other, width)

    def join_sockets(self, supplied: Supplied, source: str) -> None:
        """Add links between the sockets that have devices, at the rate of a table."""
        roots = [s.name for s in self.switches if s.name.startswith(("socket", "machine"))]
        elements = dict(self._sockets)
        for i, one in enumerate(roots):
            for other in roots[i + 1 :]:
                cpu = _cpu(elements.get(one) or elements.get(other))
                rate = supplied.expect_rates(source).of(f"socket.{cpu}", source)
                self.links += both_ways(one, other, rate)


_INTEL: Sequence[tuple[str, str]] = (
    ("143", "intel_sapphire_rapids"),
    ("207", "intel_emerald_rapids"),
    ("85", "intel_skylake"),
)


def _cpu(package: Element | None) -> str:
    """Return the name by which rates know a processor."""
    infos: Mapping[str, str] = {
        info.attributes.get("name", ""): info.attributes.get("value", "")
        for info in (package.named("info") if package else ())
    }
    vendor = infos.get("CPUVendor", "") + infos.get("CPUModel", "")
    if "AMD" in vendor:
        return "amd"
    if any(word in vendor for word in ("ARM", "Neoverse", "NVIDIA Grace")):
        return "arm"
    model = infos.get("CPUModelNumber", "")
    return next((name for number, name in _INTEL if number == model), "intel_broadwell")
