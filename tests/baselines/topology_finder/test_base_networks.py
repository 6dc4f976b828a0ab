"""Base networks, and what their definitions say."""

from __future__ import annotations

import numpy as np
import pytest

from baselines.direct_connect.bfb.reverse_symmetry import mirrored
from baselines.topology_finder.base_networks import Base, bases, evaluated, measured
from forestcoll.topology import load_topology
from forestcoll.topology.operations import common_unit

SMALL = [base for nodes in range(2, 14) for degree in range(1, 5) for base in bases(nodes, degree)]


@pytest.mark.parametrize("base", SMALL, ids=lambda base: base.name)
def test_base_networks_have_their_stated_properties(base: Base) -> None:
    topology = load_topology(base.spec)
    unit = common_unit(topology)
    widths = [link.bandwidth_gb_s / unit for link in topology.links]
    pairs = {(link.tail, link.head) for link in topology.links}
    out = np.bincount([e.tail for e in topology.links], weights=[int(w) for w in widths])
    assert topology.num_compute == base.nodes
    if base.self_loops:
        assert out.max() <= base.degree
    else:
        assert (out == base.degree).all() or not base.simple
    assert not base.bidirectional or {(b, a) for a, b in pairs} == pairs
    if base.reverse_symmetric:
        assert mirrored(topology) is not None


@pytest.mark.parametrize("base", [one for one in SMALL if one.times], ids=lambda base: base.name)
def test_closed_forms_are_those_of_a_computation(base: Base) -> None:
    """But for the networks whose schedules were searched for."""
    if evaluated(base, base.times).breadth_first:
        assert measured(base) == base.times


@pytest.mark.parametrize("base", [one for one in SMALL if one.cycle], ids=lambda base: base.name)
def test_every_link_is_on_a_shortest_cycle_of_that_length(base: Base) -> None:
    from scipy.sparse.csgraph import shortest_path

    topology = load_topology(base.spec)
    links = np.zeros((base.nodes, base.nodes))
    for link in topology.links:
        links[link.tail, link.head] = 1
    hops = shortest_path(links, unweighted=True)
    assert {hops[e.head, e.tail] + 1 for e in topology.links} == {base.cycle}


def test_circulants_are_like_the_breadth_first_broadcast_without_symmetry() -> None:
    from dataclasses import replace

    for base in SMALL:
        if base.circulant:
            assert measured(base) == measured(replace(base, circulant=False))


def test_generalized_kautz_graphs_differ_from_their_reverse() -> None:
    (base,) = (one for one in bases(200, 4) if one.name == "Pi_{4,200}")
    times = measured(base)
    assert round(float(times.time), 3) == 1.273
    assert round(float(times.reverse_time), 3) == 1.7
