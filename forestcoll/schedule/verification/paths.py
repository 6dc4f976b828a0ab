"""Checks of physical paths against the network, and their link loads.

Part of :func:`forestcoll.schedule.verify`; the same for explicit and factored forests.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints, exact, first
from forestcoll.schedule.protocols import Claims, Routed, Schedule
from forestcoll.schedule.verification.lookup import Lookup
from forestcoll.schedule.verification.naming import fail, link_name, path_name
from forestcoll.topology.model import Topology

__all__ = [
    "busiest_group", "busiest_link", "check_congestion", "check_loads", "check_paths", "link_loads",
]  # fmt: skip


_TOGETHER = 2**17  # hops or paths: few enough to stay in the cache


def check_paths(forest: Routed, *, through_gpus: bool = False, ends: bool = False) -> Ints:
    """Check that paths join their GPUs over links of the topology; return the link of every hop.

    Between its ends a path visits switches only, unless ``through_gpus``. With ``ends``, logical
    links join any nodes, and their paths may always go through GPUs.
    """
    _check_ends(forest)
    if not (through_gpus or ends):
        _check_interior(forest)
    return _check_hops(forest)


def _check_ends(forest: Routed) -> None:
    """Check that multiplicities are positive and paths join the ends of their logical links."""
    routes, nodes = forest.routes, np.array(forest.topology.ends, dtype=np.int32)
    if (path := first(routes.multiplicity < 1)) is not None:
        name, found = path_name(forest, path), routes.multiplicity[path]
        fail(f"{name}: multiplicity is {found}; it must be positive")
    single = len(routes.multiplicity) == len(routes.tail)  # as many paths as links: one each
    paths = None if single else np.diff(routes.first_path)
    for verb, rank, node in (
        ("starts", routes.tail, routes.hop[routes.first_hop[:-1]]),
        ("ends", routes.head, routes.hop[routes.first_hop[1:] - 1]),
    ):
        right = nodes[rank] if paths is None else np.repeat(nodes[rank], paths)
        if (path := first(node != right)) is not None:
            there, due = (forest.topology.nodes[i[path]].name for i in (node, right))
            fail(f"{path_name(forest, path)} {verb} at {there}; it must {verb[:-1]} at {due}")


def _check_interior(forest: Routed) -> None:
    """Check that between its ends a path visits switches only."""
    routes = forest.routes
    is_gpu = np.zeros(len(forest.topology.nodes), dtype=np.bool_)
    is_gpu[list(forest.topology.compute)] = True
    through = is_gpu[routes.hop]
    if np.count_nonzero(through) == 2 * len(routes.multiplicity):
        return  # these are the ends
    through[routes.first_hop[:-1]] = False
    through[routes.first_hop[1:] - 1] = False
    hop = int(through.argmax())
    name = path_name(forest, _path_of(forest, hop))
    gpu = forest.topology.nodes[routes.hop[hop]].name
    fail(f"{name} passes through {gpu}, which is a GPU; between its ends only switches may be")


def _check_hops(forest: Routed) -> npt.NDArray[np.int32]:
    """Check that every hop of a path is a link of the topology; return the links, hop by hop."""
    routes, topology = forest.routes, forest.topology
    size = len(topology.nodes)
    tails, heads = topology.link_ends
    known = Lookup.of(tails.astype(np.int64) * size + heads)  # sorted, as the links are
    leaves = np.ones(len(routes.hop), dtype=np.bool_)
    leaves[routes.first_hop[1:] - 1] = False
    links = np.empty(len(routes.hop) - len(routes.multiplicity), dtype=np.int32)
    done = 0
    for start in range(0, len(leaves), _TOGETHER):
        tail = start + np.flatnonzero(leaves[start : start + _TOGETHER])
        place = known.find(routes.hop[tail].astype(np.int64) * size + routes.hop[tail + 1])
        if (missing := first(place == len(tails))) is not None:
            hop = int(tail[missing])
            name = path_name(forest, _path_of(forest, hop))
            ends = (topology.nodes[i].name for i in routes.hop[hop : hop + 2].tolist())
            fail(f"{name} hops from {' to '.join(ends)}, but {topology.name} has no such link")
        links[done : done + len(place)] = place
        done += len(place)
    return links


def check_loads(forest: Schedule, needed: npt.NDArray[Any]) -> None:
    """Check that every logical link has as many paths as trees, counted with multiplicity."""
    carried = exact(forest.routes.multiplicity, len(forest.routes.multiplicity))
    given = carried  # if every link has one path
    if len(carried) > len(needed):
        upto = np.concatenate([[0], np.cumsum(carried)])
        given = upto[forest.routes.first_path[1:]] - upto[forest.routes.first_path[:-1]]
    if (link := first(needed != given)) is not None:
        where = f"logical link {link_name(forest, link)}"
        if needed[link] == 0:
            fail(f"{where} has physical paths, but no tree uses it; leave it out")
        fail(f"{where} carries {needed[link]} trees, but its paths carry {given[link]}")


def link_loads(forest: Schedule, links: Ints) -> npt.NDArray[Any]:
    """Add up the trees over each physical link, given the link of every hop."""
    routes = forest.routes
    amounts = exact(routes.multiplicity, len(links))
    load = np.zeros(forest.topology.num_links, dtype=amounts.dtype)
    for start in range(0, len(amounts), _TOGETHER):
        stop = min(start + _TOGETHER, len(amounts))
        upto = routes.first_hop[start : stop + 1] - np.arange(start, stop + 1)
        own = np.repeat(amounts[start:stop], np.diff(upto))
        np.add.at(load, links[upto[0] : upto[-1]], own)
    return load


def busiest_link(topology: Topology, load: npt.NDArray[Any]) -> tuple[Fraction, tuple[str, ...]]:
    """Return the largest load / bandwidth and the first link with it, exactly.

    Shared capacities come behind the links. Their load is that of all their links, and they are
    named by their name alone.
    """
    columns = topology.columns
    under, widths = columns.whole_bandwidths()
    highest = np.zeros(len(widths), dtype=load.dtype)  # the load of each kind's fullest link
    np.maximum.at(highest, columns.kind, load)
    most, per = 0, 1
    for trees, width in zip(highest.tolist(), widths, strict=True):
        if trees * per > most * width:
            most, per = trees, width
    is_most = [t * per == most * width for t, width in zip(highest.tolist(), widths, strict=True)]
    busiest = first(np.array(is_most)[columns.kind] & (load == highest[columns.kind]))
    assert busiest is not None  # a link of the kind that has the most
    most *= under
    fullest, group = busiest_group(topology, load.tolist())
    if group is not None and fullest > Fraction(most, per):
        return fullest, (group,)
    tail, head = (topology.nodes[ends[busiest]].name for ends in topology.link_ends)
    return Fraction(most, per), (tail, head)


def busiest_group(topology: Topology, load: Sequence[Any]) -> tuple[Fraction, str | None]:
    """Return the largest load / capacity of a shared capacity, and the first one's name.

    The load of a group is the sum over its links: data that passes two of them counts twice.
    """
    fullest, name = Fraction(0), None
    if not topology.shared:
        return fullest, name
    place = {(link.tail, link.head): i for i, link in enumerate(topology.links)}
    for group in topology.shared:
        carried = sum(load[place[ends]] for ends in group.links)
        if carried > fullest * group.bandwidth_gb_s:
            fullest, name = carried / group.bandwidth_gb_s, group.name
    return fullest, name


def check_congestion(forest: Claims, congestion: Fraction, busiest: tuple[str, ...]) -> None:
    """Check that no link or shared capacity carries more than U trees per GB/s of bandwidth."""
    if congestion > forest.congestion:
        topology = forest.topology
        if len(busiest) == 1:
            what = f"shared capacity {busiest[0]!r}"
            many = {one.name: one.bandwidth_gb_s for one in topology.shared}[busiest[0]]
        else:
            tail, head = (topology.position_of[name] for name in busiest)
            what = f"link {busiest[0]} -> {busiest[1]}"
            many = topology.link_between[tail, head].bandwidth_gb_s
        fail(
            f"{what} is overloaded: {congestion * many} trees over {many} GB/s make {congestion} "
            f"trees per GB/s; the congestion claimed is {forest.congestion}"
        )


def _path_of(forest: Routed, hop: int) -> int:
    """Return the path of an index of ``routes.hop``."""
    return int(np.searchsorted(forest.routes.first_hop, hop, side="right")) - 1
