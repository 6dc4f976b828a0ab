"""From a request to its schedule: one forest, or an allreduce that asks a program if it must."""

from __future__ import annotations

import subprocess
import sys

import pytest

from forestcoll.allreduce.collective_schedule import schedule_of
from forestcoll.core.pipeline import EXPLICIT, FACTORED
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.topology import Topology, load_topology
from tests.lp.networks import one_way_detour


def _made(topology: Topology, form: object, **given: object) -> tuple[object, Stopwatch]:
    clock = Stopwatch()
    request = Request.of(topology, Options(**given))  # type: ignore[arg-type]
    return schedule_of(request, form, clock), clock  # type: ignore[arg-type]


def test_a_collective_of_one_phase_is_one_forest_of_the_form() -> None:
    ring = load_topology("ring:nodes=4")
    assert isinstance(_made(ring, EXPLICIT)[0], Forest)
    assert isinstance(_made(ring, FACTORED, collective="reduce-scatter")[0], FactoredForest)


@pytest.mark.parametrize(
    ("options", "is_asked"),
    [({}, True), ({"lp_time_limit_s": 0}, False), ({"k": 1}, False), ({"method": "paper"}, False)],
    ids=str,
)
def test_the_program_is_a_stage_of_free_requests_without_proof(
    options: dict[str, object], is_asked: bool
) -> None:
    """On this network reduction + gathering are slower than the program's schedule."""
    made, clock = _made(one_way_detour(), EXPLICIT, collective="allreduce", **options)
    assert isinstance(made, Allreduce)
    assert ("allreduce program" in clock.seconds) is is_asked
    assert made.remark.startswith("allreduce program" if is_asked else "reduction + gathering")


def test_routing_is_timed_where_it_is_requested() -> None:
    ring = load_topology("ring:nodes=4")
    assert "routing" not in _made(ring, EXPLICIT, collective="allreduce")[1].seconds
    clock = _made(ring, EXPLICIT, collective="allreduce", routed=True)[1]
    assert list(clock.seconds)[-1] == "routing"


def test_scipy_is_loaded_only_for_the_program() -> None:
    """It takes longer to load than most schedules to make."""
    code = (
        "import sys; from forestcoll import generate;"
        "generate('ring:nodes=4', collective='allreduce');"
        "print([one for one in ('scipy.sparse', 'highspy') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
