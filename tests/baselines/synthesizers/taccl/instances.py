"""Small things to route, and random ones."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from baselines.synthesizers.taccl.exchange import exchange_of
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.routing import ChunkRoutes, Routing
from baselines.synthesizers.taccl.sketch import Sketch
from baselines.synthesizers.taccl.sketch_files import drawn
from forestcoll.topology import Topology, TopologyBuilder, load_topology

SPECS = (
    "ring:nodes=5",
    "torus:dims=2x3",
    "dgx_a100:boxes=1",
    "dgx_a100:boxes=2,nvswitch_bandwidth=40",
    "paper_example",
    "ndv2:chassis=2",
    "mi250_teccl:chassis=1",
    "rail_optimized:boxes=3,gpus_per_box=2",
)
"""Links, switches, both; one box, two, three; with latencies and without."""


def two_boxes(latency: int | Fraction, gpus: int = 3) -> Topology:
    """Boxes of GPUs that are all linked; GPU 0 of each sends to GPU 1 of the other."""
    builder = TopologyBuilder()
    boxes = [[builder.gpu(f"b{b}.gpu{i}", b, i) for i in range(gpus)] for b in range(2)]
    for here, there in (boxes, boxes[::-1]):
        for i, gpu in enumerate(here):
            for other in here[:i]:
                builder.link(gpu, other, 20, Fraction(1, 5))
        builder.arc(here[0], there[1], 4, latency)
    return builder.build("two boxes")


def arcs_of(arcs: Sequence[tuple[int, ...]], gpus: int, boxes: int = 1) -> Topology:
    """GPUs by number; arcs of 1 GB/s if no bandwidth is given."""
    builder = TopologyBuilder()
    for i in range(gpus):
        builder.gpu(f"g{i}", i * boxes // gpus, i % (gpus // boxes))
    for tail, head, *bandwidth in arcs:
        builder.arc(f"g{tail}", f"g{head}", *(bandwidth or [1]))
    return builder.build("arcs")


def plain(
    topology: Topology, collective: str = "allgather", chunk_kb: int = 1, **changes
) -> Routing:
    """By a sketch of links as they are, and nothing else if not said."""
    boxes = len({topology.nodes[gpu].box for gpu in topology.compute})
    sketch = Sketch("plain", (boxes,), **changes)
    network = LogicalNetwork.of(topology, sketch, Fraction(chunk_kb))
    return Routing(network, exchange_of(collective, network.gpus, 1), sketch)


def routing_of(
    spec: str | Topology,
    collective: str = "allgather",
    chunks: int = 1,
    size_bytes: int = 10**6,
    **changes,
) -> Routing:
    """What is to be routed by the sketch that is drawn, or by one that differs from it."""
    topology = load_topology(spec) if isinstance(spec, str) else spec
    sketch: Sketch = replace(drawn(topology), **changes)
    exchange = exchange_of(collective, topology.num_compute, chunks)
    chunk_kb = Fraction(size_bytes, exchange.gpus * exchange.parts * 1000)
    return Routing(LogicalNetwork.of(topology, sketch, chunk_kb), exchange, sketch)


def random_routes(routing: Routing, seed: int) -> ChunkRoutes:
    """Trees that grow by a link at random until all destinations are on them."""
    rng = random.Random(seed)
    network, found = routing.network, []
    for chunk, source in enumerate(routing.exchange.source):
        reached, links = {source}, set()
        wanted = set(routing.exchange.destinations(chunk))
        while not wanted <= reached:
            ways = [
                i
                for i, link in enumerate(network.links)
                if routing.allowed[chunk, i] and link.tail in reached and link.head not in reached
            ]
            links.add(i := rng.choice(ways))
            reached.add(network.links[i].head)
        found.append(routing._needed(chunk, sorted(links)))
    return tuple(found)
