"""The bound of an allreduce is added up anew, and whatever is not so is refused."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import forestcoll.schedule.allreduce
from forestcoll import generate, load_topology, verify
from forestcoll.errors import VerificationError
from forestcoll.problem.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.schedule.pipelined import Flow
from forestcoll.schedule.verification.trees.allreduce import check_bound
from tests.hand_networks import network_of
from tests.lp.networks import BETTER
from tests.problem.adding_pair import adding_pair, prices_of_pair


def schedule() -> Any:
    """Sixteen A100s: 16 sets of a GPU each, and three switches with potentials."""
    return generate(load_topology("dgx_a100:boxes=2"), collective="allreduce").schedule


Change = Callable[[AllreduceBound], AllreduceBound]

ONE = Fraction(1)

FAULTS: dict[str, tuple[Change, str]] = {
    "more": (
        lambda b: replace(b, algbw_gb_s=b.algbw_gb_s + 1),
        "claims 523/3 GB/s, but its prices prove 520/3",
    ),
    "less": (lambda b: replace(b, algbw_gb_s=b.algbw_gb_s - 1), "its prices prove 520/3"),
    "a set less": (lambda b: replace(b, sets=b.sets[1:]), "but its prices prove"),
    "another price": (
        lambda b: replace(b, sets=(replace(b.sets[0], gather=ONE * 2), *b.sets[1:])),
        "but its prices prove",
    ),
    "another set": (
        lambda b: replace(b, sets=(replace(b.sets[0], nodes=(0, 1)), *b.sets[1:])),
        "but its prices prove",
    ),
    "no potentials": (lambda b: replace(b, potentials=()), "but its prices prove"),
    "a price below 0": (
        lambda b: replace(b, sets=(replace(b.sets[0], gather=-ONE), *b.sets[1:])),
        "a price or potential below 0",
    ),
    "a set of a switch": (
        lambda b: replace(b, sets=(*b.sets, PricedSet(b.topology.switches[:1], ONE, ONE))),
        "a set without a GPU",
    ),
    "a set of nothing": (
        lambda b: replace(b, sets=(*b.sets, PricedSet((), ONE, ONE))),
        "not all among 0 to",
    ),
    "a node out of range": (
        lambda b: replace(b, sets=(*b.sets, PricedSet((99,), ONE, ONE))),
        "not all among 0 to",
    ),
    "a node twice": (
        lambda b: replace(b, sets=(*b.sets, PricedSet((0, 0), ONE, ONE))),
        "a set with a node twice",
    ),
    "a potential of a GPU": (
        lambda b: replace(b, potentials=(Potential(b.topology.compute[0], ONE, ONE),)),
        "a potential to what is not a switch",
    ),
    "a potential twice": (
        lambda b: replace(b, potentials=(*b.potentials, b.potentials[0])),
        "a switch two potentials",
    ),
    "nothing": (lambda b: replace(b, sets=()), "proves nothing"),
    "a set of all": (
        lambda b: replace(b, sets=(PricedSet(b.topology.compute, ONE, ONE),)),
        "proves nothing",
    ),
    "another network": (
        lambda b: replace(b, topology=load_topology("dgx_a100:boxes=3")),
        "that of another topology",
    ),
    "other weights": (
        lambda b: replace(b, weights=(2, *(1,) * 15)),
        "for other weights than those of the schedule",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_false_bound_is_refused(name: str) -> None:
    made, (change, message) = schedule(), FAULTS[name]
    assert verify(made).optimal
    with pytest.raises(VerificationError, match=message):
        verify(replace(made, bound=change(made.bound)))


def test_a_bound_below_the_rate_is_a_contradiction() -> None:
    """The bound of another, slower network would be: here one for fixed weights, on a star.

    Prices that prove less than is attained cannot exist; a schedule that seems faster is wrong. So
    the check is reached only if the rate is measured wrongly: the loads of a phase are halved.
    """
    from forestcoll.schedule.verification.trees import allreduce as verify_allreduce
    from forestcoll.schedule.verification.trees.allreduce import PhaseLoads

    made = schedule()
    links = len(made.topology.links)
    halved = PhaseLoads([1] * links, 10**6)
    with pytest.raises(VerificationError, match="admits"):
        verify_allreduce.check_allreduce(made, halved, halved)


def test_bounds_of_multicast_switches_have_no_potentials() -> None:
    """A bound for switches that forward is none for this schedule; potentials are refused."""
    made = generate(
        load_topology("dgx_h100:boxes=1"), collective="allreduce", multicast=True
    ).schedule
    assert verify(made).optimal
    with pytest.raises(VerificationError, match="for switches that only forward"):
        verify(replace(made, bound=replace(made.bound, multicast=False)))
    switch = made.topology.switches[0]
    wrong = replace(made.bound, potentials=(Potential(switch, ONE, ONE),))
    with pytest.raises(VerificationError, match=r"b0\.nvswitch, which may multicast and reduce"):
        verify(replace(made, bound=wrong))


def test_verify_does_not_believe_the_model_of_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the schedule's own time lies, the verdict's does not."""
    made = schedule()
    verdict = verify(made)
    lie = Flow(Fraction(1, 10**6), None, (), 1)
    monkeypatch.setattr(forestcoll.schedule.allreduce, "pipelined", lambda _: lie)
    again = replace(made)
    assert again.time_s_per_gb == Fraction(1, 10**6)
    assert verify(again) == verdict


def test_simultaneous_phases_add_up_on_the_busiest_link() -> None:
    """The star of 1, 1 and 2 GB/s, 3/4 GB/s one after the other, 1 at once: added up by hand."""
    topology = BETTER[0][0]
    made = generate(topology, collective="allreduce", lp_time_limit_s=0).schedule
    slowest = Fraction(0)
    for link in topology.links:
        ends = (link.tail, link.head)
        part = Fraction(0)
        for phase in made.phases:
            for paths in phase.routes.paths().values():
                for path in paths:
                    hops = zip(path.nodes, path.nodes[1:], strict=False)
                    crossings = sum(hop == ends for hop in hops)
                    part += Fraction(crossings * path.multiplicity, phase.k * sum(phase.weights))
        slowest = max(slowest, part / link.bandwidth_gb_s)
    assert verify(made).time_s_per_gb == made.time_s_per_gb == slowest == 1
    assert made.sequential_s_per_gb == Fraction(4, 3)


def test_a_switch_that_reduces_is_a_root_of_a_multicast_bound() -> None:
    """GPUs a, b, c, a reducing switch in, a multicast switch out, and 1 GB/s from in to out.

    Switch ``in`` can sum up everything and send it out: the link from in to out carries the data
    once, so 1 GB/s is possible. A GPU as root needs that link for the sum and for the copies.
    Prices: 1 for gathering into each {gpu, out}, 1 for reducing out of each {gpu, in}. Only the
    link from in to out enters or leaves such a set, 3 times each: it has price 3. Root a is outside
    of 2 + 2 sets, root in of the 3 with out, root out of the 3 with in: the prices prove 3 / 3 = 1.
    With GPUs alone as roots they would prove 3 / 4, which is false.
    """
    topology = adding_pair(marked=True)
    claim = AllreduceBound(topology, ONE, prices_of_pair(), multicast=True)
    assert check_bound(claim) == 1
    with pytest.raises(VerificationError, match=r"claims 3/4 GB/s, but its prices prove 1$"):
        check_bound(replace(claim, algbw_gb_s=Fraction(3, 4)))


@pytest.mark.parametrize(("marked", "multicast"), [(False, True), (True, False), (False, False)])
def test_a_switch_that_does_not_add_is_no_root(marked: bool, multicast: bool) -> None:
    """The same prices where no switch may sum up: the roots are a, b and c, and 3 / 4 is right."""
    claim = AllreduceBound(adding_pair(marked=marked), ONE, prices_of_pair(), multicast=multicast)
    assert check_bound(replace(claim, algbw_gb_s=Fraction(3, 4))) == Fraction(3, 4)
    with pytest.raises(VerificationError, match=r"claims 1 GB/s, but its prices prove 3/4$"):
        check_bound(claim)


def test_multicast_prices_need_a_set_outside_of_each_switch() -> None:
    """All sets hold switch out: what is summed up there enters none of them."""
    claim = AllreduceBound(adding_pair(marked=True), ONE, prices_of_pair()[:3], multicast=True)
    with pytest.raises(VerificationError, match="proves nothing"):
        check_bound(claim)
    forwarding = replace(claim, multicast=False, algbw_gb_s=Fraction(3, 2))
    assert check_bound(forwarding) == Fraction(3, 2)


def through_memory() -> Any:
    """Eight GPUs whose transfers pass host memory: the bound prices it."""
    return generate(load_topology("pcie_box:gpus=4"), collective="allreduce").schedule


SHARED_FAULTS: dict[str, tuple[Change, str]] = {
    "no price": (lambda b: replace(b, shared=()), "but its prices prove"),
    "a higher price": (
        lambda b: replace(b, shared=(replace(b.shared[0], price=b.shared[0].price * 2),)),
        "but its prices prove",
    ),
    "a price below 0": (
        lambda b: replace(b, shared=(replace(b.shared[0], price=-ONE),)),
        "a price of a shared capacity below 0",
    ),
    "two prices": (lambda b: replace(b, shared=b.shared * 2), "gives a shared capacity two prices"),
    "a stranger": (
        lambda b: replace(b, shared=(replace(b.shared[0], name="nothing"),)),
        "the bound prices 'nothing', which is not a shared capacity",
    ),
}


@pytest.mark.parametrize("name", SHARED_FAULTS)
def test_prices_of_shared_capacities_are_added_up(name: str) -> None:
    change, message = SHARED_FAULTS[name]
    made = through_memory()
    assert len(made.bound.shared) == 1
    assert verify(made).optimal
    with pytest.raises(VerificationError, match=message):
        verify(replace(made, bound=change(made.bound)))


def test_both_phases_load_a_shared_capacity() -> None:
    """Each phase takes 4 * 3 transfers of a quarter through 153.6 GB/s: 2 * 12/4 / 153.6 s."""
    verdict = verify(through_memory())
    assert verdict.time_s_per_gb == 2 * Fraction(12, 4) / Fraction("153.6")
    assert verdict.busiest_link == ("b0.memory0",)


def test_prices_for_weights_count_by_the_weights() -> None:
    """A one-way ring a -> b -> c -> a of 2, 3 and 5 GB/s, price 1 of gathering into {a}.

    Of 4 parts 3 are summed up at b, outside of the set: 3 / 4 of its price. 5 GB/s enter a.
    """
    ring = network_of("a b c", "a > b: 2, b > c: 3, c > a: 5", "ring")
    sets = (PricedSet((0,), ONE, Fraction(0)),)
    claim = AllreduceBound(ring, Fraction(20, 3), sets, weights=(1, 3, 0))
    assert check_bound(claim) == Fraction(20, 3)
    with pytest.raises(VerificationError, match=r"claims 5 GB/s, but its prices prove 20/3$"):
        check_bound(replace(claim, algbw_gb_s=Fraction(5)))


@pytest.mark.parametrize("nodes", [(-1, 0), (0, 5), (-1,)])
def test_nodes_of_a_set_are_in_range_at_both_ends(nodes: tuple[int, ...]) -> None:
    """The pair has nodes 0 to 4."""
    sets = (PricedSet(nodes, ONE, ONE),)
    claim = AllreduceBound(adding_pair(marked=False), ONE, sets)
    with pytest.raises(VerificationError, match="not all among 0 to 4"):
        check_bound(claim)


def test_forests_that_only_forward_need_no_bound_for_switches_that_copy() -> None:
    """An H100 box whose switches could multicast and reduce: 1800/7 GB/s is right without."""
    made = generate(load_topology("dgx_h100:boxes=1"), collective="allreduce").schedule
    assert made.bound is not None
    assert not made.bound.multicast
    verdict = verify(made)
    assert (verdict.algbw_gb_s, verdict.optimal) == (Fraction(1800, 7), True)


def test_the_busiest_link_is_reported_in_its_direction() -> None:
    """Links a -> b 8 GB/s, 2 back, b -> c 4, 6 back: both phases fill b -> a, 1/2 s per GB."""
    net = network_of("a b c", "a > b: 8, b > a: 2, b > c: 4, c > b: 6", "uneven line")
    verdict = verify(generate(net, collective="allreduce").schedule)
    assert verdict.busiest_link == ("b", "a")
    assert (verdict.time_s_per_gb, verdict.optimal) == (Fraction(1, 2), True)
