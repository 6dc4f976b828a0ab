"""Simulators of curves: schedules for one network that run on another."""

from __future__ import annotations

import pytest

from experiments.simulation_fit.curves import simulator_of, simulators
from experiments.simulation_fit.measurements import Curve
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.simulate import AlphaBeta

FAST, SLOW = "dgx_a100:boxes=2", "dgx_a100:boxes=2,nvswitch_bandwidth=240"


def test_a_schedule_runs_on_slower_links() -> None:
    """300 of 325 GB/s come over NVLink: at 240 it takes 1.25 times the time."""
    fast, slow = (
        Curve(FAST, "allgather", "forestcoll"),
        Curve(SLOW, "allgather", "forestcoll", FAST),
    )
    made = simulators([fast, slow])
    times = [made[curve].pipelined_s(10**9) for curve in (fast, slow)]
    assert times[1] == pytest.approx(1.25 * times[0])
    own = simulator_of(Curve(SLOW, "allgather", "forestcoll"))
    assert own.pipelined_s(10**9) < times[1]


@pytest.mark.slow
def test_parameters_are_numbers_flags_or_words() -> None:
    """A number of trees and a flag; a sketch by its name."""
    one = simulator_of(Curve("ring:nodes=4", "allgather", "forestcoll:k=1,sparse_exchange=true"))
    assert one.run(1000, AlphaBeta(), 1).time_s > 0
    two = simulator_of(Curve(FAST, "allgather", "taccl:sketch=dgx-uc-max,chunks=2"))
    assert two.program.method == "taccl"


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (Curve(FAST, "allgather", "rings"), "there is no method 'rings'; did you mean ring?"),
        (Curve("dgx_a100:boxes=3", "allgather", "ring", FAST), "have different nodes or links"),
    ],
)
def test_mistakes_are_named(curve: Curve, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        simulator_of(curve)
