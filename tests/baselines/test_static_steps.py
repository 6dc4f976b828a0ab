"""The classic step algorithms, on more topologies than the table of claims has."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from baselines import METHODS
from forestcoll.core.optimality import optimum
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import StepSchedule, cost, synchronous, verify
from forestcoll.topology import Node, NodeKind, Topology, load_topology
from tests.baselines.circulants import circulant
from tests.hand_networks import network_of

SWITCHED = [
    "dgx_a100:boxes=1",
    "dgx_a100:boxes=2",
    "dgx_a100:boxes=3,nics=nodes,ib_switches=2",
    "dgx_h100:boxes=4",
    "mi250:boxes=2,gpus_per_box=8",
    "paper_example",
    "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=2",
    "fat_tree:leaves=3,hosts=1,spines=2",
    "rail_optimized:boxes=3,gpus_per_box=2,spines=2",
]
DIRECT = ["complete:nodes=2", "complete:nodes=6", "complete:nodes=8", "ring:nodes=3"]
SPARSE = [
    "mi250:boxes=1",
    "rail_optimized:boxes=2",
    "ring:nodes=8",
    "torus:dims=2x2x2",
    "torus:dims=5x5",
    "torus:dims=3x4,wrap=false",
    "hypercube:dimension=4",
]
RINGS = ["ring:nodes=2", "ring:nodes=4", "ring:nodes=7", "torus:dims=1x5", "complete:nodes=5"]
TORI = [
    *RINGS[:-1],
    "ring:nodes=7,bidirectional=false",
    "torus:dims=3x3",
    "torus:dims=8x8",
    "torus:dims=2x3x4",
    "torus:dims=2x2,wrap=false",
    "hypercube:dimension=1",
    "hypercube:dimension=4",
]
CLAIMS = {
    "recursive-halving-doubling": [*SWITCHED, *DIRECT, *SPARSE],
    "bruck": [*SWITCHED, *DIRECT, *SPARSE],
    "blueconnect": [
        *SWITCHED,
        "mi250:boxes=1",
        "dgx_a100:boxes=3,ib_switches=2",
        "rail_optimized:boxes=2",
        "rail_optimized:boxes=3,gpus_per_box=4",
    ],
    "torus": TORI,
    "shifted-ring": RINGS,
    "shifted-bfb-ring": RINGS,
}
POINTS = [(name, spec) for name, specs in CLAIMS.items() for spec in specs]
CIRCULANTS = [circulant(8, 1, 3), circulant(9, 1, 2), circulant(7, 2, 3), circulant(12, 1, 5)]


def run(name: str, topology: Topology, collective: str | None = None) -> StepSchedule:
    schedule = METHODS[name].run(topology, collective)
    assert isinstance(schedule, StepSchedule)
    return schedule


def prove(name: str, topology: Topology) -> None:
    """Every collective is delivered; forth and back takes the same, both in steps twice as long."""
    times, pipelined = {}, {}
    for collective in METHODS[name].collectives:
        schedule = run(name, topology, collective)
        verdict = verify(schedule)
        assert (schedule.method, verdict.collective) == (name, collective)
        assert verdict.time_s_per_gb == cost(schedule).time_s_per_gb
        times[collective] = verdict.steps, verdict.synchronous_s_per_gb
        pipelined[collective] = verdict.time_s_per_gb
    assert times["allgather"] == times["reduce-scatter"]
    best = optimum(topology).time_s_per_gb
    assert times["allgather"][1] >= pipelined["allgather"] == pipelined["reduce-scatter"] >= best
    folded = name == "recursive-halving-doubling" and topology.num_compute.bit_count() > 1
    if not folded:  # an allreduce cuts the data into fewer parts then
        assert times["allreduce"] == tuple(2 * each for each in times["allgather"])


@pytest.mark.parametrize(("name", "spec"), POINTS)
@pytest.mark.each_value_once
def test_every_claim_is_proved(name: str, spec: str) -> None:
    """On every kind of topology, every collective."""
    prove(name, load_topology(spec))


@pytest.mark.parametrize("topology", CIRCULANTS, ids=lambda topology: topology.name)
@pytest.mark.parametrize("name", ["shifted-ring", "shifted-bfb-ring"])
def test_two_rings_are_proved(name: str, topology: Topology) -> None:
    """On circulants with two strides that are prime to N, even and odd."""
    prove(name, topology)


@pytest.mark.parametrize("name", CLAIMS)
def test_the_order_of_the_nodes_does_not_matter(name: str) -> None:
    """GPUs are taken by their numbers, switches may come first; and twice the same comes out."""
    topology = load_topology(CLAIMS[name][1])
    turned = topology.relabelled(range(len(topology.nodes))[::-1])
    schedule, again = run(name, topology, "allreduce"), run(name, topology, "allreduce")
    assert np.array_equal(schedule.sends.chunk, again.sends.chunk)
    assert np.array_equal(schedule.routes.hop, again.routes.hop)
    other = run(name, turned, "allreduce")
    assert verify(other).time_s_per_gb == cost(schedule).time_s_per_gb
    assert verify(other).synchronous_s_per_gb == synchronous(schedule).time_s_per_gb
    assert other.num_steps == schedule.num_steps


def alone() -> Topology:
    return Topology("alone", (Node("gpu", NodeKind.COMPUTE),), ())


def dead_end() -> Topology:
    """Two GPUs, and a link that nothing leads back over."""
    return network_of("a b", "a > b", "dead end")


def uneven() -> Topology:
    """Two boxes of four, of which one GPU has moved to the other."""
    topology = load_topology("paper_example")
    moved = replace(topology.nodes[0], box=1, index=4)
    return Topology("uneven", (moved, *topology.nodes[1:]), topology.links)


REFUSED: list[tuple[str, Callable[[], Topology] | str, str]] = [
    *((name, alone, "alone has 1 GPUs") for name in CLAIMS),
    ("recursive-halving-doubling", dead_end, "no path from b to a$"),
    ("bruck", dead_end, "no path from b to a$"),
    ("blueconnect", "complete:nodes=6", "complete:nodes=6 has GPUs outside boxes"),
    ("blueconnect", uneven, "uneven has boxes of 3 and of 5 GPUs"),
    ("torus", "torus:dims=4x4,wrap=false", "is not a torus"),
    ("torus", "dgx_a100:boxes=2", "is not a torus"),
    ("torus", "complete:nodes=8", "is not a torus"),
    ("shifted-ring", "torus:dims=3x4", "not all linked alike, both ways, by number"),
    ("shifted-ring", "ring:nodes=7,bidirectional=false", "not all linked alike, both ways"),
    ("shifted-ring", "complete:nodes=8", "linked by 4 strides"),
    ("shifted-bfb-ring", "dgx_a100:boxes=1", "linked by 0 strides"),
    ("shifted-bfb-ring", lambda: circulant(9, 1, 3), "stride 3 makes no ring of 9 GPUs"),
]


@pytest.mark.parametrize(("name", "topology", "message"), REFUSED)
def test_unsupported_networks_raise_typed_errors(
    name: str, topology: Callable[[], Topology] | str, message: str
) -> None:
    """The message begins with "unsupported:" and says why."""
    made = load_topology(topology) if isinstance(topology, str) else topology()
    with pytest.raises(UnsupportedError, match=f"^unsupported: .*{message}"):
        run(name, made)


@pytest.mark.parametrize("name", ["recursive-halving-doubling", "blueconnect"])
def test_an_unknown_order_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameterError, match="order is 'sideways'; it must be one of"):
        METHODS[name].run(load_topology("dgx_a100:boxes=2"), parameters={"order": "sideways"})
