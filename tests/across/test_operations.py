"""Every operation on every type of schedule: it works, or says in a line why it does not apply.

The table below holds both; a new type or a new operation needs its cells.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import forestcoll.schedule
from forestcoll.compilation import compile_program
from forestcoll.core.assembly import expand
from forestcoll.draw import draw_tree
from forestcoll.errors import ExportError, ForestCollError, UnsupportedError
from forestcoll.schedule import (
    Allreduce,
    Forest,
    cost,
    read_schedule,
    stepwise,
    synchronous,
    verify,
    write_schedule,
)
from forestcoll.tree_latency import latency
from tests.schedule.made.types import TYPES, schedule

# --- operations that work: what they return is checked -----------------------------------------


def verifies(made: Any, _: Path) -> None:
    """What is measured is what is claimed."""
    assert verify(made).time_s_per_gb == time_of(made)


def costs(made: Any, _: Path) -> None:
    assert cost(made).time_s_per_gb == time_of(made)


def goes_synchronous(made: Any, _: Path) -> None:
    """Never faster than what flows, and in no fewer steps than trees have hops."""
    found = synchronous(made)
    assert found.time_s_per_gb >= time_of(made)
    assert found.steps >= 1
    if hasattr(made, "num_steps"):
        assert found.steps == made.num_steps
    else:
        assert found.steps == latency(made).depth


def has_a_latency(made: Any, _: Path) -> None:
    found = latency(made)
    assert found.depth >= found.average_depth >= found.at_least.average_depth >= 1
    assert found.physical_hops is not None
    assert found.physical_hops >= found.at_least.physical_hops >= found.at_least.depth
    assert found.trees == sum(phase.num_trees for phase in phases_of(made))


def expands(made: Any, _: Path) -> None:
    """To explicit trees that do the same; what is explicit stays what it is."""
    found = expand(made)
    assert all(isinstance(phase, Forest) for phase in phases_of(found))
    assert verify(found).time_s_per_gb == time_of(made)
    assert expand(found) == found
    if isinstance(made, Allreduce):
        assert (found.bound, found.remark) == (made.bound, made.remark)
        assert verify(found).optimal == verify(made).optimal


def draws(made: Any, _: Path) -> None:
    assert isinstance(draw_tree(made, 0), Figure)


def writes_json(made: Any, folder: Path) -> None:
    write_schedule(made, folder / "schedule.json")
    assert (folder / "schedule.json").read_bytes().startswith(b'{\n  "format": "forestcoll-')


def writes_npz(made: Any, folder: Path) -> None:
    write_schedule(made, folder / "schedule.npz")
    assert (folder / "schedule.npz").read_bytes().startswith(b"PK")


def comes_back_from_json(made: Any, folder: Path) -> None:
    comes_back(made, folder / "schedule.json")


def comes_back_from_npz(made: Any, folder: Path) -> None:
    comes_back(made, folder / "schedule.npz")


def comes_back(made: Any, path: Path) -> None:
    write_schedule(made, path)
    assert read_schedule(path) == made


def phases_of(made: Any) -> tuple[Any, ...]:
    return made.phases if isinstance(made, Allreduce) else (made,)


def time_of(made: Any) -> Fraction:
    """What a schedule claims; of steps and flows, which claim nothing, what verify measures."""
    claimed: Fraction = getattr(made, "time_s_per_gb", None) or verify(made).time_s_per_gb
    return claimed


def lowers(made: Any, _: Path) -> None:
    """To a program whose steps are right and load the links as the schedule does."""
    for pieces in (1, 2):
        assert verify(stepwise(compile_program(made, pieces))).time_s_per_gb == time_of(made)


OPERATIONS: dict[str, Callable[[Any, Path], None]] = {
    "verify": verifies,
    "cost": costs,
    "synchronous": goes_synchronous,
    "latency": has_a_latency,
    "expand": expands,
    "draw_tree": draws,
    "compile_program": lowers,
    "write JSON": writes_json,
    "write npz": writes_npz,
    "read JSON": comes_back_from_json,
    "read npz": comes_back_from_npz,
}

# --- operations that do not apply: the message -------------------------------------------------

Refusal = tuple[type[ForestCollError], str]

_NOT_AS_JSON: Refusal = (
    ExportError,
    r"schedule\.json: a factored forest needs a name that ends in \.npz; or expand it",
)
_NO_STEPS: Refusal = (
    UnsupportedError,
    "unsupported: a factored forest does not say which tree takes which link, .*; expand it first",
)
_WRITTEN_OUT: Refusal = (
    UnsupportedError,
    "unsupported: a multicast forest is not expanded; its physical trees are written out",
)
_PHASES: Refusal = (
    UnsupportedError,
    "unsupported: an allreduce has two phases; draw a tree of its reduce or of its gather",
)


_STEPS: dict[str, Refusal] = {
    "latency": (
        UnsupportedError,
        r"unsupported: a step schedule has no trees; synchronous\(schedule\)\.steps has the number",
    ),
    "expand": (
        UnsupportedError,
        "unsupported: expand takes forests and allreduces of them, not StepSchedule",
    ),
    "draw_tree": (
        UnsupportedError,
        "unsupported: draw_tree takes a schedule of trees, not StepSchedule",
    ),
}


REFUSED: dict[str, dict[str, Refusal]] = {
    "forest": {},
    "factored forest": {
        "synchronous": _NO_STEPS,
        "draw_tree": (
            UnsupportedError,
            "unsupported: the trees of a factored forest are not written out; expand it, then draw",
        ),
        "write JSON": _NOT_AS_JSON,
        "read JSON": _NOT_AS_JSON,
    },
    "multicast forest": {"expand": _WRITTEN_OUT},
    "allreduce of forests": {"draw_tree": _PHASES},
    "allreduce of factored forests": {
        "synchronous": _NO_STEPS,
        "draw_tree": _PHASES,
        "write JSON": _NOT_AS_JSON,
        "read JSON": _NOT_AS_JSON,
    },
    "allreduce of multicast forests": {"expand": _WRITTEN_OUT, "draw_tree": _PHASES},
    **dict.fromkeys([name for name in TYPES if name.startswith("step schedule")], _STEPS),
    "flow schedule": {
        "synchronous": (
            UnsupportedError,
            "unsupported: a flow schedule has no steps, as all of its data flows at once; take its",
        ),
        "latency": (
            UnsupportedError,
            "unsupported: a flow schedule has neither trees nor steps; its paths flow at once",
        ),
        "expand": (
            UnsupportedError,
            "unsupported: expand takes forests and allreduces of them, not FlowSchedule",
        ),
        "draw_tree": (
            UnsupportedError,
            "unsupported: draw_tree takes a schedule of trees, not FlowSchedule",
        ),
    },
}
"""By type and operation; what is not in here works."""


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", TYPES)
def test_an_operation_works_or_says_why_not(name: str, operation: str, tmp_path: Path) -> None:
    made, refusal = schedule(name), REFUSED[name].get(operation)
    if refusal is None:
        OPERATIONS[operation](made, tmp_path)
        return
    kind, message = refusal
    assert refused(lambda: OPERATIONS[operation](made, tmp_path), kind, message)
    assert list(tmp_path.iterdir()) == []


def refused(operation: Callable[[], object], kind: type[ForestCollError], message: str) -> bool:
    """Whether the one line of an error says so."""
    with pytest.raises(kind) as caught:
        operation()
    assert "\n" not in str(caught.value)
    return re.search(message, str(caught.value)) is not None


def test_the_table_is_complete() -> None:
    """Every public type has a row, and rows refuse only operations that there are."""
    assert tuple(REFUSED) == TYPES
    assert all(row.keys() <= OPERATIONS.keys() for row in REFUSED.values())
    public = [getattr(forestcoll.schedule, name) for name in forestcoll.schedule.__all__]
    types = {kind for kind in public if kind is Allreduce or has_a_method(kind)}
    assert types == {type(schedule(name)) for name in TYPES}


def has_a_method(kind: object) -> bool:
    """Whether this is a class of what somebody made for a network."""
    return {"topology", "method"} <= getattr(kind, "__dataclass_fields__", {}).keys()


CALLS: dict[str, Callable[[Any], object]] = {
    "verify": verify,
    "cost": cost,
    "synchronous": synchronous,
    "latency": latency,
    "expand": expand,
    "draw_tree": lambda made: draw_tree(made, 0),
    "compile_program": compile_program,
    "write_schedule": lambda made: write_schedule(made, "never.json"),
}


NO_SCHEDULES = [
    (operation, found)
    for operation in CALLS
    for found in (None, "a file.json", 3, Forest)
    if not (operation == "draw_tree" and isinstance(found, str))  # which it takes for a path
]


@pytest.mark.parametrize(("operation", "found"), NO_SCHEDULES)
def test_operations_refuse_other_types_than_schedules(operation: str, found: object) -> None:
    kind = type(found).__name__
    message = f"^unsupported: {operation} takes (a schedule|forests).*, not {kind}$"
    assert refused(lambda: CALLS[operation](found), UnsupportedError, message)


@pytest.mark.parametrize("operation", [name for name in CALLS if name != "draw_tree"])
def test_phases_that_are_no_forests_are_refused(operation: str) -> None:
    phases: tuple[Any, ...]
    for phases in ((None, None), (schedule("forest"), schedule("step schedule"))):
        both = Allreduce(*phases)
        assert refused(partial(CALLS[operation], both), UnsupportedError, "^unsupported: ")


def test_phases_of_two_types_are_not_written_but_expanded(tmp_path: Path) -> None:
    explicit, factored = (schedule(f"allreduce of {kind}forests") for kind in ("", "factored "))
    mixed: Any = Allreduce(explicit.reduce, factored.gather, explicit.bound)
    assert verify(mixed).optimal == verify(explicit).optimal
    for suffix in ("json", "npz"):
        assert refused(
            partial(write_schedule, mixed, tmp_path / f"mixed.{suffix}"),
            ExportError,
            f"mixed.{suffix}: both phases of an allreduce must be of one type; expand it",
        )
    write_schedule(expand(mixed), tmp_path / "one.json")
    assert read_schedule(tmp_path / "one.json") == explicit
