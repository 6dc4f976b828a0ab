"""Description of one machine, as dumps of its hardware give it, before it is joined to others.

Names are those within the machine (``gpu0``, ``nvswitch1``, ``mlx5_0``); a cluster puts the name
of the machine before them. Bandwidths are exact, in GB/s and per direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

__all__ = [
    "Host", "HostLimit", "HostLink", "HostSwitch", "Nic", "both_ways", "islands", "shared_out",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostSwitch:
    """A switch inside a machine: an NVSwitch, a PCIe switch or a socket."""

    name: str
    multicast: bool = False


@dataclass(frozen=True, slots=True)
class HostLink:
    """A link of the machine in one direction."""

    tail: str
    head: str
    bandwidth_gb_s: Fraction


@dataclass(frozen=True, slots=True)
class HostLimit:
    """A common limit of some links from GPUs to NICs, or back, each named by its two ends."""

    name: str
    links: tuple[tuple[str, str], ...]
    bandwidth_gb_s: Fraction


@dataclass(frozen=True, slots=True)
class Nic:
    """One port of a network adapter.

    Parameters
    ----------
    name : str
        Such as ``mlx5_0``.
    bandwidth_gb_s : Fraction or None
        Of its port; None if the file does not have it.
    nodes : tuple of str
        The GPUs nearest to it, or the PCIe switch or socket that it is on.
    pcie_gb_s : Fraction or None
        The narrowest PCIe link between each of them and the NIC; None if unknown.
    guid : str
        The identifier by which a description of the fabric may name it; empty if unknown.
    """

    name: str
    bandwidth_gb_s: Fraction | None
    nodes: tuple[str, ...]
    pcie_gb_s: Fraction | None = None
    guid: str = ""


@dataclass(frozen=True, slots=True)
class Host:
    """A machine: GPUs in the order of their ranks, switches, links, limits, NICs.

    ``notes`` are the facts of the file that the description leaves out or assumes, a sentence each.
    """

    name: str
    gpus: tuple[str, ...]
    switches: tuple[HostSwitch, ...]
    links: tuple[HostLink, ...]
    nics: tuple[Nic, ...] = ()
    limits: tuple[HostLimit, ...] = ()
    notes: tuple[str, ...] = ()


def both_ways(one: str, other: str, bandwidth_gb_s: Fraction) -> tuple[HostLink, HostLink]:
    """Return the two directions of a link."""
    return HostLink(one, other, bandwidth_gb_s), HostLink(other, one, bandwidth_gb_s)


def islands(gpus: Sequence[str], links: Sequence[HostLink]) -> list[str]:
    """Return a GPU of each part that no links join; one if they join all GPUs."""
    near: dict[str, list[str]] = {}
    for link in links:
        near.setdefault(link.tail, []).append(link.head)
        near.setdefault(link.head, []).append(link.tail)
    seen: set[str] = set()
    firsts = []
    for gpu in gpus:
        if gpu not in seen:
            firsts.append(gpu)
            stack = [gpu]
            while stack:
                at = stack.pop()
                if at not in seen:
                    seen.add(at)
                    stack += near.get(at, ())
    return firsts


def shared_out(nics: Sequence[Nic]) -> tuple[Nic, ...]:
    """Share out NICs among GPUs that are equally near to them.

    Where m GPUs have the same k m nearest NICs, GPU i gets k of them, in order, as NCCL spreads
    its channels. Otherwise all m GPUs keep all of them.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, nic in enumerate(nics):
        groups.setdefault(nic.nodes, []).append(place)
    shared = list(nics)
    for nodes, places in groups.items():
        if nodes and len(places) % len(nodes) == 0:
            each = len(places) // len(nodes)
            for i, place in enumerate(places):
                shared[place] = replace(nics[place], nodes=(nodes[i // each],))
    return tuple(shared)
