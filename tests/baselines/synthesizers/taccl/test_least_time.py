"""The bound by hand, and below all schedules of small random networks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import pytest

from baselines.synthesizers.taccl.exchange import Exchange, exchange_of
from baselines.synthesizers.taccl.least_time import least_time
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.sketch import Sketch
from baselines.synthesizers.taccl.sketch_files import find_sketch
from forestcoll.topology import Topology, load_topology
from tests.baselines.synthesizers.taccl.boxes import random_boxes
from tests.hand_networks import network_of


def laid(spec: str, sketch: str, chunk_kb: int = 1) -> LogicalNetwork:
    topology = load_topology(spec)
    return LogicalNetwork.of(topology, find_sketch(sketch, topology), Fraction(chunk_kb))


def busy(network: LogicalNetwork) -> list[Fraction]:
    return [link.busy_us for link in network.links]


def test_links_into_a_gpu_bring_whole_chunks() -> None:
    """Two of 23 and two of 46 us a chunk have brought six of seven by 46 us, eight by 69."""
    network = laid("dgx1:nvlink_latency=0", "dgx1", chunk_kb=1150)
    assert sorted(set(busy(network))) == [23, 46]
    assert least_time(network, exchange_of("allgather", 8, 1), busy(network)) == 69


@pytest.mark.parametrize(("collective", "chunks"), [("allgather", 8), ("all-to-all", 64)])
@pytest.mark.parametrize("parts", [1, 2])
def test_the_only_link_into_a_box_bounds_the_time(collective: str, chunks: int, parts: int) -> None:
    """Of 107 us a chunk, for what each of 8 GPUs wants or all do: 856 us of an allgather."""
    network = laid("ndv2:chassis=2", "ndv2")
    cost = [Fraction(107 if link.remote else 23) for link in network.links]
    found = least_time(network, exchange_of(collective, 16, parts), cost)
    assert found == 107 * chunks * parts


def test_the_receiver_port_of_four_boxes_bounds_the_time() -> None:
    """From three boxes, 24 chunks one after the other."""
    network = laid("ndv2:chassis=4", "ndv2")
    cost = [Fraction(107 if link.remote else 23) for link in network.links]
    assert least_time(network, exchange_of("allgather", 32, 1), cost) == 24 * 107


@pytest.mark.parametrize(("planes", "finish"), [(1, Fraction(7, 300)), (2, Fraction(8, 300))])
def test_a_port_brings_one_chunk_at_a_time(planes: int, finish: Fraction) -> None:
    """Seven at 300 GB/s; in two planes, of 150 each, four after each other."""
    topology = load_topology("dgx_a100:boxes=1")
    sketch = find_sketch("dgx-uc-min", topology)
    network = LogicalNetwork.of(
        topology, replace(sketch, switches=sketch.switches * planes), Fraction(1)
    )
    assert least_time(network, exchange_of("allgather", 8, 1), busy(network)) == finish


def test_the_fastest_link_of_a_shared_port_counts() -> None:
    """Into GPU 0 a chunk takes 3 us from GPU 1, which may pass on all others, 5 from others."""
    network = laid("dgx_a100:boxes=1", "dgx-uc-min")
    slow = {(1, 0): 3, **{(v, 0): 5 for v in range(2, 8)}}
    cost = [Fraction(slow.get((link.tail, link.head), 1)) for link in network.links]
    assert least_time(network, exchange_of("allgather", 8, 1), cost) == 7 * 3


def one_way() -> Topology:
    return network_of("gpu0 gpu1", "gpu0 > gpu1", "one way")


@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
@pytest.mark.parametrize(
    ("topology", "sketch"),
    [
        (one_way(), Sketch("into GPU 0", (1,))),
        (load_topology("mi250:boxes=2"), Sketch("into a box", (2,))),
    ],
)
def test_unreachable_gpus_have_no_time(topology: Topology, sketch: Sketch, collective: str) -> None:
    network = LogicalNetwork.of(topology, sketch, Fraction(1))
    exchange = exchange_of(collective, network.gpus, 1)
    assert least_time(network, exchange, busy(network)) is None


@dataclass
class Sending:
    """A schedule as far as it is made: when chunks are where, links and ports free."""

    network: LogicalNetwork
    exchange: Exchange
    cost: Sequence[Fraction]
    there: dict[tuple[int, int], Fraction] = field(default_factory=dict)
    free: dict[tuple[str, int], Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.there:
            self.there = {(c, v): Fraction(0) for c, v in enumerate(self.exchange.source)}

    @property
    def finish(self) -> Fraction | None:
        """When all is where it is wanted, if it is."""
        wanted = [
            (chunk, v)
            for chunk in range(len(self.exchange))
            for v in self.exchange.destinations(chunk)
        ]
        if not self.there.keys() >= set(wanted):
            return None
        return max(self.there[each] for each in wanted)

    def could(self) -> Iterator[tuple[int, int]]:
        """Chunks and links over which they get to where they are not."""
        for chunk in range(len(self.exchange)):
            for i, link in enumerate(self.network.links):
                if (chunk, link.tail) in self.there and (chunk, link.head) not in self.there:
                    yield chunk, i

    def send(self, chunk: int, i: int) -> Sending:
        """The same and one chunk more, as soon as it and what it takes are free."""
        link = self.network.links[i]
        taken = [("link", i)]
        taken += [("port", n) for n, port in enumerate(self.network.ports) if i in port.links]
        begin = max([self.there[chunk, link.tail], *(self.free.get(each, 0) for each in taken)])
        end = begin + self.cost[i]
        return replace(
            self,
            there={**self.there, (chunk, link.head): end},
            free={**self.free, **dict.fromkeys(taken, end)},
        )


@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
def test_no_schedule_of_chance_is_faster(collective: str) -> None:
    chance = random.Random(5)
    for _ in range(60):
        topology, sketch = random_boxes(chance)
        network = LogicalNetwork.of(topology, sketch, Fraction(1))
        if network.gpus > 6:
            continue
        exchange = exchange_of(collective, network.gpus, 1)
        sending = Sending(network, exchange, busy(network))
        while sending.finish is None:
            sending = sending.send(*chance.choice(list(sending.could())))
        least = least_time(network, exchange, busy(network))
        assert least is not None
        assert 0 < least <= sending.finish, topology.name


def fastest(sending: Sending, limit: Fraction) -> Fraction:
    """Try all orders, but for those that take as long as is known."""
    if sending.finish is not None:
        return min(limit, sending.finish)
    for each in sending.could():
        further = sending.send(*each)
        if max(further.there.values()) < limit:
            limit = fastest(further, limit)
    return limit


def test_the_fastest_schedule_is_not_faster_and_often_as_fast() -> None:
    """Of two or three GPUs in an allgather."""
    chance = random.Random(5)
    met = tried = 0
    while tried < 12:
        topology, sketch = random_boxes(chance)
        network = LogicalNetwork.of(topology, sketch, Fraction(1))
        if network.gpus == 3 and len(network.links) < 8:
            exchange = exchange_of("allgather", 3, 1)
            best = fastest(Sending(network, exchange, busy(network)), Fraction(100))
            least = least_time(network, exchange, busy(network))
            assert least is not None
            assert least <= best, topology.name
            met += least == best
            tried += 1
    assert 3 <= met < 12
