"""The best congestion for a given k: published values, hand calculations, every U, every cut."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.config.methods import refusal, run_method
from forestcoll import generate, verify
from forestcoll.core.fixed_k import fixed_k
from forestcoll.core.optimality import optimum
from forestcoll.errors import (
    CapacityOverflowError,
    InvalidParameterError,
    UnsupportedError,
)
from forestcoll.topology import group, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology, rounds
from tests.reference.cuts import violated_set
from tests.reference.fixed_k import fixed_k_reference, rounded_down
from tests.strategies import topologies

TABLE_1 = {
    1: "320",
    2: "1024/3",
    3: "2400/7",
    4: "1024/3",
    5: "8000/23",
    6: "2400/7",
    7: "350",
    8: "12800/37",
    9: "14400/41",
    83: "5312/15",
}
"""GB/s on two MI250 boxes; the paper's table 1 rounds the first five and the last (354.133)."""

SOON = {k: range(first, 20, 4) for first, k in enumerate((1, 2, 3, 7))}
RANDOM = [
    pytest.param(kind, seed, k, marks=() if seed in SOON[k] else pytest.mark.slow)
    for k in (1, 2, 3, 7)
    for kind in KINDS
    for seed in range(40)
]
"""Half of the networks with one k each; all with each k in ``make test-all``."""


def bandwidths(topology):
    return {(link.tail, link.head): link.bandwidth_gb_s for link in topology.links}


def as_links(topology, capacity):
    return dict(zip(bandwidths(topology), capacity.tolist(), strict=True))


def trees_of(topology, k, weights=None):
    weights = weights or (1,) * topology.num_compute
    return {gpu: k * weight for gpu, weight in zip(topology.compute, weights, strict=True)}


def witness_is_one(found):
    """The cut is too narrow just below the bound, by the definition; and not at the bound.

    The same of prices, where no cut says so.
    """
    if found.prices is not None:
        assert found.certificate() > 0
        assert replace(found, bound=found.bound + Fraction(1, 10**12)).certificate() <= 0
        return
    cut = found.witness
    wanted = found.k * cut.weight
    sizes = [link.bandwidth_gb_s for link in cut.exit_links]
    before = max(Fraction(math.ceil(found.bound * b) - 1) / b for b in sizes)
    assert before < found.bound
    lacking = wanted - sum(math.floor(before * b) for b in sizes)
    assert found.certificate() == lacking > 0
    assert sum(math.floor(found.bound * b) for b in sizes) >= wanted
    assert replace(found, bound=found.bound + Fraction(1, 10**12)).certificate() <= 0


def capacity_can_be_packed(found, network, trees):
    """At most floor(U b) on each link, no cut violated, in >= out at every switch."""
    links = as_links(network, found.capacity)
    roomy = rounded_down(bandwidths(network), found.congestion)
    assert all(0 <= links[link] <= roomy[link] for link in links)
    assert violated_set(links, trees) is None
    surplus = Counter()
    for (tail, head), room in links.items():
        surplus[head] += room
        surplus[tail] -= room
    assert all(surplus[switch] >= 0 for switch in network.switches)


@pytest.mark.parametrize(("k", "algbw"), TABLE_1.items())
def test_table_1_exactly(k, algbw):
    """MI250, 2 x 16: k = 1 to 9 and the optimal 83, as fractions; a forest attains each."""
    topology = load_topology("mi250:boxes=2")
    found = fixed_k(topology, k)
    assert found.algbw_gb_s == found.bound_algbw_gb_s == Fraction(algbw)
    assert found.exact
    assert found.optimal == (k == 83)
    witness_is_one(found)
    forest = generate(topology, k=k).schedule
    verdict = verify(forest)
    assert (verdict.k, verdict.algbw_gb_s) == (k, Fraction(algbw))
    assert verdict.optimal == (k == 83)


def test_half_boxes_of_mi250():
    """MI250, 8 + 8: 208 GB/s with 13 trees, the optimum."""
    topology = load_topology("mi250:boxes=2,gpus_per_box=8")
    found = fixed_k(topology, 13)
    assert found.algbw_gb_s == 208
    assert found.optimal
    assert verify(generate(topology, k=13).schedule).optimal
    assert fixed_k(topology, 12).algbw_gb_s < 208


def test_one_tree_on_two_a100_boxes_by_hand():
    """A GPU needs floor(300 U) + floor(25 U) >= 15, a box 8 floor(25 U) >= 8. At U = 14/300 that
    is 14 + 1, and 25 U = 1.17; so 16 / U = 342.86 GB/s.
    """
    found = fixed_k(load_topology("dgx_a100:boxes=2"), 1)
    assert found.bound == found.congestion == Fraction(14, 300)
    assert len(found.witness.compute) == 15
    assert found.certificate() == 1  # at most 13 + 1 of 15 trees below


def test_fewer_trees_than_the_optimums_k_may_do_as_well():
    """Eight MI250 boxes, 112 shards into a box over 16 links of 16 GB/s: with one tree a GPU each
    link carries 7 at U = 7/16. All U b are whole only from k = 8 on: 50 x 7/16 is not.
    """
    topology = load_topology("mi250:boxes=8")
    found = fixed_k(topology, 1)
    assert (found.optimum.k, found.congestion) == (8, Fraction(7, 16))
    assert found.optimal
    assert verify(generate(topology, k=1).schedule).optimal


def overdrawn(spare):
    """Four GPUs and a switch w. All links carry 1, but two of 1/2 into w, which sends 1 to c and 1
    to d. At U = 1 w receives one tree, from a, and c and d, with three links each, need all of
    them. With ``spare``, a has a link to c of its own.
    """
    links = "a > w, w > c d, c - d, b - a c d, c d > a, b c > w: 1/2"
    return network_of("a b c d [w]", f"{links}, a > c" if spare else links, "overdrawn")


def test_a_switch_that_cannot_be_trimmed_has_a_price():
    """Every flow passes at U = 1, but one tree cannot leave w twice. U = 2 is the next at which
    anything changes, and then w receives 4: prices of two cuts and of w prove it.
    """
    found = fixed_k(overdrawn(spare=False), 1)
    assert (found.bound, found.congestion, found.exact) == (2, 2, True)
    assert found.prices is not None
    assert [one.switch for one in found.prices.switches] == [4]
    assert found.certificate() > 0
    verdict = verify(generate(overdrawn(spare=False), k=1).schedule)
    assert verdict.congestion <= 2
    assert not verdict.optimal


def test_a_switch_is_trimmed_on_links_that_no_flow_needs():
    """With a spare link into c, w need not send to c: U = 1 is attained."""
    topology = overdrawn(spare=True)
    found = fixed_k(topology, 1)
    assert (found.bound, found.congestion, found.exact) == (1, 1, True)
    place = topology.position_of
    assert as_links(topology, found.capacity)[place["w"], place["c"]] == 0
    assert verify(generate(topology, k=1).schedule).congestion == 1


@pytest.mark.first_rows(15)
@pytest.mark.parametrize(("kind", "seed", "k"), RANDOM)
def test_theorem_12_bound_is_the_least_of_all_candidates(kind, seed, k):
    """By enumeration of every cut at every U at which a floor(U b) changes, up to the bound."""
    topology = random_topology(seed, kind)
    trees, sizes = trees_of(topology, k), bandwidths(topology)
    found = fixed_k(topology, k)
    candidates = {
        Fraction(number) / size
        for size in sizes.values()
        for number in range(math.floor(found.bound * size) + 1)
    }
    below = sorted(candidates - {found.bound}, reverse=True)[:150]
    assert found.bound in candidates
    assert violated_set(rounded_down(sizes, found.bound), trees) is None
    assert all(violated_set(rounded_down(sizes, u), trees) is not None for u in below)


@settings(max_examples=rounds(200), deadline=None)
@given(topologies(), st.integers(1, 12))
def test_algorithm_5_agrees(topology, k):
    """The paper's bisection finds the same; the witness holds; capacities can be packed.

    It looks at cuts only: where switches cannot be trimmed, prices prove a higher bound.
    """
    found = fixed_k(topology, k)
    reference = fixed_k_reference(topology, k)
    assert found.bound > reference if found.prices else found.bound == reference
    witness_is_one(found)
    capacity_can_be_packed(found, topology, trees_of(topology, k))
    assert found.congestion >= found.bound
    assert found.exact == (found.congestion == found.bound)


@settings(max_examples=rounds(150), deadline=None)
@given(topologies(), st.integers(1, 9))
def test_theorem_13_bounds_the_gap(topology, k):
    """A bound of cuts is between k / x* and k / x* + 1 / min b; one of prices may be higher."""
    found = fixed_k(topology, k)
    narrowest = min(bandwidths(topology).values())
    least = k * optimum(topology).inverse_rate
    assert least <= found.bound
    assert found.prices is not None or found.bound <= least + 1 / narrowest


@settings(max_examples=rounds(100), deadline=None)
@given(topologies(), st.integers(1, 3))
def test_multiples_of_the_optimal_k_attain_the_optimum(topology, times):
    """Their congestion is k / x*, and the claim of the forest says so."""
    best = optimum(topology)
    found = fixed_k(topology, times * best.k)
    assert found.exact
    assert found.optimal
    assert found.congestion == times * best.congestion
    assert verify(generate(topology, k=times * best.k).schedule).optimal


@settings(max_examples=rounds(200), deadline=None)
@given(topologies(), st.integers(1, 6))
def test_forests_attain_the_congestion_found(topology, k):
    """They verify; no load is beyond the congestion, none below the bound; claims are true."""
    found = fixed_k(topology, k)
    forest = generate(topology, k=k).schedule
    verdict = verify(forest)
    assert (forest.k, forest.congestion) == (k, found.congestion)
    assert found.bound <= verdict.congestion <= found.congestion
    assert verdict.optimal == found.optimal == (forest.optimum is not None)
    assert verify(generate(topology, k=k, factored=True).schedule).congestion == verdict.congestion


@settings(max_examples=rounds(100), deadline=None)
@given(topologies(kinds=["bidirectional"]), st.integers(1, 9))
def test_links_of_equal_bandwidth_both_ways_leave_no_gap(topology, k):
    """Rounding keeps such a network balanced (the paper's case)."""
    assert fixed_k(topology, k).exact


@settings(max_examples=rounds(150), deadline=None)
@given(topologies(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_weights_and_single_roots(topology, k, chance):
    """The same for any weights, zero among them; a broadcast is the case of a single one."""
    weights = [chance.randint(0, 3) for _ in topology.compute]
    weights[chance.randrange(len(weights))] = 1  # so that there is no common divisor
    if chance.random() < 0.3:
        weights = [int(rank == 0) for rank in range(len(weights))]
    found = fixed_k(topology, k, weights=weights)
    trees = trees_of(topology, k, weights)
    witness_is_one(found)
    capacity_can_be_packed(found, topology, trees)
    sizes = bandwidths(topology)
    below = max(Fraction(math.ceil(found.bound * b) - 1) / b for b in sizes.values())
    assert violated_set(rounded_down(sizes, found.bound), trees) is None
    if found.prices is None:
        assert violated_set(rounded_down(sizes, below), trees) is not None
    verdict = verify(generate(topology, k=k, weights=weights).schedule)
    assert found.bound <= verdict.congestion <= found.congestion
    assert verdict.optimal == found.optimal


@settings(max_examples=rounds(100), deadline=None)
@given(topologies(kinds=["directed"]), st.integers(1, 4))
def test_a_reduction_is_a_gathering_on_the_reversed_network(topology, k):
    """The same congestion, and a cut that the sums must enter."""
    found = fixed_k(topology, k, reduction=True)
    turned = fixed_k(topology.reversed(), k)
    assert (found.bound, found.congestion, found.cut) == (
        turned.bound,
        turned.congestion,
        turned.cut,
    )
    assert np.array_equal(found.capacity, turned.capacity)
    witness_is_one(found)
    forest = generate(topology, k=k, collective="reduce-scatter").schedule
    assert (forest.k, forest.congestion) == (k, found.congestion)
    verdict = verify(forest)
    assert found.bound <= verdict.congestion <= found.congestion
    assert verdict.optimal == found.optimal


def test_all_collectives_among_a_group_of_gpus():
    """Half of the GPUs of each MI250 box, the other half forwarding: k trees, verified."""
    topology = load_topology("mi250:boxes=2")
    members = [node.name for node in topology.nodes if not node.is_switch and node.index < 8]
    part = group(topology, members)
    found = fixed_k(part, 13)
    assert found.algbw_gb_s == Fraction(2600, 7)  # an OAM gets 14 x 13 trees over 332 GB/s
    witness_is_one(found)
    for collective in ("allgather", "reduce-scatter"):
        verdict = verify(generate(part, k=13, collective=collective).schedule)
        assert (verdict.gpus, verdict.algbw_gb_s) == (16, found.algbw_gb_s)
    both = generate(part, k=13, collective="allreduce").schedule
    assert verify(both).algbw_gb_s == found.algbw_gb_s / 2
    single = generate(part, k=5, collective="broadcast", root=members[0]).schedule
    assert verify(single).congestion == fixed_k(part, 5, weights=single.weights).congestion


@pytest.mark.parametrize("k", [0, -3, True, 2.0, "3"])
def test_a_wrong_k_is_refused(k):
    """It must be a whole number from 1 up, and is named."""
    topology = load_topology("ring:nodes=3")
    with pytest.raises(InvalidParameterError, match="must be a whole number from 1 to"):
        fixed_k(topology, k)
    with pytest.raises(InvalidParameterError, match="must be a whole number from 1 to"):
        generate(topology, k=k)


def test_numbers_of_trees_beyond_64_bits_are_refused():
    """Trees in all, or trees over all links, beyond 2^62."""
    with pytest.raises(CapacityOverflowError, match="trees per unit of weight"):
        fixed_k(load_topology("ring:nodes=3"), 10**15, weights=[5000, 1, 1])
    with pytest.raises(CapacityOverflowError, match="the links must carry"):
        fixed_k(load_topology("complete:nodes=9"), 10**15, weights=[1000, *[1] * 8])


def test_the_paper_method_makes_the_optimal_k_only():
    """Its algorithms have no other."""
    with pytest.raises(UnsupportedError, match="another k"):
        generate(load_topology("ring:nodes=3"), k=2, method="paper")


def test_experiments_can_sweep_k():
    """It is a parameter of the method forestcoll."""
    forest, _ = run_method(
        "forestcoll", load_topology("mi250:boxes=2"), "allgather", {"k": 7}, 60.0, str
    )
    assert (forest.k, forest.algbw_gb_s) == (7, 350)
    assert refusal("forestcoll", "k", "seven") == "is 'seven'; it must be a whole number"


def test_a_switch_that_sends_more_than_it_receives_is_no_obstacle():
    """The second GB/s out of the switch has nothing to carry: b gets a's shard over 1 + 1."""
    found = fixed_k(network_of("a b [star]", "a - b, a > star, star > b: 2", "loud"), 1)
    assert found.exact
    assert found.congestion == 1


LOUD = "a - b: 970, b - c: 1010, c - a: 1030, a > star: 70, star > b: 200"
"""A switch that sends more than it receives, and links of bandwidths without a large factor."""


def found_where(works, k, monkeypatch):
    """Search for k trees on ``LOUD``, if a test finds whole capacities at some U; return its Us."""
    tried = []

    def attempt(self, congestion, deadline):
        tried.append(congestion)
        return np.zeros(8, dtype=np.int64) if works(congestion) else None

    monkeypatch.setattr("forestcoll.core.fixed_k._Search._whole_at", attempt)
    monkeypatch.setattr("forestcoll.core.fixed_k._Search.trimmed_at", lambda *_: None)
    return fixed_k(network_of("a b c [star]", LOUD, "loud"), k), tried


def test_whole_capacities_are_found_by_doubling_and_bisection(monkeypatch):
    """Capacities exist from U = 0.0811 on. The least U above at which a link takes one more tree is
    found with a fifth of the attempts that one U after the other would take.
    """
    threshold = Fraction(811, 10000)
    found, tried = found_where(lambda u: u >= threshold, 50, monkeypatch)
    sizes = (970, 1010, 1030, 70, 200)
    assert found.congestion == min(Fraction(math.ceil(threshold * b), b) for b in sizes)
    below = {Fraction(n, b) for b in sizes for n in range(b) if found.bound < Fraction(n, b)}
    assert len(tried) < len([u for u in below if u < threshold]) / 5


def test_no_linear_program_runs_on_symmetric_links(monkeypatch):
    """Then cuts and trimming alone decide (appendix E.4)."""

    def unused(*_):
        raise AssertionError("a linear program was asked")

    for name in ("sub_capacities.balanced_sub_capacities", "whole_capacities.whole_capacities"):
        monkeypatch.setattr(f"forestcoll.core.any_network.{name}", unused)
    assert fixed_k(load_topology("mi250:boxes=2"), 3).exact


def test_the_optimums_use_of_links_is_the_last_resort(monkeypatch):
    """U* = 1/10 for 100 trees a root. 150 need more; at 2/10, twice the optimum's trees fit."""
    found, _ = found_where(lambda u: False, 150, monkeypatch)
    assert found.optimum.congestion == Fraction(1, 10)
    assert Fraction(1, 10) < found.bound < found.congestion == Fraction(2, 10)
    assert found.capacity.max() == 2 * 103


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=32", "mi250:boxes=16"])
def test_the_number_of_threads_changes_nothing(spec):
    """Not the cut, not the capacities."""
    one, two = (fixed_k(load_topology(spec), 3, threads=threads) for threads in (1, 2))
    assert one == two
    assert np.array_equal(one.capacity, two.capacity)


def test_progress_may_stop_the_search():
    """What the callback raises comes out."""

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fixed_k(load_topology("dgx_a100:boxes=4"), 1, progress=stop)
