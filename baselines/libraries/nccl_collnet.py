"""NCCL's CollNet: SHARP joins the boxes, and GPUs add up in the boxes, directly or in a chain.

Problem: an allreduce through switches between boxes that add, where those in boxes need not.
Input:   a topology of two boxes or more whose joining switches are marked ``multicast``; rails R.
Output:  physical trees (``MulticastForest``): R slices, each with every box as the root in turn.
Cost:    linear in the trees' edges: R trees a box, of N GPUs.
Source:  NCCL, ``src/graph/connect.cc`` (connectCollNet) and ``src/device/all_reduce.h``, read for
         the pattern. Reimplemented; no code of it.

The data is cut into one slice a rail. In a box the head of a rail, a GPU with a NIC, adds up its
slice and sends the sum into the network, which returns the total. In "direct" every GPU sends the
slice to the head, and gets the total from it. In "chain" the slice passes all GPUs of the box, the
head last; the total goes back along the chain. Switches in boxes only forward: ``nccl-nvls`` is
the form in which they multicast and reduce.

A box of n GPUs with n rails loads each GPU with (n - 1) / n of the data in each phase, in either
form. SHARP needs no root; our trees do, so boxes take turns as root.

Left out: allgather and reduce-scatter of CollNet direct; channels and NCCL's search for the order
of a chain, which is by number here, from the head on. NCCL takes "direct" with NVSwitches only.
Rates: docs/baselines/nccl.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from baselines.building.composing import collect
from baselines.building.equal_trees import forest_of
from baselines.interface.method import Method
from baselines.interface.supported import check_supported
from baselines.networks.boxes import gpus_by_box
from baselines.networks.marked_switches import joining, marked_only, on_paths, router_by_switches
from baselines.networks.nic_attachment import find_nic_attachments
from baselines.networks.rails import Starts, rails_of
from baselines.networks.switch_paths import Router, check_size, router_of
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.in_network.pruning import multicast
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate_chain", "generate_direct"]

DIRECT, CHAIN = "nccl-collnet-direct", "nccl-collnet-chain"

Trees = MulticastForest | Allreduce[MulticastForest]


def generate_direct(
    topology: Topology, collective: str = "allreduce", *, rails: int | None = None
) -> Trees:
    """Build CollNet direct: every GPU exchanges each slice with the slice's head in its box.

    Parameters
    ----------
    collective : str
        "allreduce".
    rails : int, optional
        R, one per GPU of the largest box if not given, or fewer where NICs are missing.

    Raises
    ------
    InvalidParameterError
        If R is not positive.
    UnsupportedError
        If there is a single box, or no marked switch joins the heads of a rail.
    """
    return _best(DIRECT, topology, collective, rails)


def generate_chain(
    topology: Topology, collective: str = "allreduce", *, rails: int | None = None
) -> Trees:
    """Build CollNet chain: each slice passes all GPUs of a box on its way to the head.

    Parameters and errors are those of :func:`generate_direct`.
    """
    return _best(CHAIN, topology, collective, rails)


def _best(method: str, topology: Topology, collective: str, rails: int | None) -> Trees:
    check_supported(method, collective, ("allreduce",))
    check_size(topology)
    if rails is not None and rails < 1:
        raise InvalidParameterError(f"rails is {rails}; it takes at least one")
    boxes = gpus_by_box(topology)
    if len(boxes) == 1:
        raise UnsupportedError(f"unsupported: {method} on {topology.name}, which is a single box")
    network = marked_only(topology, set(topology.switches) - _inside(topology, boxes))
    choices = rails_of(boxes, find_nic_attachments(router_of(topology), boxes), rails)
    made = [
        _on(
            multicast(collect(partial(_spread, method, boxes, starts), network, collective)),
            topology,
        )
        for starts in choices
    ]
    return min(made, key=lambda trees: cost(trees).time_s_per_gb)


def _inside(topology: Topology, boxes: list[list[int]]) -> set[int]:
    """Return all nodes on paths between GPUs of a box; switches among them only forward."""
    router = router_by_switches(topology)
    paths = [on_paths(router, box) for box in boxes if len(box) > 1]
    return set().union(*(nodes for box in paths for nodes in box))


def _on(made: Trees, topology: Topology) -> Trees:
    """Return the trees on the network with all marks; their rate there need not be the best."""
    if isinstance(made, Allreduce):
        reduce, gather = (replace(phase, topology=topology, optimum=None) for phase in made.phases)
        return Allreduce(reduce, gather)
    return replace(made, topology=topology, optimum=None)


def _spread(method: str, boxes: list[list[int]], starts: Starts, network: Topology) -> Forest:
    router = router_by_switches(network)
    copies: Counter[tuple[int, ...]] = Counter()
    for places in starts:
        heads = [box[place] for box, place in zip(boxes, places, strict=True)]
        if not joining(router, heads):
            raise UnsupportedError(
                f"unsupported: {method} needs a switch marked multicast that joins all boxes; none "
                f"does from {network.nodes[heads[0]].name} on"
            )
        for root in heads:
            copies[_row(router, boxes, places, root, chain=method == CHAIN)] += 1
    return replace(forest_of(router, method, copies), topology=network)


def _row(
    router: Router, boxes: list[list[int]], places: Sequence[int], root: int, *, chain: bool
) -> tuple[int, ...]:
    """Return the parent of each rank: of a head the root, of others the head or the one before."""
    rank_of = router.topology.rank_of
    above: dict[int, int] = {}  # rank by position
    for box, place in zip(boxes, places, strict=True):
        line = box[place:] + box[:place]
        for before, gpu in pairwise(line):
            above[gpu] = rank_of[before if chain else line[0]]
        above[line[0]] = -1 if line[0] == root else rank_of[root]
    return tuple(above[gpu] for gpu in router.topology.compute)


METHODS = (
    Method(
        name=DIRECT,
        summary="SHARP between the boxes, every GPU and each NIC's head exchange in the box",
        source="NCCL CollNetDirect",
        generate=generate_direct,
        collectives=("allreduce",),
        notes="boxes take turns as root; also without NVSwitches",
    ),
    Method(
        name=CHAIN,
        summary="SHARP between the boxes, a chain to each NIC's head in the box",
        source="NCCL CollNetChain",
        generate=generate_chain,
        collectives=("allreduce",),
        notes="boxes take turns as root; chains by number",
    ),
)
