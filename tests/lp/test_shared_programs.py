"""Programs that take shared capacities, by hand, and those that refuse them."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from experiments.measures.bounds import upper_bound
from forestcoll.all_to_all.concurrent_flow import approximate_flow
from forestcoll.all_to_all.flow_problem import flow_problem
from forestcoll.all_to_all.linear_optimum import all_to_all_rate
from forestcoll.all_to_all.path_schedule import schedule_of
from forestcoll.allreduce.cutting_planes import allreduce_optimum
from forestcoll.allreduce.rounding import allreduce_forest
from forestcoll.allreduce.shares import fitted, with_bandwidths
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule import cost, verify
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import Topology, TopologyBuilder, load_topology, read_topology
from forestcoll.topology.symmetry.automorphism import no_symmetry
from lp.allgather.fractional_packing import fractional_packing
from lp.allgather.linear_optimum import allgather_rate
from lp.allreduce.reference import allreduce_reference
from lp.allreduce.single_root import overlapped_allreduce_gb_s
from lp.groups.result import check_concurrent
from lp.groups.sharing import concurrent_groups, groups_by_box

SETTINGS = Settings(seconds=30)
HOST = read_topology("docs/examples/host-memory.yaml")


def half_duplex(gpus: int = 4, bandwidth: int = 64) -> Topology:
    """GPUs on a switch whose cables carry so much both ways together."""
    builder = TopologyBuilder()
    switch = builder.switch("switch")
    for i in range(gpus):
        name = builder.gpu(f"gpu{i}")
        builder.link(name, switch, bandwidth)
        builder.share(f"cable {i}", f"{name} - switch", bandwidth)
    return builder.build("half-duplex star")


def random_network(seed: int) -> Topology:
    """Four GPUs and two switches, links both ways, two groups of random links."""
    rng = random.Random(seed)
    builder = TopologyBuilder()
    switches = [builder.switch("s"), builder.switch("t")]
    for i in range(4):
        name = builder.gpu(f"gpu{i}")
        for switch in rng.sample(switches, rng.randint(1, 2)):
            builder.link(name, switch, rng.randint(1, 4))
    builder.link(*switches, rng.randint(1, 4))
    builder.link("gpu0", "gpu1", rng.randint(1, 3))
    made = builder.build(f"random {seed}")
    for name in ("one", "other"):
        links = rng.sample(made.links, rng.randint(1, 8))
        parts = [f"{made.nodes[e.tail].name} -> {made.nodes[e.head].name}" for e in links]
        made = made.with_shared(name, parts, Fraction(rng.randint(1, 12), 2))
    return made


@pytest.mark.parametrize(
    ("topology", "due"),
    [
        (half_duplex(), 128 / 3),  # 4 shards, each received and sent 3 times: 24 x <= 4 * 64
        (HOST, 150 / 7),  # 8 shards, each through the memory 7 times: 56 x <= 150
        (HOST.without("host memory"), 8 * 64 / 7),  # 7 shards enter a GPU
    ],
    ids=["half-duplex", "host memory", "no limit"],
)
def test_allgather_programs_know_shared_capacities(topology, due) -> None:
    """By flows and by trees alike."""
    assert allgather_rate(topology, seconds=30).algbw_gb_s == pytest.approx(due, rel=1e-6)
    packed = fractional_packing(topology, SETTINGS)
    assert packed.rate_gb_s * topology.num_compute == pytest.approx(due, rel=1e-6)
    assert packed.bound_gb_s == pytest.approx(packed.rate_gb_s, rel=1e-4)


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("seed", range(12))
def test_flows_and_trees_agree_with_groups(seed: int) -> None:
    """Two programs that share nothing: one flow for each GPU, and columns of trees."""
    topology = random_network(seed)
    flows = allgather_rate(topology, seconds=30).rate_gb_s
    trees = fractional_packing(topology, SETTINGS)
    assert trees.rate_gb_s == pytest.approx(flows, rel=1e-5)
    free = topology.without("one", "other")
    assert flows <= allgather_rate(free, seconds=30).rate_gb_s * (1 + 1e-7)


@pytest.mark.parametrize(
    ("topology", "due"),
    [
        (half_duplex(), 64 / 6),  # a GPU sends 3 f and receives 3 f
        (HOST, 150 / 56),  # 56 pairs
        (HOST.without("host memory"), 64 / 7),
    ],
    ids=["half-duplex", "host memory", "no limit"],
)
def test_an_all_to_all_within_shared_capacities(topology, due) -> None:
    """The rate, the bound by prices, the schedule, and the exact bound of rows."""
    found = all_to_all_rate(topology, settings=SETTINGS)
    assert found.rate_gb_s == pytest.approx(due, rel=1e-6)
    assert found.bound_gb_s == pytest.approx(due, rel=1e-6)
    made = schedule_of(found)
    verdict = verify(made)
    assert verdict.time_s_per_gb == cost(made).time_s_per_gb
    assert float(verdict.algbw_gb_s) == pytest.approx(due * topology.num_compute, rel=1e-5)
    exact = upper_bound(topology, "all-to-all", Fraction(1))
    assert exact is not None
    assert float(exact.algbw_gb_s) == pytest.approx(due * topology.num_compute, rel=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_symmetries_do_not_change_an_all_to_all_with_groups(seed: int) -> None:
    """With the symmetries found and without any; rate and bound meet; one pair of four groups."""
    rng = random.Random(seed)
    topology = load_topology("torus:dims=4x4" if seed % 2 else "ring:nodes=6")
    gpus = topology.num_compute
    for i in range(rng.randint(1, 3)):
        for v in range(0, gpus, rng.choice([1, 2])):
            one, other = v, (v + 1 + i) % gpus
            if (one, other) in topology.link_between:
                wire = f"{topology.nodes[one].name} - {topology.nodes[other].name}"
                topology = topology.with_shared(f"{i}.{v}", wire, Fraction(1 + i, 2))
    found = all_to_all_rate(topology, settings=SETTINGS)
    plain = all_to_all_rate(topology, settings=SETTINGS, orbits=no_symmetry(topology))
    assert found.rate_gb_s == pytest.approx(plain.rate_gb_s, rel=1e-6)
    assert found.bound_gb_s == pytest.approx(plain.rate_gb_s, rel=1e-5)
    made = schedule_of(found)
    attained = float(verify(made).algbw_gb_s) / gpus
    assert attained == pytest.approx(found.rate_gb_s, rel=1e-4)


def test_programs_without_shared_capacities_refuse_them() -> None:
    with pytest.raises(UnsupportedError, match="'host memory', which the approximation of an all-"):
        approximate_flow(flow_problem(HOST))
    with pytest.raises(UnsupportedError, match="which the program of concurrent groups would over"):
        concurrent_groups(HOST, {"half": ["gpu0", "gpu1"]}, SETTINGS)


def test_concurrent_groups_are_checked_against_groups_of_links() -> None:
    """Found without a limit on both NVSwitches' links, then checked with one: refused."""
    topology = load_topology("dgx_a100:boxes=2")
    found = concurrent_groups(topology, groups_by_box(topology), SETTINGS)
    limited = topology.with_shared("all", "b*.gpu* -> b*.nvswitch", 100)
    forests = tuple(
        replace(
            forest,
            topology=replace(forest.topology, shared=limited.shared),
            congestion=forest.congestion * 100,
            optimum=None,
        )
        for forest in found.forests
    )
    check_concurrent(found)
    with pytest.raises(VerificationError, match="overload the shared capacity 'all'"):
        check_concurrent(replace(found, topology=limited, forests=forests))


@pytest.mark.parametrize(
    ("topology", "due"),
    [
        (half_duplex(), 64 / 3),  # 4 shards down and up 3 times each, twice: 48 x <= 4 * 64
        (HOST, 75 / 7),  # both phases pass memory 56 times
        (HOST.without("host memory"), 8 * 64 / 14),
    ],
    ids=["half-duplex", "host memory", "no limit"],
)
def test_allreduce_programs_know_shared_capacities(topology: Topology, due: float) -> None:
    """By cutting planes, with its exact bound, and by flows between pairs."""
    found = allreduce_optimum(topology, SETTINGS)
    assert found.algbw_gb_s == pytest.approx(due, rel=1e-6)
    assert found.exact is not None
    assert float(check_bound(found.exact)) == pytest.approx(due, rel=1e-6)
    assert allreduce_reference(topology, SETTINGS).algbw_gb_s == pytest.approx(due, rel=1e-5)
    made = allreduce_forest(found)
    verify(made)
    assert float(cost(made).algbw_gb_s) == pytest.approx(due, rel=1e-6)


@pytest.mark.first_rows(4)
@pytest.mark.parametrize("seed", range(15))
def test_allreduce_programs_agree_with_groups(seed: int) -> None:
    """Two formulations, the exact bound and the schedule that is made of the shares."""
    topology = random_network(seed)
    found = allreduce_optimum(topology, SETTINGS)
    value = allreduce_reference(topology, SETTINGS).algbw_gb_s
    assert found.algbw_gb_s == pytest.approx(value, rel=1e-5)
    assert found.exact is not None
    assert float(check_bound(found.exact)) == pytest.approx(value, rel=1e-4)
    made = allreduce_forest(found)
    attained = float(verify(made).algbw_gb_s)
    assert value * 0.99 <= attained <= value * (1 + 1e-6)
    free = topology.without("one", "other")
    assert found.algbw_gb_s <= allreduce_optimum(free, SETTINGS).algbw_gb_s * (1 + 1e-6)


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("seed", range(6))
def test_symmetries_do_not_change_an_allreduce_with_groups(seed: int) -> None:
    """Half-duplex wires of a torus, every one or every other one in a row."""
    rng = random.Random(seed)
    topology = load_topology("torus:dims=3x3")
    pairs = [(e.tail, e.head) for e in topology.links if e.tail < e.head]
    for number, (one, other) in enumerate(pairs[:: rng.choice([1, 2, 3])]):
        wire = f"{topology.nodes[one].name} - {topology.nodes[other].name}"
        topology = topology.with_shared(f"{number}", wire, Fraction(rng.choice([1, 3]), 2))
    found = allreduce_optimum(topology, SETTINGS)
    plain = allreduce_optimum(topology, SETTINGS, orbits=no_symmetry(topology))
    assert found.algbw_gb_s == pytest.approx(plain.algbw_gb_s, rel=1e-6)
    assert found.exact is not None
    assert float(check_bound(found.exact)) == pytest.approx(plain.algbw_gb_s, rel=1e-4)


def test_one_root_with_a_half_duplex_wire() -> None:
    """Two GPUs and 1 GB/s for both ways: sums up and copies down share it, 1/2 GB/s."""
    wire = load_topology("ring:nodes=2").with_shared("wire", "gpu0 - gpu1", 1)
    assert overlapped_allreduce_gb_s(wire, 0, seconds=30) == pytest.approx(0.5)


def test_shares_fit_shared_capacities() -> None:
    """Links of 10 GB/s with 5.9999 for two users each, together 7: lowered in proportion.

    In steps of 1 GB/s there are 6 + 4 on either link, 20; 13 are too many, half of them each.
    """
    pair = load_topology("ring:nodes=2,bandwidth=10").with_shared("x", "gpu0 - gpu1", 7)
    found = fitted(pair, np.full((2, 2), 5.9999), Fraction(1))
    assert sum(map(sum, found)) == 7
    assert all(0 <= got <= 6 for row in found for got in row)
    assert with_bandwidths(pair, found[0], Fraction(1)).shared == ()
