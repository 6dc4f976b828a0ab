"""Join boxes by a network that is named in a few words.

Problem: machines are alike inside and differ in the network between them.
Input:   for each box its NICs in order, each a node and a bandwidth; the words of the network.
Output:  switches and links, added to the builder.
Cost:    linear in the links made.
Source:  the kinds are those of ``fabric_text``. Clos of three layers: Gangidi et al., RDMA over
         Ethernet for Distributed AI Training at Meta Scale (SIGCOMM 2024). Dragonfly+: Shpiner et
         al. (HiPINEB 2017). The others: ``switch_graphs``.

Boxes stand in blocks of equal size on leaves or routers, box by box. If the numbers do not divide,
blocks differ by one box.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.families.fabric.fabric_text import Fabric, parse_fabric
from forestcoll.topology.families.fabric.switch_graphs import (
    global_pairs,
    hyperx_pairs,
    slim_fly_pairs,
    torus_pairs,
)

__all__ = ["Port", "join_boxes"]

Port = tuple[str, Fraction]
"""A NIC: the node that it belongs to, and its bandwidth in GB/s per direction."""


def join_boxes(
    builder: TopologyBuilder,
    ports: Sequence[Sequence[Port]],
    fabric: str = "single",
    *,
    sharp: bool = False,
) -> None:
    """Add the network between boxes; a single box has none.

    Parameters
    ----------
    builder : TopologyBuilder
        Has the nodes of the ports already.
    ports : sequence of sequences of Port
        The NICs of each box, in order. A node with several NICs occurs several times.
    fabric : str
        The words, such as ``rails:spines=4``.
    sharp : bool
        The switches multicast and aggregate, whatever the words say.

    Raises
    ------
    InvalidTopologyError
        For bad words, options that contradict each other, or too few boxes or NICs.
    """
    words = parse_fabric(fabric)
    if len(ports) < 2:
        return
    if min(map(len, ports)) < words.planes:
        raise InvalidTopologyError(
            f"fabric {words}: {words.planes} planes, but a box with {min(map(len, ports))} NICs; "
            f"ask for at most that many planes"
        )
    for number in range(words.planes):
        own = [tuple(box[number :: words.planes]) for box in ports]
        only = words.planes == 1
        plane = _Plane(
            builder,
            own,
            words,
            prefix="" if only else f"plane{number}.",
            single="ib" if only else f"ib{number}",
            multicast=sharp or words.sharp,
        )
        _ADD[words.kind](plane, words.options)


@dataclass(frozen=True, slots=True)
class _Plane:
    """One network between boxes while it is made."""

    builder: TopologyBuilder
    ports: Sequence[Sequence[Port]]
    words: Fabric
    prefix: str
    single: str
    multicast: bool

    def switches(self, name: str, number: int) -> list[str]:
        return [self.switch(f"{name}{i}", i) for i in range(number)]

    def switch(self, name: str, index: int | None = None) -> str:
        full = f"{self.prefix}{name}"
        return self.builder.switch(full, index=index, multicast=self.multicast)

    def expect(self, switches: int, links: int) -> None:
        """Refuse a network of too many switches or links before it is made."""
        expect_size(switches, 2 * links, f"fabric {self.words}")

    def wrong(self, what: str) -> InvalidTopologyError:
        return InvalidTopologyError(f"fabric {self.words}: {what}")

    def on_blocks(self, switches: Sequence[str]) -> list[Fraction]:
        """Link boxes to switches, in blocks of equal size; return the bandwidth of each block."""
        below: list[list[Fraction]] = [[] for _ in switches]
        for number, box in enumerate(self.ports):
            place = number * len(switches) // len(self.ports)
            for node, bandwidth in box:
                self.builder.link(node, switches[place], bandwidth)
                below[place].append(bandwidth)
        return [_total(bandwidths) for bandwidths in below]

    def nic(self, asked: Fraction | None, option: str) -> Fraction:
        """Return a link's bandwidth: what was asked for, or that of a NIC."""
        if asked is not None:
            return asked
        found = {bandwidth for box in self.ports for _, bandwidth in box}
        if len(found) > 1:
            raise self.wrong(f"the NICs have several bandwidths; give {option} in GB/s")
        return found.pop()

    def expect_boxes(self, leaves: int) -> None:
        """Refuse leaves without a box: their links would carry nothing."""
        if leaves > len(self.ports):
            raise self.wrong(f"{leaves} leaves for {len(self.ports)} boxes; every leaf needs a box")

    def up(self, options: Mapping[str, Any], below: Fraction, spines: int) -> Fraction:
        """Return the bandwidth from a leaf to each spine, by its cables or its oversubscription."""
        factor = options.get("oversubscription")
        cables = options.get("uplinks")
        if cables is None:
            if "uplink_bandwidth" in options:
                raise self.wrong("uplink_bandwidth needs uplinks, the number of such cables")
            return below / (factor or 1) / spines
        each: Fraction = cables * self.nic(options.get("uplink_bandwidth"), "uplink_bandwidth")
        if factor is not None and below != factor * each * spines:
            raise self.wrong(
                f"a leaf has {below} GB/s down and {each * spines} GB/s up by its uplinks, which "
                f"is an oversubscription of {below / (each * spines)}, not {factor}; leave one out"
            )
        return each

    def join_up(
        self,
        options: Mapping[str, Any],
        leaves: Iterable[tuple[str, Fraction]],
        spines: Sequence[str],
    ) -> None:
        for leaf, below in leaves:
            bandwidth = self.up(options, below, len(spines))
            for spine in spines:
                self.builder.link(leaf, spine, bandwidth)


def _total(bandwidths: Sequence[Fraction]) -> Fraction:
    """Add bandwidths as whole numbers, as sums of Fractions are slow."""
    denominator = math.lcm(*(one.denominator for one in bandwidths))
    whole = sum(one.numerator * (denominator // one.denominator) for one in bandwidths)
    return Fraction(whole, denominator)


def _single(plane: _Plane, options: Mapping[str, Any]) -> None:
    switch = plane.builder.switch(plane.single, multicast=plane.multicast)
    plane.on_blocks([switch])


def _rails(plane: _Plane, options: Mapping[str, Any]) -> None:
    number, spines = max(map(len, plane.ports)), options.get("spines", 0)
    if not spines and options:
        raise plane.wrong("without spines rails have no uplinks; give spines, or leave these out")
    plane.expect(number + spines, sum(map(len, plane.ports)) + number * spines)
    rails = plane.switches("rail", number)
    below = [Fraction(0)] * number
    for box in plane.ports:
        for i, (node, bandwidth) in enumerate(box):
            plane.builder.link(node, rails[i], bandwidth)
            below[i] += bandwidth
    if spines:
        plane.join_up(options, zip(rails, below, strict=True), plane.switches("spine", spines))


def _leaf_spine(plane: _Plane, options: Mapping[str, Any]) -> None:
    number, spines = options["leaves"], options["spines"]
    plane.expect_boxes(number)
    plane.expect(number + spines, sum(map(len, plane.ports)) + number * spines)
    leaves = plane.switches("leaf", number)
    below = plane.on_blocks(leaves)
    if number > 1:  # one leaf alone needs no spines
        plane.join_up(options, zip(leaves, below, strict=True), plane.switches("spine", spines))


def _clos(plane: _Plane, options: Mapping[str, Any]) -> None:
    pods, number, spines = options["pods"], options["leaves"], options["spines"]
    cores = options["cores"]
    if cores % spines:
        raise plane.wrong(
            f"{cores} cores for {spines} spines of a pod; cores must be a multiple of spines, as "
            f"spine j of every pod is on the cores of plane j"
        )
    plane.expect_boxes(pods * number)
    plane.expect(pods * (number + spines) + cores, pods * (number * spines + cores))
    leaves = [plane.switch(f"pod{p}.leaf{i}", i) for p in range(pods) for i in range(number)]
    below = plane.on_blocks(leaves)
    factor = options.get("core_oversubscription", Fraction(1))
    top = plane.switches("core", cores) if pods > 1 else []  # one pod alone needs no cores
    for pod in range(pods):
        own = slice(pod * number, (pod + 1) * number)
        layer = [plane.switch(f"pod{pod}.spine{j}", j) for j in range(spines)]
        plane.join_up(options, zip(leaves[own], below[own], strict=True), layer)
        enters = sum((plane.up(options, one, spines) for one in below[own]), Fraction(0))
        for j, spine in enumerate(layer):
            for core in top[j::spines]:
                plane.builder.link(spine, core, enters / factor / (cores // spines))


def _dragonfly(plane: _Plane, options: Mapping[str, Any]) -> None:
    groups, routers = options["groups"], options["routers"]
    links = options.get("globals", -(-(groups - 1) // routers) or 1)
    plane.expect(groups * routers, groups * routers * (routers + links))
    names = [
        [plane.switch(f"group{g}.router{r}", r) for r in range(routers)] for g in range(groups)
    ]
    plane.on_blocks([name for group in names for name in group])
    local = plane.nic(options.get("local_bandwidth"), "local_bandwidth")
    for group in names:
        for i, router in enumerate(group):
            for other in group[i + 1 :]:
                plane.builder.link(router, other, local)
    between = plane.nic(options.get("global_bandwidth"), "global_bandwidth")
    for (g, r), (h, s) in global_pairs(groups, routers, links):
        plane.builder.link(names[g][r], names[h][s], between)


def _dragonfly_plus(plane: _Plane, options: Mapping[str, Any]) -> None:
    groups, number, spines = options["groups"], options["leaves"], options["spines"]
    links = options.get("globals", -(-(groups - 1) // spines) or 1)
    plane.expect_boxes(groups * number)
    plane.expect(groups * (number + spines), groups * spines * (number + links))
    leaves = [plane.switch(f"group{g}.leaf{i}", i) for g in range(groups) for i in range(number)]
    below = plane.on_blocks(leaves)
    tops = []
    for group in range(groups):
        own = slice(group * number, (group + 1) * number)
        tops.append([plane.switch(f"group{group}.spine{j}", j) for j in range(spines)])
        plane.join_up(options, zip(leaves[own], below[own], strict=True), tops[-1])
    between = plane.nic(options.get("global_bandwidth"), "global_bandwidth")
    for (g, r), (h, s) in global_pairs(groups, spines, links):
        plane.builder.link(tops[g][r], tops[h][s], between)


def _hyperx(plane: _Plane, options: Mapping[str, Any]) -> None:
    dims = options["dims"]
    number = math.prod(dims)
    plane.expect(number, number * sum(length - 1 for length in dims))
    _graph(plane, options, number, hyperx_pairs(dims))


def _slim_fly(plane: _Plane, options: Mapping[str, Any]) -> None:
    q = options["q"]
    _graph(plane, options, 2 * q * q, slim_fly_pairs(q))


def _torus(plane: _Plane, options: Mapping[str, Any]) -> None:
    pairs = torus_pairs(options["dims"], options.get("wrap", True))
    _graph(plane, options, math.prod(options["dims"]), pairs)


def _graph(
    plane: _Plane, options: Mapping[str, Any], number: int, pairs: Iterable[tuple[int, int]]
) -> None:
    """Put boxes on routers by number, and link the routers in pairs."""
    routers = plane.switches("router", number)
    plane.on_blocks(routers)
    bandwidth = plane.nic(options.get("link_bandwidth"), "link_bandwidth")
    for one, other in pairs:
        plane.builder.link(routers[one], routers[other], bandwidth)


_ADD = {
    "single": _single,
    "rails": _rails,
    "leaf-spine": _leaf_spine,
    "clos": _clos,
    "dragonfly": _dragonfly,
    "dragonfly-plus": _dragonfly_plus,
    "hyperx": _hyperx,
    "slim-fly": _slim_fly,
    "torus": _torus,
}
