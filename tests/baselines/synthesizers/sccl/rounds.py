"""The networks of SCCL's tests by name, what is spread on them, and what that costs in rounds."""

from collections.abc import Iterable
from fractions import Fraction

from baselines.synthesizers.sccl.constraints import Commodity
from baselines.synthesizers.sccl.network import direct
from forestcoll.schedule import StepSchedule, synchronous
from forestcoll.topology import Topology, load_topology
from tests.baselines.dgx1 import dgx1


def network_named(name: str) -> Topology:
    return dgx1() if name == "dgx1" else load_topology(name)


def shard_rounds(schedule: StepSchedule) -> Fraction:
    """The time in steps, in that of a shard (all a root has) on one unit of bandwidth: R/C."""
    _, unit = direct(schedule.topology)
    roots = len({int(root) for root in schedule.chunks.root})
    return synchronous(schedule).time_s_per_gb * unit * roots


def to_all(size: int, roots: Iterable[int]) -> tuple[Commodity, ...]:
    """From each root to all others."""
    return tuple(
        Commodity(root, tuple(gpu for gpu in range(size) if gpu != root)) for root in roots
    )


def pairs(size: int) -> tuple[Commodity, ...]:
    """From each GPU to each other."""
    return tuple(Commodity(u, (v,)) for u in range(size) for v in range(size) if u != v)
