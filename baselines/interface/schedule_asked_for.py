"""Check that a schedule is the one asked for: its type, network, collective and weights.

``verify`` proves what a schedule claims. A right schedule for another purpose, such as an allgather
in which a GPU has no data, would get a rate whose bound is another one.
"""

from __future__ import annotations

import reprlib
from typing import get_args, get_origin

from baselines.interface.method import Schedule
from forestcoll.errors import VerificationError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.topology.model import Topology

__all__ = ["check_asked_for", "weights_of"]

_TYPES: tuple[type, ...] = tuple({get_origin(one) or one: None for one in get_args(Schedule)})

_EQUAL = ("allgather", "reduce-scatter")
"""Collectives in which every GPU has one part of the data, if no weights are asked for."""


def check_asked_for(
    schedule: Schedule,
    topology: Topology,
    collective: str | None,
    weights: tuple[int, ...] | None = None,
) -> None:
    """Refuse anything but a schedule of this collective on this network.

    Parameters
    ----------
    collective : str, optional
        Any collective if not given.
    weights : tuple of int, optional
        Without a common divisor. If not given, those of an allgather or reduce-scatter are equal.

    Raises
    ------
    VerificationError
        If it is not what was asked for.
    """
    if not isinstance(schedule, _TYPES):
        raise VerificationError(
            f"the method returned an object of type {type(schedule).__name__}; a schedule was due: "
            f"{', '.join(one.__name__ for one in _TYPES)}"
        )
    if collective is not None and schedule.collective != collective:
        raise VerificationError(f"the schedule is of {schedule.collective}; {collective} was due")
    if schedule.topology != topology:
        raise VerificationError(
            f"the schedule is for a network {schedule.topology.name} that differs from this one"
        )
    if weights is not None:
        _check_weights(schedule, weights, f"{reprlib.repr(weights)} were due")
    elif schedule.collective in _EQUAL:
        equal = (1,) * topology.num_compute
        _check_weights(schedule, equal, "equal ones were due, as many trees for each root")


def _check_weights(schedule: Schedule, weights: tuple[int, ...], due: str) -> None:
    others = weights_of(schedule) - {weights}
    if others:
        raise VerificationError(f"the schedule has the weights {reprlib.repr(others.pop())}; {due}")


def weights_of(schedule: Schedule) -> set[tuple[int, ...]]:
    """Return the weights of a schedule; for an allreduce of trees, of both phases."""
    if isinstance(schedule, Allreduce):
        return {phase.weights for phase in schedule.phases}
    if isinstance(schedule, FlowSchedule):
        return {(1,) * schedule.topology.num_compute}
    return {schedule.weights}
