"""Networks made of networks, by name."""

import pytest

from forestcoll.errors import InvalidTopologyError, UnsupportedError
from forestcoll.topology import load_topology, operations


@pytest.mark.parametrize(
    ("spec", "gpus"),
    [
        ("line_graph:of=(complete:nodes=5)", 20),
        ("line_graph:times=2,of=(circulant:nodes=16,offsets=3+4)", 256),
        ("line_graph:of=(bi_ring:degree=4,nodes=5)", 10),
        ("line_graph:unit=1,of=(bi_ring:degree=4,nodes=5)", 20),
        ("degree_expansion:times=3,of=(ring:nodes=4)", 12),
        ("cartesian_power:exponent=2,of=(line_graph:of=(complete:nodes=3))", 36),
        ("cartesian_product:of=(ring:nodes=3)(ring:nodes=4,bidirectional=false)", 12),
        ("both_ways:of=(diamond)", 8),
    ],
)
def test_an_expanded_network_is_named_by_its_construction(spec: str, gpus: int) -> None:
    """The name is a specification of the same network."""
    topology = load_topology(spec)
    assert topology.num_compute == gpus
    assert load_topology(topology.name) == topology


def test_specifications_build_the_networks_of_the_operations() -> None:
    ring, diamond = load_topology("ring:nodes=4"), load_topology("diamond")
    product = operations.cartesian_product(ring, diamond)
    for spec, made in (
        ("line_graph:of=(diamond)", operations.line_graph(diamond)),
        ("degree_expansion:of=(diamond),times=2", operations.degree_expansion(diamond, 2)),
        ("cartesian_power:of=(diamond),exponent=2", operations.cartesian_power(diamond, 2)),
        ("cartesian_product:of=(ring:nodes=4)(diamond)", product),
        ("both_ways:of=(diamond)", operations.both_ways(diamond)),
    ):
        assert load_topology(spec).links == made.links
        assert load_topology(spec).nodes == made.nodes


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("line_graph:of=(rung:nodes=4)", "did you mean ring"),
        ("line_graph:of=(ring:nodes=4", "parentheses that do not close"),
        ("cartesian_product:of=ring:nodes=4", "each in parentheses"),
        ("cartesian_product:of=(ring:nodes=4)()", "each in parentheses"),
        ("line_graph:of=(ring:nodes=4)(diamond)", "must be the specification of a network"),
        ("degree_expansion:of=(diamond),times=0", "times is '0'"),
        ("line_graph:unit=0,of=(diamond)", "unit is '0'"),
        ("line_graph:unit=3/2,of=(diamond)", "whole multiple"),
        ("line_graph:of=ring:nodes=4)", "parentheses that do not close"),
        ("both_ways:of=(" * 60 + "diamond" + ")" * 60, "at most 50 of them"),
        ("line_graph:of=(ring:nodes=4),times=64", "GPUs and .* links; at most"),
        ("cartesian_power:of=(ring:nodes=2),exponent=20", "at most 1000000 and"),
        ("cartesian_product:of=(ring:nodes=2000)(ring:nodes=2000)", "would have 4000000 GPUs"),
        ("degree_expansion:of=(complete:nodes=100),times=1024", "links; at most"),
        ("generalized_kautz:degree=1024,nodes=100000", "ask for fewer"),
        ("random_regular:nodes=100000,degree=1024", "ask for fewer"),
    ],
)
def test_malformed_names_are_refused(spec: str, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=message):
        load_topology(spec)


def test_switches_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="networks of GPUs only"):
        load_topology("line_graph:of=(dgx_a100:boxes=1)")
