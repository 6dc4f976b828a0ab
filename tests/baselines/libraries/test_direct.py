"""Direct exchange, by hand."""

from fractions import Fraction

import pytest

from baselines.libraries.direct import generate
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule import cost, synchronous, verify
from forestcoll.topology import load_topology


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
