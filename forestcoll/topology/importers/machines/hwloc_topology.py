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
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from forestcoll.topology.importers.host import (
    Host,
    HostLink,
    HostSwitch,
    Nic,
    islands,
    shared_out,
)
from forestcoll.topology.importers.machines.hwloc_pcie_tree import (
    LSTOPO,
    PciDevice,
    PcieTree,
    pcie_gb_s,
)
from forestcoll.topology.importers.supplied import Supplied
from forestcoll.topology.importers.xml_elements import Element, parse_elements

__all__ = ["host_from_hwloc"]

_MOST_DEVICES = 600
_GPU = re.compile(r"(?:nvml|cuda|rsmi)([0-9]{1,3})")
_NIC = re.compile(r"(?:mlx[45]|hfi1|bnxt_re|irdma|ionic|rdmap|efa|roce|ib[ps])[A-Za-z0-9_]{0,40}")
_MATRICES = ("NVLinkBandwidth", "XGMIBandwidth")
_MULTICAST = re.compile(r"H100|H200|H800|H20|B[123]00")


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
        self.gpus: list[PciDevice] = []
        self._by_index: dict[str, str] = {}
        views: dict[int, list[PciDevice]] = {}
        for device in sorted(devices, key=_number):
            if _GPU.fullmatch(device.name) and device.pcie:
                views.setdefault(id(device.pcie[-1]), []).append(device)
        for i, (first, *others) in enumerate(views.values()):
            self.gpus.append(replace(first, name=f"gpu{i}"))
            for view in (first, *others):
                self._by_index[view.element.attributes.get("gp_index", "")] = f"gpu{i}"
        self.nics = [one for one in devices if _NIC.fullmatch(one.name) and one.pcie]
        if not self.gpus:
            raise top.fault(f"has no GPUs (nvml0, cuda0 or rsmi0); {LSTOPO} on a machine with them")
        if len(self.gpus) + len(self.nics) > _MOST_DEVICES:
            raise top.fault(f"has over {_MOST_DEVICES} GPUs and NICs; give one file a machine")
        if len({nic.name for nic in self.nics}) < len(self.nics):
            raise top.fault(f"has two NICs of one name; {LSTOPO} again")

    def _devices(
        self, element: Element, above: tuple[Element, ...], socket: int
    ) -> Iterator[PciDevice]:
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
                yield PciDevice(child.attributes.get("name", ""), child, socket, above)
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
                f"has {len(values)} values for {len(indexes)} objects; {LSTOPO} again"
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
            raise matrix.fault(f"has no link between GPUs; {LSTOPO} again")
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

    def _nic(self, nic: PciDevice) -> Nic:
        common = [_common(nic, gpu) for gpu in self.gpus]
        near = [gpu for gpu, at in zip(self.gpus, common, strict=True) if at == max(common)]
        widths = [
            width
            for gpu in near
            for element in (*gpu.pcie[max(common, default=0) :], *nic.pcie[max(*common, 0) :])
            if (width := pcie_gb_s(element)) is not None
        ]
        names = tuple(gpu.name for gpu in near)
        return self.as_nic(nic, names, min(widths, default=None))

    def as_nic(self, nic: PciDevice, nodes: tuple[str, ...], pcie: Fraction | None) -> Nic:
        infos = {
            info.attributes.get("name"): info.attributes.get("value", "")
            for info in nic.element.named("info")
        }
        guid = infos.get("SysImageGUID") or infos.get("NodeGUID") or ""
        plain = guid.replace(":", "").lower().removeprefix("0x").lstrip("0")
        return Nic(nic.name, self._supplied.speed_of_nics(), nodes, pcie, plain)

    def _pcie_host(self, name: str) -> Host:
        """Describe a machine whose GPUs have PCIe only: a tree of switches below each socket."""
        tree = PcieTree(self.gpus, self.nics)
        tree.add(self._top, None, None)
        tree.join_sockets(self._supplied, self._source)
        gpus = tuple(gpu.name for gpu in self.gpus)
        nics = tuple(self.as_nic(nic, *tree.ends[id(nic.pcie[-1])]) for nic in self.nics)
        note = (
            "The file has no NVLinks or xGMI links: all transfers take PCIe and the sockets. If "
            "the machine has such links, its hwloc did not see them: import a dump of "
            "NCCL_TOPO_DUMP_FILE instead."
        )
        return Host(name, gpus, tuple(tree.switches), tuple(tree.links), nics, (), (note,))


def _number(device: PciDevice) -> int:
    match = _GPU.fullmatch(device.name)
    return int(match[1]) if match else -1


def _common(one: PciDevice, other: PciDevice) -> int:
    """Return how many PCI elements two devices are both below; -1 on different sockets."""
    if one.socket != other.socket:
        return -1
    shared = 0
    for a, b in zip(one.pcie, other.pcie, strict=False):
        if a is not b:
            break
        shared += 1
    return shared
