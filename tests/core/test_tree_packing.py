"""Trees packed into logical links: too many are refused, multiplicities are exact."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll import generate
from forestcoll.core.edge_splitting import remove_switches
from forestcoll.core.optimality import optimum
from forestcoll.core.problem import Problem
from forestcoll.core.tight_sets import decompose
from forestcoll.core.tree_packing import pack_trees
from forestcoll.errors import InfeasibleError
from forestcoll.topology import load_topology


def test_asking_for_more_trees_than_fit_is_infeasible():
    """One tree more per root than the optimum's k breaks the bottleneck cut."""
    topology = load_topology("dgx_a100:boxes=2")
    best = optimum(topology)
    enough = np.full(topology.num_compute, best.k, dtype=np.int64)
    with pytest.raises(InfeasibleError, match="cannot carry"):
        decompose(Problem.at(topology, best.congestion, enough + 1))
    parts = decompose(Problem.at(topology, best.congestion, enough))
    with pytest.raises(InfeasibleError, match="cannot carry"):
        remove_switches(replace(parts.problem, trees=enough + 1), parts.sets)
    with pytest.raises(InfeasibleError, match="lacks capacity"):
        pack_trees(remove_switches(parts.problem, parts.sets), enough + 1)


def test_box_bound_trees_cross_each_box_once():
    """A100 x4 is bound by its boxes: every tree enters each other box exactly once."""
    topology = load_topology("dgx_a100:boxes=4")
    box = [topology.nodes[v].box for v in topology.compute]
    for tree in generate(topology).schedule.trees():
        crossings = [box[b] for a, b in tree.edges if box[a] != box[b]]
        assert sorted(crossings) == sorted({0, 1, 2, 3} - {box[tree.root]})


def test_logical_links_are_shared_unless_some_carry_no_tree():
    """Ends of a hundred thousand links are not copied; a link without trees is dropped."""
    topology = load_topology("dgx_a100:boxes=4")
    best = optimum(topology)
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    parts = decompose(Problem.of(best, trees))
    logical = remove_switches(parts.problem, parts.sets)
    links = pack_trees(logical, trees).links
    assert links.tail is logical.tail
    assert links.head is logical.head
    assert (links.load <= logical.capacity).all()
    unused = replace(
        logical,
        tail=np.append(logical.tail, logical.tail[-1]),
        head=np.append(logical.head, logical.head[-1]),
        capacity=np.append(logical.capacity, 0),
    )
    dropped = pack_trees(unused, trees).links
    assert np.array_equal(dropped.tail, links.tail)
    assert np.array_equal(dropped.head, links.head)
    assert np.array_equal(dropped.load, links.load)
