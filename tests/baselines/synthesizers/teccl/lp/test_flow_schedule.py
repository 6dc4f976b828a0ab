"""Flows as schedules: exact, and on a clock that is as much slower as rounding asks for."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from baselines.synthesizers.teccl.instance.commodities import Demand, demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork, epoch_us
from baselines.synthesizers.teccl.lp.flow_program import without_windows, write
from baselines.synthesizers.teccl.lp.flow_schedule import (
    PARTS,
    Way,
    moves_of,
    schedule_of,
    stretch,
    ways,
)
from baselines.synthesizers.teccl.lp.lp_horizon import Flow, fewest_epochs
from forestcoll.all_to_all.linear_optimum import all_to_all_rate
from forestcoll.errors import SolverError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import load_topology
from tests.baselines.once_each import in_turn
from tests.baselines.synthesizers.teccl.instances import instance
from tests.hand_networks import network_of
from tests.random_topologies import random_topology

SIZE = 10**6


def two(bandwidth: Fraction | int, epoch: Fraction) -> tuple[EpochNetwork, Demand]:
    """GPUs a and b; half a chunk an epoch if its bandwidth is half of the size by the epoch."""
    net = network_of("a b", f"a - b: {bandwidth}", "two")
    demand = demand_of(2, "all-to-all", 1, 2000)
    return EpochNetwork.of(net, Fraction(1), epoch), demand


def both(
    network: EpochNetwork, shares: dict[int, float]
) -> list[tuple[int, int, dict[Way, float]]]:
    """Send such shares in such epochs, both ways."""
    arcs = {arc.path: i for i, arc in enumerate(network.arcs)}
    return [
        (s, d, {((arcs[s, d], epoch),): share for epoch, share in shares.items()})
        for s, d in ((0, 1), (1, 0))
    ]


def test_parts_that_fit_need_no_slower_clock() -> None:
    """Three fourths of a chunk an epoch, at most; one fourth in the next."""
    network, demand = two(Fraction(3, 4), Fraction(1))
    found = both(network, {0: 0.5, 2: 0.5})  # each keeps the link for two epochs
    schedule = schedule_of(network, demand, found, 2000)
    verify(schedule)
    assert schedule.clock is not None
    assert schedule.clock.finish_us == 4
    assert schedule.intervals.amount.tolist() == [PARTS // 2] * 4


def test_the_fullest_window_says_how_much_slower() -> None:
    """Two halves at once in epoch 1, where a window of two epochs takes 3/2 x 1/2: by a third."""
    network, demand = two(Fraction(3, 8), Fraction(2))
    assert {arc.busy for arc in network.arcs} == {2}
    found = both(network, {0: 0.9, 1: 0.1})
    chunks, moves = moves_of(network, demand, found)
    assert stretch(network, chunks, moves, 2000) == 1  # 1 <= 3/2
    tight, demand = two(Fraction(3, 4), Fraction(1))
    chunks, moves = moves_of(tight, demand, [(0, 1, found[0][2]), (1, 0, found[1][2])])
    assert stretch(tight, chunks, moves, 2000) == 1
    narrow, demand = two(Fraction(1, 2), Fraction(1))
    more = EpochNetwork.of(narrow.topology, Fraction(1, 2), Fraction(1))  # busy for one epoch
    chunks, moves = moves_of(more, demand, both(more, {0: 0.75, 1: 0.25}))
    assert stretch(more, chunks, moves, 2000) == Fraction(3, 2)
    schedule = schedule_of(more, demand, both(more, {0: 0.75, 1: 0.25}), 2000)
    verify(schedule)
    assert schedule.clock is not None
    assert schedule.clock.finish_us == 3


def test_parts_that_move_alike_move_together() -> None:
    """Two ways of 0's data for 2 over 1 begin alike; the transfers of both are one."""
    topology = load_topology("torus:dims=3,wrap=false")
    demand = demand_of(3, "all-to-all", 1, 3000)
    network = EpochNetwork.of(
        topology, demand.chunk_kb, epoch_us(topology, demand.chunk_kb, "fastest")
    )
    arcs = {arc.path: i for i, arc in enumerate(network.arcs)}
    first, second = arcs[0, 1], arcs[1, 2]
    shares = {((first, 0), (second, 1)): 0.25, ((first, 0), (second, 2)): 0.75}
    _, moves = moves_of(network, demand, [(0, 2, shares)])
    part = PARTS // 4
    assert sorted((m.arc, m.epoch, m.first, m.amount) for m in moves) == sorted(
        [(first, 0, 0, PARTS), (second, 1, 0, part), (second, 2, part, 3 * part)]
    )


@pytest.mark.parametrize(
    ("kind", "crossing", "epoch", "windows"),
    in_turn(
        ["directed", "bidirectional", "unbalanced"],
        ["through", "rounded", "stored"],
        ["fastest", "slowest"],
        [True, False],
    ),
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.each_value_once
def test_schedules_verify_and_beat_no_optimum(
    seed: int, kind: str, crossing: str, epoch: str, windows: bool
) -> None:
    """Done when the model says, but for the stretch; never before the exact bound."""
    topology = random_topology(seed, kind)
    demand = demand_of(topology.num_compute, "all-to-all", 1, SIZE)
    tau = epoch_us(topology, demand.chunk_kb, epoch)
    network = EpochNetwork.of(topology, demand.chunk_kb, tau, crossing)
    flow = fewest_epochs(network, demand, "highs", Limits())
    with_windows = flow.epochs
    if not windows:
        network = without_windows(network)
        flow = fewest_epochs(network, demand, "highs", Limits())
        assert flow.epochs <= with_windows
    found = list(ways(network, flow))
    schedule = schedule_of(network, demand, found, SIZE)
    verify(schedule)
    slower = stretch(network, *moves_of(network, demand, found), SIZE)
    assert 1 <= slower < 1 + Fraction(1, 10**4)
    assert schedule.clock is not None
    assert schedule.clock.finish_us <= flow.epochs * tau * slower
    assert schedule.clock.finish_us > (flow.epochs - 1) * tau
    settings = Settings(seconds=60, method="highs-ipm")
    rate = all_to_all_rate(topology, settings=settings).bound_gb_s
    assert schedule.clock.finish_us >= float(demand.chunk_kb) / rate * (1 - 1e-9)


def found(spec: str) -> tuple[EpochNetwork, Flow]:
    network, demand = instance(spec, "all-to-all")
    return network, fewest_epochs(network, demand, "highs", Limits())


@pytest.mark.parametrize(
    "spec", ["ring:nodes=5", "torus:dims=2x3", "fat_tree:leaves=2,hosts=2,spines=2", "dgx1"]
)
def test_paths_carry_the_whole_flow(spec: str) -> None:
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


def test_cycles_through_a_gpu_become_waiting() -> None:
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
