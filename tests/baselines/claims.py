"""What each baseline claims to do, and where: the table that test_registry.py holds them to.

A baseline is held to all of it: where it claims to do a collective, its schedule must verify; on
every other topology of ``TOPOLOGIES`` it must raise UnsupportedError. To add a baseline, add its
row to ``CLAIMS``; to add a topology, add it to ``TOPOLOGIES`` and see who claims it.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from baselines import METHODS
from baselines.interface.method import Schedule
from baselines.interface.supported import GATHERING, ROOTED
from forestcoll.problem.limits import Limits
from forestcoll.topology import Topology, group, load_topology
from tests.baselines.dead_nics import without
from tests.hand_networks import network_of
from tests.random_topologies import random_topology

BOXES = (
    "dgx_a100:boxes=1",
    "dgx_a100:boxes=2",
    "dgx_a100:boxes=3,ib_switches=2",
    "dgx_a100:boxes=2,nics=nodes",
    "dgx_a100:boxes=3,nics=nodes,ib_switches=2",
    "dgx_h100:boxes=4",
    "dgx_h100:boxes=2,sharp=true",
    "paper_example",
)
"""Boxes with a switch inside, joined by switches."""

XGMI = ("mi250:boxes=1", "mi250:boxes=2", "mi250:boxes=2,gpus_per_box=8")
"""Boxes with direct links inside."""

TREES = (
    "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=2",
    "fat_tree:leaves=3,hosts=1,spines=2",
)
"""GPUs without boxes, all joined through switches."""

RAILS = (
    "rail_optimized:boxes=2",
    "rail_optimized:boxes=3,gpus_per_box=4",
    "rail_optimized:boxes=3,gpus_per_box=2",
    "rail_optimized:boxes=3,gpus_per_box=2,spines=2",
)
"""Boxes joined rail by rail, the last ones across rails too."""

RINGS = ("ring:nodes=2", "ring:nodes=7", "ring:nodes=7,bidirectional=false")

GRIDS = (
    "torus:dims=3x3",
    "torus:dims=8x8",
    "torus:dims=2x3x4",
    "torus:dims=4x4,wrap=false",
    "hypercube:dimension=4",
)


def one_way_boxes() -> Topology:
    """Two boxes of three GPUs in a one-way ring, which a switch joins."""
    return network_of(
        "[w] b0.gpu0@0.0 b0.gpu1@0.1 b0.gpu2@0.2 b1.gpu0@1.0 b1.gpu1@1.1 b1.gpu2@1.2",
        "b0.gpu0 > b0.gpu1: 3, b0.gpu0..2 b1.gpu0..2 - w, b0.gpu1 > b0.gpu2: 3, "
        "b0.gpu2 > b0.gpu0: 3, b1.gpu0 > b1.gpu1: 3, b1.gpu1 > b1.gpu2: 3, b1.gpu2 > b1.gpu0: 3",
        "one-way boxes",
    )


DEAD = ("a dead NIC", "a dead rail", "a single NIC")
"""Boxes with fewer NICs than GPUs."""

IDLE_CORNER = "a mesh with an idle corner"


def mesh_with_an_idle_corner() -> Topology:
    """A 3 x 3 mesh whose GPU in the last row of the first column only forwards."""
    mesh = load_topology("torus:dims=3x3,wrap=false")
    return group(mesh, [node.name for node in mesh.nodes if node.name != "gpu2.0"])


HAND_MADE: Mapping[str, Callable[[], Topology]] = {
    "directed": partial(random_topology, 3, "directed"),
    "one-way boxes": one_way_boxes,
    IDLE_CORNER: mesh_with_an_idle_corner,
    "a dead NIC": partial(without, "dgx_a100:boxes=2", "b0.gpu2 - ib"),
    "a dead rail": partial(without, "rail_optimized:boxes=3", "b0.gpu2 - rail2"),
    "a single NIC": partial(
        without, "dgx_h100:boxes=2", *(f"b0.gpu{i} - ib" for i in range(8) if i != 5)
    ),
}
"""Topologies of no family."""

TOPOLOGIES = (
    *BOXES,
    *XGMI,
    *TREES,
    *RAILS,
    *RINGS,
    *GRIDS,
    "torus:dims=3x3,wrap=false",
    "complete:nodes=6",
    *HAND_MADE,
)
"""Every topology that every baseline is asked about, by specification or name."""

SORTS = (BOXES, XGMI, TREES, RAILS, RINGS, GRIDS)


def sort_of(name: str) -> str:
    """Return the first topology of its sort; those made by hand are each of their own."""
    return next((sort[0] for sort in SORTS if name in sort), name)


EXAMPLES = (
    "mi250:boxes=2,gpus_per_box=8",
    "dgx_a100:boxes=2",
    "torus:dims=3x3",
    "hypercube:dimension=4",
    "complete:nodes=6",
    "ring:nodes=7",
)
"""Where to look first when one or two topologies are enough."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a baseline says of one collective.

    Parameters
    ----------
    does : tuple of str
        The topologies on which it has a schedule.
    untried : tuple of str
        Those on which it may have one, but would search for too long in a test. On all others it
        must raise UnsupportedError.
    parameters : mapping
        To call it with.
    limits : Limits, optional
    """

    does: tuple[str, ...]
    untried: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits | None = None

    @property
    def refuses(self) -> tuple[str, ...]:
        """The topologies that it must say it does not support."""
        return tuple(name for name in TOPOLOGIES if name not in (*self.does, *self.untried))


def but(*missing: str) -> tuple[str, ...]:
    """All topologies but these."""
    return tuple(name for name in TOPOLOGIES if name not in missing)


JOINED = (
    *(name for name in BOXES if name != "dgx_a100:boxes=3,ib_switches=2"),
    "mi250:boxes=2",
    "mi250:boxes=2,gpus_per_box=8",
    *TREES,
    "rail_optimized:boxes=3,gpus_per_box=2,spines=2",
    "ring:nodes=2",
    "complete:nodes=6",
    "one-way boxes",
)
"""Topologies on which links or switches lead from every GPU to every other."""

POWERS_OF_TWO = (
    *(name for name in BOXES if "boxes=3" not in name),
    *XGMI,
    "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=2",
    "rail_optimized:boxes=2",
    "ring:nodes=2",
    "torus:dims=8x8",
    "torus:dims=4x4,wrap=false",
    "hypercube:dimension=4",
    IDLE_CORNER,
    "a dead NIC",
    "a single NIC",
)
"""Topologies of 2, 4, 8, ... GPUs."""

EVEN = (
    *POWERS_OF_TWO,
    *(name for name in BOXES if "boxes=3" in name),
    "rail_optimized:boxes=3,gpus_per_box=4",
    "rail_optimized:boxes=3,gpus_per_box=2",
    "rail_optimized:boxes=3,gpus_per_box=2,spines=2",
    "torus:dims=2x3x4",
    "complete:nodes=6",
    "one-way boxes",
    "a dead rail",
)
"""Topologies of an even number of GPUs."""

NVLS = (
    "dgx_h100:boxes=4",
    "dgx_h100:boxes=2,sharp=true",
    *RAILS,
    "a dead rail",
    "a single NIC",
)
"""Boxes with switches that multicast and reduce."""

SWITCH_FREE = (
    "mi250:boxes=1",
    *RINGS,
    *GRIDS,
    "torus:dims=3x3,wrap=false",
    "complete:nodes=6",
    "directed",
)
"""Topologies of direct links alone."""

FEW_PAIRS = (*RINGS, "torus:dims=3x3", "complete:nodes=6", "directed")
"""Of these, where SCCL's search for an all-to-all is quick."""

MANY_WAYS = "dgx_a100:boxes=3,nics=nodes,ib_switches=2"
"""Where TE-CCL's greedy rule looks at thousands of ways in every epoch."""

LARGE_FOR_PAIRS = (
    MANY_WAYS,
    "dgx_h100:boxes=4",
    "mi250:boxes=2",
    "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=2",
    "torus:dims=8x8",
)
"""Where a chunk for each pair is too many for a test."""

FIRST_ROUTING = {"optima": 0, "order": "by-network", "gap": 0.5}

SLOW_ROUTINGS = ("a dead NIC", "a dead rail", "dgx_h100:boxes=4", "mi250:boxes=2", "torus:dims=8x8")
"""Where TACCL's integer program takes a second or more for a few dozen GPUs, or has no symmetry."""

EQUAL_BOXES = (
    *BOXES[1:],
    *XGMI[1:],
    TREES[0],
    *RAILS,
    *DEAD,
    "one-way boxes",
)
"""Two boxes or more of equal size, of several GPUs."""

CLAIMS: Mapping[str, Mapping[str, Claim]] = {
    "direct": dict.fromkeys(
        ("allgather", "reduce-scatter", "allreduce", "all-to-all"), Claim(but())
    ),
    "double-binary-tree": {
        # Odd and even part, and GPU 2 has no neighbour outside its box.
        "allreduce": Claim((*JOINED, "dgx_a100:boxes=3,ib_switches=2", "a dead NIC")),
    },
    "ring": dict.fromkeys(
        (*GATHERING, "broadcast", "reduce"),
        Claim(but("torus:dims=3x3,wrap=false")),
    ),
    "nccl-tree": {
        "allreduce": Claim(
            (
                *BOXES,
                *XGMI,
                *TREES,
                *RAILS,
                *DEAD,
                "ring:nodes=2",
                "complete:nodes=6",
                "one-way boxes",
            )
        )
    },
    "nccl-nvls": dict.fromkeys(GATHERING, Claim(NVLS)),
    "nccl-nvls-tree": {"allreduce": Claim(NVLS)},
    "nccl-collnet-direct": {"allreduce": Claim(("dgx_h100:boxes=2,sharp=true",))},
    "nccl-collnet-chain": {"allreduce": Claim(("dgx_h100:boxes=2,sharp=true",))},
    "multitree": dict.fromkeys(GATHERING, Claim(but())),
    "one-shot": {"allreduce": Claim(but())},
    "recursive-halving-doubling": dict.fromkeys(GATHERING, Claim(but())),
    "bruck": dict.fromkeys((*GATHERING, "all-to-all"), Claim(but())),
    "pat": dict.fromkeys(("allgather", "reduce-scatter"), Claim(but())),
    "bine": {
        **dict.fromkeys(GATHERING, Claim(EVEN)),
        **dict.fromkeys(("broadcast", "reduce"), Claim(POWERS_OF_TWO)),
    },
    "blueconnect": dict.fromkeys(
        GATHERING, Claim((*BOXES, *XGMI, *TREES, *RAILS, *DEAD, "one-way boxes"))
    ),
    "hierarchical": {"all-to-all": Claim((*BOXES, *XGMI, *TREES, *RAILS, *DEAD, "one-way boxes"))},
    "torus": dict.fromkeys(
        GATHERING,
        Claim((*RINGS, *(name for name in GRIDS if name != "torus:dims=4x4,wrap=false"))),
    ),
    "swing": dict.fromkeys(
        GATHERING, Claim(("ring:nodes=2", "torus:dims=8x8", "hypercube:dimension=4"))
    ),
    "trivance": dict.fromkeys(GATHERING, Claim(("torus:dims=3x3",))),
    "shifted-ring": dict.fromkeys(GATHERING, Claim(("ring:nodes=2", "ring:nodes=7"))),
    "shifted-bfb-ring": dict.fromkeys(GATHERING, Claim(("ring:nodes=2", "ring:nodes=7"))),
    "bfb": dict.fromkeys(GATHERING, Claim(SWITCH_FREE)),
    # For networks that are named by what they are made of, of which there is none here.
    "bfb-expansion": dict.fromkeys(GATHERING, Claim(())),
    "all-to-all-lp": {"all-to-all": Claim(tuple(TOPOLOGIES))},
    "tacos": dict.fromkeys(GATHERING, Claim(but("torus:dims=8x8"), ("torus:dims=8x8",))),
    "blink": dict.fromkeys(ROOTED, Claim(SWITCH_FREE)),
    "blink-switch": dict.fromkeys(ROOTED, Claim(but())),
    "unwound": dict.fromkeys((*GATHERING, "broadcast", "reduce"), Claim(but())),
    "sccl": {
        **dict.fromkeys(
            (*GATHERING, "broadcast", "reduce"),
            Claim(tuple(n for n in SWITCH_FREE if n != "torus:dims=8x8"), ("torus:dims=8x8",)),
        ),
        "all-to-all": Claim(
            FEW_PAIRS, tuple(name for name in SWITCH_FREE if name not in FEW_PAIRS)
        ),
    },
    # By the greedy solution, which is the same everywhere; limits of time are not.
    "teccl": {
        **dict.fromkeys(
            (*GATHERING, "broadcast", "reduce"),
            Claim(but(MANY_WAYS, IDLE_CORNER), (MANY_WAYS,), parameters={"work": 0}),
        ),
        "all-to-all": Claim(
            but(*LARGE_FOR_PAIRS, IDLE_CORNER),
            LARGE_FOR_PAIRS,
            parameters={"work": 0, "epoch": "slowest", "milp": True},
        ),
    },
    # The first routing within its gap, in one order: solved to its end, so the same everywhere.
    "taccl": {
        **dict.fromkeys(
            GATHERING,
            Claim(but(*SLOW_ROUTINGS, IDLE_CORNER), SLOW_ROUTINGS, parameters=FIRST_ROUTING),
        ),
        "all-to-all": Claim(
            but(*SLOW_ROUTINGS, *GRIDS, IDLE_CORNER),
            (*SLOW_ROUTINGS, *GRIDS),
            parameters=FIRST_ROUTING,
        ),
    },
    "fast-reading": {"all-to-all": Claim((*BOXES, *XGMI, *TREES, *RAILS, *DEAD, "one-way boxes"))},
    # By the greedy solutions of its sub-demands, as TE-CCL.
    "syccl": dict.fromkeys(
        (*GATHERING, "all-to-all"),
        Claim((*BOXES, *XGMI, *TREES, *RAILS, *DEAD, "one-way boxes"), parameters={"work": 0}),
    ),
    "tto": {"allreduce": Claim((IDLE_CORNER,))},
    "sum-exchange": {
        "allreduce": Claim(
            (
                *EQUAL_BOXES,
                "torus:dims=3x3",
                "torus:dims=8x8",
                "torus:dims=2x3x4",
                "hypercube:dimension=4",
            )
        )
    },
}
"""By baseline and collective."""


QUICK = {("taccl", "all-to-all"): ("rail_optimized:boxes=3,gpus_per_box=2", "dgx_a100:boxes=2")}
"""Where to look before all others, on which a search takes seconds."""


@cache
def load(name: str) -> Topology:
    """Return a topology of the table."""
    return HAND_MADE[name]() if name in HAND_MADE else load_topology(name)


def run(method: str, collective: str, topology: Topology) -> Schedule:
    """Make a schedule with the parameters of the table."""
    claim = CLAIMS[method][collective]
    return METHODS[method].run(topology, collective, claim.parameters, claim.limits)


@cache
def make(method: str, collective: str, name: str) -> Schedule:
    """Make a schedule, once."""
    return run(method, collective, load(name))


def examples(method: str, collective: str, count: int = 2) -> list[str]:
    """A few topologies that are claimed, of at least three GPUs each."""
    does = CLAIMS[method][collective].does
    known = [name for name in (*QUICK.get((method, collective), ()), *EXAMPLES) if name in does]
    rest = [name for name in does if name not in known and load(name).num_compute > 2]
    return (known + rest)[:count]


def fingerprint(schedule: Schedule) -> str:
    """A hash of all that a schedule says, to the last entry."""
    digest = hashlib.sha256()
    _feed(digest.update, schedule)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], value: object) -> None:
    if isinstance(value, np.ndarray):
        update(value.tobytes())
    elif isinstance(value, Topology):
        update(value.name.encode())
    elif is_dataclass(value):
        for item in fields(value):
            _feed(update, getattr(value, item.name))
    else:
        update(repr(value).encode())
