"""Every way to spoil a schedule of any kind, each with what verify must say."""

from collections.abc import Iterator
from dataclasses import replace

from baselines.method import Schedule
from forestcoll.schedule import Allreduce, StepSchedule
from tests.schedule.mutations import MUTATIONS
from tests.schedule.step_mutations import CLOCK_MUTATIONS, STEP_MUTATIONS

__all__ = ["spoil"]


def spoil(schedule: Schedule) -> Iterator[tuple[str, Schedule, str]]:
    """Yield (what is wrong, the spoilt schedule, a pattern of the message).

    Forests and step schedules by their own tables; of an allreduce one phase at a time.
    """
    if isinstance(schedule, StepSchedule):
        clocked = {} if schedule.clock is None else CLOCK_MUTATIONS
        for name, (change, message) in (STEP_MUTATIONS | clocked).items():
            yield name, change(schedule), message
    elif isinstance(schedule, Allreduce):
        for phase in ("reduce", "gather"):
            for name, (mutate, message) in MUTATIONS.items():
                spoilt = replace(schedule, **{phase: mutate(getattr(schedule, phase))})
                pattern = f"^phase {phase}: .*(?:{message.replace('^', '')})"
                yield f"{name} in phase {phase}", spoilt, pattern
    else:
        for name, (mutate, message) in MUTATIONS.items():
            yield name, mutate(schedule), message
