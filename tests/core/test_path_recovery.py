"""Logical links back to paths: as many trees as they carry, over links that have room for them."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from forestcoll.core.edge_splitting import remove_switches
from forestcoll.core.optimality import optimum
from forestcoll.core.path_recovery import find_routes
from forestcoll.core.problem import Problem
from forestcoll.core.tight_sets import decompose
from forestcoll.core.tree_packing import pack_trees
from forestcoll.schedule.factored import Links
from forestcoll.schedule.forest import Routes
from forestcoll.topology import Topology, load_topology
from tests.random_topologies import KINDS, random_topology
from tests.schedule.made.hand import rails2


def routed(topology: Topology, share: int = 1) -> tuple[Problem, Links, Routes]:
    """Run all stages, and route a share of the trees over each logical link, rounded up."""
    best = optimum(topology)
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    parts = decompose(Problem.at(topology, best.congestion, trees))
    logical = remove_switches(parts.problem, parts.sets)
    loads = pack_trees(logical, trees).links
    loads = Links(loads.tail, loads.head, -(-loads.load // share))
    return parts.problem, loads, find_routes(parts.problem, logical, loads)


def assert_walkable(topology: Topology, share: int = 1) -> None:
    problem, loads, routes = routed(topology, share)
    paths = routes.paths()
    due = zip(loads.tail.tolist(), loads.head.tolist(), loads.load.tolist(), strict=True)
    over: Counter[tuple[int, int]] = Counter()
    for tail, head, load in due:
        assert sum(path.multiplicity for path in paths[tail, head]) == load
        for path in paths[tail, head]:
            ends = topology.compute[tail], topology.compute[head]
            assert (path.nodes[0], path.nodes[-1]) == ends
            assert all(topology.nodes[node].is_switch for node in path.nodes[1:-1])
            for hop in pairwise(path.nodes):
                over[hop] += path.multiplicity
    assert len(paths) == len(loads)
    room = dict(zip(topology.link_between, problem.capacity.tolist(), strict=True))
    assert over.keys() <= room.keys()
    assert all(trees <= room[hop] for hop, trees in over.items())


def test_two_rails_carry_trees_by_their_bandwidth() -> None:
    """Switches s and t of 1 and 2 GB/s between two GPUs: one tree and two, each way."""
    *_, routes = routed(rails2().topology)
    found = {link: set(paths) for link, paths in routes.paths().items()}
    assert found == {link: set(paths) for link, paths in rails2().routes.paths().items()}


def test_gpus_that_are_joined_directly_need_no_switch() -> None:
    *_, routes = routed(load_topology("ring:nodes=4"))
    assert {path.nodes for paths in routes.paths().values() for path in paths} == {
        (a, (a + step) % 4) for a in range(4) for step in (1, 3)
    }


@pytest.mark.parametrize(
    "spec", ["dgx_a100:boxes=2,nics=nodes", "fat_tree:leaves=3,hosts=2,spines=2"]
)
@pytest.mark.parametrize("share", [1, 3])
def test_paths_of_clusters_are_walks_with_room(spec: str, share: int) -> None:
    """Through one to five switches, all trees or a third of them."""
    assert_walkable(load_topology(spec), share)


@pytest.mark.parametrize("kind", KINDS)
def test_paths_of_random_networks_are_walks_with_room(kind: str) -> None:
    for seed in range(10):
        assert_walkable(random_topology(seed, kind))
