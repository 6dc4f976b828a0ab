"""Symmetries as the native code takes them."""

import numpy as np
import pytest

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from forestcoll.topology import Topology, load_topology
from tests.baselines.direct_connect.bfb.networks import random_network


def check_images(topology: Topology, alike: Alike) -> None:
    """Every row is an automorphism that takes the representative to its node."""
    size = topology.num_compute
    bandwidth = {(link.tail, link.head): link.bandwidth_gb_s for link in topology.links}
    for node, image in enumerate(alike.image.reshape(size, size)):
        assert image[alike.representative[node]] == node
        moved = {(int(image[t]), int(image[h])): b for (t, h), b in bandwidth.items()}
        assert moved == bandwidth


@pytest.mark.parametrize("spec", ["torus:dims=3x4", "hypercube:dimension=4", "complete:nodes=6"])
def test_one_gpu_represents_all_of_a_vertex_transitive_network(spec: str) -> None:
    topology = load_topology(spec)
    alike = Alike.found(BroadcastNetwork.of(topology))
    check_images(topology, alike)
    assert set(alike.representative) == {0}


@pytest.mark.parametrize("seed", range(10))
def test_times_by_representatives_are_those_of_all(seed: int) -> None:
    topology = random_network(seed)
    network = BroadcastNetwork.of(topology)
    alike = Alike.found(network)
    check_images(topology, alike)
    alone = broadcast_times(network, Alike.none(topology.num_compute))
    few = broadcast_times(network, alike)
    assert few.longest == alone.longest
    assert np.array_equal(few.rank, np.unique(alike.representative))


def test_latencies_keep_gpus_apart() -> None:
    network = BroadcastNetwork.of(random_network(1, latencies=True), 1000)
    assert len(Alike.found(network).image) == 0
