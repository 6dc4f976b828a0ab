"""The fastest allreduce: reference against cutting planes, hand-solved and published networks."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import forestcoll
import forestcoll.allreduce.cutting_planes
from forestcoll.allreduce.allreduce_program import improved
from forestcoll.allreduce.cutting_planes import allreduce_optimum
from forestcoll.allreduce.result import combination_algbw, rate_scale
from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
    InvalidTopologyError,
    TimeLimitError,
)
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.solver.linear_program import Program, Settings, Solution
from forestcoll.solver.solve import available_methods
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.symmetry.automorphism import no_symmetry
from lp.allreduce.reference import allreduce_reference
from tests.hand_networks import network_of
from tests.lp.networks import BETTER, RANDOM, line, two_boxes
from tests.random_topologies import random_topology

SETTINGS = Settings(seconds=60)


@pytest.mark.first_rows(4)
@pytest.mark.parametrize(("kind", "seed"), RANDOM)
def test_cutting_planes_equal_the_reference(kind: str, seed: int) -> None:
    """The paper's program with flows between GPUs, and cuts of shares balanced at switches."""
    topology = random_topology(seed, kind)
    reference = allreduce_reference(topology, SETTINGS)
    found = allreduce_optimum(topology, SETTINGS)
    assert found.algbw_gb_s == pytest.approx(reference.algbw_gb_s, rel=1e-7)
    assert found.bound_gb_s == pytest.approx(reference.algbw_gb_s, rel=1e-7)
    assert reference.bound_gb_s == pytest.approx(reference.algbw_gb_s, rel=1e-7)


@pytest.mark.parametrize(("topology", "best", "combined"), BETTER, ids=lambda given: str(given))
def test_combinations_below_optimum(topology: Topology, best: Fraction, combined: Fraction) -> None:
    """By hand, in ``networks``: other roots or shares beat reduce-scatter + allgather."""
    assert combination_algbw(topology) == combined
    for solve in (allreduce_reference, allreduce_optimum):
        found = solve(topology, SETTINGS)
        assert found.algbw_gb_s == pytest.approx(float(best), rel=1e-7)
        assert not found.is_attained_by(combined)
        assert found.is_attained_by(best)


@pytest.mark.parametrize(
    "spec",
    [
        *(f"dgx_a100:boxes={boxes}" for boxes in (1, 2, 4)),
        *(f"dgx_h100:boxes={boxes}" for boxes in (1, 2, 16)),
        *(f"mi250:boxes={boxes}" for boxes in (1, 2)),
        "paper_example",
        "torus:dims=3x3",
    ],
)
def test_the_combination_is_optimal_on_the_networks_of_the_paper(spec: str) -> None:
    """ForestColl section 5.7: in all topologies evaluated; sum of x_v = N x* / 2."""
    topology = load_topology(spec)
    found = allreduce_optimum(topology, SETTINGS)
    half = forestcoll.optimum(topology).algbw_gb_s / 2
    assert combination_algbw(topology) == half
    assert found.algbw_gb_s == pytest.approx(float(half), rel=1e-7)
    assert found.is_attained_by(half)


@pytest.mark.parametrize(
    "topology",
    [load_topology("mi250:boxes=2"), load_topology("dgx_a100:boxes=4"), *(b[0] for b in BETTER)],
    ids=lambda given: given.name,
)
def test_equal_values_on_orbits_lose_nothing(topology: Topology) -> None:
    """The average of an optimal solution over the group is optimal: convexity."""
    collapsed = allreduce_optimum(topology, SETTINGS)
    whole = allreduce_optimum(topology, SETTINGS, orbits=no_symmetry(topology))
    assert collapsed.algbw_gb_s == pytest.approx(whole.algbw_gb_s, rel=1e-8)
    assert collapsed.link_orbits <= whole.link_orbits == len(topology.links)
    assert collapsed.cuts <= whole.cuts


@pytest.mark.parametrize("topology", [b[0] for b in BETTER], ids=lambda given: given.name)
def test_the_solution_keeps_every_cut_that_a_search_of_all_finds(topology: Topology) -> None:
    """All cuts of up to 10 nodes enumerated, and shares, balance, and the tight binding cuts."""
    found = allreduce_optimum(topology, SETTINGS)
    slack = 10 * found.tolerance * rate_scale(topology)
    bandwidth = np.array([float(e.bandwidth_gb_s) for e in topology.links])
    tail, head = (np.array([getattr(e, end) for e in topology.links]) for end in ("tail", "head"))
    assert (found.reduce_gb_s + found.gather_gb_s <= bandwidth + slack).all()
    for w in topology.switches:
        for share, sign in ((found.gather_gb_s, 1), (found.reduce_gb_s, -1)):
            assert sign * (share[head == w].sum() - share[tail == w].sum()) >= -slack
    part = np.zeros(len(topology.nodes))
    part[list(topology.compute)] = found.parts_gb_s

    def excess(phase: str, inside: np.ndarray) -> float:
        crossing = (
            (inside[tail] > inside[head]) if phase == "gather" else inside[tail] < inside[head]
        )
        share = found.gather_gb_s if phase == "gather" else found.reduce_gb_s
        return float(part[inside].sum() - share[crossing].sum())

    for chosen in range(1, 2 ** len(topology.nodes)):
        inside = (chosen >> np.arange(len(topology.nodes))) % 2 == 1
        if not inside[list(topology.compute)].all():
            assert excess("gather", inside) <= slack
            assert excess("reduce", inside) <= slack
    assert found.binding
    for cut in found.binding:
        inside = np.zeros(len(topology.nodes), dtype=bool)
        inside[list(cut.nodes)] = True
        assert excess(cut.phase, inside) == pytest.approx(0, abs=slack)


def test_the_binding_cuts_of_four_boxes_are_boxes() -> None:
    """200 GB/s enter a box of A100s for the parts of 24 other GPUs: N x* / 2 = 133.3 GB/s.

    The rate is proportional to what enters a box: with the boxes alike, 133.3 / 200 = 2/3 a GB/s.
    """
    topology = load_topology("dgx_a100:boxes=4")
    found = allreduce_optimum(topology, SETTINGS)
    assert {cut.phase for cut in found.binding} == {"gather", "reduce"}
    for cut in found.binding:
        outside = {v for v in range(len(topology.nodes)) if v not in cut.nodes}
        boxes = {topology.nodes[v].box for v in outside if not topology.nodes[v].is_switch}
        assert len(boxes) == 1
        assert len(outside) >= 8
        assert cut.price == pytest.approx(2 / 3)


@pytest.mark.parametrize("method", available_methods())
def test_every_lp_method_finds_the_same(method: str) -> None:
    """79/40, and 1 by hand; to 1e-6, for the first-order methods are less exact."""
    settings = Settings(seconds=20, method=method, tolerance=1e-8)
    for topology, best in ((random_topology(6, "directed"), 79 / 40), (line(4), 1.0)):
        found = allreduce_optimum(topology, settings)
        assert found.algbw_gb_s == pytest.approx(best, rel=1e-6)
        assert found.bound_gb_s == pytest.approx(best, rel=1e-6)
        assert found.method == method


@pytest.mark.parametrize("factor", ["1/1000000", "1000000"])
def test_scaling_and_relabelling_change_nothing(factor: str) -> None:
    topology = random_topology(6, "directed")
    found = allreduce_optimum(topology.scaled("*", factor), SETTINGS)
    assert found.algbw_gb_s == pytest.approx(79 / 40 * float(Fraction(factor)), rel=1e-7)
    order = list(reversed(range(len(topology.nodes))))
    turned = allreduce_optimum(topology.relabelled(order), SETTINGS)
    assert turned.algbw_gb_s == pytest.approx(79 / 40, rel=1e-7)
    back = allreduce_optimum(topology.reversed(), SETTINGS)  # reduction and gathering change places
    assert back.algbw_gb_s == pytest.approx(79 / 40, rel=1e-7)


@pytest.mark.parametrize("inner", [10**3, 10**6, 10**9])
@pytest.mark.parametrize("sizes", [(2, 2), (2, 6)], ids=str)
@pytest.mark.each_value_once
def test_fast_boxes_with_a_slow_link_between_them(sizes: tuple[int, int], inner: int) -> None:
    """1 GB/s joins the boxes: at most 1, however fast their GPUs, and 1 with all roots in one box.

    N shards of which the larger box's n cross the link: x* = 1/n, and N x* / 2 = 1 or 2/3.
    """
    topology = two_boxes(*sizes, inner)
    combined = Fraction(sum(sizes), 2 * max(sizes))
    assert combination_algbw(topology) == combined
    for solve in (allreduce_reference, allreduce_optimum):
        found = solve(topology, SETTINGS)
        assert found.algbw_gb_s == pytest.approx(1, rel=1e-7)
        assert found.bound_gb_s == pytest.approx(1, rel=1e-7)
        assert found.is_attained_by(combined) == (combined == 1)


def test_at_the_limit_the_combination_and_the_bound_are_known() -> None:
    topology = load_topology("mi250:boxes=4")
    with pytest.raises(
        TimeLimitError, match=r"reduce-scatter and then allgather have 170\.666667"
    ) as caught:
        allreduce_optimum(topology, Settings(seconds=1e-6))
    assert caught.value.incumbent == combination_algbw(topology)
    assert caught.value.bound is None or caught.value.bound >= 170.666
    with pytest.raises(TimeLimitError):
        allreduce_reference(load_topology("torus:dims=4x4"), Settings(seconds=0.01))


def test_a_limit_after_some_rounds_leaves_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prices of the last program that was solved, though cuts were added to it since."""
    honest = forestcoll.allreduce.cutting_planes.solve
    topology = load_topology("docs/examples/heterogeneous.yaml")
    for rounds in (1, 2, 3):
        left = iter(range(rounds))

        def stopped(program: Program, settings: Settings, left: Any = left) -> Solution:
            if next(left, None) is None:
                raise TimeLimitError("no time is left")
            return honest(program, settings)

        monkeypatch.setattr(forestcoll.allreduce.cutting_planes, "solve", stopped)
        with pytest.raises(TimeLimitError) as caught:
            allreduce_optimum(topology, SETTINGS)
        proof = caught.value.proof
        assert isinstance(proof, AllreduceBound)
        assert check_bound(proof) >= 32
        found = improved(topology, None, multicast=False, seconds=9.0)
        assert found.schedule is None
        assert "did not finish" in found.remark


def test_awkward_bandwidths_make_a_schedule_near_the_bound() -> None:
    """Denominators of 7, 999 and 1000: a unit of which no multiples fit; before, no schedule."""
    links = (
        "g0 - g1: 449723/999, g0 - g2: 216110/999, g0 - g4: 901945/7, g1 - g2: 863.596, "
        "g1 - g3: 545962/999, g1 - g5: 805137/7, g2 - g3: 262.141, g2 - g4: 297.396, "
        "g3 - g4: 719.178, g4 - g5: 4253/7"
    )
    topology = network_of("g0..5", links, "awkward")
    verdict = forestcoll.verify(forestcoll.generate(topology, collective="allreduce").schedule)
    assert verdict.bound_gb_s * Fraction(9999, 10000) < verdict.algbw_gb_s <= verdict.bound_gb_s


def test_networks_without_an_allreduce_are_refused() -> None:
    """One GPU; a GPU that cannot send; orbits of another. What a switch gets in excess is left."""
    for solve in (allreduce_reference, allreduce_optimum):
        with pytest.raises(InvalidTopologyError, match="at least 2"):
            solve(network_of("a", "", "alone"), SETTINGS)
        with pytest.raises(DisconnectedError):
            solve(network_of("a b", "a > b", "silent"), SETTINGS)
        # Each GPU gets a sum or what is added to one, of all data, over 1 GB/s.
        lossy = network_of("[w] a b", "w > a b, a b > w: 2", "lossy")
        assert solve(lossy, SETTINGS).algbw_gb_s == pytest.approx(1)
    with pytest.raises(InvalidParameterError, match="not those of line of 3"):
        allreduce_optimum(line(3), SETTINGS, orbits=no_symmetry(line(4)))
