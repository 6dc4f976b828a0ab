"""Prices added up by hand: a cut, a switch that forwards, wires that share a limit."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.problem.cuts import Cut
from forestcoll.problem.rate_bound import PricedCut, RateBound, SharedPrice, SwitchPrice
from forestcoll.topology import Topology, load_topology
from tests.core.any_network.networks import fan, half_duplex
from tests.hand_networks import network_of

THIRD = Fraction(1, 3)


def all_but(network: Topology, name: str) -> tuple[int, ...]:
    return tuple(v for v, node in enumerate(network.nodes) if node.name != name)


def of_the_fan(price: Fraction = THIRD, switch: Fraction = THIRD) -> RateBound:
    """Root r -> s -> a, b, c, 1 GB/s each: cuts around a, b and c, and the switch."""
    network = fan()
    cuts = tuple(PricedCut(all_but(network, name), price) for name in "abc")
    return RateBound(network, cuts, (SwitchPrice(1, switch),), (), (1, 0, 0, 0))


def of_the_wires() -> RateBound:
    network = half_duplex()
    cuts = tuple(PricedCut(all_but(network, f"g{i}"), Fraction(1)) for i in range(4))
    shared = tuple(SharedPrice(f"wire {i}", Fraction(1)) for i in range(4))
    hub = SwitchPrice(network.position_of["s"], Fraction(1))
    return RateBound(network, cuts, (hub,), shared, (1,) * 4)


def test_a_single_cut_is_its_own_bound():
    """24 shards must leave the rest for a box of four, at 200 GB/s."""
    network = load_topology("dgx_a100:boxes=4")
    nodes = [v for v, node in enumerate(network.nodes) if node.box != 0]
    bound = RateBound.of_cut(network, reversed(nodes), (1,) * 32, False)
    assert bound.is_single_cut
    assert bound.cuts[0].nodes == tuple(sorted(nodes))
    assert bound.covered == 24
    assert bound.inverse_rate == Cut(network, nodes).inverse_rate == Fraction(24, 200)
    assert bound.algbw_gb_s == Fraction(800, 3)
    assert bound.in_words() == [Cut(network, nodes).in_words()]
    back = RateBound.of_cut(network.reversed(), nodes, (1,) * 32, True)
    assert back.inverse_rate == Fraction(24, 200)


def test_the_price_of_a_switch_moves_that_of_links():
    """S -> a needs 1/3 - 1/3 = 0, r -> s needs 1/3 and has 1 GB/s: x <= 1/3 per unit of weight."""
    bound = of_the_fan()
    needed = dict(zip(fan().link_between, bound.link_prices(), strict=True))
    assert needed[0, 1] == THIRD
    assert sum(needed.values()) == THIRD
    assert bound.covered == 1
    assert bound.inverse_rate == 3
    assert not bound.is_single_cut
    assert not replace(bound, cuts=bound.cuts[:1]).is_single_cut


def test_a_link_out_of_several_cuts_has_all_their_prices():
    """From r to s: out of {r}, of {r, a} and of {r, b}. 1/6 + 1/3 + 1/2 = 1 for 1 GB/s."""
    network = fan()
    cuts = tuple(
        PricedCut(nodes, Fraction(n, 6)) for n, nodes in enumerate([(0,), (0, 2), (0, 3)], 1)
    )
    bound = RateBound(network, cuts, (), (), (1, 0, 0, 0))
    assert bound.link_prices()[network.links.index(network.link_between[0, 1])] == 1
    assert bound.inverse_rate == 1


def test_too_low_a_price_proves_less_and_too_high_no_more():
    """With 1/4 at s, links s -> a need 1/12 each: 1/4 + 3/12 = 1/2. With 1/2, r -> s alone: 1/2."""
    assert of_the_fan(switch=Fraction(1, 4)).inverse_rate == 2
    assert of_the_fan(switch=Fraction(1, 2)).inverse_rate == 2


def test_a_shared_capacity_takes_its_price_off_its_links():
    """Links into the hub need 0 + 1 - 1, links out of it 1 - 1 - 1 or less: all 0. The wires have
    4 x 64, and 4 cuts take 3 each: x <= 256 / 12 with a hub of price 1.
    """
    bound = of_the_wires()
    assert set(bound.link_prices()) == {Fraction(0)}
    assert bound.shared_prices() == [Fraction(1)] * 4
    assert bound.covered == 12
    assert bound.inverse_rate == Fraction(12, 256)


def test_prices_are_added_up_in_whole_units_of_fractions():
    """A cut of price 1/2 around b, a > b of 1/3 GB/s and c > b of 1/7. A limit of 1/5 GB/s for both
    has the price 1/6, and so has one for c > b alone: 1/3 x 1/3 + 1/6 x 1/7 + 2 x 1/6 x 1/5.
    """
    network = network_of("a b c", "a > b: 1/3, c > b: 1/7, b > a, b > c", "two ways")
    network = network.with_shared("both", ["a -> b", "c -> b"], "1/5")
    network = network.with_shared("one", "c -> b", "1/5")
    cut = PricedCut((0, 2), Fraction(1, 2))
    shared = (SharedPrice("both", Fraction(1, 6)), SharedPrice("one", Fraction(1, 6)))
    bound = RateBound(network, (cut,), (), shared, (1, 1, 1))
    needed = dict(zip(network.link_between, bound.link_prices(), strict=True))
    assert needed == {(0, 1): THIRD, (2, 1): Fraction(1, 6), (1, 0): 0, (1, 2): 0}
    room = THIRD * THIRD + Fraction(1, 6) * Fraction(1, 7) + 2 * Fraction(1, 30)
    assert bound.covered == 1
    assert bound.inverse_rate == 1 / room
    assert bound.room([link.bandwidth_gb_s for link in network.links], [Fraction(1, 5)] * 2) == room


def test_room_counts_the_given_loads():
    """Trees instead of GB/s, as for a number of trees that is fixed."""
    bound = of_the_wires()
    assert bound.room([7] * 8, [1, 2, 3, 4]) == 10
    assert of_the_fan().room([3] + [0] * 6, []) == 1


def test_the_rate_is_the_room_of_all_bandwidths() -> None:
    """By cuts and switches, and with shared capacities."""
    for bound in (of_the_fan(), of_the_wires()):
        net = bound.topology
        room = bound.room(
            [link.bandwidth_gb_s for link in net.links],
            [group.bandwidth_gb_s for group in net.shared],
        )
        assert bound.inverse_rate == bound.covered / room


def test_words_name_all_that_has_a_price():
    lines = of_the_fan().in_words()
    assert lines == [
        "3 cuts such as everything but GPU a: the data must enter it over 1 link, 1 GB/s in all",
        "switch s: of 3 GB/s out, only 1 GB/s enter",
    ]
    lines = of_the_wires().in_words()
    assert lines[-1] == "4 such as wire 0: 2 links share 64 GB/s"
    odd = replace(
        of_the_wires(),
        cuts=(*of_the_wires().cuts[1:], replace(of_the_wires().cuts[0], price=Fraction(2))),
        shared=(SharedPrice("wire 3", Fraction(2)), SharedPrice("wire 0", Fraction(1))),
    )
    assert [line.partition(":")[0] for line in odd.in_words()] == [
        "everything but GPU g0",
        "3 cuts such as everything but GPU g1",
        "switch s",
        "wire 3",
        "wire 0",
    ]
    network = fan().reversed()
    cuts = (PricedCut(all_but(network, "a"), THIRD),)
    turned = RateBound(network, cuts, (SwitchPrice(1, THIRD),), (), (1, 0, 0, 0), reduction=True)
    assert turned.in_words()[-1] == "switch s: of 3 GB/s in, only 1 GB/s can leave"


def test_switches_of_high_prices_are_named_first():
    """T costs more than s, which comes first in the network."""
    network = fan()
    larger = replace(network, nodes=(*network.nodes, replace(network.nodes[1], name="t")))
    prices = (SwitchPrice(1, THIRD), SwitchPrice(5, Fraction(1)))
    lines = replace(of_the_fan(), topology=larger, switches=prices).in_words()
    assert [line.partition(":")[0] for line in lines[-2:]] == ["switch t", "switch s"]


def test_the_widest_cut_has_the_highest_price():
    network = fan()
    prices = [Fraction(1), Fraction(3), Fraction(2)]
    cuts = tuple(
        PricedCut(all_but(network, name), price) for name, price in zip("abc", prices, strict=True)
    )
    bound = RateBound(network, cuts, (), (), (1, 0, 0, 0))
    assert bound.widest.nodes == all_but(network, "b")


@pytest.mark.parametrize("marked", [False, True])
def test_the_price_of_a_multicast_switch_is_not_a_bound(marked: bool):
    nodes = tuple(replace(node, multicast=marked and node.is_switch) for node in fan().nodes)
    bound = of_the_fan()
    network = replace(fan(), nodes=nodes)
    assert replace(bound, topology=network).multicast is not marked
    assert replace(bound, topology=network).model == "switches only forward"
    cut = RateBound.of_cut(network, [0, 1], (1, 0, 0, 0), False)
    assert cut.multicast
    assert cut.model == "any schedule"


def test_a_bound_that_prices_unmarked_switches_holds_for_multicast_by_others():
    """A second switch, marked and without a price."""
    network = fan()
    other = replace(network.nodes[1], name="t", multicast=True)
    larger = replace(network, nodes=(*network.nodes, other))
    bound = replace(of_the_fan(), topology=larger)
    assert bound.multicast
    assert bound.model == "switches only forward, but for those marked multicast"


def test_in_a_reduction_every_link_is_reversed():
    """The fan reversed: a, b and c send to s, which has 1 GB/s to the root."""
    network = fan().reversed()
    bound = of_the_fan()
    turned = RateBound(network, bound.cuts, bound.switches, (), bound.weights, reduction=True)
    assert turned.inverse_rate == bound.inverse_rate == 3
    assert sum(turned.link_prices()) == THIRD
