"""Flows as ways."""

from collections import defaultdict

import numpy as np
import pytest

from baselines.synthesizers.teccl.instance.commodities import demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork, epoch_us
from baselines.synthesizers.teccl.lp.flow_paths import ways
from baselines.synthesizers.teccl.lp.flow_program import write
from baselines.synthesizers.teccl.lp.lp_horizon import Flow, fewest_epochs
from forestcoll.errors import SolverError
from forestcoll.problem.limits import Limits
from forestcoll.topology import load_topology


def found(spec: str) -> tuple[EpochNetwork, Flow]:
    topology = load_topology(spec)
    demand = demand_of(topology.num_compute, "all-to-all", 1, 10**6)
    epoch = epoch_us(topology, demand.chunk_kb, "fastest")
    network = EpochNetwork.of(topology, demand.chunk_kb, epoch)
    return network, fewest_epochs(network, demand, "highs", Limits())


@pytest.mark.parametrize(
    "spec", ["ring:nodes=5", "torus:dims=2x3", "fat_tree:leaves=2,hosts=2,spines=2", "dgx1"]
)
def test_ways_carry_what_the_flow_does(spec: str) -> None:
    """Each from its source in order of time to its destination, and no arc more than the flow."""
    network, flow = found(spec)
    carried: dict[tuple[int, int, int], float] = defaultdict(float)
    for source, target, shares in ways(network, flow):
        assert sum(shares.values()) == pytest.approx(1)
        for way, share in shares.items():
            node, time = source, 0
            for i, epoch in way:
                arc = network.arcs[i]
                assert (arc.tail, epoch + 1 - arc.offset >= time) == (node, True)
                node, time = arc.head, epoch + arc.span + 1
                carried[source, i, epoch] += share
            assert node == target
            assert time <= flow.epochs
    program = flow.program
    sent = zip(program.source.tolist(), program.arc.tolist(), program.epoch.tolist(), strict=True)
    room = dict(zip(sent, flow.x.tolist(), strict=False))
    assert all(share <= room[key] + 1e-6 for key, share in carried.items())


def ring_flow(sent: dict[tuple[tuple[int, int], int], float]) -> tuple[EpochNetwork, Flow]:
    """What GPU 0 of a ring of 3 sends on which arcs in which epochs of 4; kept as follows."""
    topology = load_topology("ring:nodes=3")
    demand = demand_of(3, "all-to-all", 1, 3000)
    network = EpochNetwork.of(
        topology, demand.chunk_kb, epoch_us(topology, demand.chunk_kb, "fastest")
    )
    program = write(network, demand, 4)
    program.amount[1:] = 0
    x = np.zeros(len(program.program.cost))
    for column, (s, i, k) in enumerate(
        zip(program.source, program.arc, program.epoch, strict=True)
    ):
        x[column] = sent.get((network.arcs[i].path, int(k)), 0.0) if s == 0 else 0
    for row, (s, node, time) in enumerate(program.keeper.tolist()):
        if s == 0:
            came = sum(v for ((_, h), k), v in sent.items() if h == node and k < time)
            left = sum(v for ((t, _), k), v in sent.items() if t == node and k <= time)
            x[len(program.source) + row] = (2 if node == 0 else 0) + came - left
    return network, Flow(program, x, 0)


def test_what_comes_back_to_a_gpu_waits_there_instead() -> None:
    """1's and 2's data to 1; 2's goes on to 2, back to 1 and once more to 2."""
    sent = {((0, 1), 0): 2.0, ((1, 2), 1): 1.0, ((2, 1), 2): 1.0, ((1, 2), 3): 1.0}
    network, flow = ring_flow(sent)
    arcs = {arc.path: i for i, arc in enumerate(network.arcs)}
    assert list(ways(network, flow)) == [
        (0, 1, {((arcs[0, 1], 0),): 1.0}),
        (0, 2, {((arcs[0, 1], 0), (arcs[1, 2], 3)): 1.0}),
    ]


def test_a_flow_that_lacks_something_is_refused() -> None:
    network, flow = ring_flow({((0, 1), 0): 1.0, ((0, 2), 0): 0.5})
    with pytest.raises(SolverError, match=r"leaves 0.5 chunks for rank 2 without a way"):
        list(ways(network, flow))
