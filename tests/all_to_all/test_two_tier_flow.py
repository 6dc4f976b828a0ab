"""Paths over boxes and hubs, by hand, and the cuts that bind."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.all_to_all.two_tier_flow import TwoTierRouter
from forestcoll.all_to_all.two_tiers import two_tiers
from forestcoll.errors import DisconnectedError
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule import FlowSchedule, verify
from forestcoll.schedule.pipelined import loads_of_routes
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.symmetry.parallel_planes import merged_planes
from tests.hand_networks import network_of

BOXES = network_of(
    "g0..3 [v] [w] [hub]", "g0 g1 - v: 90, g2 g3 - w: 90, g0 g1 g2 g3 - hub: 2", "two boxes"
)


def router(topology: Topology) -> TwoTierRouter:
    tiers = two_tiers(merged_planes(topology).merged)
    assert tiers is not None
    return TwoTierRouter.of(tiers)


def flow(topology: Topology, demand: Demand) -> FlowSchedule:
    made = router(topology).flow(demand.matrix, demand)
    assert made is not None
    return made


def paths(made: FlowSchedule) -> dict[str, int]:
    """Paths as words, with what they carry in parts of the whole."""
    names = [node.name for node in made.topology.nodes]
    return {
        " ".join(names[v] for v in path.nodes): path.multiplicity
        for ways in made.routes.paths().values()
        for path in ways
    }


def test_amounts_beyond_the_own_port_go_over_another() -> None:
    """g0 has 6 bytes for g2 and 1 for g1: 3 leave by each port, and 3 enter by each."""
    demand = Demand.of_matrix([[0, 1, 6, 0], [0] * 4, [0] * 4, [0] * 4])
    made = flow(BOXES, demand)
    assert made.whole == 2
    assert paths(made) == {
        "g0 v g1": 2,
        "g0 hub g2": 6,
        "g0 v g1 hub g3 w g2": 6,
    }
    verdict = verify(made)
    assert verdict.congestion == Fraction(6, 4)
    bound = router(BOXES).narrowest_cut(demand.matrix, demand)
    assert bound.inverse_rate == Fraction(6, 4)
    assert bound == PriceBound.of(BOXES, demand, bound.price)


def test_equal_demands_use_own_ports_only() -> None:
    """An all-to-all of one unit: no path between boxes visits a box's switch."""
    made = router(BOXES).flow(1 - np.eye(4, dtype=np.int64))
    assert made is not None
    assert made.demand is None
    assert {way for way in paths(made) if "hub" in way} == {
        f"g{s} hub g{t}" for s in range(4) for t in range(4) if s // 2 != t // 2
    }
    assert verify(made).congestion == 1  # two of a port of 2 GB/s


def test_ports_of_other_speeds_carry_their_share() -> None:
    """At 1 and 3 GB/s g0's 8 bytes leave by its own port as 2, by the other as 6."""
    uneven = BOXES.scaled("g0 - hub", Fraction(1, 2)).scaled("g1 - hub", Fraction(3, 2))
    demand = Demand.of_matrix([[0, 0, 4, 4], [0] * 4, [0] * 4, [0] * 4])
    verdict = verify(flow(uneven, demand))
    assert verdict.congestion == 2
    bound = router(uneven).narrowest_cut(demand.matrix, demand)
    assert (bound.inverse_rate, sum(bound.price)) == (2, 2)


def test_an_uplink_of_the_box_s_switch_is_a_port() -> None:
    leaves = load_topology("fat_tree:leaves=2,hosts=2,spines=1,bandwidth=3")
    demand = Demand.of_matrix([[0, 1, 6, 0], [0] * 4, [0] * 4, [0] * 4])
    made = flow(leaves, demand)
    assert paths(made) == {
        "leaf0.gpu0 leaf0 leaf0.gpu1": 1,
        "leaf0.gpu0 leaf0 spine0 leaf1 leaf1.gpu0": 6,
    }


def test_two_hubs_take_their_shares_at_the_receiver_s_first() -> None:
    """Hubs of even and odd NICs: 8 bytes for b1.gpu0 go half over its own hub."""
    two = load_topology("dgx_a100:boxes=2,ib_switches=2")
    amounts = np.zeros((16, 16), dtype=np.int64)
    amounts[0, 8] = 8
    demand = Demand.of_matrix(amounts)
    made = flow(two, demand)
    load = {"ib0": 0, "ib1": 0}
    for way, weight in paths(made).items():
        for hub in load:
            load[hub] += weight * (f" {hub} " in way)
    assert load == {"ib0": 4 * made.whole, "ib1": 4 * made.whole}
    assert verify(made).congestion == Fraction(8, 200)


def test_the_narrowest_cut_is_around_a_gpu_a_box_in_or_out() -> None:
    """1 byte a pair but one: into g3 45 of 92 GB/s, out of box 0 6 of 4, into it 9 of 4."""
    cases = {(0, 1): 92, (1, 0): 92, (0, 2): 4, (2, 0): 4}
    for (source, target), width in cases.items():
        amounts = np.zeros((4, 4), dtype=np.int64)
        amounts[source, target] = 9
        bound = router(BOXES).narrowest_cut(amounts, Demand.of_matrix(amounts))
        assert bound.inverse_rate == Fraction(9, width)
        assert PriceBound.of(BOXES, bound.demand, bound.price) == bound


def test_a_dead_direction_moves_all_data_to_the_other_ports() -> None:
    dead = BOXES.without("g0 -> hub")
    demand = Demand.of_matrix([[0, 0, 4, 0], [0] * 4, [2, 0, 0, 0], [0] * 4])
    made = flow(dead, demand)
    assert set(paths(made)) == {
        "g0 v g1 hub g2",
        "g0 v g1 hub g3 w g2",
        "g2 hub g0",
        "g2 w g3 hub g1 v g0",
    }
    assert verify(made).congestion == 2


def test_a_box_without_a_port_is_left_to_the_program() -> None:
    """Box 1 cannot send, and need not; if it must, the cut says so."""
    mute = BOXES.without("g2 -> hub", "g3 -> hub")
    out = Demand.of_matrix([[0, 0, 4, 0], [0] * 4, [0] * 4, [0] * 4])
    assert verify(flow(mute, out)).congestion == 1
    back = Demand.of_matrix(out.matrix.T)
    assert router(mute).flow(back.matrix, back) is None
    with pytest.raises(DisconnectedError, match="g2 must send data over links that its GPU or box"):
        router(mute).narrowest_cut(back.matrix, back)
    within = Demand.of_matrix([[0, 1, 0, 0], [0] * 4, [0] * 4, [0, 0, 1, 0]])
    assert verify(flow(mute, within)).congestion == Fraction(1, 90)


def test_hubs_in_other_proportions_are_left_to_the_program() -> None:
    """Of three rails, one box lacks the first NIC and another the second."""
    rails = load_topology("rail_optimized:boxes=3,gpus_per_box=3")
    broken = rails.without("b0.gpu0 - rail0", "b1.gpu1 - rail1")
    ones = 1 - np.eye(9, dtype=np.int64)
    assert router(broken).flow(ones) is None


@pytest.mark.parametrize("link", ["b0.gpu0 - rail0", "b0.gpu0 -> rail0", "rail0 -> b0.gpu0"])
def test_rails_without_one_nic_meet_the_cut(link: str) -> None:
    """The box sends (receives) all by its other NICs, and the others fill the rail."""
    rails = load_topology("rail_optimized:boxes=3,gpus_per_box=3").without(link)
    draw = np.random.default_rng(2)
    for power in (0, 1, 3):
        amounts = draw.integers(1, 99, (9, 9)) ** power
        np.fill_diagonal(amounts, 0)
        demand = Demand.of_matrix(amounts)
        bound = router(rails).narrowest_cut(amounts, demand)
        assert verify(flow(rails, demand)).congestion == bound.inverse_rate


def test_a_gpu_that_cannot_send_to_its_switch_sends_over_the_hub_by_hand() -> None:
    """g0 has 4 bytes for g1 and 2 for g2: all leave by its port of 2 GB/s, in 3 ns.

    The 4 come back into box 0, by g1's port: what comes in by g0's could not go on. g3 has 2 bytes
    for g0, which enter there, by half over the port of g2.
    """
    dead = BOXES.without("g0 -> v")
    demand = Demand.of_matrix([[0, 4, 2, 0], [0] * 4, [0] * 4, [2, 0, 0, 0]])
    made = flow(dead, demand)
    assert {way: many * 12 // made.whole for way, many in paths(made).items()} == {
        "g0 hub g1": 48,
        "g0 hub g2": 12,
        "g0 hub g3 w g2": 12,
        "g3 hub g0": 12,
        "g3 w g2 hub g0": 12,
    }
    verdict = verify(made)
    bound = router(dead).narrowest_cut(demand.matrix, demand)
    assert verdict.congestion == bound.inverse_rate == 3


def test_the_cut_around_a_box_without_a_gpu_that_cannot_relay() -> None:
    """Box 1 has 6 bytes for g1: with g0's port they took 6/4, but what enters there stays there.

    So all enter by the port of g1, 3 ns; the cut is around v and g1. The other way round, where g0
    cannot receive from v, the 6 bytes of g1 leave by its own port.
    """
    amounts = [[0] * 4, [0] * 4, [0, 4, 0, 0], [0, 2, 0, 0]]
    names = {v: node.name for v, node in enumerate(BOXES.nodes)}
    for dead, demand, into in (
        (BOXES.without("g0 -> v"), Demand.of_matrix(amounts), True),
        (BOXES.without("v -> g0"), Demand.of_matrix(np.array(amounts).T), False),
    ):
        bound = router(dead).narrowest_cut(demand.matrix, demand)
        assert bound == PriceBound.of(dead, demand, bound.price)
        assert verify(flow(dead, demand)).congestion == bound.inverse_rate == 3
        more = demand.matrix.copy()
        more[(2, 0) if into else (0, 2)] = 1
        nodes, inwards = router(dead).binding_set(more)
        assert inwards == into
        assert {names[v] for v in nodes} <= {"v", "g1"}


def test_a_gpu_that_cannot_receive_from_its_switch_and_has_no_way_in() -> None:
    """g0 gets nothing from v or the hub: data for it has no path, other data has."""
    deaf = BOXES.without("v -> g0", "hub -> g0")
    within = Demand.of_matrix([[0, 3, 0, 0], [0] * 4, [0, 1, 0, 0], [0] * 4])
    assert verify(flow(deaf, within)).optimal is not None
    lost = Demand.of_matrix([[0] * 4, [3, 0, 0, 0], [0] * 4, [0] * 4])
    assert router(deaf).flow(lost.matrix, lost) is None
    with pytest.raises(DisconnectedError):
        router(deaf).narrowest_cut(lost.matrix, lost)


@pytest.mark.parametrize("seed", range(20))
def test_random_amounts_on_boxes_with_dead_directions_meet_the_cut(seed: int) -> None:
    """Ports of 1 to 7 GB/s; up to four GPUs cannot send to their switches, or receive from them.

    Loads are known before the paths, and the bound is that of its prices.
    """
    draw = np.random.default_rng(seed)
    ports = ", ".join(f"g{i} - hub: {draw.integers(1, 8)}" for i in range(9))
    network = network_of(
        "g0..8 [u] [v] [w] [hub]", f"g0..2 - u: 900, g3..5 - v: 900, g6..8 - w: 900, {ports}"
    )
    dead = [
        f"g{i} -> {'uvw'[i // 3]}" if draw.random() < 0.5 else f"{'uvw'[i // 3]} -> g{i}"
        for i in draw.permutation(9)[: draw.integers(1, 5)].tolist()
    ]
    network = network.without(*dead)
    demand = Demand.of_matrix(draw.integers(0, 100, (9, 9)) * draw.integers(0, 2, (9, 9)))
    route, made = router(network), flow(network, demand)
    bound = route.narrowest_cut(demand.matrix, demand)
    assert bound == PriceBound.of(network, demand, bound.price)
    assert verify(made).congestion == bound.inverse_rate
    assert route.loads(demand.matrix, made.whole) == loads_of_routes(network, made.routes)


def test_dead_directions_on_rails_are_left_to_the_program() -> None:
    """All data of the GPU goes over its own rail, that of others divides over all of them."""
    rails = load_topology("rail_optimized:boxes=3,gpus_per_box=2")
    dead = rails.without("b0.gpu0 -> b0.nvswitch")
    route = router(dead)
    assert route.tiers.no_uplink == {0}
    assert route.flow(1 - np.eye(6, dtype=np.int64)) is None


def test_weights_beyond_the_limit_are_left_to_the_program() -> None:
    demand = Demand.of_matrix([[0, 1, 6, 0], [0] * 4, [0] * 4, [0] * 4])
    assert router(BOXES).flow(demand.matrix, demand, most=15) is not None
    assert router(BOXES).flow(demand.matrix, demand, most=14) is None


@pytest.mark.parametrize("seed", range(12))
def test_random_amounts_on_uneven_boxes_meet_the_cut(seed: int) -> None:
    """Ports of 1 to 7 GB/s, some dead; switches of boxes far from full."""
    draw = np.random.default_rng(seed)
    builder = ", ".join(
        f"g{i} {'-' if draw.random() < 0.8 else '>'} hub: {draw.integers(1, 8)}" for i in range(9)
    )
    network = network_of(
        "g0..8 [u] [v] [w] [hub]",
        f"g0..2 - u: 900, g3..5 - v: 900, g6..8 - w: 900, g0 g3 g6 - hub: 1, {builder}",
    )
    demand = Demand.of_matrix(draw.integers(0, 100, (9, 9)) * draw.integers(0, 2, (9, 9)))
    bound = router(network).narrowest_cut(demand.matrix, demand)
    assert verify(flow(network, demand)).congestion == bound.inverse_rate


@pytest.mark.parametrize("spec", ["dgx_h100:boxes=3", "dgx_a100:boxes=2", "nvl72:racks=2"])
def test_loads_are_known_before_the_paths(spec: str) -> None:
    """Added up by what each GPU sends and receives in all, and by the paths: the same."""
    route = router(load_topology(spec))
    draw, gpus = np.random.default_rng(3), len(route.box)
    for share in (0.05, 0.9):
        amounts = draw.integers(1, 999, (gpus, gpus)) * (draw.random((gpus, gpus)) < share)
        np.fill_diagonal(amounts, 0)
        made = route.flow(amounts)
        assert made is not None
        assert route.loads(amounts, made.whole) == loads_of_routes(made.topology, made.routes)
