"""Bounds of allreduces: what prices prove, by hand."""

import random
from fractions import Fraction

import pytest

from forestcoll import generate, load_topology, verify
from forestcoll.problem.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.problem.rate_bound import SharedPrice
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.topology import Topology
from forestcoll.topology.symmetry.parallel_planes import merged_planes
from tests.hand_networks import network_of
from tests.lp.networks import line, two_boxes
from tests.problem.adding_pair import adding_pair, prices_of_pair


def test_a_cut_bounds_every_allreduce() -> None:
    """Two boxes joined by 1 GB/s: all sums cross one way, and what is added to them the other."""
    topology = two_boxes(2, 6)
    left = [v for v, node in enumerate(topology.nodes) if node.name.startswith("left")]
    for into in (True, False):
        assert AllreduceBound.of_cut(topology, left, into=into).algbw_gb_s == 1


def test_prices_that_prove_nothing_are_refused() -> None:
    everything = PricedSet((0, 1, 2), Fraction(1), Fraction(1))
    with pytest.raises(ValueError, match="prove nothing"):
        AllreduceBound.of(line(3), [everything])


def test_potentials_of_any_size_leave_a_bound() -> None:
    """Whatever prices are taken, no schedule beats what they prove."""
    topology = load_topology("dgx_a100:boxes=2")
    best = verify(generate(topology, collective="allreduce").schedule).algbw_gb_s
    for share in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2)):
        potentials = [Potential(v, share, share / 2) for v in topology.switches]
        sets = [PricedSet((gpu,), Fraction(1), Fraction(2)) for gpu in topology.compute]
        assert AllreduceBound.of(topology, sets, potentials).algbw_gb_s >= best


def test_prices_are_added_up_link_by_link() -> None:
    """A one-way ring a -> b -> c -> a of 2, 3 and 5 GB/s, sets {a} and {b}, price 1 each.

    Every root is outside at least one of them. Into them lead 5 and 2 GB/s, out of them 2 and 3;
    with both prices all links have 1, and a root takes 2. Sums at b for 3 parts of 4, at a for 1:
    3/4 of them must get into {a}.
    """
    net = network_of("a b c", "a > b: 2, b > c: 3, c > a: 5", "ring")
    one, none = Fraction(1), Fraction(0)
    into = [PricedSet((v,), one, none) for v in range(2)]
    assert AllreduceBound.of(net, into).algbw_gb_s == 7
    out = [PricedSet((v,), none, one) for v in range(2)]
    assert AllreduceBound.of(net, out).algbw_gb_s == 5
    assert AllreduceBound.of(net, [*into, *out]).algbw_gb_s == Fraction(5 + 2 + 3, 2)
    weighted = AllreduceBound.of(net, into[:1], weights=(1, 3, 0))
    assert weighted.algbw_gb_s == Fraction(5, 1) / Fraction(3, 4)
    assert weighted.model == (
        "each piece summed up at one GPU, in the proportions of the weights; switches only forward"
    )


@pytest.mark.parametrize(
    ("marked", "multicast", "proved"),
    [
        (True, True, Fraction(1)),
        (False, True, Fraction(3, 4)),
        (True, False, Fraction(3, 4)),
        (False, False, Fraction(3, 4)),
    ],
)
def test_switches_that_add_are_roots(marked: bool, multicast: bool, proved: Fraction) -> None:
    """A reducing switch before a multicast one: 3 GB/s over the least of 2 + 2 (a GPU) and 3.

    ``test_a_switch_that_reduces_is_a_root_of_a_multicast_bound`` has the sum in full.
    """
    bound = AllreduceBound.of(adding_pair(marked=marked), prices_of_pair(), multicast=multicast)
    assert bound.algbw_gb_s == proved


def test_prices_that_a_switch_pays_nothing_of_prove_nothing() -> None:
    """Every set holds switch out, which adds: a root there is outside of none."""
    with pytest.raises(ValueError, match="prove nothing"):
        AllreduceBound.of(adding_pair(marked=True), prices_of_pair()[:3], multicast=True)


def test_a_shared_capacity_pays_for_its_links() -> None:
    """Two GPUs joined by 1 GB/s each way, half-duplex: 1 GB/s for both directions.

    Sums and what is added to them cross once each way, so 2 R <= 2 without the limit. Sets {a} and
    {b}, all prices 1: each link costs 1 to the gathering and 1 to the reduction. With a price of 1
    on the wire no link costs anything: R <= 1 * 1 / 2, as every root is outside of one set, of
    prices 1 + 1. With a price of 1/2 links cost 1/2 each: (2 * 1/2 + 1/2) / 2 = 3/4.
    """
    wire = load_topology("ring:nodes=2").with_shared("wire", "gpu0 - gpu1", 1)
    one = Fraction(1)
    sets = [PricedSet((v,), one, one) for v in range(2)]
    for price, due in ((0, 1), (one / 2, Fraction(3, 4)), (1, one / 2), (2, 1)):
        charge = [SharedPrice("wire", Fraction(price))]
        bound = AllreduceBound.of(wire, sets, shared=charge)
        assert bound.algbw_gb_s == due
        assert check_bound(bound) == due
    assert AllreduceBound.of(wire, sets).algbw_gb_s == 1
    made = generate(wire, collective="allreduce").schedule
    assert (verify(made).algbw_gb_s, verify(made).optimal) == (one / 2, True)


@pytest.mark.parametrize(("into", "rate"), [(True, 2), (False, 7)])
def test_a_cut_counts_ingress_or_egress(into: bool, rate: int) -> None:
    """Into GPU a lead 2 GB/s, out of it 7; sums enter, or what a adds leaves.

    The sets are a and b with the switch, each of one price: gathering into the one that is entered,
    reducing out of the other.
    """
    bound = AllreduceBound.of_cut(
        network_of("a b [w]", "b - w: 9, a > w: 7, w > a: 2", "uneven"), [0], into=into
    )
    assert bound.algbw_gb_s == rate
    sets = [(one.nodes, one.gather, one.reduce) for one in bound.sets]
    entered, left = ((0,), (1, 2)) if into else ((1, 2), (0,))
    assert sets == [(entered, 1, 0), (left, 0, 1)]


def test_the_model_names_the_place_of_sums_and_the_role_of_switches() -> None:
    ring = load_topology("ring:nodes=3")
    words = [
        AllreduceBound.of_cut(ring, [0], into=True, multicast=way).model for way in (True, False)
    ]
    assert words == [
        "each piece summed up at one GPU or switch that reduces; "
        "marked switches multicast and reduce",
        "each piece summed up at one GPU; switches only forward",
    ]


def test_a_bound_of_merged_planes_is_one_of_the_planes() -> None:
    """Sets hold all planes of a switch, and every plane has its potential: the same rate."""
    topology = load_topology("nvl72:gpus_per_rack=4,planes=3,racks=2")
    planes = merged_planes(topology)
    merged = planes.merged
    place = merged.position_of
    sets = [PricedSet((gpu,), Fraction(2, 3), Fraction(1, 3)) for gpu in merged.compute]
    rack = [place[f"b0.gpu{i}"] for i in range(4)] + [place["b0.nvswitch0"]]
    sets.append(PricedSet(tuple(sorted(rack)), Fraction(1), Fraction(1, 2)))
    held = [Potential(place[name], Fraction(1, 4), Fraction(1, 5)) for name in ("ib",)]
    held.append(Potential(place["b1.nvswitch0"], Fraction(1, 2), Fraction(0)))
    bound = AllreduceBound.of(merged, sets, held)
    real = bound.over_planes(planes)
    assert real.topology is topology
    assert len(real.sets[-1].nodes) == 4 + 3
    assert len(real.potentials) == 1 + 3
    assert AllreduceBound.of(topology, real.sets, real.potentials) == real
    assert check_bound(real) == bound.algbw_gb_s


@pytest.mark.parametrize("seed", range(12))
def test_sets_that_overlap_are_priced_as_one_by_one(seed: int) -> None:
    """Sets of any sizes, their complements and copies among them: the sum of the definition.

    ``check_bound`` adds up the same by itself.
    """
    draw = random.Random(seed)
    net = load_topology("dgx_a100:boxes=2")
    size = len(net.nodes)
    drawn = [draw.sample(range(size), draw.randint(1, size - 1)) for _ in range(8)]
    drawn += [[v] for v in net.compute] + [[v, net.switches[0]] for v in net.compute]
    drawn += [[u for u in range(size) if u != v] for v in net.compute[:5]] + [[0], [0]]
    draw.shuffle(drawn)
    sets = [
        PricedSet(
            tuple(sorted(nodes)), Fraction(draw.randint(0, 5), 3), Fraction(draw.randint(1, 5))
        )
        for nodes in drawn
        if any(v in net.compute for v in nodes)
    ]
    levels = [Potential(v, Fraction(draw.randint(0, 3), 2), Fraction(1, 7)) for v in net.switches]
    bound = AllreduceBound.of(net, sets, levels)
    assert bound.algbw_gb_s == by_definition(net, sets, levels)
    assert check_bound(bound) == bound.algbw_gb_s


def by_definition(net: Topology, sets: list[PricedSet], levels: list[Potential]) -> Fraction:
    """Add up links and roots one by one, as the module's formula has it."""
    up = {one.switch: one.gather for one in levels}
    down = {one.switch: one.reduce for one in levels}
    total = Fraction(0)
    for link in net.links:
        t, h = link.tail, link.head
        into = sum(one.gather for one in sets if h in one.nodes and t not in one.nodes)
        out = sum(one.reduce for one in sets if t in one.nodes and h not in one.nodes)
        into += up.get(h, 0) - up.get(t, 0)
        out += down.get(t, 0) - down.get(h, 0)
        total += link.bandwidth_gb_s * max(0, into, out)
    outside = [
        sum(one.gather + one.reduce for one in sets if root not in one.nodes)
        for root in net.compute
    ]
    return total / min(outside)
