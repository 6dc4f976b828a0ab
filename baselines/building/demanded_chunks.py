"""Demands as parameters of methods, and the chunks of their schedules.

Problem: a method takes a demand in place of equal parts; check it, and name its chunks.
Output:  the demand, and the chunks in the order of (source, first target).
Cost:    linear in the chunks.
Source:  ours; :mod:`forestcoll.problem.demand` has the amounts.
"""

from __future__ import annotations

import numpy as np

from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.problem.demand_files import demand_in
from forestcoll.schedule.sends import Chunks
from forestcoll.topology.model import Topology

__all__ = ["check_unicast", "chunks_of", "equal_parts", "given_demand", "unicast_chunks"]


def given_demand(
    topology: Topology, demand: Demand | str | None, collective: str | None
) -> Demand | None:
    """Read a demand given as a parameter, and check that it is one of this network.

    Raises
    ------
    InvalidParameterError
        If it cannot be read, is of another number of GPUs, or a collective is asked for besides.
    """
    if demand is None:
        return None
    if collective not in (None, "all-to-all"):
        raise InvalidParameterError(
            f"a demand states who needs what; leave out the collective {collective}"
        )
    if isinstance(demand, str):
        return demand_in(demand, topology)
    if not isinstance(demand, Demand):
        raise InvalidParameterError(f"demand is a {type(demand).__name__}; give a Demand or text")
    if demand.gpus != topology.num_compute:
        raise InvalidParameterError(
            f"{demand.name} is of {demand.gpus} GPUs; {topology.name} has {topology.num_compute}"
        )
    return demand


def check_unicast(method: str, demand: Demand | None) -> None:
    """Refuse a demand with chunks for several GPUs, for methods that send each chunk to one.

    Raises UnsupportedError with the methods that take such a demand.
    """
    if demand is not None and not demand.is_unicast:
        raise UnsupportedError(
            f"unsupported: {demand.name} has chunks that several GPUs need; {method} sends each to "
            f"one: state an amount for each target, or see the methods direct and teccl"
        )


def unicast_chunks(
    method: str, topology: Topology, demand: Demand | str | None, part: int = 1
) -> tuple[Demand | None, Chunks]:
    """Return the demand given to a method, and its chunks or those of equal parts.

    ``part`` is the number of units of an equal part; a demand's unit is its byte.

    Raises
    ------
    UnsupportedError
        If a chunk is for several GPUs.
    InvalidParameterError
        If the demand cannot be read, or is of another number of GPUs.
    """
    given = given_demand(topology, demand, None)
    check_unicast(method, given)
    if given is None:
        return None, equal_parts(topology.num_compute, part)
    return given, chunks_of(given)


def chunks_of(demand: Demand, units: int = 1) -> Chunks:
    """Return the chunks of a demand, each with so many units for a byte."""
    alone = np.diff(demand.first_target) == 1
    target = np.where(alone, demand.target[demand.first_target[:-1]], -1)
    return Chunks(
        size=demand.size * units,
        whole=demand.bytes * units,
        root=demand.source.astype(np.int32),
        target=target.astype(np.int32),
    )


def equal_parts(gpus: int, units: int = 1) -> Chunks:
    """Return the chunks of an all-to-all of equal parts, each of so many units.

    Examples
    --------
    >>> made = equal_parts(3)
    >>> list(zip(made.root.tolist(), made.target.tolist()))
    [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    """
    root, target = np.nonzero(~np.eye(gpus, dtype=np.bool_))
    return Chunks(
        size=np.full(len(root), units, dtype=np.int64),
        whole=gpus * units,
        root=root.astype(np.int32),
        target=target.astype(np.int32),
    )
