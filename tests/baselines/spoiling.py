"""Every way to spoil a schedule of any kind, each with what verify must say."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from baselines.interface.method import Schedule
from forestcoll.schedule import Allreduce, FlowSchedule, MulticastForest, StepSchedule
from tests.schedule.mutations_of.flows import FLOW_MUTATIONS
from tests.schedule.mutations_of.forests import MUTATIONS
from tests.schedule.mutations_of.steps import CLOCK_MUTATIONS, STEP_MUTATIONS


def spoil(schedule: Schedule) -> Iterator[tuple[str, Schedule, str]]:
    """Yield (what is wrong, the spoilt schedule, a pattern of the message).

    Forests and step schedules by their own tables, physical trees by ``COPYING``; of an allreduce
    one phase at a time.
    """
    if isinstance(schedule, StepSchedule):
        clocked = {} if schedule.clock is None else CLOCK_MUTATIONS
        for name, (change, message) in (STEP_MUTATIONS | clocked).items():
            yield name, change(schedule), message
    elif isinstance(schedule, FlowSchedule):
        for mutate, message in FLOW_MUTATIONS.items():
            yield mutate.__name__, mutate(schedule), message
    elif isinstance(schedule, Allreduce):
        for phase in ("reduce", "gather"):
            for name, (mutate, message) in _table(schedule.gather).items():
                spoilt = replace(schedule, **{phase: mutate(getattr(schedule, phase))})
                pattern = f"^phase {phase}: .*(?:{message.replace('^', '')})"
                yield f"{name} in phase {phase}", spoilt, pattern
    else:
        for name, (mutate, message) in _table(schedule).items():
            yield name, mutate(schedule), message


def _table(forest: Any) -> Mapping[str, tuple[Callable[[Any], Any], str]]:
    return COPYING if isinstance(forest, MulticastForest) else MUTATIONS


def _without_the_last_walk(forest: MulticastForest) -> MulticastForest:
    first = forest.first_walk.copy()
    first[-1] -= 1
    return replace(forest, first_walk=first, walk=forest.walk[:-1])


def _with_a_walk_twice(forest: MulticastForest) -> MulticastForest:
    first = forest.first_walk.copy()
    first[-1] += 1
    return replace(forest, first_walk=first, walk=np.append(forest.walk, forest.walk[-1:]))


def _unmarked(forest: MulticastForest) -> MulticastForest:
    nodes = tuple(replace(node, multicast=False) for node in forest.topology.nodes)
    return replace(forest, topology=replace(forest.topology, nodes=nodes))


COPYING: Mapping[str, tuple[Callable[[MulticastForest], MulticastForest], str]] = {
    "the last walk is gone": (_without_the_last_walk, "never gets|never sends|to none|of nothing"),
    "a walk is there twice": (_with_a_walk_twice, "2 times; once is enough"),
    "switches cannot multicast": (_unmarked, "switch that is not marked|differ|another topology"),
    "half the congestion": (lambda f: replace(f, congestion=f.congestion / 2), "congestion"),
    "twice the trees": (lambda f: replace(f, k=2 * f.k), "trees"),
    "other roots": (lambda f: replace(f, root=np.roll(f.root, 1)), "root|trees"),
}
"""Ways to spoil physical trees of any shape."""
