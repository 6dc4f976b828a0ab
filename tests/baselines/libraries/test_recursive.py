"""Recursive halving and doubling, by hand."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.libraries.recursive import ORDERS, generate
from forestcoll.schedule import StepSchedule, cost, synchronous, verify
from forestcoll.topology import load_topology


def links_used(schedule: StepSchedule, step: int) -> set[tuple[int, int]]:
    """The physical links that carry something in a step."""
    paths, sends = schedule.routes.paths(), schedule.sends
    now = np.flatnonzero(sends.step == step)
    ends = set(zip(sends.tail[now].tolist(), sends.head[now].tolist(), strict=True))
    return {
        hop
        for link in ends
        for path in paths[link]
        for hop in zip(path.nodes, path.nodes[1:], strict=False)
    }


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
@pytest.mark.parametrize("dimension", [3, 5])
def test_each_step_uses_one_dimension(dimension: int, collective: str, order: str) -> None:
    """1/d of the links in each of log2 N steps, none twice: T_B = (N-1)/N M / (B/d).

    All links have 1 GB/s, so B = d and the time for 1 GB is (N-1)/N s in steps, d times the optimum
    (Zhao et al., NSDI 2025, appendix A.1: BFB takes 60 % less for d = 3, of 67 % in theory).
    """
    topology = load_topology(f"hypercube:dimension={dimension}")
    schedule = generate(topology, collective, order=order)
    nodes = 2**dimension
    used = [links_used(schedule, step) for step in range(schedule.num_steps)]
    assert schedule.num_steps == dimension
    assert all(len(links) * dimension == len(topology.links) for links in used)
    assert set().union(*used) == topology.link_between.keys()
    assert verify(schedule).synchronous_s_per_gb == Fraction(nodes - 1, nodes)


def test_the_order_decides_the_traffic_over_the_slow_network() -> None:
    """Two A100 boxes: partners are in the other box at distance 8 alone.

    Far first, one shard (M/16) crosses each NIC, near first eight; inside the box the rest of 15
    shards takes 300 GB/s: 1/16/25 + 14/16/300, or 8/16/25 + 7/16/300 s per GB in steps. Flowing,
    the longer of the two.
    """
    topology = load_topology("dgx_a100:boxes=2")
    far, near = (generate(topology, order=order) for order in ("far-first", "near-first"))
    assert synchronous(far).time_s_per_gb == Fraction(1, 16 * 25) + Fraction(14, 16 * 300)
    assert synchronous(near).time_s_per_gb == Fraction(8, 16 * 25) + Fraction(7, 16 * 300)
    assert cost(far).time_s_per_gb == Fraction(14, 16 * 300)
    assert cost(near).time_s_per_gb == Fraction(8, 16 * 25)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize(
    ("spec", "far_gb_s", "near_gb_s"),
    [
        ("dgx_a100:boxes=2", Fraction(2400, 13), Fraction(4800, 103)),
        ("mi250:boxes=2", Fraction(12800, 257), Fraction(256, 13)),
    ],
)
@pytest.mark.each_value_once
def test_default_order(spec: str, far_gb_s: Fraction, near_gb_s: Fraction, collective: str) -> None:
    """On boxes far first, in steps four and 2.5 times as fast; an allreduce takes twice as long."""
    topology, phases = load_topology(spec), 2 if collective == "allreduce" else 1
    best = generate(topology, collective)
    made = {order: generate(topology, collective, order=order) for order in ORDERS}
    rates = {order: synchronous(each).algbw_gb_s for order, each in made.items()}
    assert synchronous(best).algbw_gb_s == rates["far-first"] == far_gb_s / phases
    assert rates["near-first"] == near_gb_s / phases
    assert cost(best) == cost(made["far-first"])
    assert cost(best).time_s_per_gb < cost(made["near-first"]).time_s_per_gb


def test_near_first_is_preferred_between_equal_orders() -> None:
    topology = load_topology("hypercube:dimension=3")
    made, near, far = (
        generate(topology, order=order) for order in (None, "near-first", "far-first")
    )
    assert cost(near).time_s_per_gb == cost(far).time_s_per_gb
    assert synchronous(near).time_s_per_gb == synchronous(far).time_s_per_gb
    assert np.array_equal(made.sends.head, near.sends.head)
    assert not np.array_equal(made.sends.head, far.sends.head)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("nodes", range(2, 14))
@pytest.mark.each_value_once
def test_other_numbers_of_gpus_are_folded(nodes: int, order: str) -> None:
    """L = floor(log2 N) steps, one before and one after; in an allreduce these wrap both halves."""
    topology = load_topology(f"complete:nodes={nodes}")
    steps = nodes.bit_length() - 1
    extra = 0 if nodes == 2**steps else 1
    expected = {
        "allgather": steps + 2 * extra,
        "reduce-scatter": steps + 2 * extra,
        "allreduce": 2 * steps + 2 * extra,
    }
    for collective, number in expected.items():
        assert verify(generate(topology, collective, order=order)).steps == number


def test_folding_by_hand() -> None:
    """Six GPUs, allreduce: 0 and 2 hand all to 1 and 3; (1/2 + 1/4) M twice; and all comes back."""
    schedule = generate(load_topology("complete:nodes=6"), "allreduce")
    assert len(schedule.chunks) == 4
    assert synchronous(schedule).time_s_per_gb == 1 + 2 * Fraction(3, 4) + 1
    assert set(schedule.sends.tail[schedule.sends.step == 0].tolist()) == {0, 2}
    assert set(schedule.sends.head[schedule.sends.step == 5].tolist()) == {0, 2}
