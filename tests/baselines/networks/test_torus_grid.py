"""How tori are recognised, by names or by squares."""

from dataclasses import replace

import numpy as np
import pytest

from baselines.direct_connect.torus import generate
from baselines.networks.torus_grid import find_grid
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import verify
from forestcoll.topology import Topology, load_topology
from tests.baselines.circulants import circulant


def nameless(topology: Topology) -> Topology:
    """The same GPUs in another order, called g0a, g1a, ...: no coordinates."""
    order = np.random.default_rng(7).permutation(len(topology.nodes)).tolist()
    mixed = topology.relabelled(order)
    nodes = tuple(replace(node, name=f"g{i}a") for i, node in enumerate(mixed.nodes))
    return Topology("nameless", nodes, mixed.links)


def test_one_way_links_make_a_torus_too() -> None:
    """Then there is one part per dimension, and a reduction finds its links the other way."""
    topology = load_topology("ring:nodes=5,bidirectional=false")
    assert find_grid(topology).ways == (1,)
    assert find_grid(topology.reversed()).ways == (-1,)
    assert len(generate(topology).chunks) == 5


@pytest.mark.parametrize(
    ("topology", "dims"),
    [
        (load_topology("torus:dims=3x4"), (3, 4)),
        (load_topology("torus:dims=1x5x1x2"), (5, 2)),
        (load_topology("ring:nodes=4"), (4,)),
        (load_topology("hypercube:dimension=3"), (2, 2, 2)),
        (load_topology("complete:nodes=3"), (3,)),
        (circulant(15, 3, 5), (3, 5)),
        (nameless(load_topology("torus:dims=5x3")), (3, 5)),
        (nameless(load_topology("torus:dims=2x3x6")), (2, 3, 6)),
        (nameless(load_topology("torus:dims=4x5")), (2, 2, 5)),
        (nameless(load_topology("hypercube:dimension=5")), (2, 2, 2, 2, 2)),
        (nameless(load_topology("ring:nodes=9")), (9,)),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_tori_are_recognised(topology: Topology, dims: tuple[int, ...]) -> None:
    """By names with coordinates, else by squares; a nameless ring of four is two single links."""
    grid = find_grid(topology).ranks
    assert sorted(grid.shape) == sorted(dims)
    assert sorted(grid.ravel().tolist()) == list(range(topology.num_compute))
    verify(generate(topology))


def without_a_link(topology: Topology) -> Topology:
    return Topology("broken", topology.nodes, topology.links[1:])


@pytest.mark.parametrize(
    "topology",
    [
        load_topology("torus:dims=3x3,wrap=false"),
        nameless(load_topology("torus:dims=3x4,wrap=false")),
        nameless(load_topology("complete:nodes=5")),
        circulant(9, 1, 2),
        circulant(8, 1, 4),
        without_a_link(load_topology("torus:dims=3x4")),
        load_topology("mi250:boxes=1"),
        load_topology("dgx_a100:boxes=1"),
    ],
    ids=lambda topology: topology.name,
)
def test_other_networks_than_tori_are_refused(topology: Topology) -> None:
    """Every link is looked at."""
    with pytest.raises(UnsupportedError, match=r"^unsupported: .* is not a torus"):
        generate(topology)
