"""The network of a breadth-first broadcast: links as whole numbers, with their times.

Problem: LP (14) charges each link its latency and the time for its load; express both as whole
         numbers, so that loads are exact fractions.
Output:  whole capacities, delays and the size of a shard in one unit of time.
Source:  Zhao et al. (NSDI 2025), section 6, LPs (1) and (14).

By a time T a link of bandwidth b and latency a carries b (T - a) of the data. In units of
``unit_s_per_gb`` seconds for each GB of data (or in seconds, if latencies count) this is
capacity * (T - delay) / size shards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from baselines.building.ticks import common_part
from forestcoll.errors import CapacityOverflowError, InvalidParameterError, UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["BroadcastNetwork"]

_BYTES = 10**9


@dataclass(frozen=True)
class BroadcastNetwork:
    """A network of GPUs, by rank.

    Parameters
    ----------
    tail, head : int32 arrays, one entry a link
    capacity, delay : int64 arrays, one entry a link
    size : int
        Of a shard.
    unit_s_per_gb : Fraction
        Length of one unit of time, per GB of data.
    """

    topology: Topology
    tail: npt.NDArray[np.int32] = field(repr=False)
    head: npt.NDArray[np.int32] = field(repr=False)
    capacity: npt.NDArray[np.int64] = field(repr=False)
    delay: npt.NDArray[np.int64] = field(repr=False)
    size: int
    unit_s_per_gb: Fraction

    @classmethod
    def of(cls, topology: Topology, num_bytes: int = 0) -> BroadcastNetwork:
        """Look at a network.

        Parameters
        ----------
        num_bytes : int
            Data size for the latencies; 0 ignores latencies.

        Raises
        ------
        UnsupportedError
            If there are switches.
        InvalidParameterError
            If the size is negative.
        CapacityOverflowError
            If exact 64-bit arithmetic does not hold the numbers.
        """
        if topology.switches:
            raise UnsupportedError(
                f"unsupported: {topology.name} has switches; breadth-first broadcasts are for GPUs "
                f"that are linked to each other (unwind the switches first)"
            )
        if num_bytes < 0:
            raise InvalidParameterError(f"the data has {num_bytes} bytes; it must be 0 or more")
        links = topology.integer_capacities
        shard = Fraction(links.denominator, topology.num_compute)  # s per GB at capacity 1
        delays: list[Fraction] = []
        if num_bytes:
            per_gb = Fraction(_BYTES, num_bytes)
            delays = [link.latency_us / 10**6 * per_gb for link in topology.links]
        unit = common_part([shard, *delays])
        if max([shard, *delays]) / unit >= 2**60:
            raise CapacityOverflowError(
                f"{topology.name}: in whole numbers latencies and shards are beyond exact 64-bit "
                f"arithmetic; round the latencies, or leave num_bytes 0"
            )
        return cls(
            topology=topology,
            tail=links.tail,
            head=links.head,
            capacity=links.capacity,
            delay=np.array(
                [int(d / unit) for d in delays] or [0] * len(links.tail), dtype=np.int64
            ),
            size=int(shard / unit),
            unit_s_per_gb=unit,
        )
