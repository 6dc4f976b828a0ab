"""Blink's own packing: near the best rate by weights, then few trees by an integer program."""

from fractions import Fraction

import pytest

from baselines.synthesizers.blink.packing import Network, Packing, fewest, many, pack
from forestcoll.problem.limits import Limits
from forestcoll.topology import Topology, load_topology
from tests.baselines.dgx1 import dgx1
from tests.baselines.single_root import (
    least_max_flow,
)


def network(topology: Topology, root: int = 0) -> Network:
    links = topology.integer_capacities
    return Network(
        topology.num_compute,
        tuple(zip(links.tail.tolist(), links.head.tolist(), strict=True)),
        tuple(links.capacity.tolist()),
        root,
        least_max_flow(topology, root) * links.denominator,
    )


@pytest.mark.parametrize("epsilon", ["1/2", "1/10", "1/20"])
@pytest.mark.parametrize("spec", ["dgx1", "hypercube:dimension=3", "ring:nodes=5"])
@pytest.mark.each_value_once
def test_multiplicative_weights_come_within_epsilon(spec: str, epsilon: str) -> None:
    """No link carries more than it can, and the rate is at least 1 - epsilon of the best."""
    net = network(dgx1() if spec == "dgx1" else load_topology(spec))
    packing = many(net, Fraction(epsilon))
    for link, capacity in zip(net.links, net.capacity, strict=True):
        trees = (count for tree, count in packing.weight.items() if tree[link[1]] == link[0])
        assert sum(trees) * packing.unit <= capacity
    assert (1 - Fraction(epsilon)) * net.best <= packing.rate <= net.best


def test_units_are_halved_if_whole_trees_miss_the_rate() -> None:
    """Three trees, of which any two share a link of capacity 1: one whole, or three halves."""
    trees = [(-1, 0, 1, 0), (-1, 0, 0, 2), (-1, 3, 0, 0)]
    links = sorted({(tree[v], v) for tree in trees for v in (1, 2, 3)})
    net = Network(4, tuple(links), (1,) * len(links), 0, Fraction(3))
    found = Packing(dict.fromkeys(trees, 1), Fraction(1, 2))
    enough = Fraction(3, 2)
    assert fewest(net, found, enough, Fraction(1)) is None
    assert fewest(net, found, enough, Fraction(1, 2)) == found
    one = fewest(net, found, Fraction(1), Fraction(1))
    assert one is not None
    assert (len(one.weight), one.rate) == (1, 1)


def test_weights_alone_take_many_trees_and_the_integer_program_few() -> None:
    """Dozens on a DGX-1, of which six with whole NVLinks have the rate of six NVLinks."""
    net = network(dgx1())
    assert len(many(net, Fraction(1, 20)).weight) > 30
    packing = pack(net, Fraction(1, 20), Limits())
    assert len(packing.weight) <= 6
    assert packing.rate == net.best == 150


def test_there_is_one_tree_when_there_is_no_time() -> None:
    packing = pack(network(load_topology("hypercube:dimension=3")), Fraction(1, 20), Limits(0))
    assert len(packing.weight) == 1
    assert packing.rate == 1
