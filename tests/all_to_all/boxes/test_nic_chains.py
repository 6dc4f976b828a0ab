"""NICs behind PCIe as links of GPUs: by hand, and as good as the program says."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.all_to_all.best_flow import AllToAllPlanner
from forestcoll.all_to_all.boxes.nic_chains import nic_chains
from forestcoll.all_to_all.program_flow import by_program
from forestcoll.all_to_all.two_tiers import two_tiers
from forestcoll.problem.demand import Demand
from forestcoll.schedule import verify
from forestcoll.schedule.pipelined import loads_of_routes
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of

PAIRS = network_of(
    "g0..3 [v] [w] [p] [q] [n] [m] [hub]",
    "g0 g1 - v: 90, g2 g3 - w: 90, g0 g1 - p: 5, g2 g3 - q: 5, p - n: 8, q - m: 8, n m - hub: 6",
    "a NIC for two GPUs",
)


def demand(topology: Topology, seed: int) -> Demand:
    draw, gpus = np.random.default_rng(seed), topology.num_compute
    amounts = draw.integers(0, 1000, (gpus, gpus)) * (draw.random((gpus, gpus)) < 0.7)
    amounts[0, gpus - 1] += 500
    np.fill_diagonal(amounts, 0)
    return Demand.of_matrix(amounts, "random")


def test_by_hand_two_gpus_share_a_nic_in_turn() -> None:
    """The first takes its whole 5 of the NIC's 6 GB/s, the second what is left."""
    found = nic_chains(PAIRS)
    assert found is not None
    names = [node.name for node in found.reduced.nodes]
    wide = {
        (names[link.tail], names[link.head]): link.bandwidth_gb_s
        for link in found.reduced.links
        if "hub" in (names[link.tail], names[link.head])
    }
    assert wide == {
        ("g0", "hub"): 5, ("g1", "hub"): 1, ("hub", "g0"): 5, ("hub", "g1"): 1,
        ("g2", "hub"): 5, ("g3", "hub"): 1, ("hub", "g2"): 5, ("hub", "g3"): 1,
    }  # fmt: skip
    place = {node.name: i for i, node in enumerate(PAIRS.nodes)}
    small = {name: i for i, name in enumerate(names)}
    assert found.chain[small["g1"], small["hub"]] == (place["p"], place["n"])
    assert found.chain[small["hub"], small["g2"]] == (place["m"], place["q"])
    assert found.relays[place["n"]] == {place["g0"], place["g1"]}


def test_by_hand_equal_parts_cross_the_nics() -> None:
    """Each box has 4 parts for the other over 6 GB/s."""
    planner = AllToAllPlanner(PAIRS)
    made = planner.plan()
    verdict = verify(made)
    assert verdict.congestion == Fraction(4, 6)
    assert verdict.optimal
    assert planner.least_us() == Fraction(4, 6000)


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2,nics=nodes", "dgx_h100:boxes=3,nics=nodes"])
def test_paths_over_chains_meet_the_bound_of_the_network(spec: str) -> None:
    """Without the program, and with the loads that were added up before the paths."""
    topology = load_topology(spec)
    planner = AllToAllPlanner(topology)
    asked = demand(topology, 1)
    found = planner._by_tiers(asked)
    assert found is not None
    assert found.loads == loads_of_routes(found.schedule.topology, found.schedule.routes)
    verdict = verify(planner.plan(asked))
    assert verdict.optimal
    assert verdict.congestion == planner.least_us(asked) * 1000


@pytest.mark.parametrize("seed", range(3))
def test_they_are_as_good_as_the_program(seed: int) -> None:
    """Whose bound no schedule exceeds; amounts of GPUs may make their own links bind."""
    asked = demand(PAIRS, seed)
    exact = by_program(PAIRS, asked, seconds=60, parts=720_720)
    verdict = verify(AllToAllPlanner(PAIRS).plan(asked))
    assert verdict.congestion <= exact.congestion
    assert verdict.congestion >= exact.bound.inverse_rate


@pytest.mark.parametrize(
    "spec", ["ring:nodes=4", "dgx_a100:boxes=2", "dgx_a100:boxes=1,nics=nodes"]
)
def test_networks_without_chains_between_boxes_have_none(spec: str) -> None:
    assert nic_chains(load_topology(spec)) is None


def test_chains_next_to_the_switch_of_a_box_are_left_to_the_program() -> None:
    other = PAIRS.with_links({"p - v": "4"})
    assert nic_chains(other) is None
    assert two_tiers(other) is None
    asked = demand(other, 0)
    assert verify(AllToAllPlanner(other).plan(asked)).optimal
