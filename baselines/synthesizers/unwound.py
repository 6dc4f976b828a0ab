"""Switch unwinding before ForestColl's core: the cost of a preset switch pattern.

Problem: a collective on a network with switches, by a method that unwinds them.
Input:   a topology; the pattern.
Output:  the optimal forest on the unwound network, over physical paths.
Cost:    that of :mod:`baselines.networks.unwinding` and of the core.
Source:  ForestColl section 5.3 (the alternative to its switch removal); unwinding as TACCL and
         TACOS do it. Only the treatment of switches differs from ForestColl.

The congestion of a forest is that of its physical paths. If the unwound network divides a port
among links of which some stay idle, it is less than on the unwound network. Rings, the default, are
the worst case of ForestColl section 5.3; a comparison should take the best of the patterns
(docs/baselines/unwinding.md).
"""

from __future__ import annotations

from functools import partial

from baselines.building.composing import collect
from baselines.interface.method import Method
from baselines.interface.supported import GATHERING, check_supported
from baselines.networks.switch_paths import check_size
from baselines.networks.unwinding import unwind
from forestcoll.errors import DisconnectedError, UnsupportedError
from forestcoll.generation import Options
from forestcoll.generation import generate as generate_optimum
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import COLLECTIVES, validate

__all__ = ["METHODS", "generate"]

_ROOTED = ("broadcast", "reduce")


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    pattern: str = "ring",
    root: str | int | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> Forest | Allreduce[Forest]:
    """Unwind the switches and make the best schedule for the unwound network.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter", "allreduce", "broadcast" or "reduce". For a reduction the
        network is unwound with every link reversed.
    pattern : str
        "ring", "clique" or "hypercube", as of :func:`baselines.networks.unwinding.unwind`.
    root : str or int, optional
        Name or rank of a GPU: of a broadcast or reduce, the first GPU if not given; an allreduce
        with a root is a reduce and a broadcast.
    limits : Limits
        Only the threads count.

    Raises
    ------
    UnsupportedError
        If a switch has unsuitable neighbours for the pattern, GPUs cannot reach each other on the
        unwound network, there are fewer than two, or for another collective.
    InvalidParameterError
        If there is no such pattern or root, or the collective takes no root.
    """
    check_supported("unwound", collective, COLLECTIVES)
    check_size(topology)
    if root is None and collective in _ROOTED:
        root = 0
    weights = weights_for(topology, collective, root=root)
    rank = None if root is None else weights.index(1)
    return collect(partial(_optimum_unwound, pattern, rank, limits.threads), topology, collective)


def _optimum_unwound(pattern: str, root: int | None, threads: int, topology: Topology) -> Forest:
    unwound = unwind(topology, pattern)
    try:
        validate(unwound.topology, roots=None if root is None else [root])
    except DisconnectedError as error:
        raise UnsupportedError(f"unsupported: with its switches unwound, {error}") from error
    collective = "allgather" if root is None else "broadcast"
    asked = Options(collective=collective, root=root, threads=threads)
    forest = generate_optimum(unwound.topology, asked).forest
    return unwound.carry(forest, topology, "unwound")


METHODS = (
    Method(
        name="unwound",
        summary="switches unwound into rings, cliques or hypercubes, then our core",
        source="ForestColl section 5.3, of TACCL and TACOS",
        generate=generate,
        collectives=(*GATHERING, "broadcast", "reduce"),
        notes="an ablation: all but the switch removal is ForestColl's",
    ),
)
