"""What prices prove, added up without the code that finds them; false ones refused."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import generate, optimum, verify
from forestcoll.errors import VerificationError
from forestcoll.problem.rate_bound import PricedCut, RateBound, SharedPrice, SwitchPrice
from forestcoll.schedule.verification.prices import priced_inverse_rate, priced_room, priced_weight
from forestcoll.topology import Topology
from tests.core.any_network.networks import damaged_network, fan, half_duplex

ROOT = (1, 0, 0, 0)


def of_the_fan() -> RateBound:
    bound = optimum(fan(), weights=ROOT).prices
    assert bound is not None
    return bound


def of_the_wires() -> RateBound:
    bound = optimum(half_duplex()).prices
    assert bound is not None
    return bound


def test_the_fan_by_hand():
    """Three cuts around a GPU each and the switch between, all at 1/3: r -> s has 1 GB/s."""
    bound = of_the_fan()
    assert {one.price for one in (*bound.cuts, *bound.switches)} == {Fraction(1, 3)}
    assert priced_weight(bound, copies=False) == 1
    assert priced_room(bound, lambda width: width) == Fraction(1, 3)
    assert priced_inverse_rate(bound, copies=False) == 3
    assert priced_room(bound, lambda width: 5 * width) == Fraction(5, 3)


def test_half_duplex_wires_by_hand():
    """24 crossings over 4 x 64 GB/s."""
    assert priced_inverse_rate(of_the_wires(), copies=False) == Fraction(24, 256)


@pytest.mark.parametrize("seed", range(40))
def test_verification_agrees_with_the_rate_of_the_bound(seed: int):
    """With other prices too: two pieces of code, one formula, both directions."""
    if (made := damaged_network(seed, groups=seed % 2 == 0)) is None:
        return
    network, weights = made
    best = optimum(network, weights=weights, reduction=seed % 3 == 0)
    bound = best.bound
    odd = replace(
        bound,
        switches=tuple(
            SwitchPrice(switch, Fraction(place + 1, 60))
            for place, switch in enumerate(network.switches)
        ),
        shared=tuple(
            SharedPrice(group.name, Fraction(place + 1, 50))
            for place, group in enumerate(network.shared)
        ),
    )
    for one in (bound, odd):
        assert priced_inverse_rate(one, copies=False) == one.inverse_rate
    assert priced_inverse_rate(odd, copies=False) <= best.inverse_rate  # no prices prove more


def changed(**fields: object) -> Callable[[RateBound], RateBound]:
    return lambda bound: replace(bound, **fields)


FALSE: dict[str, tuple[Callable[[RateBound], RateBound], str]] = {
    "a negative price of a cut": (
        lambda b: replace(b, cuts=(replace(b.cuts[0], price=Fraction(-1)), *b.cuts[1:])),
        "must be a Fraction from 0 up",
    ),
    "a float": (
        lambda b: replace(b, cuts=(replace(b.cuts[0], price=0.5), *b.cuts[1:])),
        "must be a Fraction from 0 up",
    ),
    "a negative price of a switch": (
        lambda b: replace(b, switches=(SwitchPrice(1, Fraction(-1, 3)),)),
        "must be a Fraction from 0 up",
    ),
    "a negative price of a shared capacity": (
        changed(shared=(SharedPrice("none", Fraction(-1)),)),
        "must be a Fraction from 0 up",
    ),
    "a cut with every GPU": (
        lambda b: replace(b, cuts=(*b.cuts, PricedCut((0, 1, 2, 3, 4), Fraction(1)))),
        "contains every GPU",
    ),
    "a node twice": (
        lambda b: replace(b, cuts=(PricedCut((0, 0, 1), Fraction(1)),)),
        "each once",
    ),
    "a node that is none": (
        lambda b: replace(b, cuts=(PricedCut((0, 9), Fraction(1)),)),
        "nodes from 0 to 4",
    ),
    "no cut": (changed(cuts=()), "no priced cut holds any data"),
    "cuts without data": (
        lambda b: replace(b, cuts=(PricedCut((2,), Fraction(1)),)),
        "no priced cut holds any data",
    ),
    "a GPU priced as a switch": (
        changed(switches=(SwitchPrice(0, Fraction(1)),)),
        "does not only forward",
    ),
    "a switch twice": (
        lambda b: replace(b, switches=(*b.switches, *b.switches)),
        "switch 1 has two prices",
    ),
    "a shared capacity that is none": (
        changed(shared=(SharedPrice("bus", Fraction(1)),)),
        "'bus' has a price, but the network has none such",
    ),
    "no room": (
        lambda b: replace(b, switches=(), cuts=(PricedCut((0, 1, 2, 3), Fraction(0)),)),
        "no priced cut holds any data",
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_prices_are_refused(name: str):
    change, message = FALSE[name]
    with pytest.raises(VerificationError, match=message):
        priced_inverse_rate(change(of_the_fan()), copies=False)


def test_a_shared_capacity_with_two_prices_is_refused():
    bound = of_the_wires()
    twice = replace(bound, shared=(*bound.shared, bound.shared[0]))
    with pytest.raises(VerificationError, match="shared capacity 'wire 0' has two prices"):
        priced_inverse_rate(twice, copies=False)


def test_prices_that_leave_no_room_prove_nothing():
    """A cut around a GPU that nothing enters: no link has a price."""
    network = Topology("apart", fan().nodes, fan().links[1:])  # r -> s is gone
    bound = RateBound(network, (PricedCut((0,), Fraction(1)),), (), (), ROOT)
    with pytest.raises(VerificationError, match="leave no room"):
        priced_inverse_rate(bound, copies=False)


def test_no_price_may_forbid_a_switch_to_copy():
    """Marked as copying, s may send three times what it receives once."""
    nodes = tuple(replace(node, multicast=node.is_switch) for node in fan().nodes)
    marked = replace(of_the_fan(), topology=replace(fan(), nodes=nodes))
    assert priced_inverse_rate(marked, copies=False) == 3
    with pytest.raises(VerificationError, match="s has the price of a switch that forwards"):
        priced_inverse_rate(marked, copies=True)


def test_a_schedule_is_optimal_by_its_own_network_and_collective_only():
    """Prices of the same numbers, but of other weights or another network, are refused."""
    forest = generate(fan(), collective="broadcast", root="r").schedule
    claim = forest.optimum
    assert claim is not None
    assert claim.prices is not None
    assert verify(forest).optimal
    for wrong in (
        replace(claim.prices, weights=(0, 1, 0, 0)),
        replace(claim.prices, reduction=True),
        replace(claim.prices, topology=replace(fan(), name="other")),
    ):
        with pytest.raises(VerificationError, match="prices"):
            verify(replace(forest, optimum=replace(claim, prices=wrong)))
    better = replace(claim, inverse_rate=claim.inverse_rate / 2)
    with pytest.raises(VerificationError, match="its prices prove 3"):
        verify(replace(forest, optimum=better))
