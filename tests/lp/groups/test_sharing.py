"""Concurrent process groups against hand calculations and the program with all flows stated."""

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import cvxpy as cp
import networkx as nx
import numpy as np
import pytest

import forestcoll
from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
    TimeLimitError,
)
from forestcoll.solver.linear_program import Program, Settings, Solution
from forestcoll.solver.solve import solve
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from lp.groups.result import check_concurrent
from lp.groups.sharing import concurrent_groups, groups_by_box, groups_by_index
from lp.modelling import solve_stated
from tests.random_topologies import KINDS, random_topology

SETTINGS = Settings(seconds=60)
RELATIVE = 1e-7


# --- the rate -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "grouping", "rate"),
    [
        # 8 groups share the 8 NICs into a box; of each, the shards of all other boxes must enter.
        ("dgx_a100:boxes=2", groups_by_index, Fraction(8 * 25, 8 * 1)),
        ("dgx_a100:boxes=4", groups_by_index, Fraction(8 * 25, 8 * 3)),
        ("dgx_h100:boxes=8", groups_by_index, Fraction(8 * 50, 8 * 7)),
        # 7 shards enter a GPU over its NVSwitch port and its NIC: the network lies idle otherwise.
        ("dgx_a100:boxes=2", groups_by_box, Fraction(300 + 25, 7)),
        ("dgx_h100:boxes=8", groups_by_box, Fraction(450 + 50, 7)),
        # 16 groups of one GPU in each of 2 boxes, and 16 GB/s of InfiniBand for each GPU.
        ("mi250:boxes=2", groups_by_index, Fraction(16)),
    ],
)
def test_hand_calculated_rates_are_attained(spec: str, grouping: Any, rate: Fraction) -> None:
    """The rate is that of a cut counted by hand, and the forests attain it exactly."""
    topology = load_topology(spec)
    found = concurrent_groups(topology, grouping(topology), SETTINGS)
    assert found.status == "optimal"
    assert found.lean
    assert found.bound_gb_s == pytest.approx(float(rate), rel=RELATIVE)
    assert found.rate_gb_s == rate
    size = len(found.groups[0].members)
    assert found.algbw_gb_s(0) == size * rate
    check_concurrent(found)


def test_a_single_group_of_all_gpus_is_the_allgather() -> None:
    topology = load_topology("dgx_a100:boxes=2")
    names = [topology.nodes[v].name for v in topology.compute]
    found = concurrent_groups(topology, {"all": names}, SETTINGS)
    assert found.algbw_gb_s(0) == forestcoll.optimum(topology).algbw_gb_s


def test_weights_divide_a_shared_link() -> None:
    """Two pairs talk across one link of 6 GB/s: with weights 2 and 1 they get 4 and 2 of it."""
    nodes = [Node(name, NodeKind.COMPUTE) for name in "abcd"]
    nodes += [Node("left", NodeKind.SWITCH), Node("right", NodeKind.SWITCH)]
    pairs = [(0, 4, 99), (1, 4, 99), (2, 5, 99), (3, 5, 99), (4, 5, 6)]
    links = [Link(u, v, Fraction(b)) for a, z, b in pairs for u, v in ((a, z), (z, a))]
    topology = Topology("barbell", tuple(nodes), tuple(links))
    found = concurrent_groups(
        topology, {"fast": "ac", "slow": "bd"}, SETTINGS, weights={"fast": 2, "slow": 1}
    )
    assert found.rate_gb_s == 2
    assert [found.algbw_gb_s(i) for i in (0, 1)] == [8, 4]  # both members send
    even = concurrent_groups(topology, {"fast": "ac", "slow": "bd"}, SETTINGS)
    assert even.rate_gb_s == 3


def _random_groups(topology: Topology, seed: int) -> dict[str, list[str]]:
    chance = random.Random(seed)
    names = [topology.nodes[v].name for v in topology.compute]
    chance.shuffle(names)
    size = chance.randint(2, len(names) - 2)
    return {"one": names[:size], "other": names[size:]}


@pytest.mark.first_rows(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_cut_bound_equals_the_flow_optimum(kind: str, seed: int) -> None:
    """Max-flow min-cut in every group's share; the forests attain the bound."""
    topology = random_topology(seed, kind)
    if topology.num_compute < 4:
        topology = load_topology("ring:nodes=5")
    groups = _random_groups(topology, seed)
    weights = {"one": Fraction(1), "other": Fraction(seed % 5 + 1, 3)}
    found = concurrent_groups(topology, groups, SETTINGS, weights=weights)
    expected = _rate_by_flows(topology, groups, weights)
    assert found.bound_gb_s == pytest.approx(expected, rel=RELATIVE)
    assert float(found.rate_gb_s) == pytest.approx(expected, rel=RELATIVE)


def _rate_by_flows(
    topology: Topology, groups: Mapping[str, Sequence[str]], weights: Mapping[str, Fraction]
) -> float:
    """Return the largest t by the program with a flow to every member of every group."""
    names = [node.name for node in topology.nodes]
    ends = [(names[link.tail], names[link.head]) for link in topology.links]
    graph = topology.to_networkx()
    incidence = nx.incidence_matrix(graph, nodelist=names, edgelist=ends, oriented=True)
    bandwidth = np.array([float(link.bandwidth_gb_s) for link in topology.links])
    t, total, constraints = cp.Variable(nonneg=True), 0, []
    for name, members in groups.items():
        inside = [topology.position_of[member] for member in members]
        outside = [v for v in range(len(names)) if v not in inside]
        share, size = cp.Variable(len(ends), nonneg=True), len(members)
        flow = cp.Variable((len(ends), size), nonneg=True)
        fed = cp.Variable((size, size), nonneg=True)
        kept, speed = incidence @ flow, float(weights[name]) * t
        constraints += [kept[inside] + fed >= size * speed * np.eye(size), fed <= speed]
        constraints += [flow[:, i] <= share for i in range(size)]
        if outside:
            constraints += [kept[outside] >= 0, (incidence @ share)[outside] == 0]
        total = total + share
    problem = cp.Problem(cp.Maximize(t), [*constraints, total <= bandwidth])
    solve_stated(problem, SETTINGS)
    return float(t.value)


@pytest.mark.parametrize("factor", ["1/1000000000", "1000000000"])
def test_bandwidths_of_any_size_are_scaled(factor: str) -> None:
    topology = load_topology("dgx_a100:boxes=2").scaled("*", factor)
    found = concurrent_groups(topology, groups_by_box(topology), SETTINGS)
    assert found.rate_gb_s == Fraction(325, 7) * Fraction(factor)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({}, "there is no group"),
        ({"x": ["b0.gpu0"]}, "group 'x' has fewer than two members"),
        ({"x": ["b0.gpu0", "b0.gpu1"], "y": ["b1.gpu0", "b0.gpu1"]}, "'b0.gpu1' is in group 'x'"),
        ({"x": ["b0.gpu0", "b0.gpu9"]}, "group 'x': the group names 'b0.gpu9'"),
        ({"x": ["b0.gpu0", "ib"]}, "group 'x': the group names 'ib', which is a switch"),
        ({"x": ["b0.gpu0", "b0.gpu0"]}, "group 'x': the group names 'b0.gpu0' twice"),
    ],
)
def test_bad_groups_are_refused_by_name(groups: dict[str, list[str]], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        concurrent_groups(load_topology("dgx_a100:boxes=2"), groups, SETTINGS)


def test_bad_weights_are_refused() -> None:
    ring = load_topology("ring:nodes=4")
    with pytest.raises(InvalidParameterError, match="weight for group 'z', which is not given"):
        concurrent_groups(ring, {"x": ["gpu0", "gpu1"]}, SETTINGS, weights={"z": 1})


def test_members_that_cannot_reach_each_other_are_named() -> None:
    """GPUs a and b talk both ways; c hears from b but cannot answer."""
    nodes = tuple(Node(name, NodeKind.COMPUTE) for name in "abc")
    ends = ((0, 1), (1, 0), (1, 2))
    topology = Topology("mute", nodes, tuple(Link(u, v, Fraction(1)) for u, v in ends))
    with pytest.raises(DisconnectedError, match="group 'x': 'a' and 'c' cannot reach"):
        concurrent_groups(topology, {"x": ["a", "c"]}, SETTINGS)
    assert concurrent_groups(topology, {"x": ["a", "b"]}, SETTINGS).rate_gb_s == 1


def test_at_the_time_limit_the_best_bound_is_reported() -> None:
    """Before any solution: a GPU takes 325 GB/s, here of a single other member."""
    topology = load_topology("dgx_a100:boxes=2")
    with pytest.raises(TimeLimitError, match="at most 325 GB/s") as caught:
        concurrent_groups(topology, groups_by_index(topology), Settings(seconds=1e-9))
    assert caught.value.bound == pytest.approx(325)


def test_without_time_to_be_lean_the_rate_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def hurried(program: Program, settings: Settings) -> Solution:
        if not program.maximise:
            raise TimeLimitError("no time is left")
        return solve(program, settings)

    topology = load_topology("dgx_a100:boxes=2")
    assert concurrent_groups(topology, groups_by_box(topology), SETTINGS).lean
    monkeypatch.setattr("lp.groups.sharing.solve", hurried)
    found = concurrent_groups(topology, groups_by_box(topology), SETTINGS)
    assert not found.lean
    assert found.rate_gb_s == Fraction(325, 7)


def test_boxes_and_indices_must_be_known() -> None:
    plain = Topology("plain", (Node("a", NodeKind.COMPUTE),), ())
    with pytest.raises(InvalidParameterError, match="GPU 'a' has no box"):
        groups_by_box(plain)
