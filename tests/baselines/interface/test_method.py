"""What a method passes on to the function that generates, and what it refuses before."""

from dataclasses import replace
from typing import Any

import pytest

from baselines.interface.method import Method
from baselines.libraries import direct
from baselines.registry import METHODS
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.former_names import FormerNameWarning
from forestcoll.problem.limits import Limits
from forestcoll.schedule import StepSchedule
from forestcoll.topology import Topology, load_topology

NINE = Limits(seconds=9)
RING = load_topology("ring:nodes=3")


class CalledError(Exception):
    """Says what a method was called with."""


def search(
    topology: Topology, collective: str, *, width: int = 1, limits: Limits = NINE
) -> StepSchedule:
    raise CalledError(collective, width, limits.seconds)


def pattern(topology: Topology, collective: str) -> StepSchedule:
    return direct.generate(topology, collective)


def method(generate: Any) -> Method:
    return Method("mine", "by hand", "none", generate, ("reduce-scatter", "allgather"))


def called(**given: Any) -> tuple[object, ...]:
    with pytest.raises(CalledError) as call:
        method(search).run(RING, **given)
    return call.value.args


def test_parameters_exclude_topology_collective_and_limits() -> None:
    """Neither the topology nor the collective nor the limits."""
    assert method(search).parameters == ("width",)
    assert method(pattern).parameters == ()


def test_its_own_collective_is_the_first() -> None:
    assert called() == ("reduce-scatter", 1, 9)
    assert called(collective="allgather", parameters={"width": 4}) == ("allgather", 4, 9)


def test_limits_go_to_methods_that_search_alone() -> None:
    assert called(limits=Limits(seconds=2)) == ("reduce-scatter", 1, 2)
    made = method(pattern).run(RING, "allgather", limits=Limits(seconds=2))
    assert made.collective == "allgather"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"collective": "broadcast"}, UnsupportedError, "^unsupported: mine has no broadcast; it"),
        ({"parameters": {"wide": 1}}, InvalidParameterError, "'wide'; did you mean width"),
        ({"parameters": {"limits": 1}}, InvalidParameterError, "no parameter 'limits'; it has: w"),
        ({"parameters": {"width": "x"}}, InvalidParameterError, "^mine: width is 'x'; it must be"),
    ],
)
def test_unknown_is_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    """Before anything is generated, with what there is instead."""
    with pytest.raises(error, match=message):
        method(search).run(RING, **given)


def test_a_method_without_parameters_says_so() -> None:
    with pytest.raises(InvalidParameterError, match=r"mine has no parameter 'a'; it has: none$"):
        method(pattern).run(RING, parameters={"a": 1})


def test_a_former_parameter_is_taken_with_a_note() -> None:
    """TE-CCL's integer program was asked for as whole_chunks; both names give one schedule."""
    ask = (load_topology("ring:nodes=3"), "all-to-all")
    with pytest.warns(FormerNameWarning, match="whole_chunks is now called milp"):
        former = METHODS["teccl"].run(*ask, {"whole_chunks": True})
    assert former == METHODS["teccl"].run(*ask, {"milp": True})


def test_notes_may_be_of_some_networks_only() -> None:
    """Without a condition they are of all."""
    noted = Method("mine", "by hand", "none", pattern, ("allgather",), "a note")
    assert noted.notes_on(RING) == "a note"
    some = replace(noted, noted=lambda topology: topology.num_compute > 3)
    assert some.notes_on(RING) == ""
    assert some.notes_on(load_topology("ring:nodes=4")) == "a note"
