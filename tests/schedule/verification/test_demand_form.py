"""The form of demands: what the verifier refuses before it indexes with one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.problem.demand import Demand
from forestcoll.schedule.verification.demand_form import check_demand

DEMAND = Demand.of_chunks(3, [(0, 4, [1, 2]), (2, 7, [1])], "two chunks")
"""source 0 2, size 4 7, first_target 0 2 3, target 1 2 1."""


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": ""}, "the name of the demand is ''; it must be printable"),
    "a name of two lines": ({"name": "a\nb"}, "name of the demand is 'a.nb'"),
    "a number": ({"name": 7}, "name of the demand is 7"),
    "of four GPUs": ({"gpus": 4}, "the demand is of 4 GPUs; the network has 3"),
    "an empty chunk": ({"size": ints(4, 0)}, r"demand\.size holds 0; its values lie between 1"),
    "floats": ({"size": np.array([4.0, 7.0])}, r"demand\.size holds float64"),
    "masked": ({"size": np.ma.array([4, 7], mask=[0, 1])}, r"demand\.size holds int64"),
    "a source too many": ({"source": ints(0, 2, 2)}, r"demand\.source has shape \(3,\)"),
    "an unknown source": ({"source": ints(0, 3)}, r"demand\.source holds 3"),
    "a source below 0": ({"source": ints(-1, 2)}, r"demand\.source holds -1"),
    "rows for one chunk": ({"first_target": ints(0, 3)}, r"first_target has shape \(2,\)"),
    "rows beyond the end": ({"first_target": ints(0, 2, 4)}, r"first_target holds 4"),
    "a late start": ({"first_target": ints(1, 2, 3)}, "has no chunks, or targets of none"),
    "an early end": ({"first_target": ints(0, 1, 2)}, "has no chunks, or targets of none"),
    "nobody": ({"first_target": ints(0, 3, 3)}, "chunk 1 of the demand has no target"),
    "backwards": (
        {"first_target": ints(0, 3, 2), "target": ints(1, 2, 1)},
        "has no chunks, or targets of none",
    ),
    "an unknown target": ({"target": ints(1, 3, 1)}, r"demand\.target holds 3"),
    "a target below 0": ({"target": ints(-1, 2, 1)}, r"demand\.target holds -1"),
    "a matrix of targets": ({"target": ints(1, 2, 1).reshape(3, 1)}, r"demand\.target has shape"),
    "its own source": ({"target": ints(0, 2, 1)}, "chunk 0 of the demand is for its own source"),
    "out of order": ({"target": ints(2, 1, 1)}, "targets of chunk 0 of the demand do not ascend"),
    "out of order in the second": (
        {"first_target": ints(0, 1, 3), "target": ints(1, 1, 0)},
        "targets of chunk 1 of the demand do not ascend",
    ),
    "twice": ({"target": ints(2, 2, 1)}, "targets of chunk 0 of the demand do not ascend"),
    "nothing": (
        {"size": ints(), "source": ints(), "first_target": ints(0), "target": ints()},
        "the demand has no chunks",
    ),
}


def test_targets_may_fall_from_chunk_to_chunk() -> None:
    check_demand(DEMAND, 3)


@pytest.mark.parametrize("name", REFUSED)
def test_a_form_that_is_refused(name: str) -> None:
    change, message = REFUSED[name]
    with pytest.raises(VerificationError, match=message):
        check_demand(replace(DEMAND, **change), 3)
