"""The narrowest cuts of small networks, beside all of them one by one."""

from fractions import Fraction
from itertools import chain, combinations

import pytest

from forestcoll.runtimes.scoring.every_cut import MOST_NODES, narrowest_sets
from forestcoll.topology import Topology, load_topology
from tests.random_topologies import KINDS, random_topology


def out_of(topology: Topology, nodes: tuple[int, ...]) -> Fraction:
    wide = (e.bandwidth_gb_s for e in topology.links if e.tail in nodes and e.head not in nodes)
    return sum(wide, start=Fraction(0))


@pytest.mark.parametrize("seed", range(8))
def test_none_with_as_many_gpus_is_narrower(seed: int) -> None:
    topology = random_topology(seed, KINDS[seed % len(KINDS)])
    every = range(len(topology.nodes))
    least: dict[int, Fraction] = {}
    for nodes in chain.from_iterable(combinations(every, size) for size in every):
        gpus = sum(not topology.nodes[node].is_switch for node in nodes)
        least[gpus] = min(least.get(gpus, out_of(topology, nodes)), out_of(topology, nodes))
    found = narrowest_sets(topology)
    assert [out_of(topology, nodes) for nodes in found] == [
        least[gpus] for gpus in range(1, topology.num_compute)
    ]


def test_a_larger_network_has_too_many() -> None:
    assert narrowest_sets(load_topology(f"ring:nodes={MOST_NODES}"))
    assert narrowest_sets(load_topology(f"ring:nodes={MOST_NODES + 1}")) == []
