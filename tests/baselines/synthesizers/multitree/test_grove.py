"""The trees of MultiTree, step by step."""

from fractions import Fraction

import pytest

from baselines.synthesizers.multitree.grove import Grove
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import Path
from forestcoll.topology import Topology, TopologyBuilder, load_topology

STAR = "fat_tree:leaves=1,hosts=4,spines=1"
"""Four GPUs with 1 GB/s each on a leaf."""


def grove(spec: str, unit: str = "1", **reading: str) -> Grove:
    return Grove(load_topology(spec), Fraction(unit), **reading)


@pytest.mark.parametrize(
    ("child", "parents"),
    [
        # The GPU after the root: 0 takes 1, 1 takes 2, 2 takes 3, 3 takes 0.
        ("next-number", [[-1, 0, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 2], [3, -1, -1, -1]]),
        # The first that is left: 0 takes 1, 1 takes 0; then 2 takes 3, as 0 and 1 are taken.
        ("number", [[-1, 0, -1, -1], [1, -1, -1, -1], [-1, -1, -1, 2], [-1, -1, 3, -1]]),
    ],
)
def test_a_step_lets_one_tree_into_each_gpu(child: str, parents: list[list[int]]) -> None:
    """Of one unit a port."""
    grown = grove(STAR, child=child)
    grown.step()
    assert grown.parents().tolist() == parents


def test_links_have_whole_units() -> None:
    """Of 5 GB/s two of 2: a tree each way in the first step; the leftover is not saved up."""
    grown = grove("ring:nodes=2,bandwidth=5", unit="2")
    assert grown.units == [2, 2]
    grown.step()
    assert grown.left == [1, 1]
    assert not any(grown.missing)


def test_gpus_that_have_just_joined_send_from_the_next_step_on() -> None:
    """On a one-way ring of three each tree grows by one GPU a step."""
    grown = grove("ring:nodes=3,bidirectional=false", unit="1/9")
    grown.step()
    assert grown.parents().tolist() == [[-1, 0, -1], [-1, -1, 1], [2, -1, -1]]
    grown.step()
    assert grown.parents().tolist() == [[-1, 0, 1], [2, -1, 1], [2, 0, -1]]


def test_the_next_number_is_that_after_the_sender() -> None:
    """GPU 0 is linked to 2, which has one unit to a switch with 1 and 3: to 3, not to 1."""
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"gpu{i}") for i in range(4)]
    switch = builder.switch("w")
    builder.link(gpus[0], gpus[2], 1)
    for gpu, width in ((2, 1), (1, 9), (3, 9)):
        builder.link(gpus[gpu], switch, width)
    grown = Grove(builder.build("beyond"), Fraction(1))
    grown.step()
    grown.step()
    assert grown.parents()[0].tolist() == [-1, -1, 0, 2]


def test_paths_are_those_that_were_taken() -> None:
    grown = grove(STAR)
    while any(grown.missing):
        grown.step()
    paths = grown.paths()
    assert len(paths) == len({*paths}) <= 12
    leaf = grown.topology.position_of["leaf0"]
    for (tail, head), ways in paths.items():
        trees = [row[head] for row in grown.parents().tolist()].count(tail)
        ends = grown.topology.compute[tail], grown.topology.compute[head]
        assert ways == (Path((ends[0], leaf, ends[1]), trees),)


def beside() -> Topology:
    """GPU a: a link of 1 GB/s to b, and a port of 9 to a switch with c."""
    builder = TopologyBuilder()
    a, b, c = (builder.gpu(name) for name in "abc")
    switch = builder.switch("w")
    builder.link(a, b, 1)
    builder.link(a, switch, 9)
    builder.link(c, switch, 9)
    return builder.build("beside")


@pytest.mark.parametrize(("ports", "first"), [("nearest", "b"), ("widest", "w")])
def test_the_first_port_is_the_nearest_or_the_widest(ports: str, first: str) -> None:
    grown = Grove(beside(), Fraction(1), ports=ports)
    root = grown.router.bit_of[0]
    assert grown.topology.nodes[grown.ports[root][0].head].name == first


def test_a_tree_that_cannot_grow_is_refused() -> None:
    """A unit of 2 GB/s does not fit the link of 1 to b."""
    grown = Grove(beside(), Fraction(2))
    grown.step()
    with pytest.raises(UnsupportedError, match=r"^unsupported: the tree of a cannot reach b"):
        grown.step()
