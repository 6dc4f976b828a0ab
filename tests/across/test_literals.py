"""Schedules of baselines by hand: proved, measured, and refused when a row is changed."""

import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import cost, makespan_s_per_gb, synchronous, time_reversed, verify
from tests.reference.step_delivery import delivers
from tests.schedule.literals import LITERALS
from tests.schedule.mutations_of.rows import spoil_row

NAMES = list(LITERALS)


@pytest.mark.parametrize("name", NAMES)
def test_literals_are_proved_with_the_times_of_their_sources(name: str) -> None:
    """Steps, both times and the finish are those worked out by hand."""
    literal = LITERALS[name]
    made = literal.make()
    verdict = verify(made)
    assert verdict.steps == literal.steps
    assert verdict.time_s_per_gb == cost(made).time_s_per_gb == literal.time_s_per_gb
    assert (
        verdict.synchronous_s_per_gb
        == synchronous(made).time_s_per_gb
        == literal.synchronous_s_per_gb
    )
    assert verdict.makespan_s_per_gb == makespan_s_per_gb(made)
    assert (None if made.clock is None else made.clock.finish_us) == literal.finish_us


@pytest.mark.parametrize("name", NAMES)
def test_a_literal_with_any_row_changed_is_refused(name: str) -> None:
    """Whatever is left out, cut, misdirected or renamed, no row can be spared.

    But for doubling, where 1 may give its part to 2 instead of 0: each sum is then made up in
    another way, as the definition agrees.
    """
    accepted = []
    for change, spoilt in spoil_row(LITERALS[name].make()):
        try:
            verify(spoilt)
        except VerificationError:
            continue
        accepted.append(change)
        assert delivers(spoilt)
    doubling = name == "recursive doubling in time"
    assert accepted == ["transfer 1 to another GPU", "transfer 3 to another GPU"] * doubling


@pytest.mark.parametrize("name", NAMES)
def test_time_reversed_literals_are_proved_with_equal_times(name: str) -> None:
    """Through switches of every kind, with and without a clock: the mirror image is proved too."""
    made = LITERALS[name].make()
    if made.reduction:
        return
    turned = time_reversed(made, made.topology.reversed())
    assert verify(turned).time_s_per_gb == verify(made).time_s_per_gb
    assert verify(turned).makespan_s_per_gb == verify(made).makespan_s_per_gb
    again = time_reversed(turned, made.topology)
    assert again == made
