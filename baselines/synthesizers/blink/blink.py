"""Blink: a dense packing of spanning trees with a single root.

Problem: broadcast from one GPU, reduce to it, or both for an allreduce, in the least time.
Input:   a topology without switches; the root.
Output:  out-trees of that root; a reduction has them on the network with every link reversed.
Cost:    that of the core for one root, or of :mod:`baselines.synthesizers.blink.packing`.
Source:  Wang et al., "Blink: Fast and Generic Collectives for Distributed ML" (MLSys 2020), section
         3; optimal packing as ForestColl section 6.1 realises Blink. Reimplemented from the papers
         (Blink has no public code).

The packing "edmonds" has the best rate, the least max-flow from the root to any GPU (Edmonds 1973),
by our core's exact packing. "mwu" is Blink's own: multiplicative weights, then few trees by an
integer program. Its rate is within epsilon of the best, and the forest's congestion states it
exactly.

The default root has the least time; ties go to the first. On a balanced network, where every GPU
sends as much as it receives, all roots are equal: every cut has the same capacity both ways.

Left out: Blink's three-phase protocol across machines, its hybrid use of PCIe beside NVLink, its
one-hop trees on NVSwitch (DGX-2), chunk sizes and code generation. For networks with switches see
:mod:`baselines.synthesizers.blink.blink_switch`. Rates: docs/baselines/blink.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from baselines.building.composing import collect
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice, exact_parameter
from baselines.interface.supported import ROOTED, check_supported
from baselines.networks.switch_paths import check_size
from baselines.networks.unwinding import Unwound, unwind
from baselines.synthesizers.blink import packing as blink_packing
from forestcoll.core.optimality import optimum
from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
    InvalidTopologyError,
    UnsupportedError,
)
from forestcoll.generation import Options
from forestcoll.generation import generate as generate_optimum
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact
from forestcoll.topology.validation import validate

__all__ = ["METHODS", "PACKINGS", "Packer", "generate", "single_root"]

PACKINGS = ("edmonds", "mwu")
"""Packing methods."""


@dataclass(frozen=True, slots=True)
class Packer:
    """A packing method for the trees of a root, on a network without switches.

    Parameters
    ----------
    packing : str
        One of :data:`PACKINGS`.
    epsilon : int, Fraction or str
        Share of the best rate that "mwu" may lose, between 0 and 1.
    limits : Limits
        For "mwu".

    Raises
    ------
    InvalidParameterError
        If there is no such packing, or epsilon is out of its range.
    """

    packing: str
    epsilon: Exact
    limits: Limits

    def __post_init__(self) -> None:
        check_choice("packing", self.packing, PACKINGS)
        if not 0 < self.loss < 1:
            raise InvalidParameterError(
                f"epsilon is {self.epsilon}; it must be between 0 and 1, neither of them"
            )

    @property
    def loss(self) -> Fraction:
        """Epsilon as an exact number."""
        return exact_parameter("epsilon", self.epsilon)

    def pack(self, topology: Topology, root: int) -> Forest:
        """Pack a broadcast from a rank."""
        if self.packing == "edmonds":
            asked = Options(collective="broadcast", root=root, threads=self.limits.threads)
            return generate_optimum(topology, asked).forest
        links = topology.integer_capacities
        network = blink_packing.Network(
            size=topology.num_compute,
            links=tuple(zip(links.tail.tolist(), links.head.tolist(), strict=True)),
            capacity=tuple(links.capacity.tolist()),
            root=root,
            best=links.denominator / _time_s_per_gb(topology, root),
        )
        packing = blink_packing.pack(network, self.loss, self.limits)
        return _forest(topology, root, packing)


def generate(
    topology: Topology,
    collective: str = "broadcast",
    *,
    root: str | int | None = None,
    packing: str = "edmonds",
    epsilon: Exact = "0.05",
    limits: Limits = Limits(),  # noqa: B008
) -> Forest | Allreduce[Forest]:
    """Pack trees of a single root.

    Parameters
    ----------
    topology : Topology
        Without switches.
    collective : str
        "broadcast", "reduce" or "allreduce".
    root : str or int, optional
        Name or rank of a GPU; the best if not given.
    packing : str
        "edmonds", the best rate; or "mwu", Blink's own approximation with few trees.
    epsilon : int, Fraction or str
        Part of the rate that "mwu" may lose.
    limits : Limits
        For "mwu". When time is up, the best trees so far are returned.

    Raises
    ------
    UnsupportedError
        If there are switches, fewer than two GPUs, GPUs that the root (or, where none is given,
        every root) does not reach, or another collective is asked for.
    InvalidParameterError
        If there is no such root or packing, or epsilon is out of its range.
    """
    if topology.switches:
        raise UnsupportedError(
            f"unsupported: {topology.name} has switches, and Blink packs trees into links between "
            f"GPUs only; blink-switch takes the switches out first"
        )
    packer = Packer(packing, epsilon, limits)
    return single_root("blink", unwind, topology, collective, root, packer)


def single_root(
    method: str,
    remove: Callable[[Topology], Unwound],
    topology: Topology,
    collective: str,
    root: str | int | None,
    packer: Packer,
) -> Forest | Allreduce[Forest]:
    """Remove the switches, choose a root, pack its trees, and map them to physical paths.

    Parameters
    ----------
    method : str
        Name for the schedule.
    remove : callable
        Removes the switches of the network, and of the network with every link reversed.
    topology, collective, root
        As for :func:`generate`.
    """
    check_supported(method, collective, ROOTED)
    check_size(topology)
    phases = ("reduce", "broadcast") if collective == "allreduce" else (collective,)
    if root is None:
        rank = _best_root(topology, phases, remove)
    else:
        rank = weights_for(topology, collective, root=root).index(1)
        if fault := _fault(topology, phases, rank):
            raise UnsupportedError(f"unsupported: {fault}") from fault
    return collect(partial(_packed, method, remove, packer, rank), topology, collective)


def _packed(
    method: str,
    remove: Callable[[Topology], Unwound],
    packer: Packer,
    root: int,
    topology: Topology,
) -> Forest:
    unwound = remove(topology)
    return unwound.carry(packer.pack(unwound.topology, root), topology, method)


def _best_root(
    topology: Topology, phases: Sequence[str], remove: Callable[[Topology], Unwound]
) -> int:
    """Return the rank with the least total time of all phases.

    On a balanced network all ranks reach all others if the first does.
    """
    balanced = topology.ingress_gb_s == topology.egress_gb_s
    asked = range(1 if balanced else topology.num_compute)
    faults = {rank: fault for rank in asked if (fault := _fault(topology, phases, rank))}
    if len(faults) == len(asked):
        raise UnsupportedError(
            f"unsupported: no GPU can be the root of {' and '.join(phases)}: {faults[0]}"
        ) from faults[0]
    networks = [
        remove(topology.reversed() if phase == "reduce" else topology).topology for phase in phases
    ]
    if all(network.ingress_gb_s == network.egress_gb_s for network in networks):
        return 0
    return min(
        (rank for rank in range(topology.num_compute) if rank not in faults),
        key=lambda root: sum(_time_s_per_gb(network, root) for network in networks),
    )


def _fault(topology: Topology, phases: Sequence[str], root: int) -> InvalidTopologyError | None:
    """Return the reason why a rank cannot be the root, if any."""
    try:
        for phase in phases:
            validate(topology, phase, roots=[root])
    except DisconnectedError as error:
        return error
    return None


def _time_s_per_gb(topology: Topology, root: int) -> Fraction:
    """Return 1 over the least max-flow from a rank to another."""
    weights = tuple(int(rank == root) for rank in range(topology.num_compute))
    return optimum(topology, weights=weights).time_s_per_gb


def _forest(topology: Topology, root: int, packing: blink_packing.Packing) -> Forest:
    paths: dict[tuple[int, int], int] = {}
    for tree, count in packing.weight.items():
        for node, parent in enumerate(tree):
            if parent >= 0:
                paths[parent, node] = paths.get((parent, node), 0) + count
    gpus = topology.compute
    return Forest(
        topology=topology,
        method="blink",
        k=sum(packing.weight.values()),
        congestion=1 / packing.unit,
        root=np.full(len(packing.weight), root, dtype=np.int32),
        multiplicity=np.array(list(packing.weight.values()), dtype=np.int64),
        parent=np.array(list(packing.weight), dtype=np.int32),
        routes=Routes.from_paths(
            {(u, v): (Path((gpus[u], gpus[v]), load),) for (u, v), load in paths.items()}
        ),
        weights=tuple(int(rank == root) for rank in range(topology.num_compute)),
    )


METHODS = (
    Method(
        name="blink",
        summary="spanning trees of a single root, packed for the best rate",
        source="Wang et al., Blink (MLSys 2020)",
        generate=generate,
        collectives=ROOTED,
        notes="no switches; no protocol across machines",
        libraries=("ortools.sat.python.cp_model",),
    ),
)
