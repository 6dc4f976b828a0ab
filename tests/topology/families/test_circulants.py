"""Circulants, counted by hand or against networkx."""

from __future__ import annotations

import re
from fractions import Fraction

import networkx as nx
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology, validate
from forestcoll.topology.families.circulants import circulant


def test_circulant_is_networkx_circulant():
    ours = circulant(16, (3, 4)).to_networkx().to_undirected()
    assert nx.is_isomorphic(ours, nx.circulant_graph(16, [3, 4]))


def test_circulant_offsets_that_repeat_or_halve_the_circle_double_the_bandwidth():
    assert {e.bandwidth_gb_s for e in circulant(5, (1, 1)).links} == {Fraction(2)}
    assert {e.bandwidth_gb_s for e in circulant(6, (3,)).links} == {Fraction(2)}


def test_circulant_is_named_by_a_specification():
    topology = circulant(16, (3, 4), "12.5")
    assert topology.name == "circulant:nodes=16,offsets=3+4,bandwidth=12.5"
    assert load_topology(topology.name) == topology


@pytest.mark.parametrize(
    "spec",
    [
        "circulant:nodes=16,offsets=3+4",
    ],
)
def test_every_network_allows_an_allgather(spec):
    validate(load_topology(spec))


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("circulant:nodes=4,offsets=4", "to itself"),
        ("circulant:nodes=4,offsets=0", "joined by +"),
        ("circulant:nodes=4,offsets=1x2", "joined by +"),
    ],
)
def test_impossible_networks_are_refused(spec, fault):
    with pytest.raises(InvalidTopologyError, match=re.escape(fault)):
        load_topology(spec)
