"""A small schedule of every type there is, for tests that say something of all."""

from collections.abc import Callable
from functools import cache
from typing import Any

from forestcoll.generation import generate
from forestcoll.schedule import FlowSchedule, lockstep
from forestcoll.topology import load_topology
from tests.schedule.literals import LITERALS
from tests.schedule.made.hand import ring3

_A100, _COPYING = "dgx_a100:boxes=2", "dgx_h100:boxes=2,nvls=true"


def _copying(collective: str) -> Any:
    return generate(load_topology(_COPYING), collective=collective, multicast=True).schedule


def _flows() -> FlowSchedule:
    """Each GPU of the ring sends to the two others over the links between them."""
    forest = ring3()
    return FlowSchedule(forest.topology, "by hand", 1, forest.routes)


_MAKE: dict[str, Callable[[], Any]] = {
    "forest": lambda: generate(load_topology(_A100)).schedule,
    "factored forest": lambda: generate(load_topology(_A100), factored=True).schedule,
    "multicast forest": lambda: _copying("allgather"),
    "allreduce of forests": lambda: generate(load_topology(_A100), collective="allreduce").schedule,
    "allreduce of factored forests": lambda: (
        generate(load_topology(_A100), collective="allreduce", factored=True).schedule
    ),
    "allreduce of multicast forests": lambda: _copying("allreduce"),
    "step schedule": lambda: lockstep(ring3()),
    "step schedule of intervals": LITERALS["BFB on K(2,2)"].make,
    "step schedule through switches": LITERALS["TE-CCL, multicast switch"].make,
    "step schedule with a clock": LITERALS["TACCL, contiguous"].make,
    "step schedule of sums": LITERALS["an allreduce rooted unit by unit"].make,
    "flow schedule": _flows,
}

TYPES = tuple(_MAKE)
"""By the words of messages and docs."""

TREES = TYPES[:6]
"""Those whose data flows in trees."""


@cache
def schedule(name: str) -> Any:
    """Return the schedule of a type, made once."""
    return _MAKE[name]()
