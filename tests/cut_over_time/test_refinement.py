"""Merged networks: few nodes where many are alike, and the same flows."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.cut_over_time.flow_over_time import FlowOverTime
from forestcoll.cut_over_time.refinement import merged, stable_colours
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology import load_topology
from tests.random_topologies import random_topology


def test_two_boxes_are_six_kinds_of_nodes():
    """GPU 0, the 7 others of its box, both NVSwitches, the GPUs of the other box, and ib."""
    network = load_topology("dgx_a100:boxes=2")
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    colours = np.zeros(links.nodes, dtype=np.int64)
    colours[list(network.compute)] = 1
    colours[0] = 2
    classes = merged(links, colours)
    assert classes.links.nodes == 6
    assert sorted(np.bincount(classes.of_node).tolist()) == [1, 1, 1, 1, 7, 8]
    assert 8 * 25 in classes.links.capacity


def test_latencies_and_bandwidths_keep_nodes_apart():
    for capacity, latency in ([(1, 1, 1, 2), (3, 3, 3, 3)], [(1, 1, 1, 1), (3, 3, 3, 4)]):
        links = TimedLinks(4, [0, 1, 2, 3], [1, 2, 3, 0], capacity, latency, 1, 1)
        assert len(set(stable_colours(links, np.zeros(4, dtype=np.int64)).tolist())) == 4
    even = TimedLinks(4, [0, 1, 2, 3], [1, 2, 3, 0], [1] * 4, [3] * 4, 1, 1)
    assert set(stable_colours(even, np.zeros(4, dtype=np.int64)).tolist()) == {0}


@pytest.mark.parametrize("spec", ["ring:nodes=6", "mi250:boxes=1", "hypercube:dimension=3", 3, 4])
def test_flows_of_classes_are_flows_of_nodes(spec: str | int):
    network = load_topology(spec) if isinstance(spec, str) else random_topology(spec, "directed")
    links = TimedLinks.of(network, Fraction(2), reduction=False)
    sink, *others = network.compute
    colours = np.zeros(links.nodes, dtype=np.int64)
    colours[others] = 1
    colours[sink] = 2
    classes = merged(links, colours)
    place = classes.of_node.tolist()
    small = FlowOverTime(classes.links, {place[v] for v in others}, {place[sink]})
    whole = FlowOverTime(links, others, [sink])
    for amount in (Fraction(1), Fraction(100), Fraction(10**5)):
        there, here = small.least_time(amount), whole.least_time(amount)
        assert there is not None
        assert here is not None
        assert there[0] == here[0]
