"""The best all-to-all: rates by hand, what holds of all rates, and what is refused.

Random networks and amounts are compared with the linear program in tests/fuzz/all_to_alls.py.
"""

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll.all_to_all import near_optimum, program_flow
from forestcoll.all_to_all.best_flow import METHOD, AllToAllPlanner, best_flow
from forestcoll.all_to_all.two_tier_flow import TwoTierRouter
from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.demand import Demand
from forestcoll.problem.named_demands import named_demand
from forestcoll.schedule import verify
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import random_topology, rounds

RATES = {
    "dgx_a100:boxes=2": Fraction(50),  # 8 x 25 GB/s out of a box, for half of 8 GPUs' data
    "dgx_a100:boxes=1": Fraction(2400, 7),  # 300 GB/s out of a GPU, for 7/8 of its data
    "nvl72:racks=1,gpus_per_rack=8": Fraction(7200, 7),  # 900 GB/s, in 18 planes
    "ring:nodes=5": Fraction(5, 3),  # 30 hops over 10 links
    "torus:dims=2x2x2": Fraction(8, 4),  # 8 pairs' halves over each of 8 x 3 links: 1/4 a pair
}
"""The algbw of equal parts."""


@pytest.mark.parametrize("spec", [*RATES])
def test_equal_parts_by_hand(spec: str) -> None:
    made = best_flow(spec)
    verdict = verify(made)
    assert (verdict.algbw_gb_s, verdict.optimal) == (RATES[spec], True)
    assert (made.method, made.demand) == (METHOD, None)


BY_HAND = {
    # 7 of 8 bytes over 300 GB/s.
    ("dgx_a100:boxes=1", "scatter:size=8,root=b0.gpu0"): Fraction(7, 300),
    # 30 of 32 bytes must leave the root over 300 + 25 GB/s; 16 leave its box over 200.
    ("dgx_a100:boxes=2", "scatter:size=32,root=b0.gpu0"): Fraction(30, 325),
    ("dgx_a100:boxes=2", "gather:size=32,root=b1.gpu3"): Fraction(30, 325),
    # 8 bytes from each box to the next over 200 GB/s, 14 over the box's switch.
    ("dgx_a100:boxes=2", "sendrecv:size=400"): Fraction(400, 200),
    ("dgx_a100:boxes=2", "pipeline:size=1000,stages=2"): Fraction(8000, 200),
    # 3 of 4 bytes over two links of 1 GB/s.
    ("ring:nodes=4", "scatter:size=4"): Fraction(3, 2),
}


@pytest.mark.parametrize(("spec", "demand"), [*BY_HAND])
def test_named_demands_by_hand(spec: str, demand: str) -> None:
    topology = load_topology(spec)
    made = best_flow(topology, named_demand(demand, topology))
    verdict = verify(made)
    assert (verdict.congestion, verdict.optimal) == (BY_HAND[spec, demand], True)
    assert verdict.demand == demand


def amounts(gpus: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    made = draw.integers(0, 50, (gpus, gpus)) * draw.integers(0, 2, (gpus, gpus))
    made[0, 1] += 1
    np.fill_diagonal(made, 0)
    return made


NETWORKS = ["dgx_a100:boxes=2", "ring:nodes=6", "fat_tree:leaves=3,hosts=2,spines=2"]


def took(planner: AllToAllPlanner, matrix: np.ndarray) -> Fraction:
    return verify(planner.plan(matrix)).congestion


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spec", NETWORKS)
@pytest.mark.each_value_once
def test_times_scale_and_sums_are_between_the_larger_and_the_sum(spec: str, seed: int) -> None:
    planner = AllToAllPlanner(spec)
    gpus = planner.topology.num_compute
    one, other = amounts(gpus, seed), amounts(gpus, seed + 100)
    first, second, both = (took(planner, matrix) for matrix in (one, other, one + other))
    near = 1 + Fraction(1, 10**6)
    assert max(first, second) <= both * near
    assert both <= (first + second) * near
    assert Fraction(1) / near < took(planner, 7 * one) / (7 * first) < near


@pytest.mark.parametrize("spec", NETWORKS)
def test_less_bandwidth_is_never_faster(spec: str) -> None:
    topology = load_topology(spec)
    matrix = amounts(topology.num_compute, 5)
    before = took(AllToAllPlanner(topology), matrix)
    for link in topology.links[::5]:
        ends = " -> ".join(topology.nodes[v].name for v in (link.tail, link.head))
        after = took(AllToAllPlanner(topology.scaled(ends, Fraction(1, 3))), matrix)
        assert after >= before * (1 - Fraction(1, 10**6))


def test_twice_the_bandwidth_takes_half_the_time() -> None:
    topology = load_topology("dgx_a100:boxes=2")
    matrix = amounts(16, 6)
    twice = took(AllToAllPlanner(topology.scaled("*", 2)), matrix)
    assert twice * 2 == took(AllToAllPlanner(topology), matrix)


def test_a_planner_plans_as_best_flow_does() -> None:
    planner = AllToAllPlanner("dgx_a100:boxes=2")
    demand = Demand.of_matrix(amounts(16, 7))
    assert (
        planner.plan(demand) == planner.plan(demand.matrix) == best_flow(planner.topology, demand)
    )
    assert planner.plan() == best_flow(planner.topology)


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "ring:nodes=4"])
def test_the_least_time_is_that_of_the_bound(spec: str) -> None:
    planner = AllToAllPlanner(spec)
    for demand in (None, Demand.of_matrix(amounts(planner.topology.num_compute, 8))):
        verdict = verify(planner.plan(demand))
        assert verdict.optimal
        assert planner.least_us(demand) == verdict.congestion / 1000


def test_chunks_of_one_pair_are_one_amount() -> None:
    chunks = Demand.of_chunks(3, [(0, 2, [1]), (0, 3, [1]), (2, 4, [0])], "parts")
    made = best_flow("ring:nodes=3", chunks)
    assert made.demand == Demand.of_matrix([[0, 5, 0], [0] * 3, [4, 0, 0]])
    assert made.demand.name == "parts"
    assert verify(made).optimal


def test_amounts_at_the_limit_in_planes_and_programs() -> None:
    """Weights are sums of 64 bits: of fewer parts a byte where amounts are large."""
    for spec in ("nvl72:racks=2,gpus_per_rack=8", "dgx_a100:boxes=2,nics=nodes"):
        assert verify(best_flow(spec, Demand.of_matrix(np.full((16, 16), 4 * 10**11)))).optimal


def test_a_cut_that_is_not_met_leads_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cut twice as narrow as it is, which no schedule meets; verify adds its prices up anew."""
    demand = named_demand("scatter:size=32", load_topology("dgx_a100:boxes=2"))
    true = TwoTierRouter.narrowest_cut
    monkeypatch.setattr(
        TwoTierRouter,
        "narrowest_cut",
        lambda self, *_: true(self, 2 * demand.matrix, demand),
    )
    asked = []
    solved = program_flow.by_program

    def counted(*given: Any, **more: Any) -> Any:
        asked.append(given)
        return solved(*given, **more)

    monkeypatch.setattr(program_flow, "by_program", counted)
    assert verify(best_flow("dgx_a100:boxes=2", demand)).optimal
    assert len(asked) == 1


def test_a_router_without_time_for_the_program_keeps_its_schedule() -> None:
    """Slow box switches bind, which the cut does not see: a schedule with a lower bound."""
    slow = load_topology("dgx_a100:boxes=2").scaled("*.gpu* - *.nvswitch", Fraction(1, 10))
    demand = named_demand("scatter:size=32", slow)
    made = best_flow(slow, demand, seconds=1e-9)
    verdict = verify(made)
    assert verdict.bound_gb_s is not None
    assert verdict.algbw_gb_s is not None
    assert verdict.bound_gb_s >= verdict.algbw_gb_s
    best = verify(best_flow(slow, demand))
    assert best.optimal
    assert best.congestion <= verdict.congestion


def test_large_networks_get_bounds_that_approach_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(near_optimum, "MOST_UNKNOWNS", 0)
    verdict = verify(best_flow("ring:nodes=6"))
    assert verdict.bound_gb_s is not None
    assert verdict.algbw_gb_s is not None
    assert verdict.bound_gb_s * Fraction(98, 100) <= verdict.algbw_gb_s <= verdict.bound_gb_s


def test_impossible_plans_are_refused_in_one_line() -> None:
    ring = load_topology("ring:nodes=3")
    mute = network_of("a b c", "a - b, a > c", "mute")
    skewed = Demand.of_matrix([[0, 10**13, 1], [1, 0, 0], [0, 0, 0]], "skewed")
    cases = [
        (ring, Demand.of_chunks(3, [(0, 5, [1, 2])]), UnsupportedError, "see the method teccl"),
        (ring, Demand.of_matrix([[0, 1], [1, 0]]), InvalidParameterError, "is of 2 GPUs; ring:no"),
        (mute, Demand.of_matrix([[0] * 3, [0] * 3, [5, 0, 0]]), DisconnectedError, "c has 5 for a"),
        (mute, None, DisconnectedError, "c"),
        (Topology("one", ring.nodes[:1], ()), None, UnsupportedError, "has one GPU"),
        (ring, skewed, UnsupportedError, "from 1 to 10000000000000 bytes, too different"),
    ]  # fmt: skip
    for topology, demand, kind, message in cases:
        with pytest.raises(kind, match=message) as caught:
            best_flow(topology, demand)
        assert "\n" not in str(caught.value)


def test_data_that_need_no_dead_link_are_planned_around_it() -> None:
    mute = network_of("a b c", "a - b, a > c", "mute")
    demand = Demand.of_matrix([[0, 0, 4], [0, 0, 2], [0, 0, 0]])
    assert verify(best_flow(mute, demand)).congestion == 6


def test_no_time_is_an_error_with_the_bound() -> None:
    with pytest.raises(TimeLimitError):
        best_flow("torus:dims=6x6", Demand.of_matrix(amounts(36, 1)), seconds=1e-6)


def test_a_zipf_matrix_on_64_gpus_takes_milliseconds() -> None:
    """The least of five; a generous limit for a shared machine."""
    planner = AllToAllPlanner("dgx_a100:boxes=8")
    demand = named_demand("zipf:exponent=1.2,seed=7", planner.topology)
    assert demand.bytes > 0
    spent = []
    for _ in range(5):
        began = time.perf_counter()
        made = planner.plan(demand)
        spent.append(time.perf_counter() - began)
    assert min(spent) < 0.25
    assert verify(made).optimal


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("kind", ["directed", "bidirectional", "unbalanced"])
def test_flows_of_the_program_are_exactly_optimal(kind: str) -> None:
    """Rounding to parts of full links removes the solver's tolerance: 20 networks, any amounts."""
    draw = np.random.default_rng(7)
    for seed in range(rounds(20)):
        topology = random_topology(seed, kind)
        ranks = topology.num_compute
        amounts = draw.integers(0, 10**6, (ranks, ranks))
        assert verify(best_flow(topology)).optimal
        assert verify(best_flow(topology, Demand.of_matrix(amounts))).optimal


def test_one_hot_row_is_exact() -> None:
    """A GPU of 300 and 25 GB/s: a thirteenth of its data goes over the NIC."""
    amounts = np.zeros((16, 16), dtype=np.int64)
    amounts[3] = np.arange(16) * 1009 + 17
    assert verify(best_flow("dgx_a100:boxes=2", Demand.of_matrix(amounts))).optimal


@pytest.mark.parametrize(
    ("spec", "dead", "needs"),
    [
        ("dgx_h100:boxes=8", "b0.gpu0 -> b0.nvswitch", False),
        ("dgx_h100:boxes=8", "b0.nvswitch -> b0.gpu3", False),
        ("rail_optimized:boxes=8,gpus_per_box=8", "b2.gpu1 - rail1", False),
        ("dgx_a100:boxes=2,nics=nodes", "b0.gpu0 -> b0.nvswitch", True),
    ],
)
def test_broken_boxes_need_no_program(
    spec: str, dead: str, needs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal parts are proved optimal by a cut; over chains of switches the program is needed."""
    asked: list[str] = []

    def program(topology: Topology, *_: object, **__: object) -> None:
        asked.append(topology.name)
        raise TimeLimitError("too late")

    monkeypatch.setattr("forestcoll.all_to_all.program_flow.by_program", program)
    planner = AllToAllPlanner(load_topology(spec).without(dead))
    if needs:
        with pytest.raises(TimeLimitError):
            planner.plan()
    else:
        verdict = verify(planner.plan())
        assert verdict.optimal
        assert verdict.congestion / 1000 == planner.least_us()
    assert bool(asked) == needs
