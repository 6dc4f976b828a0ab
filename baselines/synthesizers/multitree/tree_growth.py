"""Growth of MultiTree's trees: the link that each tree takes at its turn, step by step.

Problem: let all trees grow at once, edge by edge, while the links have units left in this step.
Input:   a topology; the bandwidth of a unit; the readings of ``multitree``.
Output:  the parent of every GPU in every tree, the paths of the edges, and the number of steps.
Cost:    N (N - 1) turns, and in each step at most one look at each port of each tree, since what is
         left in a step only shrinks.
Source:  see ``multitree``. Natively in ``baselines/native/src/multitree``: a turn needs what the
         turns before it left, so turns run one by one. tests/reference/multitree.py is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from baselines.native import _methods
from baselines.networks.switch_paths import Router
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = ["CHILDREN", "PORTS", "Growth", "grow_trees"]

CHILDREN = ("next-number", "next-box", "number", "box")
"""Which of the GPUs behind a port joins: see ``multitree``."""

PORTS: Mapping[str, Callable[[int], tuple[int, int]]] = MappingProxyType(
    {
        "nearest": lambda many: (many, 1),
        "widest": lambda many: (1, many),
        "joined": lambda many: (0, 0),
    }
)
"""What puts a port back among those of a tree's GPUs: each hop of its way, and each bandwidth that
is wider, ``many`` being more than there are of either. At ties the GPU that joined first sends."""


@dataclass(frozen=True)
class Growth:
    """The trees that MultiTree grows.

    Parameters
    ----------
    parent : int32 array of shape (N, N)
        Row r is the tree of rank r: each rank's parent, -1 at the root.
    routes : Routes
        The physical paths of the logical links in use.
    steps : int
        Time steps taken; MultiTree's own schedule moves a shard over one unit in each.
    unit_gb_s : Fraction
    """

    parent: npt.NDArray[np.int32]
    routes: Routes
    steps: int
    unit_gb_s: Fraction


def grow_trees(topology: Topology, unit: Fraction, child: str, ports: str) -> Growth:
    """Grow all trees to the end, by one reading.

    Raises
    ------
    UnsupportedError
        If the trees cannot span the GPUs through links of at least one unit.
    """
    gpus = Router(topology, by_box=child.endswith("box")).gpus
    units, narrowness = _widths(topology, unit)
    per_hop, per_width = PORTS[ports](len(topology.nodes) + len(topology.links))
    steps, parent, tail, head, first_path, trees, first_hop, hop = _methods.grow(
        num_nodes=len(topology.nodes),
        tail=np.array([link.tail for link in topology.links], dtype=np.int32),
        head=np.array([link.head for link in topology.links], dtype=np.int32),
        units=units,
        narrowness=narrowness,
        gpu=np.array(gpus, dtype=np.int32),
        per_hop=per_hop,
        per_width=per_width,
        onward=child.startswith("next"),
    )
    if np.count_nonzero(parent < 0) > len(parent):
        _refuse(topology, gpus, parent)
    routes = Routes(tail, head, first_path, trees, first_hop, hop)
    return Growth(parent, routes, steps, unit)


def _widths(
    topology: Topology, unit: Fraction
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return of each link its units a step, and how many bandwidths are wider."""
    ratios = [link.bandwidth_gb_s.as_integer_ratio() for link in topology.links]
    widest_first = sorted((Fraction(*ratio) for ratio in {*ratios}), reverse=True)
    place = {width.as_integer_ratio(): i for i, width in enumerate(widest_first)}
    edges = topology.num_compute**2  # more than there are, so more units are of no use
    units = np.array([min(int(width / unit), edges) for width in widest_first], dtype=np.int64)
    narrowness = np.array([place[ratio] for ratio in ratios], dtype=np.int32)
    return units[narrowness], narrowness


def _refuse(topology: Topology, gpus: tuple[int, ...], parent: npt.NDArray[np.int32]) -> None:
    """Name the first tree that cannot grow and the first GPU that it lacks."""
    order = np.array([topology.rank_of[gpu] for gpu in gpus])
    missing = parent[np.ix_(order, order)] < 0
    np.fill_diagonal(missing, False)
    names = [topology.nodes[gpus[place]].name for place in np.argwhere(missing)[0]]
    raise UnsupportedError(
        f"unsupported: the tree of {names[0]} cannot reach {names[1]} through switches and "
        f"links of at least one unit; choose a smaller unit"
    )
