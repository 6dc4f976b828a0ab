"""Small random networks and demands, for all schedules of which there is time."""

from __future__ import annotations

import itertools
import random

from forestcoll.problem.demand import Demand
from forestcoll.topology import Topology, TopologyBuilder

BYTES = 1000
"""Of a chunk: an epoch is 1 us on a link of 1 GB/s."""


def random_network(draw: random.Random) -> Topology:
    """Three to five GPUs on a one-way ring with more links; 1 or 2 chunks an epoch, 0 or 1 us."""
    gpus = draw.randint(3, 5)
    links = {(a, (a + 1) % gpus) for a in range(gpus)}
    links |= {(a, b) for a, b in itertools.permutations(range(gpus), 2) if draw.random() < 0.2}
    builder = TopologyBuilder()
    for rank in range(gpus):
        builder.gpu(f"g{rank}")
    for number, (a, b) in enumerate(sorted(links)):
        bandwidth = draw.choice([1, 1, 2]) if number else 1
        builder.arc(f"g{a}", f"g{b}", bandwidth, draw.choice([0, 0, 1]))
    return builder.build("random")


def random_demand(draw: random.Random, gpus: int, unicast: bool) -> Demand:
    """One to four chunks of one or two chunks of ``BYTES``, the last of these not full."""
    chunks = []
    for _ in range(draw.randint(1, 4)):
        source = draw.randrange(gpus)
        others = [rank for rank in range(gpus) if rank != source]
        targets = draw.sample(others, 1 if unicast else draw.randint(1, len(others)))
        chunks.append((source, draw.randint(1, 3 * BYTES // 2), targets))
    return Demand.of_chunks(gpus, chunks)
