"""Programs that take shared capacities, by hand, and those that refuse them."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from experiments.measures.bounds import upper_bound
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule import cost, verify
from forestcoll.topology import Topology, TopologyBuilder, load_topology, read_topology
from forestcoll.topology.symmetry.automorphism import no_symmetry
from lp.allgather.fractional_packing import fractional_packing
from lp.allgather.linear_optimum import allgather_rate
from lp.alltoall.concurrent_flow import approximate_flow
from lp.alltoall.demands import demands_of
from lp.alltoall.linear_optimum import all_to_all_rate
from lp.alltoall.path_schedule import schedule_of
from lp.groups.result import check_concurrent
from lp.groups.sharing import concurrent_groups, groups_by_box
from lp.solver.linear_program import Settings

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


def test_what_would_overlook_a_group_refuses_it() -> None:
    with pytest.raises(UnsupportedError, match="'host memory', which the approximation of an all-"):
        approximate_flow(demands_of(HOST))
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
