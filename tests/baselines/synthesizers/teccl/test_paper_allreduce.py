"""An allreduce whose parts nobody adds on the way, beside ours."""

from fractions import Fraction
from typing import Any

import pytest

from baselines.synthesizers.teccl.paper_allreduce import paper_allreduce
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.errors import TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.topology import load_topology


@pytest.mark.parametrize(
    ("spec", "asked", "theirs", "ours"),
    [
        # in the paper's epochs of table 3: 4 us each way
        ("dgx1", {"size_bytes": 200_000, "epoch": "slowest", "crossing": "stored"}, 8, 8),
        # five epochs and three, where sums take three as well
        ("ring:nodes=6", {"size_bytes": 6000}, 8, 6),
        ("dgx1:nvlink_latency=0", {"size_bytes": 200_000, "epoch": "slowest"}, 5, 4),
    ],
)
def test_adding_on_the_way_is_never_slower(
    spec: str, asked: dict[str, Any], theirs: int, ours: int
) -> None:
    """Both phases are proved, and so is our allreduce."""
    topology = load_topology(spec)
    made = paper_allreduce(topology, **asked)
    assert verify(made.scatter).collective == "all-to-all"
    assert verify(made.gather).collective == "allgather"
    assert made.finish_us == pytest.approx(Fraction(theirs), rel=1e-4)
    schedule = generate(topology, "allreduce", **asked)
    verify(schedule)
    assert schedule.clock is not None
    assert schedule.clock.finish_us == ours


def test_the_time_is_shared() -> None:
    with pytest.raises(TimeLimitError):
        paper_allreduce(load_topology("torus:dims=4x4"), limits=Limits(seconds=0))
