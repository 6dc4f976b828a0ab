"""Linear program that balances the links of each GPU and step: a reference for the flows.

Problem: for GPU u and step t, with x(v, w) the part of v's shard that comes over the link from w,

             min  U
             s.t. capacity(w) (U - delay(w)) >= size * sum of x(v, w) over v   for every link used
                  sum of x(v, w) over w = 1                                    for every v
                  x >= 0

         where v is t hops from u, and w, a predecessor of u, is t - 1 hops from v.
Output:  U as a float, with the tolerance of the solver.
Cost:    one linear program for each GPU and step, d links and d variables a source; with delays
         one for each number of links in use.
Source:  Zhao et al. (NSDI 2025), programs (1) and (14), by HiGHS. As printed (14) charges a link
         its latency even if it carries nothing; here links may stay idle. With the links in order
         of their delays, an optimum uses the first 1, 2, ... of them, so all prefixes are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from forestcoll.solver.linear_program import Program, Settings
from forestcoll.solver.solve import solve

__all__ = ["TOLERANCE", "NodePrograms"]

TOLERANCE = 1e-9
"""Feasibility tolerance of rows and bounds."""

_SECONDS = 60.0  # of one program, which takes milliseconds


@dataclass(frozen=True)
class NodePrograms:
    """The programs of a network.

    Parameters
    ----------
    hops : int64 array, N x N
        From each rank to each.
    """

    network: BroadcastNetwork
    hops: npt.NDArray[np.int64]

    @classmethod
    def of(cls, network: BroadcastNetwork) -> NodePrograms:
        """Find the distances of a network, all of whose GPUs reach each other."""
        size = network.topology.num_compute
        links = (np.ones(len(network.tail)), (network.tail, network.head))
        hops = shortest_path(sp.csr_array(links, shape=(size, size)), unweighted=True)
        return cls(network, hops.astype(np.int64))

    @property
    def steps(self) -> int:
        """The diameter."""
        return int(self.hops.max())

    def time(self, rank: int, step: int) -> float:
        """U of a GPU in a step, from 0, in the network's unit; 0 if nothing comes in."""
        sources = np.flatnonzero(self.hops[:, rank] == step + 1)
        if len(sources) == 0:
            return 0.0
        links = np.flatnonzero(self.network.head == rank)
        delays = self.network.delay[links]
        times = [self._solved(sources, links[delays <= last], step) for last in np.unique(delays)]
        return min(time for time in times if time is not None)

    def _solved(
        self, sources: npt.NDArray[np.int64], links: npt.NDArray[np.int64], step: int
    ) -> float | None:
        """Solve it with these links, or return None if some source can use none of them."""
        network = self.network
        usable = self.hops[sources[:, None], network.tail[links]] == step
        if not usable.any(axis=1).all():
            return None
        source, link = np.nonzero(usable)
        variables = len(source)
        columns = np.arange(variables)
        complete = sp.csr_array(
            (np.ones(variables), (source, columns)), shape=(len(sources), variables + 1)
        )
        capacity = network.capacity[links].astype(float)
        slack = sp.csr_array(
            (
                np.concatenate([np.full(variables, -float(network.size)), capacity]),
                (
                    np.concatenate([link, np.arange(len(links))]),
                    np.concatenate([columns, np.full(len(links), variables)]),
                ),
            ),
            shape=(len(links), variables + 1),
        )
        busy = capacity * network.delay[links]
        program = Program(
            cost=np.eye(variables + 1)[variables],
            matrix=sp.vstack([complete, slack]),
            row_lower=np.concatenate([np.ones(len(sources)), busy]),
            row_upper=np.concatenate([np.ones(len(sources)), np.full(len(links), np.inf)]),
            lower=np.zeros(variables + 1),
            upper=np.append(np.ones(variables), np.inf),
        )
        found = solve(program, Settings(seconds=_SECONDS, tolerance=TOLERANCE))
        return float(found.objective)
