"""Checks of the form of a demand, as part of :func:`forestcoll.schedule.verify`."""

from __future__ import annotations

import numpy as np

from forestcoll.problem.demand import Demand
from forestcoll.schedule.exact_sums import first
from forestcoll.schedule.verification.arrays import check_array
from forestcoll.schedule.verification.naming import fail

__all__ = ["check_demand"]

_MOST = 2**63 - 1


def check_demand(demand: Demand, gpus: int) -> None:
    """Check that every chunk has a source, a size, and targets in order, all of them ranks.

    Raises
    ------
    VerificationError
        At the first violation.
    """
    name = demand.name
    if not isinstance(name, str) or not name or not name.isprintable():
        fail(f"the name of the demand is {name!r}; it must be printable")
    if demand.gpus != gpus:
        fail(f"the demand is of {demand.gpus} GPUs; the network has {gpus}")
    chunks = len(demand.size)
    check_array("demand.size", demand.size, (chunks,), 1, _MOST)
    check_array("demand.source", demand.source, (chunks,), 0, gpus - 1)
    check_array("demand.first_target", demand.first_target, (chunks + 1,), 0, len(demand.target))
    check_array("demand.target", demand.target, (len(demand.target),), 0, gpus - 1)
    counts = np.diff(demand.first_target)
    if not chunks or demand.first_target[0] or demand.first_target[-1] != len(demand.target):
        fail("the demand has no chunks, or targets of none")
    if (chunk := first(counts < 1)) is not None:
        fail(f"chunk {chunk} of the demand has no target")
    chunk_of = np.repeat(np.arange(chunks), counts)
    if (target := first(demand.target == demand.source[chunk_of])) is not None:
        fail(f"chunk {chunk_of[target]} of the demand is for its own source")
    same = chunk_of[1:] == chunk_of[:-1]
    if (target := first(same & (demand.target[1:] <= demand.target[:-1]))) is not None:
        fail(f"the targets of chunk {chunk_of[target]} of the demand do not ascend")
