"""Assembly of machines and the network between them to one topology.

Problem: which NIC of which machine is plugged into which switch, and what a GPU gets through it.
Input:   machines in the order of their ranks, a fabric, and the names of the NICs to use.
Output:  a topology whose nodes are named ``machine.gpu0``, and what it leaves out, in sentences.
Cost:    linear in nodes, links and ports.
Source:  none. A NIC of one GPU alone is the link of that GPU to the switch, as in the families
         of machines; a NIC of several GPUs, or on a shared PCIe link, is a node of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.families.fabric import join_boxes
from forestcoll.topology.importers.fabric import Fabric, Port
from forestcoll.topology.importers.host import Host, Nic
from forestcoll.topology.importers.supplied import MissingFactError
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import exact_text

__all__ = ["Imported", "join_machines"]


_SOME = 8


@dataclass(frozen=True, slots=True)
class Imported:
    """A topology, and what the files leave open or the topology leaves out, in sentences."""

    topology: Topology
    notes: tuple[str, ...]
    unused: tuple[str, ...] = ()  # options that the files gave no use for


def join_machines(
    hosts: Sequence[Host], fabric: Fabric | str | None, nics: str = "*", name: str = "cluster"
) -> Imported:
    """Join machines by a fabric.

    Parameters
    ----------
    hosts : sequence of Host
        In the order of their ranks.
    fabric : Fabric, str or None
        From a file; or in words such as ``rails``; None leaves a single machine alone.
    nics : str
        Patterns of the names of the NICs to use, joined by commas, such as ``mlx5_[0-7]``.
    name : str
        Of the topology.

    Raises
    ------
    InvalidTopologyError
        If two machines have one name, NICs have no speed or no port, or several machines no fabric.
    """
    _expect_names(hosts)
    if fabric is None and len(hosts) > 1:
        raise MissingFactError(
            f"{len(hosts)} machines and no network between them; add --fabric rails, or a file of "
            f"the fabric",
            "--fabric",
        )
    size = sum(len(host.gpus) + len(host.nics) + len(host.switches) for host in hosts)
    expect_size(size, sum(len(host.links) for host in hosts), name)
    assembly = _Assembly()
    chosen = [_chosen(host, nics) for host in hosts] if fabric is not None else []
    domains = fabric.domains if isinstance(fabric, Fabric) else ()
    domain_of = {machine: name for name, machines in domains for machine in machines}
    for box, host in enumerate(hosts):
        assembly.add_machine(host, box, domain_of.get(host.name))
    far: tuple[str, ...] = ()
    if isinstance(fabric, str):
        assembly.join_by_words(chosen, fabric)
        far = _far_nics(chosen)
    elif fabric is not None:
        assembly.join_by_file(chosen, fabric)
    notes = [f"{host.name}: {note}" for host in hosts for note in host.notes]
    if isinstance(fabric, Fabric):
        notes += fabric.notes
    if fabric is None and any(host.nics for host in hosts):
        notes.append("Without a network between machines, NICs are left out.")
    return Imported(assembly.builder.build(name), (*notes, *far, *assembly.notes))


def _expect_names(hosts: Sequence[Host]) -> None:
    seen: set[str] = set()
    for host in hosts:
        if host.name in seen:
            raise InvalidTopologyError(
                f"two machines are named {host.name!r}; name them, as in node1=FILE node2=FILE"
            )
        seen.add(host.name)


def _chosen(host: Host, patterns: str) -> Host:
    """Return the machine with the NICs of some names, which must have one speed among them."""
    wanted = patterns.split(",")
    kept = tuple(nic for nic in host.nics if any(fnmatchcase(nic.name, one) for one in wanted))
    names = ", ".join(nic.name for nic in host.nics)
    if not kept:
        problem = f"has no NIC named {patterns}; it has {names}" if names else "has no NICs"
        remedy = "choose among them with --nics" if names else "its file does not have them"
        raise InvalidTopologyError(f"machine {host.name} {problem}; {remedy}")
    return replace(host, nics=kept)


def _far_nics(hosts: Sequence[Host]) -> tuple[str, ...]:
    """Return a note on NICs whose GPUs all have a nearer one, as those of storage often are."""
    machines: dict[str, list[str]] = {}
    for host in hosts:
        nodes = [frozenset(nic.nodes) for nic in host.nics]
        for nic, ends in zip(host.nics, nodes, strict=True):
            near = frozenset().union(*(one for one in nodes if one < ends))
            if ends and near == ends:
                machines.setdefault(nic.name, []).append(host.name)
    return tuple(
        f"{name} of {_counted(where)} is farther from its GPUs than their other NICs; if it serves "
        f"storage, leave it out with --nics."
        for name, where in machines.items()
    )


def _counted(machines: Sequence[str]) -> str:
    more = len(machines) - 1
    return f"{machines[0]} (and {more} more)" if more else machines[0]


@dataclass(frozen=True, slots=True)
class _Plug:
    """A node that stands for a NIC's end of the cable, and what it can carry."""

    nic: Nic
    node: str
    bandwidth_gb_s: Fraction | None


class _Assembly:
    def __init__(self) -> None:
        self.builder = TopologyBuilder()
        self.notes: list[str] = []
        self._common: set[str] = set()
        self._cables: dict[tuple[str, str], Fraction] = {}

    def add_machine(self, host: Host, box: int, domain: str | None) -> None:
        """Add GPUs, switches and links of a machine; a domain's NVSwitches are common."""
        called = {gpu: f"{host.name}.{gpu}" for gpu in host.gpus}
        for index, gpu in enumerate(host.gpus):
            self.builder.gpu(f"{host.name}.{gpu}", box, index)
        for index, switch in enumerate(host.switches):
            if domain is None or not switch.name.startswith("nvswitch"):
                called[switch.name] = f"{host.name}.{switch.name}"
                self.builder.switch(called[switch.name], box, index, multicast=switch.multicast)
                continue
            called[switch.name] = f"{domain}.{switch.name}"
            if called[switch.name] not in self._common:
                self._common.add(called[switch.name])
                self.builder.switch(called[switch.name], None, index, multicast=switch.multicast)
        for link in host.links:
            self.builder.arc(called[link.tail], called[link.head], link.bandwidth_gb_s)

    def join_by_words(self, hosts: Sequence[Host], words: str) -> None:
        """Plug NIC i of every machine into the port that the words give to NIC i."""
        boxes = []
        for box, host in enumerate(hosts):
            speeds = {nic.bandwidth_gb_s for nic in host.nics}
            if len(speeds) > 1:
                each = "; ".join(
                    f"{nic.name} {_shown(nic.bandwidth_gb_s)}" for nic in host.nics[:40]
                )
                raise InvalidTopologyError(
                    f"machine {host.name} has NICs of several speeds ({each}); choose those of the "
                    f"fabric with --nics, or describe it in a file"
                )
            plugs = self._plugs(host, box)
            boxes.append([(plug.node, self._speed(host, plug, None)) for plug in plugs])
        join_boxes(self.builder, boxes, words)

    def join_by_file(self, hosts: Sequence[Host], fabric: Fabric) -> None:
        """Plug every NIC into the port that the fabric has for it."""
        for index, switch in enumerate(fabric.switches):
            self.builder.switch(switch, None, index, multicast=switch in fabric.multicast)
        for cable in fabric.cables:
            self.builder.link(cable.one, cable.other, cable.bandwidth_gb_s)
        ports = _Ports(fabric)
        for box, host in enumerate(hosts):
            found = {nic.name: ports.of(host, nic) for nic in host.nics}
            loose = [name for name, theirs in found.items() if not theirs]
            if len(loose) == len(found):
                raise InvalidTopologyError(
                    f"machine {host.name}: the fabric has no port for any of its NICs "
                    f"({', '.join(loose[:20])}); name the machine as the fabric does, as in "
                    f"NAME=FILE"
                )
            if loose:
                self.notes.append(f"{host.name}: no port for {', '.join(loose)}; left out.")
            used = [_with_speed(nic, found[nic.name]) for nic in host.nics if found[nic.name]]
            for plug in self._plugs(replace(host, nics=tuple(used)), box):
                for port in found[plug.nic.name]:
                    self._plug_in(host, plug, port)
        for (node, switch), bandwidth in self._cables.items():
            self.builder.link(node, switch, bandwidth)
        if unused := ports.unused():
            some = "; ".join(f"{port.switch} to {_named(port)}" for port in unused[:_SOME])
            more = f"; and {len(unused) - _SOME} more" if len(unused) > _SOME else ""
            self.notes.append(f"Ports to machines or NICs that no file has: {some}{more}.")

    def _plug_in(self, host: Host, plug: _Plug, port: Port) -> None:
        """Add a cable; parallel ones of one node are summed up."""
        ends = plug.node, port.switch
        speed = self._speed(host, plug, port.bandwidth_gb_s)
        self._cables[ends] = self._cables.get(ends, Fraction(0)) + speed

    def _speed(self, host: Host, plug: _Plug, cable: Fraction | None) -> Fraction:
        known = [width for width in (plug.bandwidth_gb_s, plug.nic.bandwidth_gb_s, cable) if width]
        if not known or (plug.nic.bandwidth_gb_s is None and cable is None):
            raise MissingFactError(
                f"machine {host.name}: its file has no speed for NIC {plug.nic.name}; give it as "
                f"--nic-speed, or the bandwidth of the port in a file of the fabric",
                "--nic-speed",
                {"nic_gb_s": Fraction(1)},
            )
        return min(known)

    def _plugs(self, host: Host, box: int) -> list[_Plug]:
        """Return the ends of the machine's cables; NICs that several GPUs share become nodes."""
        limited = {nic for limit in host.limits for pair in limit.links for nic in pair}
        plugs = []
        for index, nic in enumerate(host.nics):
            if len(nic.nodes) == 1 and nic.name not in limited:
                node = f"{host.name}.{nic.nodes[0]}"
                plugs.append(_Plug(nic, node, nic.pcie_gb_s))
                continue
            node = self.builder.switch(f"{host.name}.{nic.name}", box, index)
            width = min(
                (w for w in (nic.pcie_gb_s, nic.bandwidth_gb_s) if w is not None), default=None
            )
            if width is None:
                raise MissingFactError(
                    f"machine {host.name}: its file has no speed for NIC {nic.name}, which several "
                    f"GPUs share; give it as --nic-speed, or a dump of NCCL_TOPO_DUMP_FILE",
                    "--nic-speed",
                    {"nic_gb_s": Fraction(1)},
                )
            for gpu in nic.nodes:
                self.builder.link(f"{host.name}.{gpu}", node, width)
            plugs.append(_Plug(nic, node, None))
        self._limit(host)
        return plugs

    def _limit(self, host: Host) -> None:
        """Add the common limits of PCIe links, as far as their NICs are used."""
        used = {*host.gpus, *(nic.name for nic in host.nics)}
        for limit in host.limits:
            pairs = [pair for pair in limit.links if used.issuperset(pair)]
            if pairs:
                parts = [f"{host.name}.{tail} -> {host.name}.{head}" for tail, head in pairs]
                self.builder.share(f"{host.name}.{limit.name}", parts, limit.bandwidth_gb_s)


def _with_speed(nic: Nic, ports: Sequence[Port]) -> Nic:
    """Return a NIC whose file lacks its speed with that of its ports, if they have one."""
    widths = [port.bandwidth_gb_s for port in ports if port.bandwidth_gb_s is not None]
    if nic.bandwidth_gb_s is not None or len(widths) < len(ports):
        return nic
    return replace(nic, bandwidth_gb_s=sum(widths, Fraction(0)))


class _Ports:
    """The ports of a fabric by what they name, and which of them found their NIC."""

    def __init__(self, fabric: Fabric) -> None:
        self._ports = fabric.ports
        self._used: set[int] = set()
        self._by_guid: dict[str, list[int]] = {}
        self._by_name: dict[tuple[str, str], list[int]] = {}
        self._of_machine: dict[str, list[int]] = {}
        self._patterns: list[int] = []
        for place, port in enumerate(fabric.ports):
            if port.guid:
                self._by_guid.setdefault(port.guid, []).append(place)
            if port.machine and _is_pattern(port.machine):
                self._patterns.append(place)
            elif port.machine and _is_pattern(port.nic):
                self._of_machine.setdefault(port.machine, []).append(place)
            elif port.machine:
                self._by_name.setdefault((port.machine, port.nic), []).append(place)

    def of(self, host: Host, nic: Nic) -> list[Port]:
        """Return the ports of a NIC: by its GUID, else by machine and name."""
        # The ports of one adapter may share its GUID, which then names none of them.
        alone = sum(other.guid == nic.guid for other in host.nics) == 1
        places = self._by_guid.get(nic.guid, []) if nic.guid and alone else []
        if not places:
            places = self._by_name.get((host.name, nic.name), []) + [
                place
                for place in (*self._of_machine.get(host.name, ()), *self._patterns)
                if fnmatchcase(host.name, self._ports[place].machine)
                and fnmatchcase(nic.name, self._ports[place].nic)
            ]
        self._used.update(places)
        return [self._ports[place] for place in places]

    def unused(self) -> list[Port]:
        return [port for place, port in enumerate(self._ports) if place not in self._used]


def _is_pattern(text: str) -> bool:
    return any(letter in text for letter in "*?[")


def _named(port: Port) -> str:
    return (
        " ".join(part for part in (port.machine, port.nic or port.guid) if part) or "an unnamed NIC"
    )


def _shown(bandwidth: Fraction | None) -> str:
    return "of no known speed" if bandwidth is None else f"{exact_text(bandwidth)} GB/s"
