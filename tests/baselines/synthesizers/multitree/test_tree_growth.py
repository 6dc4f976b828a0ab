"""The trees of MultiTree, step by step."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from baselines.synthesizers.multitree.tree_growth import CHILDREN, PORTS, Growth, grow_trees
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import Path
from forestcoll.topology import Topology, load_topology
from tests.baselines.once_each import every
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology, rounds, sized_topology
from tests.reference import multitree as reference

STAR = "fat_tree:leaves=1,hosts=4,spines=1"
"""Four GPUs with 1 GB/s each on a leaf."""

READINGS = list(product(CHILDREN, PORTS))


def grown(spec: str, unit: str = "1", child: str = "next-number") -> Growth:
    return grow_trees(load_topology(spec), Fraction(unit), child, "nearest")


def check_against_the_reference(topology: Topology, unit: Fraction, child: str, ports: str) -> bool:
    """Compare parents, paths in their order and steps; return whether all trees could grow."""
    plain = reference.grow(topology, unit, child, ports)
    compute, rank = topology.compute, topology.rank_of
    if any(len(known) < len(compute) - 1 for known in plain.parent.values()):
        with pytest.raises(UnsupportedError):
            grow_trees(topology, unit, child, ports)
        return False
    growth = grow_trees(topology, unit, child, ports)
    parent = np.full_like(growth.parent, -1)
    for root, known in plain.parent.items():
        for gpu, sender in known.items():
            parent[rank[root], rank[gpu]] = rank[sender]
    assert growth.parent.tolist() == parent.tolist()
    assert growth.steps == plain.steps
    assert growth.routes.paths() == {
        (rank[tail], rank[head]): tuple(Path(nodes, trees) for nodes, trees in taken.items())
        for (tail, head), taken in plain.paths.items()
    }
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_random_networks_grow_as_in_the_reference(kind: str) -> None:
    """By all readings and with units from half the slowest link on."""
    complete = 0
    for seed in range(count := rounds(60)):
        chance = random.Random(seed)
        topology = random_topology(seed, kind)
        widths = sorted({link.bandwidth_gb_s for link in topology.links})
        unit = chance.choice((widths[0] / 2, widths[0], widths[len(widths) // 2]))
        complete += check_against_the_reference(topology, unit, *READINGS[seed % len(READINGS)])
    assert complete > count / 3


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(
    "spec",
    [
        "mi250:boxes=2,gpus_per_box=8",
        "dgx_a100:boxes=2,nics=nodes,ib_switches=2",
        "fat_tree:leaves=3,hosts=4,spines=2,oversubscription=2",
        "rail_optimized:boxes=3,gpus_per_box=3,spines=2",
    ],
)
@pytest.mark.each_value_once
def test_machines_grow_as_in_the_reference(spec: str, reading: tuple[str, str]) -> None:
    topology = load_topology(spec)
    unit = min(link.bandwidth_gb_s for link in topology.links)
    assert check_against_the_reference(topology, unit, *reading)


@pytest.mark.slow
@pytest.mark.parametrize("ports", every(len(PORTS), PORTS))
def test_more_bandwidths_than_queues_and_more_words_than_one(ports: str) -> None:
    """70 GPUs take two words of bits, and their links have more than eight bandwidths."""
    topology = sized_topology("bidirectional", 70, 3, random.Random(5).randint)
    unit = min(link.bandwidth_gb_s for link in topology.links)
    assert len({link.bandwidth_gb_s for link in topology.links}) > 8
    assert check_against_the_reference(topology, unit, "next-number", ports)


@pytest.mark.parametrize(("child", "steps"), [("next-number", 2), ("number", 3)])
def test_a_step_lets_one_tree_into_each_gpu(child: str, steps: int) -> None:
    """Of three with one unit a port: 0 takes 1, 1 takes 2, 2 takes 0; then each takes the other.

    Or the first that is left: 0 takes 1, 1 takes 0, and nobody is left for 2; then 0 takes 2, none
    is left for 1, and 2 takes 0; then 1 takes 2 and 2 takes 1.
    """
    growth = grown("fat_tree:leaves=1,hosts=3,spines=1", child=child)
    assert growth.parent.tolist() == [[-1, 0, 0], [1, -1, 1], [2, 2, -1]]
    assert growth.steps == steps


def test_links_have_whole_units() -> None:
    """Of 5 GB/s two of 2: five trees enter each GPU in three steps; no leftover is saved up."""
    assert grown("fat_tree:leaves=1,hosts=6,spines=1,bandwidth=5", unit="2").steps == 3


def test_more_units_than_edges_are_of_no_use() -> None:
    assert grown(STAR, unit="1/100000000000000000000").steps == 1


def test_gpus_that_have_just_joined_send_from_the_next_step_on() -> None:
    """On a one-way ring of three each tree grows by one GPU a step."""
    growth = grown("ring:nodes=3,bidirectional=false", unit="1/9")
    assert growth.parent.tolist() == [[-1, 0, 1], [2, -1, 1], [2, 0, -1]]
    assert growth.steps == 2


@pytest.mark.parametrize(("child", "first"), [("next-number", 3), ("number", 1)])
def test_the_next_number_is_that_after_the_sender(child: str, first: int) -> None:
    """GPU 0 is linked to 2, which has one unit to a switch with 1 and 3.

    It goes to 3 first, or to 1, and this one on to the other.
    """
    topology = network_of("gpu0..3 [w]", "gpu0 - gpu2, gpu2 - w, gpu1 gpu3 - w: 9", "beyond")
    assert grow_trees(topology, Fraction(1), child, "widest").parent[0, first] == 2


def test_paths_are_those_that_were_taken() -> None:
    growth, topology = grown(STAR), load_topology(STAR)
    paths = growth.routes.paths()
    assert len(paths) == len({*paths}) <= 12
    leaf = topology.position_of["leaf0"]
    for (tail, head), ways in paths.items():
        trees = growth.parent[:, head].tolist().count(tail)
        ends = topology.compute[tail], topology.compute[head]
        assert ways == (Path((ends[0], leaf, ends[1]), trees),)


def test_a_tree_that_cannot_grow_is_refused() -> None:
    """A unit of 2 GB/s does not fit the link of 1 to b."""
    net = network_of("a b c [w]", "a - b, a c - w: 9", "beside")
    with pytest.raises(UnsupportedError, match=r"^unsupported: the tree of a cannot reach b"):
        grow_trees(net, Fraction(2), "next-number", "nearest")
