"""Bounds on demands whose chunks several GPUs need."""

from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.all_to_all.multicast_bounds import demand_bounds
from forestcoll.core.optimality import optimum
from forestcoll.problem.demand import Demand
from forestcoll.problem.named_demands import named_demand
from forestcoll.schedule import verify
from forestcoll.topology import load_topology
from tests.command_line import assert_refused, document
from tests.hand_networks import network_of
from tests.random_topologies import random_topology


def everywhere(gpus: int) -> Demand:
    """An allgather of 1 KB a GPU."""
    return Demand.of_chunks(gpus, [(rank, 1000, range(gpus)) for rank in range(gpus)], "all")


@pytest.mark.parametrize(
    "spec", ["ring:nodes=5", "dgx_a100:boxes=2", "fat_tree:leaves=2,hosts=3,spines=2"]
)
def test_an_allgather_takes_no_less_than_its_optimum(spec: str) -> None:
    """And here no more: a GPU, or a box, binds."""
    topology = load_topology(spec)
    found = demand_bounds(topology, everywhere(topology.num_compute))
    best = optimum(topology).time_s_per_gb * topology.num_compute * 1000
    assert found.least.inverse_rate == best
    assert verify(found.apart).congestion >= best


@pytest.mark.parametrize("seed", range(8))
def test_bounds_enclose_the_optimum_of_random_allgathers(seed: int) -> None:
    topology = random_topology(seed, "directed")
    found = demand_bounds(topology, everywhere(topology.num_compute))
    best = optimum(topology).time_s_per_gb * topology.num_compute * 1000
    assert 0 < found.least.inverse_rate <= best <= verify(found.apart).congestion


def test_chunks_for_one_gpu_have_one_bound() -> None:
    topology = load_topology("ring:nodes=5")
    demand = named_demand("zipf:size=1KB", topology)
    found = demand_bounds(topology, demand)
    assert found.least.inverse_rate == verify(found.apart).congestion


def test_equal_parts_have_one_bound() -> None:
    """On a ring of five, a byte a pair crosses 1 or 2 links of 1 GB/s: 30 over 10 links."""
    found = demand_bounds("ring:nodes=5", None)
    assert found.least.inverse_rate == verify(found.apart).congestion == 3
    assert found.meet


def test_bounds_of_a_chunk_for_several_do_not_meet() -> None:
    """One way round, 8 bytes for both others cross the first link once or twice."""
    demand = Demand.of_chunks(3, [(0, 8, [1, 2])])
    assert not demand_bounds("ring:nodes=3,bidirectional=false", demand).meet


def test_the_cut_out_of_a_box_binds_where_copies_are_made_inside() -> None:
    """g0 has 100 bytes for its whole box: 300 leave it apart, over 92 GB/s, but 100 at least.

    Each of its box has 4 bytes for one GPU of the other: 16 over 8 GB/s out of the box, 2 ns, and
    over 16 GB/s into the other. The paths' own prices are those of the links out of g0, which
    prove 104/92 ns.
    """
    network = network_of(
        "g0..7 [v] [w] [hub]", "g0..3 - v: 90, g4..7 - w: 90, g0..3 - hub: 2, g4..7 - hub: 4"
    )
    across = [(rank, 4, [rank + 4]) for rank in range(4)]
    demand = Demand.of_chunks(8, [(0, 100, [1, 2, 3]), *across])
    found = demand_bounds(network, demand)
    assert verify(found.apart).congestion == Fraction(304, 92)
    assert found.least.inverse_rate == 2


def test_the_command_prints_both(tmp_path: Path) -> None:
    file = tmp_path / "chunks.yaml"
    file.write_text("chunks: [{from: gpu0, to: [gpu1, gpu2, gpu3], size: 8000}]\n")
    report = document("optimum", "ring:nodes=4,bidirectional=false", "--demand", file)
    assert (report["at_least_us"]["exact"], report["at_most_us"]["exact"]) == ("8", "24")
    asked = ("generate", "ring:nodes=4", "--demand", file, "-o", tmp_path / "made.json")
    assert_refused("see the method teccl", *asked)
