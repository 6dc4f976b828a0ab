"""Importer of hwloc's XML (``lstopo --of xml``).

Problem: GPUs, NICs and the PCIe tree of a machine, as hwloc sees them.
Input:   ``<object>`` elements: sockets, bridges, PCI devices with their GB/s, devices of the
         operating system (``nvml0``, ``cuda0``, ``rsmi0``, ``mlx5_0``). Optionally the matrix of
         bandwidths ``NVLinkBandwidth`` or ``XGMIBandwidth``, in MB/s.
Output:  a :class:`Host` with those direct links. Without such a matrix, a tree of PCIe switches.
Cost:    the square of the number of GPUs.
Source:  hwloc, ``topology-nvml.c`` and ``topology-rsmi.c``: a matrix has the vendor's nominal
         rates (20 or 25 GB/s an NVLink), and an artificial number on its diagonal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.topology.importers.host import (
    Host,
    HostLink,
    HostSwitch,
    Nic,
    both_ways,
    islands,
    shared_out,
)
from forestcoll.topology.importers.supplied import Supplied
from forestcoll.topology.importers.xml_elements import Element, parse_elements
from forestcoll.topology.numbers import exact

__all__ = ["host_from_hwloc"]

_LSTOPO = "write it with lstopo --of xml --whole-io"
_MOST_DEVICES = 600
_GPU = re.compile(r"(?:nvml|cuda|rsmi)([0-9]{1,3})")
_NIC = re.compile(r"(?:mlx[45]|hfi1|bnxt_re|irdma|ionic|rdmap|efa|roce|ib[ps])[A-Za-z0-9_]{0,40}")
_MATRICES = ("NVLinkBandwidth", "XGMIBandwidth")
_MULTICAST = re.compile(r"H100|H200|H800|H20|B[123]00")


@dataclass(frozen=True, slots=True)
class _Device:
    """A GPU or NIC, and the PCI elements between it and its socket, outside in."""

    name: str
    element: Element
    socket: int
    pcie: tuple[Element, ...]


def host_from_hwloc(text: str, source: str, name: str, supplied: Supplied) -> Host:
    """Read a topology file of hwloc.

    Raises
    ------
    InvalidTopologyError
        If it is not such a file, has no GPUs, or their PCIe links have no speeds.
    """
    top = parse_elements(text, source)
    if top.tag != "topology":
        raise top.fault("is not the element topology of an hwloc file")
    return _Reader(top, source, supplied).host(name)


class _Reader:
    def __init__(self, top: Element, source: str, supplied: Supplied) -> None:
        self._top = top
        self._source = source
        self._supplied = supplied
        self.sockets: list[Element] = []
        devices = list(self._devices(top, (), -1))
        # nvml0 and cuda0 are two views of the GPU of one PCI device.
        self.gpus: list[_Device] = []
        self._by_index: dict[str, str] = {}
        views: dict[int, list[_Device]] = {}
        for device in sorted(devices, key=_number):
            if _GPU.fullmatch(device.name) and device.pcie:
                views.setdefault(id(device.pcie[-1]), []).append(device)
        for i, (first, *others) in enumerate(views.values()):
            self.gpus.append(replace(first, name=f"gpu{i}"))
            for view in (first, *others):
                self._by_index[view.element.attributes.get("gp_index", "")] = f"gpu{i}"
        self.nics = [one for one in devices if _NIC.fullmatch(one.name) and one.pcie]
        if not self.gpus:
            raise top.fault(
                f"has no GPUs (nvml0, cuda0 or rsmi0); {_LSTOPO} on a machine with them"
            )
        if len(self.gpus) + len(self.nics) > _MOST_DEVICES:
            raise top.fault(f"has over {_MOST_DEVICES} GPUs and NICs; give one file a machine")
        if len({nic.name for nic in self.nics}) < len(self.nics):
            raise top.fault(f"has two NICs of one name; {_LSTOPO} again")

    def _devices(
        self, element: Element, above: tuple[Element, ...], socket: int
    ) -> Iterator[_Device]:
        """Yield the devices of the operating system with the PCI elements around them."""
        for child in element.named("object"):
            kind = child.attributes.get("type", "")
            inside, at = above, socket
            if kind == "Package":
                self.sockets.append(child)
                at = len(self.sockets) - 1
            elif kind in ("Bridge", "PCIDev"):
                inside = (*above, child)
            elif kind == "OSDev":
                yield _Device(child.attributes.get("name", ""), child, socket, above)
            yield from self._devices(child, inside, at)

    def host(self, name: str) -> Host:
        matrix = self._matrix()
        if matrix is None:
            return self._pcie_host(name)
        switches, links, notes = self._direct(matrix)
        apart = islands([gpu.name for gpu in self.gpus], links)
        if len(apart) > 1 and switches:
            raise matrix.fault(
                f"has no path from {apart[0]} to {apart[1]}: hwloc does not list links between "
                f"NVSwitches; give a dump of NCCL_TOPO_DUMP_FILE instead"
            )
        if len(apart) > 1:
            pcie = self._pcie_host(name)
            note = f"{apart[0]} and {apart[1]} meet by PCIe only: PCIe and sockets are links, too."
            return replace(pcie, links=(*links, *pcie.links), notes=(*notes, note))
        nics = shared_out([self._nic(nic) for nic in self.nics])
        gpus = tuple(gpu.name for gpu in self.gpus)
        return Host(name, gpus, switches, links, nics, (), notes)

    # Direct links.

    def _matrix(self) -> Element | None:
        found = [
            one
            for one in self._top.children
            if one.tag in ("distances2", "distances2hetero")
            and one.attributes.get("name") in _MATRICES
        ]
        return found[0] if found else None

    def _direct(
        self, matrix: Element
    ) -> tuple[tuple[HostSwitch, ...], tuple[HostLink, ...], tuple[str, ...]]:
        """Return the links of a matrix of bandwidths, and its NVSwitches."""
        indexes = self._words(matrix, "indexes")
        values = self._words(matrix, "u64values")
        if not indexes or len(values) != len(indexes) ** 2:
            raise matrix.fault(
                f"has {len(values)} values for {len(indexes)} objects; {_LSTOPO} again"
            )
        model = next(
            (
                info.attributes.get("value", "")
                for info in self.gpus[0].element.named("info")
                if info.attributes.get("name") == "GPUModel"
            ),
            "",
        )
        multicast = bool(_MULTICAST.search(model))
        names: list[str | None] = []
        switches: list[HostSwitch] = []
        dropped = False
        for index in indexes:
            kind, _, number = index.rpartition(":")
            found = self._by_index.get(number)
            if found is not None and kind in ("", "OSDev"):
                names.append(found)
            elif kind == "PCIDev":
                switches.append(HostSwitch(f"nvswitch{len(switches)}", multicast))
                names.append(switches[-1].name)
            else:
                names.append(None)
                dropped = True
        links = [
            HostLink(tail, head, self._mb_s(matrix, values[i * len(names) + j]))
            for i, tail in enumerate(names)
            for j, head in enumerate(names)
            if i != j and tail and head and values[i * len(names) + j].strip("0")
        ]
        if not links:
            raise matrix.fault(f"has no link between GPUs; {_LSTOPO} again")
        notes = [f"Direct links have the nominal rates of hwloc's {matrix.attributes['name']}."]
        if dropped:
            notes.append("Direct links between GPUs and processors are left out.")
        return tuple(switches), tuple(links), tuple(notes)

    def _words(self, matrix: Element, tag: str) -> list[str]:
        """Return what the parts of a list hold; long lists have several."""
        words = [word for part in matrix.named(tag) for word in part.content.split()]
        if len(words) > _MOST_DEVICES**2:
            raise matrix.fault(f"has over {_MOST_DEVICES} objects; give one file a machine")
        return words

    def _mb_s(self, matrix: Element, word: str) -> Fraction:
        if not word.isdecimal() or len(word) > 12:
            raise matrix.fault(f"has the value {word[:20]!r}; it must be a number of MB/s")
        return Fraction(int(word), 1000)

    # PCIe.

    def _nic(self, nic: _Device) -> Nic:
        common = [_common(nic, gpu) for gpu in self.gpus]
        near = [gpu for gpu, at in zip(self.gpus, common, strict=True) if at == max(common)]
        widths = [
            width
            for gpu in near
            for element in (*gpu.pcie[max(common, default=0) :], *nic.pcie[max(*common, 0) :])
            if (width := self.speed(element)) is not None
        ]
        names = tuple(gpu.name for gpu in near)
        return self.as_nic(nic, names, min(widths, default=None))

    def as_nic(self, nic: _Device, nodes: tuple[str, ...], pcie: Fraction | None) -> Nic:
        infos = {
            info.attributes.get("name"): info.attributes.get("value", "")
            for info in nic.element.named("info")
        }
        guid = infos.get("SysImageGUID") or infos.get("NodeGUID") or ""
        plain = guid.replace(":", "").lower().removeprefix("0x").lstrip("0")
        return Nic(nic.name, self._supplied.nic_gb_s, nodes, pcie, plain)

    def speed(self, element: Element) -> Fraction | None:
        """Return the GB/s of a device's PCIe link; None if the file does not have it."""
        text = element.attributes.get("pci_link_speed", "")
        if not text.strip("0. "):
            return None
        width = element.number("pci_link_speed", _LSTOPO, 10**5)
        # hwloc prints a binary float: 15.753846 is 16 lanes of 8 GT/s.
        return exact(width, "pci_link_speed")

    def _pcie_host(self, name: str) -> Host:
        """Describe a machine whose GPUs have PCIe only: a tree of switches below each socket."""
        tree = _PcieTree(self)
        tree.add(self._top, None, None)
        tree.join_sockets(self._supplied, self._source)
        gpus = tuple(gpu.name for gpu in self.gpus)
        nics = tuple(self.as_nic(nic, *tree.ends[id(nic.pcie[-1])]) for nic in self.nics)
        note = "The file has no NVLinks or xGMI links: all transfers take PCIe and the sockets."
        return Host(name, gpus, tuple(tree.switches), tuple(tree.links), nics, (), (note,))


_End = tuple[tuple[str, ...], Fraction | None]


class _PcieTree:
    """The PCIe tree of a machine; chains of bridges with one branch are one link."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self.switches: list[HostSwitch] = []
        self.links: list[HostLink] = []
        self.ends: dict[int, _End] = {}
        self._sockets: list[tuple[str, Element]] = []
        self._gpus = {id(gpu.pcie[-1]): gpu.name for gpu in reader.gpus}
        self._nics = {id(nic.pcie[-1]) for nic in reader.nics}
        self._used = {id(step) for device in (*reader.gpus, *reader.nics) for step in device.pcie}

    def add(self, element: Element, above: str | None, width: Fraction | None) -> None:
        """Add what is below an element; ``width`` is the narrowest link since ``above``."""
        kind = element.attributes.get("type", "")
        below = element.named("object")
        if kind in ("Bridge", "PCIDev"):
            if id(element) not in self._used:
                return
            if above is None:
                above = self._machine()
            own = self._reader.speed(element)
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
                f"has no pci_link_speed, and {one} no other link; {_LSTOPO}, as root"
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


def _number(device: _Device) -> int:
    match = _GPU.fullmatch(device.name)
    return int(match[1]) if match else -1


def _common(one: _Device, other: _Device) -> int:
    """Return how many PCI elements two devices are both below; -1 on different sockets."""
    if one.socket != other.socket:
        return -1
    shared = 0
    for a, b in zip(one.pcie, other.pcie, strict=False):
        if a is not b:
            break
        shared += 1
    return shared


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
