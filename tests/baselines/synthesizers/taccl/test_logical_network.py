"""Logical links and ports: by hand, and never more than the network carries."""

import random
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

from baselines.synthesizers.taccl.logical_network import LogicalLink, LogicalNetwork
from baselines.synthesizers.taccl.sketch import Sketch
from baselines.synthesizers.taccl.sketch_files import find_sketch
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import Topology, load_topology
from tests.baselines.synthesizers.taccl.boxes import random_boxes
from tests.hand_networks import network_of

KB = Fraction(1)

EIGHT = tuple(range(8))


def sketch(boxes: int, size: int = 8, planes: int = 1, **fields: object) -> Sketch:
    """Boxes with all GPUs on a switch, each of which sends to its like by default."""
    switches = (tuple(range(size)),) * planes
    plain = Sketch("sketch.yaml", (boxes,), "switch", switches, pattern="direct-map")
    return replace(plain, **fields)  # type: ignore[arg-type]


def remote(network: LogicalNetwork) -> list[LogicalLink]:
    return [link for link in network.links if link.remote]


def names(topology: Topology, link: LogicalLink) -> list[list[str]]:
    return [[topology.nodes[node].name for node in path] for path in link.paths]


class TestBoxesOnSwitches:
    """DGX A100: 300 GB/s from a GPU to the switch of its box, 25 to that between boxes."""

    def test_a_box_is_a_clique_with_one_port_per_gpu_and_direction(self) -> None:
        topology = load_topology("dgx_a100:boxes=1")
        network = LogicalNetwork.of(topology, sketch(1), KB)
        ends = [(link.tail, link.head) for link in network.links]
        assert sorted(ends) == [(u, v) for u in EIGHT for v in EIGHT if u != v]
        assert {(link.latency_us, link.busy_us) for link in network.links} == {
            (0, Fraction(1, 300))
        }
        assert {(port.place, port.out) for port in network.ports} == {
            (place, out) for place in EIGHT for out in (True, False)
        }
        assert len(network.ports) == 16
        for port in network.ports:
            side = 0 if port.out else 1
            assert [ends[i][side] for i in port.links] == [port.place] * 7
        switch = topology.switches[0]
        u, v = ends[10]
        assert network.links[10].paths == ((topology.compute[u], switch, topology.compute[v]),)

    def test_the_time_of_a_chunk_goes_with_its_size(self) -> None:
        network = LogicalNetwork.of(load_topology("dgx_a100:boxes=1"), sketch(1), Fraction(7, 2))
        assert {link.busy_us for link in network.links} == {Fraction(7, 600)}

    def test_planes_of_a_switch_have_their_part_of_it_and_ports_of_their_own(self) -> None:
        network = LogicalNetwork.of(load_topology("dgx_a100:boxes=1"), sketch(1, planes=2), KB)
        assert len(network.links) == 2 * 56
        assert {link.busy_us for link in network.links} == {Fraction(2, 300)}
        assert len(network.ports) == 32
        for port in network.ports:
            assert len({network.links[i].plane for i in port.links}) == 1

    def test_each_gpu_of_two_boxes_sends_to_its_peer_through_no_port(self) -> None:
        network = LogicalNetwork.of(load_topology("dgx_a100:boxes=2"), sketch(2), KB)
        across = remote(network)
        assert {(link.tail, link.head) for link in across} == {(u, (u + 8) % 16) for u in range(16)}
        assert len(across) == 16
        assert {link.busy_us for link in across} == {Fraction(1, 25)}
        assert len(network.ports) == 32
        assert not any(network.links[i].remote for port in network.ports for i in port.links)

    def test_each_gpu_of_three_boxes_shares_a_port_for_both_others(self) -> None:
        """And so with the whole bandwidth; at the same time as in its box."""
        network = LogicalNetwork.of(load_topology("dgx_a100:boxes=3"), sketch(3), KB)
        across = remote(network)
        assert len(across) == 3 * 8 * 2
        assert {link.busy_us for link in across} == {Fraction(1, 25)}
        shared = [
            port for port in network.ports if any(network.links[i].remote for i in port.links)
        ]
        assert {(port.place, port.out) for port in shared} == {
            (place, out) for place in range(24) for out in (True, False)
        }
        assert len(shared) == 48
        for port in shared:
            links = [network.links[i] for i in port.links]
            assert {link.tail if port.out else link.head for link in links} == {port.place}
            others = {network.box(link.head if port.out else link.tail) for link in links}
            assert others == {0, 1, 2} - {network.box(port.place)}
        assert len(network.ports) == 96

    @pytest.mark.parametrize("boxes", [2, 3])
    def test_fully_connected_each_link_has_an_eighth_of_a_nic(self, boxes: int) -> None:
        """With three boxes too: what goes from a box to another is counted as at once."""
        topology = load_topology(f"dgx_a100:boxes={boxes}")
        network = LogicalNetwork.of(topology, sketch(boxes, pattern="fully-connected"), KB)
        across = remote(network)
        assert len(across) == boxes * (boxes - 1) * 64
        assert {link.busy_us for link in across} == {Fraction(8, 25)}

    def test_senders_that_share_a_receiver_share_its_nic(self) -> None:
        """GPUs 0 and 1 send to 2 with half of its bandwidth each, 3 to 4 with all of it."""
        asked = sketch(2, pattern="", connections={0: (2,), 1: (2,), 3: (4,)})
        network = LogicalNetwork.of(load_topology("dgx_a100:boxes=2"), asked, KB)
        busy = {(link.tail, link.head): link.busy_us * 25 for link in remote(network)}
        assert busy == {(0, 10): 2, (1, 10): 2, (3, 12): 1, (8, 2): 2, (9, 2): 2, (11, 4): 1}

    def test_two_gpus_behind_a_pcie_switch_use_two_nics_evenly(self) -> None:
        """Two NICs to choose from at each end: four paths, each with a quarter of a link."""
        topology = load_topology("dgx_a100:boxes=2,nics=nodes")
        across = remote(LogicalNetwork.of(topology, sketch(2), KB))
        assert {link.busy_us for link in across} == {Fraction(1, 25)}
        first = next(link for link in across if link.tail == 1)
        assert sorted(names(topology, first)) == [
            ["b0.gpu1", "b0.pcie0", f"b0.nic{i}", "ib", f"b1.nic{j}", "b1.pcie0", "b1.gpu1"]
            for i in (0, 1)
            for j in (0, 1)
        ]


def one_nic_a_box() -> Topology:
    """Two boxes of two GPUs; NICs are joined by 10 GB/s, and 6 back."""
    return network_of(
        "[nic0]@0 0.0@0.0 0.1@0.1 [nic1]@1 1.0@1.0 1.1@1.1",
        "0.0 0.1 - nic0: 100 1, 0.0 - 0.1: 50 1/2, 1.0 1.1 - nic1: 100 1, 1.0 - 1.1: 50 1/2, "
        "nic0 > nic1: 10 3, nic1 > nic0: 6 4",
        "one NIC a box",
    )


class TestSharedNic:
    @pytest.mark.parametrize(
        ("fields", "users"),
        [
            ({"pattern": "direct-map"}, 2),
            ({"pattern": "fully-connected"}, 4),
            ({"connections": {1: (0,)}}, 1),
        ],
    )
    def test_its_users_divide_it(self, fields: dict[str, object], users: int) -> None:
        asked = replace(Sketch("sketch.yaml", (2,)), **fields)  # type: ignore[arg-type]
        network = LogicalNetwork.of(one_nic_a_box(), asked, KB)
        across = remote(network)
        assert len(across) == 2 * users
        for link in across:
            rate = Fraction(10 if link.tail < 2 else 6, users)
            assert link.busy_us == 1 / rate

    def test_latencies_add_up_on_the_way(self) -> None:
        """1 + 3 + 1 one way, 1 + 4 + 1 the other; inside a box there is the link."""
        network = LogicalNetwork.of(
            one_nic_a_box(), Sketch("sketch.yaml", (2,), pattern="direct-map"), KB
        )
        for link in network.links:
            latency, busy = {
                (0, 1): (5, Fraction(1, 5)),
                (1, 0): (6, Fraction(1, 3)),
            }.get(
                (network.box(link.tail), network.box(link.head)), (Fraction(1, 2), Fraction(1, 50))
            )
            assert (link.latency_us, link.busy_us) == (latency, busy)
            assert link.cost_us == latency + busy
        assert sum(not link.remote for link in network.links) == 4
        assert not network.ports


def test_gpus_behind_a_switch_share_the_link_between_switches() -> None:
    """GPUs 0 to 2 on one switch, 3 and 4 on another, 12 GB/s between: two cross at once, at 6."""
    nodes = "[left] [right] gpu0@0.0 gpu1@0.1 gpu2@0.2 gpu3@0.3 gpu4@0.4"
    links = "left - right: 12, gpu0..2 - left: 100, gpu3 gpu4 - right: 100"
    network = LogicalNetwork.of(network_of(nodes, links, "two switches"), sketch(1, 5), KB)
    for link in network.links:
        crossing = (link.tail < 3) != (link.head < 3)
        assert 1 / link.busy_us == (6 if crossing else 100)


def test_links_of_unlike_length_take_the_longest_latency_and_both_bandwidths() -> None:
    """Two switches between two GPUs: 10 + 10 GB/s, 2 or 7 us."""
    topology = network_of(
        "gpu0@0.0 gpu1@0.1 [near] [far]",
        "gpu0 gpu1 - near: 10 1, gpu0 gpu1 - far: 10 7/2",
        "two switches",
    )
    network = LogicalNetwork.of(topology, sketch(1, 2), KB)
    for link in network.links:
        assert len(link.paths) == 2
        assert (link.latency_us, link.busy_us) == (7, Fraction(1, 20))


def test_links_stay_as_they_are_but_for_those_between_gpus_of_a_switch() -> None:
    """GPUs 0 to 2 are on it, and 0 and 1 have a link, which is then their way; 3 hangs on 2."""
    topology = network_of(
        "[switch] gpu0@0.0 gpu1@0.1 gpu2@0.2 gpu3@0.3",
        "gpu0..2 - switch: 10, gpu0 - gpu1: 4, gpu2 - gpu3: 5",
        "three on a switch",
    )
    network = LogicalNetwork.of(topology, sketch(1, 3), KB)
    rate = {(link.tail, link.head): 1 / link.busy_us for link in network.links}
    assert len(network.links) == len(rate)
    one_way = {(0, 1): 4, (0, 2): 10, (1, 2): 10, (2, 3): 5}
    assert rate == {**one_way, **{(v, u): each for (u, v), each in one_way.items()}}
    ported = {i for port in network.ports for i in port.links}
    assert {(network.links[i].tail, network.links[i].head) for i in ported} == {
        (u, v) for u in range(3) for v in range(3) if u != v
    }
    bare = LogicalNetwork.of(topology, Sketch("sketch.yaml", (1,)), KB)
    assert sorted((link.tail, link.head) for link in bare.links) == [
        *((0, 1), (1, 0), (2, 3), (3, 2)),
    ]


def test_gpus_are_ordered_by_box_and_number_for_any_order_of_nodes() -> None:
    plain = load_topology("ndv2:chassis=2")
    asked = Sketch("sketch.yaml", (2,), connections={0: (1,)})
    order = random.Random(1).sample(range(len(plain.nodes)), len(plain.nodes))
    found = []
    for topology in (plain, plain.relabelled(order)):
        network = LogicalNetwork.of(topology, asked, KB)
        assert (network.boxes, network.size, network.gpus) == (2, 8, 16)
        gpus = [topology.nodes[topology.compute[rank]].name for rank in network.ranks]
        assert gpus == [f"b{place // 8}.gpu{place % 8}" for place in range(16)]
        found.append(
            {
                (link.tail, link.head, link.busy_us, link.latency_us, *names(topology, link)[0])
                for link in network.links
            }
        )
    assert found[0] == found[1]


def test_links_out_of_a_gpu_and_into_it() -> None:
    network = LogicalNetwork.of(load_topology("dgx_a100:boxes=2"), sketch(2), KB)
    assert [network.box(place) for place in (0, 7, 8, 15)] == [0, 0, 1, 1]
    for place in range(16):
        tails = [network.links[i].tail for i in network.out[place]]
        heads = [network.links[i].head for i in network.into[place]]
        assert tails == heads == [place] * 8


def test_a_single_box_ignores_connections_between_boxes() -> None:
    """Even what is not there."""
    asked = sketch(1, pattern="", connections={99: (0,)}, sources={98: (7,)})
    assert len(LogicalNetwork.of(load_topology("dgx_a100:boxes=1"), asked, KB).links) == 56


Use = tuple[Fraction, frozenset[int]]
"""Bandwidth that a logical link asks of a physical one, and the ports that it takes."""


def most_at_once(uses: list[Use]) -> Fraction:
    """Try all sets of links of which no two share a port."""
    later: list[frozenset[int]] = [frozenset()]
    for _, ports in reversed(uses):
        later.insert(0, later[0] | ports)

    @cache
    def most(first: int, taken: frozenset[int]) -> Fraction:
        if first == len(uses):
            return Fraction(0)
        rate, ports = uses[first]
        without = most(first + 1, taken & later[first + 1])
        if ports & taken:
            return without
        return max(without, rate + most(first + 1, (taken | ports) & later[first + 1]))

    return most(0, frozenset())


@pytest.mark.slow
def test_links_that_may_be_busy_at_once_never_ask_for_more_than_there_is() -> None:
    """Of each physical link, the most that logical ones ask for; now and then it is all of it."""
    chance = random.Random(3)
    full = kinds = 0
    for _ in range(200):
        topology, asked = random_boxes(chance)
        network = LogicalNetwork.of(topology, asked, KB)
        ports: dict[int, set[int]] = defaultdict(set)
        for number, port in enumerate(network.ports):
            for i in port.links:
                ports[i].add(number)
        uses: dict[tuple[int, int], list[Use]] = defaultdict(list)
        for i, link in enumerate(network.links):
            hops = [hop for path in link.paths for hop in pairwise(path)]
            for hop in set(hops):
                rate = Fraction(hops.count(hop), len(link.paths)) / link.busy_us
                uses[hop].append((rate, frozenset(ports[i])))
        for hop, some in uses.items():
            asked_for, there = most_at_once(some), topology.link_between[hop].bandwidth_gb_s
            assert asked_for <= there, (topology.name, hop)
            full += asked_for == there
        kinds += len(uses)
    assert full > kinds / 4


@pytest.mark.parametrize("allowed", [(1,), (4, 8)])
def test_a_sketch_for_other_numbers_of_boxes_is_refused(allowed: tuple[int, ...]) -> None:
    asked = replace(sketch(2), boxes=allowed)
    message = (
        f"^sketch.yaml: nnodes is {' or '.join(map(str, allowed))}, but dgx_a100:boxes=2 has 2; "
        f"take a sketch for so many boxes$"
    )
    with pytest.raises(InvalidParameterError, match=message):
        LogicalNetwork.of(load_topology("dgx_a100:boxes=2"), asked, KB)


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("switches", {"switches": ((7, 8),)}),
        ("internode_conn", {"pattern": "", "connections": {8: (0,)}}),
        ("internode_conn", {"pattern": "", "connections": {0: (8,)}}),
        ("gpus_to_sender_rev_map", {"sources": {8: (0,)}}),
        ("gpus_to_sender_rev_map", {"sources": {0: (0, 8)}}),
    ],
)
def test_gpus_that_are_not_there_are_refused(field: str, fields: dict[str, object]) -> None:
    message = (
        f"^sketch.yaml: {field} names GPU 8, but boxes of dgx_a100:boxes=2 have GPUs 0 to 7; "
        f"name one of these$"
    )
    with pytest.raises(InvalidParameterError, match=message):
        LogicalNetwork.of(load_topology("dgx_a100:boxes=2"), sketch(2, **fields), KB)


def test_gpus_that_no_sender_takes_chunks_of_are_named() -> None:
    """In the public code nothing is left for their chunks either."""
    asked = sketch(2, sources={0: (0, 1, 2), 4: (4, 6)})
    message = "^sketch.yaml: gpus_to_sender_rev_map has no sender for GPUs 3, 5, 7 of a box; put"
    with pytest.raises(InvalidParameterError, match=message):
        LogicalNetwork.of(load_topology("dgx_a100:boxes=2"), asked, KB)


@pytest.mark.parametrize("latency", [Fraction(1, 7919), 10**9])
@pytest.mark.parametrize("chunk_kb", [Fraction(1, 1000), 10**12 + 37, 10**27 + 57])
def test_ticks_of_any_costs_fit_64_bits(latency: Fraction | int, chunk_kb: Fraction | int) -> None:
    """A hundred million transfers one after the other; each takes little longer than it does."""
    spec = f"ndv2:chassis=2,between=direct,nvlink_latency=0,nic_latency={latency}"
    asked = find_sketch("ndv2", load_topology(spec))
    exact, rounded = (
        LogicalNetwork.of(load_topology(spec), asked, Fraction(chunk_kb), exact=exact)
        for exact in (True, False)
    )
    most = max(link.cost_us for link in exact.links)
    assert 10**8 * max(rounded.latency + rounded.busy) < 2**63
    for link, other in zip(exact.links, rounded.links, strict=True):
        assert 0 <= other.busy_us - link.busy_us <= max(link.busy_us / 10**6, most / 2**35)


def test_sources_of_a_gpu_outside_the_senders_are_refused() -> None:
    asked = sketch(2, pattern="", connections={0: (1,)}, sources={1: (0,)})
    with pytest.raises(InvalidParameterError, match="has sender 1, which internode_conn does not"):
        LogicalNetwork.of(load_topology("dgx_a100:boxes=2"), asked, KB)


@pytest.mark.parametrize(
    ("field", "ends", "asked"),
    [
        ("internode_conn", "b0.gpu1 to b1.gpu0", {"connections": {1: (0,)}}),
        ("internode_conn", "b0.gpu0 to b1.gpu0", {"pattern": "direct-map"}),
        (
            "switches",
            "b0.gpu0 to b0.gpu5",
            {"switches": ((0, 5),), "connections": {0: (1,)}},
        ),
    ],
)
def test_missing_links_are_refused(field: str, ends: str, asked: dict[str, object]) -> None:
    """Of two NDv2 chassis only GPU 0 sends and GPU 1 receives."""
    message = (
        f"^sketch.yaml: {field} joins two GPUs that no link and no switch joins: .*from {ends} "
        f"through switches alone; name others, or take another sketch$"
    )
    whole = replace(Sketch("sketch.yaml", (2,)), **asked)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match=message):
        LogicalNetwork.of(load_topology("ndv2:chassis=2"), whole, KB)


def test_boxes_of_unlike_size_are_refused() -> None:
    net = network_of("[net] 0.0@0.0 0.1@0.1 1.0@1.0", "net - 0.0 0.1 1.0", "two and one")
    with pytest.raises(UnsupportedError, match="boxes of two and one differ in their number of G"):
        LogicalNetwork.of(net, sketch(2, 2), KB)
