"""What routes are worth, against sums by hand, and which links chunks may take."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.routing import Routing
from baselines.synthesizers.taccl.sketch import sketch_of
from forestcoll.errors import InfeasibleError, InvalidParameterError
from forestcoll.topology import load_topology
from forestcoll.topology.reading.documents import parse_yaml
from tests.baselines.synthesizers.taccl.instances import (
    SPECS,
    arcs_of,
    plain,
    random_routes,
    routing_of,
)


def links_of(routing, *ends):
    """Links by (tail, head)."""
    number = {(link.tail, link.head): i for i, link in enumerate(routing.network.links)}
    return frozenset(number[pair] for pair in ends)


def test_the_time_is_that_of_the_longest_route_or_the_busiest_link() -> None:
    routing = routing_of("ring:nodes=4", size_bytes=4000)  # a link takes 1 us for a chunk
    around = tuple(
        links_of(routing, *(((u + i) % 4, (u + i + 1) % 4) for i in range(3))) for u in range(4)
    )
    assert routing.time_us(around) == 3
    both = tuple(
        links_of(routing, (u, (u + 1) % 4), ((u + 1) % 4, (u + 2) % 4), (u, (u - 1) % 4))
        for u in range(4)
    )
    assert routing.time_us(both) == 2
    assert routing.objective_us(both) == 2  # no switch: nothing is counted


def test_a_gpu_sends_chunks_one_by_one_through_a_switch() -> None:
    """Of 8 GPUs on a switch each sends to all: 7 chunks out of a port, though no route is long."""
    routing = routing_of("dgx_a100:boxes=1", size_bytes=8 * 300_000)
    star = tuple(links_of(routing, *((u, v) for v in range(8) if v != u)) for u in range(8))
    assert routing.time_us(star) == 7
    assert routing.objective_us(star) == 7 + 56 * Fraction(1, 100)


def test_copies_that_leave_late_count_from_when_the_chunk_has_come() -> None:
    """A chain of two hops, then two copies: 2 + 2, with no port busy for more than 3."""
    routing = routing_of("dgx_a100:boxes=1", size_bytes=8 * 300_000)
    star = [links_of(routing, *((u, v) for v in range(8) if v != u)) for u in range(8)]
    star[0] = links_of(routing, (0, 1), (1, 2), (2, 3), (2, 4), (0, 5), (0, 6), (0, 7))
    start = routing.starts(0, star[0])
    assert start == {0: 0, 1: 1, 2: 2, 3: 3, 4: 3, 5: 1, 6: 1, 7: 1}
    assert routing.time_us(tuple(star)) == 7 + 2  # GPU 2 sends its own 7 chunks and these two


def test_a_chunk_never_comes_back_into_its_box() -> None:
    routing = routing_of("rail_optimized:boxes=3,gpus_per_box=2")
    network = routing.network
    for chunk, source in enumerate(routing.exchange.source):
        for i, link in enumerate(network.links):
            back = link.remote and network.box(link.head) == network.box(source)
            assert routing.allowed[chunk, i] == (not back and link.head != source)


def test_only_its_sender_takes_a_chunk_out_of_the_box() -> None:
    routing = routing_of(
        "dgx_a100:boxes=2",
        pattern="",
        connections={1: (0,), 3: (2,)},
        sources={1: (0, 1, 4, 5), 3: (2, 3, 6, 7)},
        symmetry=(),
    )
    for chunk, source in enumerate(routing.exchange.source):
        out = [
            link.tail % 8
            for i, link in enumerate(routing.network.links)
            if link.remote and link.tail // 8 == source // 8 and routing.allowed[chunk, i]
        ]
        assert out == [1 if source % 8 in (0, 1, 4, 5) else 3]


def test_pairs_of_an_all_to_all_keep_to_shortest_paths() -> None:
    routing = routing_of("ring:nodes=5", "all-to-all")
    for chunk, (source, target) in enumerate(
        zip(routing.exchange.source, routing.exchange.target, strict=True)
    ):
        places = {
            end
            for i in np.flatnonzero(routing.allowed[chunk])
            for end in (routing.network.links[i].tail, routing.network.links[i].head)
        }
        ahead = (target - source) % 5
        way = range(ahead + 1) if ahead < 3 else range(0, ahead - 6, -1)
        assert places == {(source + i) % 5 for i in way}


@pytest.mark.parametrize("spec", SPECS)
def test_no_routes_are_faster_than_the_bound(spec: str) -> None:
    routing = routing_of(spec, chunks=2, symmetry=())
    for seed in range(5):
        assert routing.time_us(random_routes(routing, seed)) >= routing.least_us


def test_costs_are_rounded_down_to_positive_whole_microseconds() -> None:
    routing = routing_of("ndv2:chassis=2", size_bytes=16_000_000)
    whole = type(routing)(routing.network, routing.exchange, routing.sketch, whole_us=True)
    assert {float(c) for c in routing.cost} == {20.7, 40.7, 82.6}
    assert {float(c) for c in whole.cost} == {20, 40, 82}
    small = routing_of("ring:nodes=4", size_bytes=400)
    whole = type(small)(small.network, small.exchange, small.sketch, whole_us=True)
    assert whole.cost == small.cost


def test_a_network_that_cannot_be_crossed_is_reported() -> None:
    text = (
        "nnodes: 2\nintranode_sketch: {strategy: none}\ninternode_sketch: {strategy: relay, "
        'internode_conn: {"0": [0]}}\nsymmetry_offsets: []\nhyperparameters: {input_chunkup: 1}'
    )
    sketch = sketch_of(parse_yaml(text, "mine.yaml", InvalidParameterError))
    topology = load_topology("dgx_a100:boxes=2")
    exchange = routing_of("dgx_a100:boxes=2").exchange
    routing = Routing(LogicalNetwork.of(topology, sketch, Fraction(1)), exchange, sketch)
    with pytest.raises(InfeasibleError, match=r"mine\.yaml: no link of the sketch leads into b0"):
        assert routing.least_us


@pytest.mark.parametrize(
    ("arcs", "boxes", "message"),
    [
        ([(0, 1), (1, 0), (2, 0), (2, 3)], 1, "into g2 of arcs; allow more in intranode_sketch"),
        ([], 1, "into g0 of arcs; allow more in intranode_sketch"),
        ([(0, 1), (1, 0), (2, 3), (3, 2)], 2, "into box 0 of arcs; allow more in internode_sketch"),
    ],
)
def test_unreachable_gpus_are_named(arcs: list[tuple[int, ...]], boxes: int, message: str) -> None:
    with pytest.raises(InfeasibleError, match=message):
        plain(arcs_of(arcs, 4, boxes)).check()


@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
def test_unreachable_chunks_are_named_with_their_targets(collective: str) -> None:
    """Two pairs of GPUs that only one link joins, one way."""
    topology = arcs_of([(0, 1), (1, 0), (2, 3), (3, 2), (1, 2)], 4)
    with pytest.raises(InfeasibleError, match="not let what g2 has get to g0; allow more links"):
        plain(topology, collective).check()


def test_a_chunk_that_may_take_no_link_is_reported() -> None:
    """Of two boxes GPUs 0 alone are joined to anything: from GPU 1 nothing leads anywhere."""
    topology = arcs_of([(0, 2), (2, 0), (0, 1), (2, 3)], 4, boxes=2)
    with pytest.raises(InfeasibleError, match="what g1 has get to g0; allow more links in intra"):
        plain(topology, "all-to-all", connections={0: (0,)}).check()


def test_arrival_times_use_the_allowed_links_of_a_chunk() -> None:
    """In an all-to-all the slow link is the shortest path, though two fast ones are sooner."""
    topology = arcs_of([(0, 1, 1), (0, 2, 100), (2, 1, 100), (1, 0, 100), (2, 0, 1), (1, 2, 1)], 3)
    routing = plain(topology, "all-to-all")
    assert routing.soonest[0][1] == 100
    assert plain(topology).soonest[0][1] == 2


def test_the_weight_of_links_stays_above_solver_tolerance() -> None:
    routing = routing_of("dgx_a100:boxes=1", size_bytes=10**18)
    assert routing.weight_us == routing.unit_us / 10**6
