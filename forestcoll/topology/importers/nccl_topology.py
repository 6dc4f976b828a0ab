"""Importer of NCCL's and RCCL's topology files (``NCCL_TOPO_DUMP_FILE``).

Problem: which machine ``<system><cpu><pci><gpu><nvlink target=... count=...>`` means.
Input:   the XML: PCIe trees below sockets (``cpu``), GPUs and NICs in them, links counted per
         target and direction, ports of NICs in Mbit/s. A table of link rates, since the file has
         counts only.
Output:  a :class:`Host`. GPUs that NVLink or xGMI join use PCIe to reach NICs only; a machine where
         they do not is a tree of PCIe switches and sockets, with these links beside it.
Cost:    linear in the elements, times the depth of the PCIe tree.
Source:  NVIDIA/nccl and ROCm/rccl, ``src/graph/xml.cc`` and ``topo.cc``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from forestcoll.topology.importers.host import (
    Host,
    HostLimit,
    HostLink,
    HostSwitch,
    Nic,
    islands,
    shared_out,
)
from forestcoll.topology.importers.link_rates import RateTable
from forestcoll.topology.importers.xml_elements import Element, parse_elements

__all__ = ["host_from_nccl"]

_DUMP = "dump it on the machine with NCCL_TOPO_DUMP_FILE"
_MBITS_PER_GB_S = 8000
_MOST_DEVICES = 600
_MOST_LANES = 64
_MULTICAST_FROM = 90
"""The first compute capability (times ten) whose NVSwitches multicast."""

_TO_GPU = ("0x03", "0x12")
_TO_NVSWITCH = "0x068000"
_HIDDEN = "fffffff:ff:ff.0"

_GENERATIONS = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6}
_SPEED = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?) ?GT/s(?: PCIe)?")
_GCN = {
    "906": "gfx906",
    "908": "gfx908",
    "910": "gfx90a",
    "940": "gfx942",
    "941": "gfx942",
    "942": "gfx942",
    "950": "gfx950",
}
"""Numbers that stand for names in files, as RCCL reads them (src/misc/archinfo.cc)."""

_INTEL = (
    (0xCF, "intel_emerald_rapids"),
    (0x8F, "intel_sapphire_rapids"),
    (0x55, "intel_skylake"),
)
"""NCCL's models of family 6 from these numbers on, the latest first."""


@dataclass(frozen=True, slots=True)
class _Device:
    """A GPU, or a port of a NIC, with the PCIe elements between it and its socket, outside in."""

    name: str
    element: Element
    socket: int
    pcie: tuple[Element, ...]


def host_from_nccl(text: str, source: str, name: str, rates: RateTable) -> Host:
    """Read a topology file of NCCL or RCCL.

    Parameters
    ----------
    text : str
        The XML.
    source : str
        The file, for errors.
    name : str
        The name that the machine gets.
    rates : RateTable
        Rates of NVLink, xGMI and PCIe.

    Raises
    ------
    InvalidTopologyError
        If it is not such a file, has no GPUs, or the table lacks a rate that it needs.
    """
    system = parse_elements(text, source)
    if system.tag != "system":
        raise system.fault("is not the element system of an NCCL topology file")
    return _Reader(system, source, rates).host(name)


class _Reader:
    def __init__(self, system: Element, source: str, rates: RateTable) -> None:
        self._source = source
        self._rates = rates
        self._sockets = system.named("cpu")
        devices = [*islice(_devices(self._sockets), _MOST_DEVICES + 1)]
        self._gpus = sorted(
            (device for device in devices if device.element.tag == "gpu"), key=_number
        )
        self._ports = sorted((one for one in devices if one.element.tag == "net"), key=_number)
        self._notes: list[str] = []
        if not self._gpus:
            raise system.fault(f"has no gpu, so it describes PCIe only; {_DUMP}")
        if len(devices) > _MOST_DEVICES:
            raise system.fault(f"has over {_MOST_DEVICES} GPUs and ports; give one file a machine")
        for devices in (self._gpus, self._ports):
            seen: set[str] = set()
            for device in devices:
                if device.name in seen:
                    raise device.element.fault(f"is the second of the name {device.name}")
                seen.add(device.name)

    def host(self, name: str) -> Host:
        links, switches = self._direct_links()
        if len(islands([gpu.name for gpu in self._gpus], links)) > 1:
            return self._pcie_host(name, links, switches)
        nics, limits = self._nics()
        gpus = tuple(gpu.name for gpu in self._gpus)
        return Host(name, gpus, switches, links, nics, limits, tuple(self._notes))

    # NVLink and xGMI.

    def _direct_links(self) -> tuple[tuple[HostLink, ...], tuple[HostSwitch, ...]]:
        """Return the links between GPUs and to NVSwitches, parallel ones summed up."""
        by_bus = {
            gpu.pcie[-1].text("busid", _DUMP).lower(): gpu.name for gpu in self._gpus if gpu.pcie
        }
        widths: dict[tuple[str, str], Fraction] = {}
        switches: dict[str, str] = {}
        multicast = False
        for gpu in self._gpus:
            for link in (*gpu.element.named("nvlink"), *gpu.element.named("xgmi")):
                target = link.text("target", _DUMP).lower()
                count = link.whole("count", _DUMP, 1000)
                width = count * self._link_rate(gpu.element, link.tag)
                if target in by_bus:
                    pair = (gpu.name, by_bus[target])
                elif link.attributes.get("tclass", "").lower() == _TO_NVSWITCH:
                    pair = (gpu.name, switches.setdefault(target, f"nvswitch{len(switches)}"))
                    multicast = multicast or _capability(gpu.element) >= _MULTICAST_FROM
                else:
                    self._unknown_target(link, target)
                    continue
                if count:
                    widths[pair] = widths.get(pair, Fraction(0)) + width
        if _HIDDEN in switches:
            self._note("The NVSwitches are hidden from this machine: they count as one.")
        return self._both_ways(widths, set(switches.values())), tuple(
            HostSwitch(switch, multicast) for switch in switches.values()
        )

    def _both_ways(
        self, widths: dict[tuple[str, str], Fraction], switches: set[str]
    ) -> tuple[HostLink, ...]:
        """Add the way back from switches, which have no element of their own."""
        for (tail, head), width in list(widths.items()):
            if head in switches:
                widths[head, tail] = width
            elif widths.get((head, tail)) != width:
                one, other = sorted((tail, head))
                self._note(f"{one} and {other} count different links to each other.")
        return tuple(HostLink(tail, head, width) for (tail, head), width in widths.items())

    def _unknown_target(self, link: Element, target: str) -> None:
        tclass = link.attributes.get("tclass", "").lower()
        if tclass.startswith(_TO_GPU):
            raise link.fault(
                f"leads to {target[:40]}, which no pci of the file has; the file may be cut off"
            )
        self._note(f"Links to {target[:40]} (class {tclass[:10] or 'unknown'}) are left out.")

    def _link_rate(self, gpu: Element, tag: str) -> Fraction:
        if tag == "nvlink":
            return self._rates.of(f"nvlink.sm_{_capability(gpu)}", self._source)
        gcn = gpu.text("gcn", _DUMP).split(":")[0]
        return self._rates.of(f"xgmi.{_GCN.get(gcn, gcn)[:20]}", self._source)

    # PCIe.

    def _nics(self) -> tuple[tuple[Nic, ...], tuple[HostLimit, ...]]:
        """Return the ports with their nearest GPUs, and limits where they share a PCIe link."""
        found = []
        for port in self._ports:
            near = _nearest(port, self._gpus)
            bandwidth = min(
                (width for gpu in near for width in [self._narrowest(gpu, port)] if width),
                default=None,
            )
            names = tuple(gpu.name for gpu in near)
            found.append(_nic(port, names, bandwidth))
        nics = shared_out(found)
        return nics, tuple(self._shared_links(nics))

    def _narrowest(self, gpu: _Device, port: _Device) -> Fraction | None:
        widths = [self._width(element) for element in _between(gpu, port)]
        known = [width for width in widths if width is not None]
        return min(known, default=None)

    def _shared_links(self, nics: Sequence[Nic]) -> Iterator[HostLimit]:
        """Yield the PCIe links that are narrower than the transfers of GPUs and NICs over them."""
        ports = {port.name: port for port in self._ports}
        gpus = {gpu.name: gpu for gpu in self._gpus}
        crossing: dict[int, tuple[Element, list[tuple[str, str]]]] = {}
        load: dict[int, Fraction] = {}
        for nic in nics:
            for name in nic.nodes:
                width = min(w for w in (nic.pcie_gb_s, nic.bandwidth_gb_s, _ENDLESS) if w)
                for element in _between(gpus[name], ports[nic.name]):
                    crossing.setdefault(id(element), (element, []))[1].append((name, nic.name))
                    load[id(element)] = load.get(id(element), Fraction(0)) + width
        for key, (element, pairs) in crossing.items():
            limit = self._width(element)
            # A single pair, or several of one NIC on its own link, is limited by its width already.
            if limit is None or load[key] <= limit or len({nic for _, nic in pairs}) == 1:
                continue
            bus = element.attributes.get("busid", "pcie")
            yield HostLimit(f"{bus} out", tuple(pairs), limit)
            yield HostLimit(f"{bus} in", tuple((nic, gpu) for gpu, nic in pairs), limit)

    def _width(self, pci: Element) -> Fraction | None:
        """Return the GB/s of a device's link to what it is plugged into; None if unknown."""
        speed = pci.attributes.get("link_speed", "").strip()
        lanes = pci.whole("link_width", _DUMP, _MOST_LANES) if "link_width" in pci.attributes else 0
        if not speed or speed.lower().startswith("unknown") or not lanes:
            bus = pci.attributes.get("busid", "?")
            self._note(f"The PCIe link of {bus[:40]} has no speed in the file and counts as wide.")
            return None
        match = _SPEED.fullmatch(speed)
        generation = _GENERATIONS.get(match[1].removesuffix(".0")) if match else None
        if generation is None:
            known = ", ".join(_GENERATIONS)
            raise pci.fault(f"has link_speed={speed[:40]!r}; it must be one of {known} GT/s")
        return lanes * self._rates.of(f"pcie.gen{generation}", self._source)

    def _pcie_host(
        self, name: str, direct: Sequence[HostLink], nvswitches: Sequence[HostSwitch]
    ) -> Host:
        """Describe a machine whose direct links do not join all GPUs: add its PCIe tree."""
        tree = _Tree(self)
        for socket in range(len(self._sockets)):
            tree.add_socket(socket)
        links = [*direct, *tree.links]
        names = [switch.name for switch in tree.switches if switch.name.startswith("socket")]
        for i, one in enumerate(names):
            for other in names[i + 1 :]:
                element = self._sockets[int(one.removeprefix("socket"))]
                width = self._rates.of(f"socket.{_cpu(element)}", self._source)
                links += [HostLink(one, other, width), HostLink(other, one, width)]
        if direct:
            self._note("Direct links do not join all GPUs: PCIe and the sockets do.")
        else:
            self._note("The GPUs have no NVLink or xGMI: all transfers take PCIe and the sockets.")
        gpus = tuple(gpu.name for gpu in self._gpus)
        nics = tuple(
            _nic(port, (tree.place[id(port.element)],), tree.narrowest[id(port.element)])
            for port in self._ports
        )
        switches = (*nvswitches, *tree.switches)
        return Host(name, gpus, switches, tuple(links), nics, (), tuple(self._notes))

    def _note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(text)


_ENDLESS = Fraction(10**12)


class _Tree:
    """The PCIe tree of a machine without direct links, chains of single bridges as one link."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self.switches: list[HostSwitch] = []
        self.links: list[HostLink] = []
        self.place: dict[int, str] = {}
        self.narrowest: dict[int, Fraction | None] = {}
        self._used = {
            id(step)
            for device in (*reader._gpus, *reader._ports)
            for step in (*device.pcie, device.element)
        }

    def add_socket(self, socket: int) -> None:
        element = self._reader._sockets[socket]
        below = [child for child in element.children if id(child) in self._used]
        if below:
            name = f"socket{socket}"
            self.switches.append(HostSwitch(name))
            for child in below:
                self._add(child, name, None)

    def _add(self, pci: Element, above: str, width: Fraction | None) -> None:
        """Add what is below a PCIe element; ``width`` is the narrowest link since ``above``."""
        own = self._reader._width(pci)
        width = min((w for w in (width, own) if w is not None), default=None)
        gpus = [gpu for gpu in self._reader._gpus if gpu.pcie and gpu.pcie[-1] is pci]
        for gpu in gpus:
            if width is None:
                raise pci.fault(f"has no link speed, and {gpu.name} no other link; {_DUMP}")
            self._link(gpu.name, above, width)
        for port in self._reader._ports:
            if port.pcie and port.pcie[-1] is pci:
                self.place[id(port.element)] = above
                self.narrowest[id(port.element)] = width
        below = [child for child in pci.named("pci") if id(child) in self._used]
        if len(below) > 1:
            if width is None:
                raise pci.fault(f"has no link speed, which several devices share; {_DUMP}")
            name = f"pcie{sum(s.name.startswith('pcie') for s in self.switches)}"
            self.switches.append(HostSwitch(name))
            self._link(name, above, width)
            above, width = name, None
        for child in below:
            self._add(child, above, width)

    def _link(self, one: str, other: str, width: Fraction) -> None:
        self.links += [HostLink(one, other, width), HostLink(other, one, width)]


def _devices(sockets: Sequence[Element]) -> Iterator[_Device]:
    """Yield GPUs and ports of NICs, in the order of the file."""
    for socket, cpu in enumerate(sockets):
        stack: list[tuple[Element, tuple[Element, ...]]] = [(cpu, ())]
        while stack:
            element, above = stack.pop()
            if element.tag == "gpu":
                number = element.whole("dev", _DUMP, 10**4)
                yield _Device(f"gpu{number}", element, socket, above)
            elif element.tag == "net":
                name = element.attributes.get("name") or f"net{element.whole('dev', _DUMP)}"
                yield _Device(name, element, socket, above)
            else:
                inside = (*above, element) if element.tag == "pci" else above
                stack += [(child, inside) for child in reversed(element.children)]


def _number(device: _Device) -> tuple[int, int]:
    return device.element.whole("dev", _DUMP), device.element.line


def _common(one: _Device, other: _Device) -> int:
    """Return how many PCIe elements two devices are both below; -1 on different sockets."""
    if one.socket != other.socket:
        return -1
    same = (a is b for a, b in zip(one.pcie, other.pcie, strict=False))
    return next(
        (i for i, equal in enumerate(same) if not equal), min(len(one.pcie), len(other.pcie))
    )


def _nearest(port: _Device, gpus: Sequence[_Device]) -> list[_Device]:
    """Return the GPUs with the longest common part of the PCIe tree."""
    common = [_common(port, gpu) for gpu in gpus]
    return [gpu for gpu, length in zip(gpus, common, strict=True) if length == max(common)]


def _between(gpu: _Device, port: _Device) -> tuple[Element, ...]:
    """Return the PCIe elements whose upward links a transfer between two devices takes."""
    common = max(_common(gpu, port), 0)
    return (*gpu.pcie[common:], *port.pcie[common:])


def _nic(port: _Device, nodes: tuple[str, ...], pcie: Fraction | None) -> Nic:
    element = port.element
    speed = element.number("speed", _DUMP) if element.attributes.get("speed") else Fraction(0)
    guid = element.attributes.get("guid", "").lower().removeprefix("0x")
    return Nic(port.name, speed / _MBITS_PER_GB_S or None, nodes, pcie, guid)


def _capability(gpu: Element) -> int:
    return gpu.whole("sm", _DUMP, 10**4)


def _cpu(cpu: Element) -> str:
    """Return the name by which rates know a processor."""
    vendor = cpu.attributes.get("vendor", "")
    if cpu.attributes.get("arch", "").startswith("a"):
        return "arm"
    if "AMD" in vendor:
        return "amd"
    model = cpu.whole("modelid", _DUMP) if "modelid" in cpu.attributes else 0
    return next((name for least, name in _INTEL if model >= least), "intel_broadwell")
