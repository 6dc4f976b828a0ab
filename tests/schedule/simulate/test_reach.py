"""The least latency: of the way between the two GPUs farthest apart."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

from forestcoll import load_topology
from forestcoll.errors import DisconnectedError
from forestcoll.schedule.simulate import AlphaBeta, least_latency_s
from forestcoll.topology import Topology, TopologyBuilder
from tests.random_topologies import KINDS, random_topology


def _by_relaxation(topology: Topology, alpha: int) -> dict[tuple[int, int], Fraction]:
    """Least latencies between all nodes, in us."""
    nodes = range(len(topology.nodes))
    far = Fraction(10**9)
    apart = {(a, b): Fraction(0) if a == b else far for a in nodes for b in nodes}
    for _ in nodes:
        for link in topology.links:
            price = link.latency_us + (0 if topology.nodes[link.tail].is_switch else alpha)
            for a in nodes:
                way = apart[a, link.tail] + price
                apart[a, link.head] = min(apart[a, link.head], way)
    return apart


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_least_latency_is_that_of_the_farthest_pair(seed: int, kind: str) -> None:
    """Of any collective; a broadcast's from its root, a reduce's to it."""
    topology, alpha = random_topology(seed, kind), seed % 4
    apart = _by_relaxation(topology, alpha)
    model, gpus = AlphaBeta(alpha_us=alpha), topology.compute
    all_pairs = max(apart[pair] for pair in permutations(gpus, 2))
    for collective in ("allgather", "reduce-scatter", "allreduce", "all-to-all"):
        found = least_latency_s(topology, collective, model)
        assert found == pytest.approx(float(all_pairs) / 10**6, rel=1e-12)
    root = len(gpus) - 1
    to_all = max(apart[gpus[root], gpu] for gpu in gpus)
    from_all = max(apart[gpu, gpus[root]] for gpu in gpus)
    out = least_latency_s(topology, "broadcast", model, root)
    back = least_latency_s(topology, "reduce", model, root)
    assert out == pytest.approx(float(to_all) / 10**6, rel=1e-12)
    assert back == pytest.approx(float(from_all) / 10**6, rel=1e-12)


def test_switches_cost_their_links_only() -> None:
    """Over two switches one alpha and three latencies; GPUs that forward send again."""
    topology = load_topology("dgx_a100:boxes=2")
    assert least_latency_s(topology, "allgather", AlphaBeta(alpha_us=10)) == pytest.approx(10e-6)
    ring = load_topology("ring:nodes=7")
    assert least_latency_s(ring, "allgather") == pytest.approx(30e-6)
    assert least_latency_s(ring, "allgather", AlphaBeta(alpha_us=0)) == 0


def test_one_gpu_waits_for_nobody_and_two_apart_for_ever() -> None:
    builder = TopologyBuilder()
    builder.gpu("a")
    assert least_latency_s(builder.build("one"), "allgather") == 0
    builder.gpu("b")
    with pytest.raises(DisconnectedError, match="cannot be reached"):
        least_latency_s(builder.build("two"), "allgather")
