"""The paper's pipeline: topology in, optimal forest out.

Problem: k spanning out-trees of equal bandwidth per GPU that attain the bound (*).
Input:   a topology whose switches can receive all they send (in >= out).
Output:  a Forest with the physical paths of its logical links.
Cost:    that of Algorithms 1, 3 and 4.
Source:  ForestColl section 5 and appendix E; path recovery as described at the end of E.3.
"""

from collections import Counter, deque
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.topology.model import Topology
from tests.reference.edge_splitting import Routing, remove_switches
from tests.reference.fixed_k import fixed_k_reference, rounded_down
from tests.reference.flow import Capacity
from tests.reference.optimality import optimum_reference
from tests.reference.tree_packing import Batch, pack_trees


def generate_reference(topology: Topology) -> Forest:
    """Return an optimal forest."""
    optimum = optimum_reference(topology)
    return _build(topology, optimum.k, optimum.congestion, optimum)


def generate_fixed_k_reference(topology: Topology, k: int) -> Forest:
    """Return the best forest with k trees per root; for links of equal bandwidth both ways."""
    return _build(topology, k, fixed_k_reference(topology, k), None)


def _build(topology: Topology, k: int, congestion: Fraction, optimum: Optimum | None) -> Forest:
    bandwidth = {(link.tail, link.head): link.bandwidth_gb_s for link in topology.links}
    capacity = rounded_down(bandwidth, congestion)
    trees = dict.fromkeys(topology.compute, k)
    logical, routing = remove_switches(capacity, topology.switches, trees)
    batches = pack_trees(logical, trees)
    rank = topology.rank_of
    return Forest(
        topology=topology,
        method="paper",
        k=k,
        congestion=congestion,
        root=np.array([rank[batch.root] for batch in batches], dtype=np.int32),
        multiplicity=np.array([batch.multiplicity for batch in batches], dtype=np.int64),
        parent=_parents(topology, batches),
        routes=_routes(topology, batches, capacity, routing),
        optimum=optimum,
    )


def _parents(topology: Topology, batches: list[Batch]) -> npt.NDArray[np.int32]:
    parent = np.full((len(batches), topology.num_compute), -1, dtype=np.int32)
    for row, batch in zip(parent, batches, strict=True):
        for tail, head in batch.edges:
            row[topology.rank_of[head]] = topology.rank_of[tail]
    return parent


def _routes(
    topology: Topology, batches: list[Batch], capacity: Capacity, routing: Routing
) -> Routes:
    """Give every logical link as many physical paths as trees use it."""
    used: Counter[tuple[int, int]] = Counter()
    for batch in batches:
        used.update(dict.fromkeys(batch.edges, batch.multiplicity))
    physical = dict(capacity)
    left = {link: dict(via) for link, via in routing.items()}
    rank = topology.rank_of
    return Routes.from_paths(
        {
            (rank[tail], rank[head]): _draw(physical, left, tail, head, amount)
            for (tail, head), amount in used.items()
        }
    )


def _draw(physical: Capacity, left: Routing, u: int, t: int, amount: int) -> list[Path]:
    """Take ``amount`` of the link (u, t): first what is physical, then what runs over switches.

    Whatever the order of drawing, nothing runs out: a link is drawn on by no more than it was split
    by, and a switch only ever stands in for links made before it was removed.
    """
    direct = min(amount, physical.get((u, t), 0))
    paths = [Path((u, t), direct)] if direct else []
    if direct:
        physical[u, t] -= direct
    missing = amount - direct
    via = left.get((u, t), {})
    for w in list(via):
        taken = min(missing, via[w])
        if taken:
            via[w] -= taken
            missing -= taken
            first, second = (_draw(physical, left, *link, taken) for link in ((u, w), (w, t)))
            paths += _joined(first, second)
    assert missing == 0, f"link ({u}, {t}) lacks {missing} of {amount}"
    return paths


def _joined(first: list[Path], second: list[Path]) -> list[Path]:
    """Join paths that end in a node with as many that start there."""
    heads, tails, joined = deque(first), deque(second), []
    while heads and tails:
        head, tail = heads.popleft(), tails.popleft()
        amount = min(head.multiplicity, tail.multiplicity)
        joined.append(Path(head.nodes + tail.nodes[1:], amount))
        if head.multiplicity > amount:
            heads.appendleft(Path(head.nodes, head.multiplicity - amount))
        if tail.multiplicity > amount:
            tails.appendleft(Path(tail.nodes, tail.multiplicity - amount))
    return joined
