"""Every baseline, on every family of topologies that it claims."""

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from baselines import METHODS
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.optimality import optimum
from forestcoll.schedule import Forest, cost, verify
from forestcoll.topology import Node, NodeKind, Topology, load_topology
from tests.schedule.mutations import MUTATIONS

SPECS = [
    "dgx_a100:boxes=1",
    "dgx_a100:boxes=2",
    "dgx_a100:boxes=3,ib_switches=2",
    "dgx_a100:boxes=2,nics=nodes",
    "dgx_a100:boxes=3,nics=nodes,ib_switches=2",
    "dgx_h100:boxes=4",
    "mi250:boxes=1",
    "mi250:boxes=2",
    "mi250:boxes=2,gpus_per_box=8",
    "paper_example",
    "ring:nodes=2",
    "ring:nodes=7",
    "ring:nodes=7,bidirectional=false",
    "torus:dims=3x3",
    "torus:dims=8x8",
    "torus:dims=2x3x4",
    "torus:dims=4x4,wrap=false",
    "hypercube:dimension=4",
    "complete:nodes=6",
    "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=2",
    "fat_tree:leaves=3,hosts=1,spines=2",
    "rail_optimized:boxes=2",
    "rail_optimized:boxes=3,gpus_per_box=4",
    "rail_optimized:boxes=3,gpus_per_box=2,spines=2",
]
POINTS = [(name, spec) for name in METHODS for spec in SPECS]


def same(one: Forest, other: Forest) -> bool:
    """Whether two forests are equal to the last entry."""
    arrays = ["root", "multiplicity", "parent"]
    routes = ["tail", "head", "first_path", "multiplicity", "first_hop", "hop"]
    return (
        (one.k, one.congestion) == (other.k, other.congestion)
        and all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)
        and all(np.array_equal(getattr(one.routes, a), getattr(other.routes, a)) for a in routes)
    )


@pytest.mark.parametrize(("name", "spec"), POINTS)
def test_forests_verify_and_claim_what_is_measured(name: str, spec: str) -> None:
    """Every shard is delivered; congestion is the load of the worst link; no optimum is claimed."""
    topology = load_topology(spec)
    forest = METHODS[name].generate(topology)
    verdict = verify(forest)
    assert forest.method == name
    assert forest.congestion == verdict.congestion
    assert forest.algbw_gb_s == cost(forest).algbw_gb_s
    assert forest.optimum is None
    assert not verdict.optimal


@pytest.mark.parametrize(("name", "spec"), POINTS)
def test_no_baseline_beats_the_optimum(name: str, spec: str) -> None:
    """The bound (*) of ForestColl section 4 holds for any allgather."""
    topology = load_topology(spec)
    assert METHODS[name].generate(topology).algbw_gb_s <= optimum(topology).algbw_gb_s


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "mi250:boxes=2,gpus_per_box=8"])
@pytest.mark.parametrize("name", METHODS)
def test_corrupted_forests_are_rejected(name: str, spec: str, mutation: str) -> None:
    """What verify accepts stops being acceptable when anything is changed."""
    mutate, message = MUTATIONS[mutation]
    with pytest.raises(VerificationError, match=message):
        verify(mutate(METHODS[name].generate(load_topology(spec))))


@pytest.mark.parametrize("spec", ["mi250:boxes=2", "fat_tree:leaves=4,hosts=4,spines=3"])
@pytest.mark.parametrize("name", METHODS)
def test_the_same_input_gives_the_same_forest(name: str, spec: str) -> None:
    """Twice from scratch: no set order, no randomness, no memory of the call before."""
    forests = [METHODS[name].generate(load_topology(spec)) for _ in range(2)]
    assert same(*forests)


@pytest.mark.parametrize("name", METHODS)
def test_the_hash_seed_does_not_matter(name: str) -> None:
    """Another process, whose sets and dictionaries of text are in another order, agrees."""
    program = f"""
import hashlib
from baselines import METHODS
from forestcoll.topology import load_topology
forest = METHODS[{name!r}].generate(load_topology("mi250:boxes=2"))
print(hashlib.sha256(forest.parent.tobytes() + forest.routes.hop.tobytes()).hexdigest())
"""
    prints = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(prints) == 1


@pytest.mark.parametrize("name", METHODS)
def test_scaling_bandwidths_scales_the_rate_alone(name: str) -> None:
    """With all bandwidths times 7/3 the trees stay and the rate is 7/3 of what it was."""
    topology = load_topology("mi250:boxes=2")
    forest = METHODS[name].generate(topology)
    scaled = METHODS[name].generate(topology.scaled("7/3"))
    assert np.array_equal(forest.parent, scaled.parent)
    assert scaled.algbw_gb_s / forest.algbw_gb_s == forest.congestion / scaled.congestion
    assert 3 * scaled.algbw_gb_s == 7 * forest.algbw_gb_s


@pytest.mark.parametrize("name", METHODS)
def test_gpus_need_not_come_first_among_the_nodes(name: str) -> None:
    """With switches in front and in between, positions are not ranks."""
    topology = load_topology("dgx_a100:boxes=2")
    order = [*topology.switches[:1], *topology.compute[::-1], *topology.switches[1:]]
    forest = METHODS[name].generate(topology.relabelled(order))
    assert forest.algbw_gb_s == METHODS[name].generate(topology).algbw_gb_s
    verify(forest)


def one_gpu() -> Topology:
    return Topology("alone", (Node("gpu", NodeKind.COMPUTE),), ())


def no_links() -> Topology:
    return Topology("apart", (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE)), ())


def mesh_with_a_gpu_in_the_middle() -> Topology:
    return load_topology("torus:dims=1x3,wrap=false")


@pytest.mark.parametrize(
    ("name", "topology", "parameters", "message"),
    [
        ("ring", one_gpu, {}, "alone has 1 GPUs; an allgather needs two"),
        ("multitree", one_gpu, {}, "alone has 1 GPUs; an allgather needs two"),
        ("ring", no_links, {}, "no ring .* do not lead from a to b"),
        ("multitree", no_links, {}, "the tree of a cannot reach b"),
        ("ring", mesh_with_a_gpu_in_the_middle, {}, r"no ring over direct links was found, and"),
        ("ring", lambda: load_topology("ring:nodes=4"), {"rings": 0}, "0 rings; .* at least one"),
        (
            "ring",
            lambda: load_topology("rail_optimized:boxes=3,gpus_per_box=2"),
            {},
            "no way for rings to enter and leave every box",
        ),
        ("multitree", lambda: load_topology("ring:nodes=4"), {"unit": 0}, "a unit of 0 GB/s"),
        (
            "multitree",
            lambda: load_topology("dgx_a100:boxes=2"),
            {"unit": 26},
            "the tree of b0.gpu0 cannot reach b1.gpu0 .* choose a smaller unit",
        ),
    ],
)
def test_what_a_baseline_cannot_do_is_typed(
    name: str,
    topology: Callable[[], Topology],
    parameters: dict[str, int],
    message: str,
) -> None:
    """The message begins with "unsupported:" and says why.

    Rails that no spine joins: over three boxes of two GPUs a ring would have to stay on its rail
    into every box, so enter and leave some box at the same GPU. A unit of 26 GB/s fits no NIC.
    """
    with pytest.raises(UnsupportedError, match=f"^unsupported: {message}"):
        METHODS[name].generate(topology(), **parameters)


def test_methods_are_named_and_described() -> None:
    """Results, figures and tables call the methods by these names."""
    assert list(METHODS) == ["ring", "multitree"]
    for name, method in METHODS.items():
        assert method.name == name
        assert method.summary
        assert method.source
