"""The networks of SCCL's tests by name, and what a schedule costs in rounds."""

from fractions import Fraction

from baselines.synthesizers.sccl.network import direct
from forestcoll.schedule import StepSchedule, in_steps
from forestcoll.topology import Topology, load_topology
from tests.baselines.dgx1 import dgx1

__all__ = ["network_named", "shard_rounds"]


def network_named(name: str) -> Topology:
    return dgx1() if name == "dgx1" else load_topology(name)


def shard_rounds(schedule: StepSchedule) -> Fraction:
    """The time in steps, in that of a shard (all a root has) on one unit of bandwidth: R/C."""
    _, unit = direct(schedule.topology)
    roots = len({int(root) for root in schedule.chunks.root})
    return in_steps(schedule).time_s_per_gb * unit * roots
