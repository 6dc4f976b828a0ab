"""Split transfers at multicast switches: one copy to the switch, one from it to each receiver.

Problem: a file says "1->2 via switches 0" and "1->3 via switches 0" in one epoch; with a multicast
         switch, that is one transfer to it and two from it.
Input:   transfers between GPUs, a mark for those through switches, their paths.
Output:  the same transfers, split at every switch of their path if all of these are marked
         ``multicast`` and the path is unique. Equal parts of one step, chunk and link are merged.
Cost:    linear.
Source:  TE-CCL's ``switch_copy``. All parts keep the step of the whole transfer: a switch forwards
         data as it arrives.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from forestcoll.runtimes.scoring.least_hops import Pair
from forestcoll.schedule.forest import Path
from forestcoll.schedule.sends import Sends
from forestcoll.topology.model import Topology

__all__ = ["Ways", "cut_at_copying_switches"]

Ways = dict[Pair, tuple[Path, ...]]


def cut_at_copying_switches(
    topology: Topology, sends: Sends, through: npt.NDArray[np.bool_], switched: Ways
) -> tuple[Sends, npt.NDArray[np.bool_], Ways, Ways]:
    """Split transfers of whole chunks at multicast switches.

    Parameters
    ----------
    topology : Topology
    sends : Sends
        Whole chunks.
    through : bool array
        Whether the file sends each transfer through switches.
    switched : mapping of pairs to paths
        Paths of the transfers through switches.

    Returns
    -------
    tuple
        The transfers, the mark of those still through switches, their paths, and the links of the
        parts. Unchanged transfers come first, in their order.
    """
    nodes = {
        pair: paths[0].nodes
        for pair, paths in switched.items()
        if len(paths) == 1 and all(topology.nodes[v].multicast for v in paths[0].nodes[1:-1])
    }
    pairs = list(zip(sends.tail.tolist(), sends.head.tolist(), strict=True))
    cut = np.array([pair in nodes for pair in pairs], dtype=np.bool_) & through
    if not cut.any():
        return sends, through, switched, {}
    end_of = {node: end for end, node in enumerate(topology.ends)}
    parts: dict[tuple[int, int, int, int, int], Pair] = {}
    for number in np.flatnonzero(cut).tolist():
        step, chunk = int(sends.step[number]), int(sends.chunk[number])
        for tail, head in pairwise(nodes[pairs[number]]):
            ends = end_of[tail], end_of[head]
            last = number if not topology.nodes[head].is_switch else -1  # two of these are told
            parts[step, chunk, *ends, last] = (tail, head)
    kept = np.flatnonzero(~cut)
    joined = Sends.joined([replace(sends.taken(kept), interval=None), _sends(list(parts))])
    left = {pair: paths for pair, paths in switched.items() if pair not in nodes}
    links: Ways = {(key[2], key[3]): (Path(link, 1),) for key, link in parts.items()}
    return joined, np.append(through[kept], np.zeros(len(parts), dtype=np.bool_)), left, links


def _sends(parts: list[tuple[int, int, int, int, int]]) -> Sends:
    step, chunk, tail, head, _ = np.array(parts, dtype=np.int64).T.astype(np.int32)
    return Sends(step, chunk, tail, head, np.zeros(len(parts), dtype=np.bool_))
