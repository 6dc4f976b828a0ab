"""Classes of what is done alike: by hand, against their closure, and offsets that are none."""

from collections.abc import Hashable, Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines.synthesizers.taccl.exchange import Exchange, exchange_of
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.sketch import Sketch
from baselines.synthesizers.taccl.sketch_files import drawn
from baselines.synthesizers.taccl.sketch_symmetry import classes_of
from forestcoll.errors import InvalidParameterError
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of

Symmetry = tuple[tuple[int, int], ...]


def laid(
    topology: Topology, symmetry: Symmetry = (), planes: int = 1
) -> tuple[LogicalNetwork, Sketch]:
    """The logical network of what is drawn, but for the symmetry; switches in so many planes."""
    plain = drawn(topology)
    sketch = replace(
        plain, source="sketch.yaml", symmetry=symmetry, switches=plain.switches * planes
    )
    return LogicalNetwork.of(topology, sketch, Fraction(1)), sketch


def boxes_of_two(boxes: int) -> Topology:
    """GPUs 0 and 1 of each on a switch, and those of one number on another."""
    return load_topology(f"rail_optimized:boxes={boxes},gpus_per_box=2")


def line(*bandwidths: int) -> Topology:
    links = (f"gpu{i} - gpu{i + 1}: {bandwidth}" for i, bandwidth in enumerate(bandwidths))
    return network_of(f"gpu0..{len(bandwidths)}", ", ".join(links), "line")


def transposed(place: int, offset: int, size: int) -> int:
    """Where a GPU goes; -1, for none, stays."""
    first = place - place % size
    return place if place < 0 else first + (place - first + offset) % size


Pairs = list[tuple[Hashable, Hashable]]


def closure(pairs: Pairs, members: Iterable[Hashable]) -> list[int]:
    """The classes that pairs join, numbered by their first members."""
    group = {member: [member] for member in members}
    for one, other in pairs:
        if group[one] is not group[other]:
            group[one].extend(group[other])
            for member in group[other]:
                group[member] = group[one]
    numbers: dict[int, int] = {}
    return [numbers.setdefault(id(each), len(numbers)) for each in group.values()]


def expected(
    network: LogicalNetwork, exchange: Exchange, symmetry: Symmetry
) -> tuple[list[int], list[int]]:
    """What TACCL equates: transfers within a block, and when chunks are there.

    Chunks are known by their ends and which of them they are, links by their ends and plane.
    """
    ends = enumerate(zip(exchange.source, exchange.target, strict=True))
    chunks = [(source, target, chunk % exchange.parts) for chunk, (source, target) in ends]
    links = [(link.tail, link.head, link.plane) for link in network.links]
    places = range(network.gpus)
    sent: Pairs = []
    start: Pairs = []
    for offset, stated in symmetry:
        size = stated or network.gpus
        to = {place: transposed(place, offset, size) for place in range(-1, network.gpus)}
        for chunk in chunks:
            image = (to[chunk[0]], to[chunk[1]], chunk[2])
            start += [((chunk, v), (image, to[v])) for v in places]
            sent += [
                ((chunk, (u, v, plane)), (image, (to[u], to[v], plane)))
                for u, v, plane in links
                if u // size == v // size
            ]
    return (
        closure(sent, [(chunk, link) for chunk in chunks for link in links]),
        closure(start, [(chunk, v) for chunk in chunks for v in places]),
    )


@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
@pytest.mark.parametrize(
    ("topology", "symmetry", "planes"),
    [
        (boxes_of_two(1), ((1, 2),), 2),
        (boxes_of_two(2), ((1, 2),), 1),
        (boxes_of_two(2), ((2, 4),), 1),
        (boxes_of_two(3), ((1, 2), (2, 0)), 1),
        (boxes_of_two(4), ((4, 8),), 1),
        (boxes_of_two(4), ((2, 0), (4, 0)), 2),
        (load_topology("ring:nodes=5"), ((2, 0),), 1),
        (load_topology("hypercube:dimension=3"), ((4, 8),), 1),
    ],
)
def test_classes(topology: Topology, symmetry: Symmetry, planes: int, collective: str) -> None:
    network, sketch = laid(topology, symmetry, planes)
    for parts in (1, 2):
        exchange = exchange_of(collective, network.gpus, parts)
        found = classes_of(network, exchange, sketch)
        sent, start = expected(network, exchange, symmetry)
        assert found.sent.shape == (len(exchange), len(network.links))
        assert found.start.shape == (len(exchange), network.gpus)
        assert found.sent.ravel().tolist() == sent
        assert found.start.ravel().tolist() == start
        assert max(sent) < len(sent) - 1


def test_without_symmetry_all_is_different() -> None:
    network, sketch = laid(boxes_of_two(2))
    found = classes_of(network, exchange_of("allgather", 4, 3), sketch)
    assert found.sent.ravel().tolist() == list(range(12 * len(network.links)))
    assert found.start.ravel().tolist() == list(range(12 * 4))


def test_round_a_ring_chunks_are_sent_as_the_first_is() -> None:
    """Chunk u goes over the link between u + i and u + i + 1 as chunk 0 does between i and i + 1.

    The second chunk of each GPU does so by itself.
    """
    network, sketch = laid(load_topology("ring:nodes=4,bidirectional=false"), ((1, 0),))
    link = {network.links[i].tail: i for i in range(4)}
    found = classes_of(network, exchange_of("allgather", 4, 2), sketch)
    for u in range(4):
        for part in (0, 1):
            row = [int(found.sent[2 * u + part, link[(u + i) % 4]]) for i in range(4)]
            assert row == [int(found.sent[part, link[i]]) for i in range(4)]
    assert len(np.unique(found.sent)) == len(np.unique(found.start)) == 8


def test_an_offset_within_blocks_equates_no_links_between_them() -> None:
    """But when chunks are there is; an offset of all GPUs equates all."""
    network, sketch = laid(boxes_of_two(2), ((1, 2),))
    exchange = exchange_of("allgather", 4, 1)
    found = classes_of(network, exchange, sketch)
    remote = [i for i, link in enumerate(network.links) if link.remote]
    count = np.bincount(found.sent.ravel())
    for i in range(len(network.links)):
        assert set(count[found.sent[:, i]]) == ({1} if i in remote else {2})
    assert set(np.bincount(found.start.ravel())) == {2}
    every = classes_of(network, exchange, replace(sketch, symmetry=((2, 0),)))
    assert set(np.bincount(every.sent.ravel())) == {2}


@pytest.mark.parametrize("offset", [2, 4, 8])
def test_an_offset_of_whole_boxes_is_ignored_for_a_single_box(offset: int) -> None:
    """So that one sketch does for several numbers of boxes."""
    network, sketch = laid(boxes_of_two(1), ((offset, 0),))
    found = classes_of(network, exchange_of("allgather", 2, 1), sketch)
    assert found.sent.ravel().tolist() == [0, 1, 2, 3]
    assert found.start.ravel().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("symmetry", "shown"), [((1, 4), "[1, 4]"), ((2, 8), "[2, 8]"), ((7, 0), "[7, all]")]
)
def test_symmetry_sizes_and_offsets_are_checked(symmetry: tuple[int, int], shown: str) -> None:
    network, sketch = laid(boxes_of_two(3), (symmetry,))
    with pytest.raises(InvalidParameterError) as caught:
        classes_of(network, exchange_of("allgather", 6, 1), sketch)
    assert str(caught.value) == (
        f"sketch.yaml: symmetry_offsets has {shown}, but {network.topology.name} has 6 GPUs; the "
        f"size must divide them and be more than the offset"
    )


@pytest.mark.parametrize(
    ("topology", "symmetry", "message"),
    [
        (
            line(1, 1, 1),
            (1, 0),
            "symmetry_offsets has [1, all], which takes the link gpu2 -> gpu3, of 0 + 1 us a "
            "chunk, to gpu3 -> gpu0, where there is none; give an offset that the network has",
        ),
        (
            line(2, 1, 4),
            (2, 4),
            "symmetry_offsets has [2, 4], which takes the link gpu0 -> gpu1, of 0 + 1/2 us a "
            "chunk, to gpu2 -> gpu3, where there is one of 0 + 1/4 us a chunk; give an offset "
            "that the network has",
        ),
    ],
)
def test_unsupported_offsets(topology: Topology, symmetry: tuple[int, int], message: str) -> None:
    network, sketch = laid(topology, (symmetry,))
    with pytest.raises(InvalidParameterError) as caught:
        classes_of(network, exchange_of("allgather", 4, 1), sketch)
    assert str(caught.value) == f"sketch.yaml: {message}"


def test_links_with_one_sum_of_another_latency_are_no_images() -> None:
    """1 us of latency and 1/2 us a chunk are not 1/2 us and 1 us."""
    network, sketch = laid(
        network_of("gpu0 gpu1", "gpu0 > gpu1: 2 1, gpu1 > gpu0: 1 1/2", "pair"), ((1, 0),)
    )
    message = r"of 1 \+ 1/2 us a chunk, to gpu1 -> gpu0, where there is one of 1/2 \+ 1 us a chunk"
    with pytest.raises(InvalidParameterError, match=message):
        classes_of(network, exchange_of("allgather", 2, 1), sketch)
