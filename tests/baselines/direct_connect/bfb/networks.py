"""Random networks of GPUs, and what is known of them without the native core."""

import random
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.topology import Topology, TopologyBuilder


def random_network(seed: int, *, latencies: bool = False) -> Topology:
    """Strongly connected: a cycle and chords, links of unequal bandwidth."""
    rng = random.Random(seed)
    size = rng.randint(3, 9)
    builder = TopologyBuilder()
    for i in range(size):
        builder.gpu(f"gpu{i}", index=i)
    order = rng.sample(range(size), size)
    ends = {(order[i - 1], order[i]) for i in range(size)}
    ends |= {(rng.randrange(size), rng.randrange(size)) for _ in range(rng.randint(0, 3 * size))}
    for tail, head in sorted(ends):
        if tail != head:
            bandwidth = Fraction(rng.randint(1, 4), rng.choice([1, 2, 3]))
            latency = rng.randint(0, 9) if latencies else 0
            builder.arc(f"gpu{tail}", f"gpu{head}", bandwidth, latency)
    return builder.build(f"random {seed}")


def hops(topology: Topology) -> npt.NDArray[np.int64]:
    """Distances, by relaxation."""
    size = topology.num_compute
    found = np.where(np.eye(size, dtype=bool), 0, size)
    for _ in range(size):
        for link in topology.links:
            found[:, link.head] = np.minimum(found[:, link.head], found[:, link.tail] + 1)
    return found
