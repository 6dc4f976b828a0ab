"""Table 9 of the BFB paper, row by row and cell by cell.

Its ticks are lost in the text that we have, its crosses and conditions are not. So what is neither
crossed nor under a condition counts as ticked, and is found to be so.
"""

from dataclasses import dataclass

import pytest

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.direct_connect.bfb.node_program import NodePrograms
from baselines.direct_connect.bfb.optimal_search import SEARCHED
from baselines.direct_connect.bfb.reverse_symmetry import mirrored
from baselines.direct_connect.bfb.theory import least_steps, why_not_optimal
from forestcoll.topology import Topology, load_topology


@dataclass(frozen=True)
class Base:
    """A network of the table: its degree and size, and what the row says of it."""

    spec: str
    degree: int
    nodes: int
    mirrored: bool = True
    optimal: bool = True  # in bandwidth
    steps: int | None = None  # T_L; None where the row has Moore's
    breadth_first: bool = True
    loops: bool = False
    parallel: bool = False


BASES = (
    Base("complete:nodes=5", 4, 5),
    Base("complete_bipartite:degree=4", 4, 8),
    Base("hamming:dimensions=2,letters=3", 2 * 2, 3**2, steps=2),
    Base("hamming:dimensions=3,letters=2", 3 * 1, 2**3, steps=3),
    Base("kautz:degree=4,length=0", 4, 5),
    Base("kautz:degree=2,length=2", 2, 2**2 * 3, optimal=False),
    Base("kautz:degree=3,length=1", 3, 3 * 4, optimal=False),
    Base("generalized_kautz:degree=4,nodes=5", 4, 5),
    Base("generalized_kautz:degree=4,nodes=9", 4, 9, mirrored=False, optimal=False, loops=True),
    Base("generalized_kautz:degree=2,nodes=9", 2, 9, mirrored=False, optimal=False),
    Base("circulant:nodes=12,offsets=2+3", 4, 12, steps=2),
    Base("circulant:nodes=16,offsets=3+4", 4, 16, steps=3),
    Base("directed_circulant:degree=4", 4, 6),
    Base("bi_ring:degree=2,nodes=7", 2, 7, steps=7 // 2),
    Base("bi_ring:degree=4,nodes=8", 4, 8, steps=8 // 2, parallel=True),
    Base("uni_ring:degree=1,nodes=5", 1, 5, steps=5 - 1),
    Base("uni_ring:degree=3,nodes=6", 3, 6, steps=6 - 1, parallel=True),
    Base("diamond", 2, 8, mirrored=False, breadth_first=False),
    Base("de_bruijn:degree=4,length=1", 4, 4, loops=True),
    Base("de_bruijn:degree=3,length=2", 3, 3**2, optimal=False, loops=True),
    Base("modified_de_bruijn:degree=2,length=3", 2, 8, steps=4, breadth_first=False),
    Base("modified_de_bruijn:degree=2,length=4", 2, 16, False, steps=5, breadth_first=False),
    Base("modified_de_bruijn:degree=3,length=2", 3, 9, False, steps=3, breadth_first=False),
    Base("modified_de_bruijn:degree=4,length=2", 4, 16, False, steps=3, breadth_first=False),
    Base("distance_regular:graph=pg-2-3", 4, 26),
    Base("distance_regular:graph=doubled-odd-4", 4, 70, steps=7),
)

rows = pytest.mark.parametrize("base", BASES, ids=lambda base: base.spec)


def network_of(topology: Topology) -> BroadcastNetwork:
    return BroadcastNetwork.of(topology)


@rows
def test_sizes_degrees_self_loops_and_parallel_links_are_those_of_the_row(base: Base) -> None:
    """Self-loops are left out here: a GPU that has one has a link less; in DBJ(4, 1) all have."""
    topology = load_topology(base.spec)
    assert topology.num_compute == base.nodes
    assert max(topology.egress_gb_s) == base.degree - (base.nodes == base.degree)
    assert (min(topology.egress_gb_s) < base.degree) == base.loops
    assert (max(link.bandwidth_gb_s for link in topology.links) > 1) == base.parallel


@rows
def test_base_networks_are_reverse_symmetric_as_the_row_states(base: Base) -> None:
    assert (mirrored(load_topology(base.spec)) is not None) == base.mirrored


@rows
def test_steps_are_the_printed_ones_or_the_fewest(base: Base) -> None:
    """Of a broadcast that is not breadth-first those of the schedule that is kept."""
    if base.breadth_first:
        network = network_of(load_topology(base.spec))
        steps = int(NodePrograms.of(network).hops.max())
    else:
        steps = SEARCHED[base.spec][1]
    assert steps == (base.steps or least_steps(base.nodes, base.degree))


@rows
def test_breadth_first_broadcasts_are_optimal_as_the_row_states(base: Base) -> None:
    """Theorem 17; where they are not, but something else is, test_optimal_search.py has that."""
    network = network_of(load_topology(base.spec))
    best = why_not_optimal(broadcast_times(network, Alike.none(base.nodes))) is None
    assert best == (base.optimal and base.breadth_first)


@pytest.mark.parametrize("nodes", range(5, 30))
@pytest.mark.parametrize("degree", [2, 3, 4])
@pytest.mark.each_value_once
def test_generalized_kautz_graphs_have_the_degrees_and_steps_of_the_row(
    degree: int, nodes: int
) -> None:
    """Self-loops unless degree + 1 divides the size; at most a step more than the fewest."""
    topology = load_topology(f"generalized_kautz:degree={degree},nodes={nodes}")
    assert (min(topology.egress_gb_s) < degree) == (nodes % (degree + 1) != 0)
    steps = int(NodePrograms.of(network_of(topology)).hops.max())
    assert steps <= least_steps(nodes, degree) + 1
