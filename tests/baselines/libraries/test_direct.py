"""Direct exchange, by hand."""

from fractions import Fraction

import pytest

from baselines import METHODS
from baselines.libraries.direct import generate, one_shot
from forestcoll import simulate, time_bound
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.problem.named_demands import named_demand
from forestcoll.schedule import StepSchedule, cost, synchronous, verify
from forestcoll.topology import load_topology
from tests.hand_networks import network_of


@pytest.mark.parametrize(
    ("collective", "steps"),
    [("allgather", 1), ("reduce-scatter", 1), ("allreduce", 2), ("all-to-all", 1)],
)
def test_at_once_or_in_rotation(collective: str, steps: int) -> None:
    """Six GPUs, each with a link of 1 GB/s to each other: M/6 over each, at once or one by one.

    Flowing, one by one is no slower.
    """
    topology = load_topology("complete:nodes=6")
    at_once = verify(generate(topology, collective))
    assert (at_once.steps, at_once.synchronous_s_per_gb) == (steps, Fraction(steps, 6))
    rotated = verify(generate(topology, collective, order="rotation"))
    assert (rotated.steps, rotated.synchronous_s_per_gb) == (5 * steps, Fraction(5 * steps, 6))
    assert rotated.time_s_per_gb == at_once.time_s_per_gb == Fraction(steps, 6)


@pytest.mark.parametrize(
    ("spec", "collective", "algbw_gb_s"),
    [
        # 8 of the 16 shards into each GPU over its NIC of 25 GB/s.
        ("dgx_a100:boxes=2", "allgather", Fraction(50)),
        # As much crosses in an all-to-all, where nothing else will do.
        ("dgx_a100:boxes=2", "all-to-all", Fraction(50)),
        # 7 of 8 shards over 300 GB/s.
        ("dgx_a100:boxes=1", "reduce-scatter", Fraction(300 * 8, 7)),
        # Twice that, one phase after the other.
        ("dgx_a100:boxes=1", "allreduce", Fraction(300 * 4, 7)),
    ],
)
def test_rates_by_hand(spec: str, collective: str, algbw_gb_s: Fraction) -> None:
    """Into a GPU's port, whoever sends."""
    assert cost(generate(load_topology(spec), collective)).algbw_gb_s == algbw_gb_s


def test_rotation_costs_its_slowest_links() -> None:
    """On two boxes GPU 0 sends inside its box in steps 1 to 7 and crosses in steps 8 to 15.

    But GPU 7 crosses in step 1: in each of the 15 steps somebody does, so that each takes as long
    as a shard over 25 GB/s. 25 x 16/15 GB/s in steps; a NIC is busy in 8 of them alone: 50
    pipelined.
    """
    made = generate(load_topology("dgx_a100:boxes=2"), order="rotation")
    assert synchronous(made).algbw_gb_s == Fraction(25 * 16, 15)
    assert cost(made).algbw_gb_s == Fraction(25 * 16, 8)


def test_equal_cost_paths_get_equal_shares() -> None:
    """Two leaves with three spines: a leaf's uplink carries a third of what goes to the other."""
    topology = load_topology("fat_tree:leaves=2,hosts=2,spines=3")
    made = generate(topology)
    found = cost(made)
    names = [node.name for node in topology.nodes]
    up = [
        Fraction(load, found.whole)
        for load, link in zip(found.loads, topology.links, strict=True)
        if topology.nodes[link.tail].is_switch and "spine" in names[link.head]
    ]
    assert up == [Fraction(4, 4 * 3)] * 6


def test_each_pair_meets_once() -> None:
    """In step s rank r sends to rank r + s."""
    made = generate(load_topology("complete:nodes=5"), "all-to-all", order="rotation")
    sends = made.sends
    assert ((sends.head - sends.tail) % 5 == sends.step + 1).all()
    assert len(set(zip(sends.tail.tolist(), sends.head.tolist(), strict=True))) == 20


def test_unknown_orders_are_named() -> None:
    with pytest.raises(InvalidParameterError, match=r"order is 'xor'; .* at-once, rotation"):
        generate(load_topology("complete:nodes=3"), order="xor")


@pytest.mark.parametrize("order", ["at-once", "rotation"])
@pytest.mark.parametrize("spec", ["dgx_h100:boxes=2", "mi250:boxes=1", "ring:nodes=7"])
def test_any_demand_is_exchanged(spec: str, order: str) -> None:
    """Every chunk goes once, from its source to its target."""
    demand = named_demand("zipf:exponent=1.2,seed=3", load_topology(spec))
    made = METHODS["direct"].run(spec, None, {"demand": demand, "order": order})
    assert isinstance(made, StepSchedule)
    assert verify(made).collective == "all-to-all"
    assert made.demand == demand
    assert len(made.sends) == demand.num_chunks


def test_a_demand_costs_its_largest_row_or_each_rotation() -> None:
    """Three GPUs at a switch of 2 GB/s: 5 + 1 bytes leave the first; rotated 5, and then 4."""
    topology = network_of("[w] a b c", "a b c - w: 2", "star")
    demand = Demand.of_matrix([[0, 5, 1], [4, 0, 2], [1, 0, 0]])
    made = generate(topology, demand=demand)
    assert cost(made).time_s_per_gb == Fraction(5 + 1, 2) / 13
    rotated = generate(topology, demand=demand, order="rotation")
    assert verify(rotated).synchronous_s_per_gb == Fraction(5 + 4, 2) / 13


def test_steps_without_transfers_are_left_out() -> None:
    """Pairs at distances 2 and 4 alone: two steps."""
    demand = Demand.of_chunks(5, [(0, 3, [2]), (1, 3, [0, 3])])
    made = generate(load_topology("complete:nodes=5"), demand=demand, order="rotation")
    assert verify(made).steps == made.num_steps == 2


def test_a_chunk_for_several_goes_to_each() -> None:
    demand = Demand.of_chunks(4, [(0, 3, [1, 2, 3])])
    made = generate(load_topology("complete:nodes=4"), demand=demand)
    assert verify(made).steps == 1
    assert made.sends.chunk.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("spec", "s_per_gb"),
    [
        # All data of 8 other GPUs come in over a NIC of 25 GB/s, or of 5 over a link each.
        ("dgx_a100:boxes=2", Fraction(8, 25)),
        ("complete:nodes=6", Fraction(1)),
    ],
)
def test_one_shot_takes_one_step_with_all_data_to_everyone(spec: str, s_per_gb: Fraction) -> None:
    topology = load_topology(spec)
    proved = verify(one_shot(topology))
    assert (proved.steps, proved.time_s_per_gb) == (1, s_per_gb)


def test_one_shot_ends_near_the_least_time_of_small_sizes() -> None:
    """1 KB on two A100 boxes: one latency of 10 us, and 8 KB over a NIC."""
    topology = load_topology("dgx_a100:boxes=2")
    found = simulate(one_shot(topology), 1024, alpha_us=10)
    assert found.time_s == pytest.approx(10e-6 + 8 * 1024 / 25e9, rel=1e-6)
    two_steps = simulate(generate(topology, "allreduce"), 1024, alpha_us=10)
    assert two_steps.time_s > 20e-6
    assert float(time_bound(topology, "allreduce", 1024, 10).time_us) > 0.97e6 * found.time_s


def test_one_shot_is_an_allreduce_only() -> None:
    with pytest.raises(UnsupportedError, match="one-shot has no allgather; it has allreduce"):
        one_shot(load_topology("ring:nodes=4"), "allgather")
