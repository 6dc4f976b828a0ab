"""Step and flow schedules to write and to spoil."""

from collections.abc import Callable

from forestcoll.schedule import FlowSchedule, StepSchedule
from tests.schedule.literals import LITERALS
from tests.schedule.made.steps import SCHEDULES
from tests.schedule.made.types import schedule

ALL: dict[str, Callable[[], StepSchedule]] = {
    **{name: literal.make for name, literal in LITERALS.items()},
    **SCHEDULES,
}


def flows() -> FlowSchedule:
    made = schedule("flow schedule")
    assert isinstance(made, FlowSchedule)
    return made
