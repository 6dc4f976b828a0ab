"""Native simulator's form of a program: transfers over links of a few kinds.

Problem: rates and latencies change from simulation to simulation, transfers do not.
Input:   a program.
Output:  a native simulator; the bandwidth or latency of each kind.
Cost:    linear in the transfers and their hops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.errors import VerificationError
from forestcoll.native._core import Simulator as NativeSimulator
from forestcoll.schedule.program import Program
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["Kinds", "NativeForm", "NativeSimulator"]

_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Kinds:
    """Bandwidths of the kinds of links, and latencies of the kinds of paths.

    Parameters
    ----------
    bandwidths_gb_s : tuple of Fraction
        One for each kind of link or shared capacity. The kind of the adders comes behind them and
        is not included.
    hops : tuple of int
        Number of sending GPUs for each kind of path.
    latencies_us : tuple of Fraction
        Latency of the links for each kind of path.
    """

    bandwidths_gb_s: tuple[Fraction, ...]
    hops: tuple[int, ...]
    latencies_us: tuple[Fraction, ...]


class NativeForm:
    """The transfers of a program in arrays of the native simulator.

    Resources are the links of the topology, in its order, then its shared capacities, then an adder
    for each GPU. A transfer over a link also uses the shared capacities that hold it.

    Raises
    ------
    VerificationError
        If a path uses a link that the topology does not have.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        topology = program.topology
        bandwidths = [link.bandwidth_gb_s for link in topology.links]
        bandwidths += [limit for _, limit in topology.shared_places]
        known = {bandwidth: kind for kind, bandwidth in enumerate(dict.fromkeys(bandwidths))}
        adders = [len(known)] * topology.num_compute
        self._kind_of_resource = np.array([known[b] for b in bandwidths] + adders, dtype=np.int32)
        self.first_link, self.link = _links_of_paths(program)
        self._first_used, self._used = _with_groups(topology, self.first_link, self.link)
        self._delay_of_path, hops, latencies = _delays(program, self.first_link, self.link)
        self.kinds = Kinds(tuple(known), hops, latencies)
        self._native: dict[tuple[bool, bool], NativeSimulator] = {}

    @property
    def by_class(self) -> bool:
        """Whether transfers of one class may be simulated as one: there are no messages."""
        return not (self.program.message >= 0).any()

    def each_by_itself(self) -> npt.NDArray[np.int32]:
        """Return the classes of transfers if each is simulated by itself: their numbers."""
        return np.arange(self.program.num_transfers, dtype=np.int32)

    def native(self, *, adding: bool, critical_path: bool = False) -> NativeSimulator:
        """Return the simulator with or without adders, and priorities; each is made once."""
        if (adding, critical_path) not in self._native:
            program = self.program
            self._native[adding, critical_path] = NativeSimulator(
                self._kind_of_resource,
                self._first_used,
                self._used,
                self._delay_of_path,
                program.path,
                program.amount,
                self._adders() if adding else np.full(len(program.chunk), -1, dtype=np.int32),
                program.step,
                _gates(program.message),
                program.first_need,
                program.need,
                critical_path,
            )
        return self._native[adding, critical_path]

    def loads(self) -> npt.NDArray[np.float64]:
        """Return the load of each link, in units of the data."""
        over = np.bincount(
            self.program.path, weights=self.program.amount, minlength=len(self.program.paths)
        )
        on_hops = np.repeat(over, np.diff(self.first_link))
        links = len(self.program.topology.links)
        loads = np.bincount(self.link, weights=on_hops, minlength=links)
        return loads.astype(np.float64)  # bincount of an empty array returns integers

    def _adders(self) -> npt.NDArray[np.int32]:
        """Return the adder of each transfer that a GPU adds; -1 for any other."""
        program, topology = self.program, self.program.topology
        adds = program.reduce & (program.head < topology.num_compute)
        before = len(topology.links) + len(topology.shared)
        return np.where(adds, program.head + before, -1).astype(np.int32)


def _gates(message: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Number each group that starts together by its first transfer."""
    gate = np.arange(len(message), dtype=np.int32)
    which = np.flatnonzero(message >= 0)
    _, first, row = np.unique(message[which], return_index=True, return_inverse=True)
    gate[which] = which[first][row.reshape(-1)]
    return gate


def _links_of_paths(program: Program) -> tuple[_Numbers, npt.NDArray[np.int32]]:
    links, nodes = program.topology.links, len(program.topology.nodes)
    known = np.array([link.tail * nodes + link.head for link in links], dtype=np.int64)
    node, first = program.paths.node.astype(np.int64), program.paths.first_node
    inside = np.ones(len(node), dtype=np.bool_)
    inside[first[1:] - 1] = False  # from a path's last node on to the next path
    wanted = (node[:-1] * nodes + node[1:])[inside[:-1]]
    place = np.searchsorted(known, wanted)
    if not np.array_equal(np.append(known, -1)[place], wanted):
        raise VerificationError(
            "a path of this program uses a link that the topology does not have; verify it first"
        )
    return first - np.arange(len(first)), place.astype(np.int32)


def _with_groups(
    topology: Topology, first_link: _Numbers, link: npt.NDArray[np.int32]
) -> tuple[_Numbers, npt.NDArray[np.int32]]:
    """Insert behind each link of a path the shared capacities that hold it, by their numbers."""
    if not topology.shared:
        return first_link, link
    used = [[i] for i in range(len(topology.links))]
    for number, (places, _) in enumerate(topology.shared_places, start=len(topology.links)):
        for i in places:
            used[i].append(number)
    many = np.array([len(one) for one in used])[link]
    flat = [number for i in link.tolist() for number in used[i]]
    ends = np.concatenate([[0], np.cumsum(many)])
    return ends[first_link], np.array(flat, dtype=np.int32)


def _delays(
    program: Program, first_link: _Numbers, link: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], tuple[int, ...], tuple[Fraction, ...]]:
    """Return the kind of each path's delay; the sending GPUs and the latency of each kind."""
    topology, paths = program.topology, program.paths
    if not len(paths):
        return np.zeros(0, dtype=np.int32), (), ()
    gpu = np.array([node.kind is not NodeKind.SWITCH for node in topology.nodes])
    sends = gpu[paths.node]
    sends[paths.first_node[1:] - 1] = False
    hops = np.add.reduceat(sends.astype(np.int64), paths.first_node[:-1])
    exact = [one.latency_us for one in topology.links]
    unit = math.lcm(*(latency.denominator for latency in exact))
    whole = np.array([int(latency * unit) for latency in exact], dtype=object)
    of_kind, kind = np.unique(whole, return_inverse=True)
    kind = kind.reshape(-1)
    if len(of_kind) == 1:  # nearly all topologies: a path's latency depends on its length only
        summed = np.diff(first_link).astype(object) * of_kind[0]
    else:
        summed = np.add.reduceat(whole[link], first_link[:-1])
    pairs = list(zip(hops.tolist(), summed.tolist(), strict=True))
    number = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    of_path = np.array([number[pair] for pair in pairs], dtype=np.int32)
    latencies = tuple(Fraction(latency, unit) for _, latency in number)
    return of_path, tuple(hops for hops, _ in number), latencies
