"""Step schedule on a network from another synthesizer's transfers.

Problem: translate a file's numbers of GPUs and chunks to a schedule for ``verify`` and ``cost``.
Input:   transfers, a topology with as many GPUs, the order of the GPUs.
Output:  a step schedule; errors of the file remain, for ``verify`` to find.
Cost:    a sort, and a search for the paths into each GPU.
Source:  none. Paths are those of :mod:`forestcoll.runtimes.scoring.least_hops`. A transfer that
         the file sends through switches takes a path through one, even if a direct link exists. In
         an allgather, a transfer through switches marked ``multicast`` alone is split into one
         send to each switch and one from it to each receiver, as TE-CCL's ``switch_copy`` does.
         All parts keep the step of the whole: a switch forwards data as it arrives.

Empty steps are left out: only their order counts. If a pair has direct and switched transfers, each
takes the first path of its kind, because all transfers of a pair share its routes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.scoring.least_hops import Pair, paths_between
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolTransfers
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.sends import Chunks, Intervals, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["Ways", "as_the_file_has_it", "cut_at_multicast_switches", "tool_schedule"]


def tool_schedule(
    transfers: ToolTransfers, topology: Topology, order: Sequence[int] | None = None
) -> StepSchedule:
    """Make a step schedule.

    Parameters
    ----------
    order : sequence of int, optional
        The rank in the topology of each GPU of the file; by default, the same number.

    Raises
    ------
    InvalidParameterError
        If the topology has another number of GPUs.
    UnsupportedError
        If no switches lead from a GPU to one that it sends to.
    """
    gpus = len(transfers.gpus)
    if gpus != topology.num_compute:
        raise InvalidParameterError(
            f"the file is for {gpus} GPUs, and {topology.name} has {topology.num_compute}; give "
            f"the network that it is for, or those who take part by --group"
        )
    rank = np.arange(gpus) if order is None else np.asarray(order)
    sends = _sends(transfers, rank)
    through = np.array([one.through for one in transfers.sends], dtype=np.bool_)
    plain, switched = _ways(topology, sends, through)
    links: Ways = {}
    if transfers.collective == "allgather":
        sends, through, switched, links = cut_at_multicast_switches(
            topology, sends, through, switched
        )
    routes = Routes.from_paths(
        {pair: plain.get(pair, ()) + switched.get(pair, ()) for pair in plain | switched} | links
    )
    both = plain.keys() & switched.keys()
    if both:
        sends = _naming_paths(sends, through, routes, {pair: len(plain[pair]) for pair in both})
    chunks = _chunks(transfers, rank)
    made = StepSchedule(topology, transfers.tool, transfers.collective, chunks, sends, routes)
    return made.in_short()


def as_the_file_has_it(transfers: ToolTransfers, message: str) -> str:
    """Append to a counter-example the file's names of its step and chunk."""
    places = []
    steps = sorted({one.step for one in transfers.sends})
    if (step := re.search(r"\bstep ([0-9]+)", message)) and int(step[1]) < len(steps):
        places.append(f"{transfers.step_word} {steps[int(step[1])]}")
    chunk = re.search(r"\bchunk ([0-9]+)", message)
    if chunk and int(chunk[1]) < len(transfers.chunks):
        places.append(transfers.chunks[int(chunk[1])].name)
    return f"{message} (in the file: {', '.join(places)})" if places else message


def _chunks(transfers: ToolTransfers, rank: np.ndarray) -> Chunks:
    """Convert roots and targets to ranks of the topology."""
    known = np.append(rank, -1).astype(np.int32)
    roots = known[np.array([one.root for one in transfers.chunks], dtype=np.int64)]
    targets = known[np.array([one.target for one in transfers.chunks], dtype=np.int64)]
    size = np.full(len(transfers.chunks), transfers.units, dtype=np.int64)
    return Chunks(size, transfers.whole, roots, targets)


def _sends(transfers: ToolTransfers, rank: np.ndarray) -> Sends:
    """Return the transfers in the order of the file, their steps numbered without gaps."""
    rows = transfers.sends
    steps = np.array([one.step for one in rows], dtype=np.int64)
    ends = [rank[np.array([one[i] for one in rows], dtype=np.int64)] for i in (2, 3)]
    return Sends(
        step=np.unique(steps, return_inverse=True)[1].reshape(-1).astype(np.int32),
        chunk=np.array([one.chunk for one in rows], dtype=np.int32),
        tail=ends[0].astype(np.int32),
        head=ends[1].astype(np.int32),
        reduce=np.array([one.adds for one in rows], dtype=np.bool_),
        interval=Intervals(
            np.array([one.first for one in rows], dtype=np.int64),
            np.array([one.amount for one in rows], dtype=np.int64),
        ),
    )


def _ways(topology: Topology, sends: Sends, through: np.ndarray) -> tuple[Ways, Ways]:
    """Find the paths of direct pairs, and those of pairs that send through switches."""
    pairs: dict[bool, set[Pair]] = {False: set(), True: set()}
    for tail, head, switched in zip(
        sends.tail.tolist(), sends.head.tolist(), through.tolist(), strict=True
    ):
        pairs[switched].add((tail, head))
    return (
        paths_between(topology, pairs[False]),
        paths_between(topology, pairs[True], through=True),
    )


def _naming_paths(
    sends: Sends, through: np.ndarray, routes: Routes, plain: dict[Pair, int]
) -> Sends:
    """Fix the first path of its kind for each transfer of pairs with both kinds."""
    link = {
        pair: number
        for number, pair in enumerate(zip(routes.tail.tolist(), routes.head.tolist(), strict=True))
    }
    path = np.full(len(sends), -1, dtype=np.int32)
    for number, pair in enumerate(zip(sends.tail.tolist(), sends.head.tolist(), strict=True)):
        if pair in plain:
            path[number] = routes.first_path[link[pair]] + through[number] * plain[pair]
    return Sends(
        sends.step, sends.chunk, sends.tail, sends.head, sends.reduce, sends.interval, path
    )


Ways = dict[Pair, tuple[Path, ...]]


def cut_at_multicast_switches(
    topology: Topology, sends: Sends, through: npt.NDArray[np.bool_], switched: Ways
) -> tuple[Sends, npt.NDArray[np.bool_], Ways, Ways]:
    """Split transfers of whole chunks at multicast switches.

    Parameters
    ----------
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
            last = (
                number if not topology.nodes[head].is_switch else -1
            )  # two of these are a finding
            parts[step, chunk, *ends, last] = (tail, head)
    kept = np.flatnonzero(~cut)
    joined = Sends.joined([replace(sends.taken(kept), interval=None), _whole_sends(list(parts))])
    left = {pair: paths for pair, paths in switched.items() if pair not in nodes}
    links: Ways = {(key[2], key[3]): (Path(link, 1),) for key, link in parts.items()}
    return joined, np.append(through[kept], np.zeros(len(parts), dtype=np.bool_)), left, links


def _whole_sends(parts: list[tuple[int, int, int, int, int]]) -> Sends:
    step, chunk, tail, head, _ = np.array(parts, dtype=np.int64).T.astype(np.int32)
    return Sends(step, chunk, tail, head, np.zeros(len(parts), dtype=np.bool_))
