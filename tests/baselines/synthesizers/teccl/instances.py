"""A network in epochs and a demand on it."""

from typing import Any

from baselines.synthesizers.teccl.instance.commodities import Demand, demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork, epoch_us
from forestcoll.topology import Topology, load_topology


def instance(
    network: Topology | str,
    collective: str,
    *,
    chunks: int = 1,
    size_bytes: int = 10**6,
    epoch: str = "fastest",
    **rules: Any,
) -> tuple[EpochNetwork, Demand]:
    topology = load_topology(network) if isinstance(network, str) else network
    demand = demand_of(topology.num_compute, collective, chunks, size_bytes)
    length = epoch_us(topology, demand.chunk_kb, epoch)
    return EpochNetwork.of(topology, demand.chunk_kb, length, **rules), demand
