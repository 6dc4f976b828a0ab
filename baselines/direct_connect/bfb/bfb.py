"""BFB: every shard spreads along all shortest paths, balanced over the links of each GPU.

Problem: an allgather, reduce-scatter or allreduce on a network of directly linked GPUs, in as many
         steps as its diameter.
Input:   a network without switches; the number of pieces of a shard.
Output:  step schedules: in step t every GPU receives the shards of all GPUs t hops away.
Cost:    see ``breadth_first``; at least N (N - 1) transfers.
Source:  Zhao et al., "Efficient Direct-Connect Topologies for Collective Communications" (NSDI
         2025), section 6, appendices D and E. Reimplemented from the paper.

A reduce-scatter is the allgather of the network with every link reversed, backwards in time.
An allreduce is both. Each direction is computed separately: on a network that differs from its
reverse the two take different times, so twice one of them would be wrong.
"""

from __future__ import annotations

from functools import partial

from baselines.building.composing import collect_steps, hop_by_hop
from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast, broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING
from baselines.networks.switch_paths import check_size
from forestcoll.errors import CapacityOverflowError, InvalidParameterError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    pieces: int = 0,
    num_bytes: int = 0,
    symmetry: bool = False,
    limits: Limits | None = None,
) -> StepSchedule:
    """Broadcast breadth first from every GPU.

    Parameters
    ----------
    topology : Topology
        Of GPUs only.
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    pieces : int
        Indivisible pieces of each shard; 0: as many as the best balance needs.
    num_bytes : int
        Data size for the latencies, as in program (14); 0 ignores latencies.
    symmetry : bool
        Whether to balance only one GPU of each orbit; the times are the same.
    limits : Limits
        Only the threads count.

    Raises
    ------
    UnsupportedError
        If there are switches, or a single GPU.
    InvalidParameterError
        If pieces or bytes are negative.
    DisconnectedError
        If some GPU cannot be reached.
    CapacityOverflowError
        If exact 64-bit arithmetic does not hold the bandwidths, latencies or pieces.
    """
    check_size(topology)
    if pieces < 0:
        raise InvalidParameterError(f"pieces is {pieces}; it must be 0 or more")
    spread = partial(
        _gather,
        pieces=pieces,
        num_bytes=num_bytes,
        symmetry=symmetry,
        threads=limits.threads if limits else 1,
    )
    return collect_steps(spread, topology, collective)


def _gather(
    topology: Topology, pieces: int, num_bytes: int, symmetry: bool, threads: int
) -> StepSchedule:
    network = BroadcastNetwork.of(topology, num_bytes)
    alike = Alike.found(network) if symmetry else Alike.none(topology.num_compute)
    if pieces == 0:
        pieces = broadcast_times(network, alike, threads=threads).pieces
        if pieces * topology.num_compute >= 2**62:
            raise CapacityOverflowError(
                f"{topology.name}: the best balance cuts each shard into so many pieces that exact "
                f"64-bit arithmetic does not hold them; set pieces, or round the bandwidths"
            )
    size = topology.num_compute
    chunks = Chunks.equal(range(size), whole=size * pieces, size=pieces)
    sends = broadcast(network, alike, pieces, threads=threads)
    return hop_by_hop(topology, "bfb", "allgather", chunks, sends)


METHODS = (
    Method(
        name="bfb",
        summary="every shard along all shortest ways at once, balanced over each GPU's links",
        source="Zhao et al. (NSDI 2025)",
        generate=generate,
        collectives=GATHERING,
        notes="networks without switches",
        libraries=(
            "forestcoll.topology.symmetry.automorphism",
            "forestcoll.topology.symmetry.stabilizer",
            "scipy.sparse.csgraph",
        ),
    ),
)
