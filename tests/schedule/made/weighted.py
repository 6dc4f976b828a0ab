"""Step schedules of unequal parts."""

from forestcoll import generate
from forestcoll.schedule import StepSchedule, lockstep
from forestcoll.topology import Topology, load_topology

WEIGHTS = (2, 1, 1)


def ring() -> Topology:
    return load_topology("ring:nodes=3")


def weighted(collective: str = "allgather") -> StepSchedule:
    """A collective of a ring in which the first GPU has half of the data, hop by hop."""
    return lockstep(generate(ring(), collective=collective, weights=WEIGHTS).schedule)
