"""Peers that are named without being here."""

import pytest

from baselines import METHODS
from baselines.synthesizers.not_reimplemented import NOT_REIMPLEMENTED
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.steps import COLLECTIVES
from forestcoll.topology import load_topology


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("name", NOT_REIMPLEMENTED)
def test_whatever_is_asked_the_answer_says_why(name: str, collective: str) -> None:
    """A comparison table gets a reason to show, for any collective and network."""
    reason = NOT_REIMPLEMENTED[name]
    with pytest.raises(UnsupportedError) as refusal:
        METHODS[name].run(load_topology("torus:dims=3x3,wrap=false"), collective)
    assert str(refusal.value) == f"unsupported: not reimplemented: {reason}"


def test_they_are_registered_and_marked() -> None:
    """Tables and tests tell them from the methods that make schedules."""
    assert set(NOT_REIMPLEMENTED) == {"tto"} <= set(METHODS)
    marked = {name for name, method in METHODS.items() if method.notes == "not reimplemented"}
    assert marked == set(NOT_REIMPLEMENTED)
