"""Step and flow schedules in files: read back equal, the same bytes, and faults named."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule import (
    FlowSchedule,
    Intervals,
    StepSchedule,
    read_schedule,
    verify,
    write_schedule,
)
from tests.schedule.literals import LITERALS
from tests.schedule.test_step_delivery import random_schedule, ticking
from tests.schedule.test_steps import SCHEDULES
from tests.schedule.types import schedule

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((DOCS / "schedule.schema.json").read_text(encoding="utf-8"))
)
ALL: dict[str, Callable[[], StepSchedule]] = {
    **{name: literal.make for name, literal in LITERALS.items()},
    **SCHEDULES,
}


def flows() -> FlowSchedule:
    made = schedule("flow schedule")
    assert isinstance(made, FlowSchedule)
    return made


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("name", ALL)
def test_a_step_schedule_comes_back_equal(name: str, suffix: str, tmp_path: Path) -> None:
    made, path, again = ALL[name](), tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
    write_schedule(made, path)
    found = read_schedule(path)
    assert found == made
    assert hash(found) == hash(made)
    assert isinstance(found, StepSchedule)
    assert verify(found) == verify(made)
    write_schedule(found, again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("seed", range(10))
def test_random_intervals_come_back_equal(seed: int, suffix: str, tmp_path: Path) -> None:
    for i, made in enumerate([random_schedule(seed), ticking(random_schedule(seed))]):
        path = tmp_path / f"{i}.{suffix}"
        write_schedule(made, path)
        assert read_schedule(path) == made


@pytest.mark.parametrize("name", ALL)
def test_a_file_of_steps_is_in_its_schema(name: str, tmp_path: Path) -> None:
    write_schedule(ALL[name](), tmp_path / "steps.json")
    SCHEMA.validate(json.loads((tmp_path / "steps.json").read_text()))


def test_a_file_of_flows_is_in_its_schema(tmp_path: Path) -> None:
    write_schedule(flows(), tmp_path / "flows.json")
    SCHEMA.validate(json.loads((tmp_path / "flows.json").read_text()))
    assert read_schedule(tmp_path / "flows.json") == flows()


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_what_goes_without_saying_is_not_written(suffix: str, tmp_path: Path) -> None:
    """Whole chunks written out, paths of -1 and messages of one: the same schedule, same bytes."""
    made = ALL["timed broadcast"]()
    assert made.clock is not None
    count = len(made.sends)
    nobody = np.full(count, -1, dtype=np.int32)
    long = replace(
        made,
        sends=replace(made.sends, interval=made.intervals, path=nobody),
        clock=replace(made.clock, message=nobody),
    )
    assert long == made
    assert hash(long) == hash(made)
    write_schedule(made, tmp_path / f"short.{suffix}")
    write_schedule(long, tmp_path / f"long.{suffix}")
    assert (tmp_path / f"short.{suffix}").read_bytes() == (tmp_path / f"long.{suffix}").read_bytes()


def test_another_schedule_is_not_equal() -> None:
    """One unit, time, path or message more or less."""
    made = ALL["TACCL, contiguous"]()
    clock = made.clock
    assert clock is not None
    half = Intervals(made.intervals.first, made.intervals.amount.copy())
    half.amount[0] = 0
    others: list[StepSchedule] = [
        replace(made, sends=replace(made.sends, interval=half)),
        replace(made, sends=replace(made.sends, path=np.zeros(len(made.sends), dtype=np.int32))),
        replace(made, clock=None),
        replace(made, clock=replace(clock, message=None)),
        replace(made, clock=replace(clock, left=clock.end)),
        replace(made, clock=replace(clock, end=clock.end + 1)),
        replace(made, method="by foot"),
    ]
    assert all(other != made for other in others)
    assert made != flows()
    assert made == ALL["TACCL, contiguous"]()


Change = Callable[[dict[str, Any]], object]

FAULTS: dict[str, tuple[str, Change, str]] = {
    "no version": (
        "BFB on K(2,2)",
        lambda d: d.pop("version"),
        "version is None; it must be 1 or 2",
    ),
    "another form": (
        "BFB on K(2,2)",
        lambda d: d.update(form="trees"),
        "form is 'trees'; it must be 'steps' or 'flows'",
    ),
    "no chunks": ("BFB on K(2,2)", lambda d: d.pop("chunks"), "chunks is missing; add it"),
    "a field too many": ("BFB on K(2,2)", lambda d: d.update(k=1), "'k' is not in the format"),
    "another collective": (
        "BFB on K(2,2)",
        lambda d: d.update(collective="gossip"),
        "collective is 'gossip'; it must be one of allgather",
    ),
    "a root that is none": (
        "BFB on K(2,2)",
        lambda d: d["chunks"][1].update(root=4),
        r"chunks\[1\]\.root is 4; it must be between 0 and 3",
    ),
    "a chunk of nothing": (
        "BFB on K(2,2)",
        lambda d: d["chunks"][0].update(size=0),
        r"chunks\[0\]\.size is 0; it must be between 1 and",
    ),
    "a root in an allreduce": (
        "an allreduce rooted unit by unit",
        lambda d: d["chunks"][0].update(root=0),
        r"chunks\[0\]\.'root' is not in the format",
    ),
    "unknown columns": (
        "BFB on K(2,2)",
        lambda d: d["columns"].append("colour"),
        "columns is .* it must be step, chunk, from, to, and more of",
    ),
    "columns out of order": (
        "BFB on K(2,2)",
        lambda d: d["columns"].reverse(),
        "columns is .* it must be step, chunk, from, to, and more of .*, in order",
    ),
    "a short row": (
        "BFB on K(2,2)",
        lambda d: d["sends"][3].pop(),
        r"sends\[3\] is .* it must be a list of 6 numbers, one for each of the columns",
    ),
    "a row that is none": (
        "BFB on K(2,2)",
        lambda d: d["sends"].append("end"),
        r"sends\[16\] is 'end'; it must be a list",
    ),
    "a number that is none": (
        "BFB on K(2,2)",
        lambda d: d["sends"][2].__setitem__(1, "b"),
        r"sends\[2\], chunk, is 'b'; it must be an integer",
    ),
    "a half": (
        "BFB on K(2,2)",
        lambda d: d["sends"][2].__setitem__(1, 0.5),
        r"sends\[2\], chunk, is 0.5; it must be an integer",
    ),
    "a rank beyond 32 bits": (
        "BFB on K(2,2)",
        lambda d: d["sends"][2].__setitem__(2, 2**31),
        r"sends\[2\], from, is 2147483648; it must be at most 2147483647",
    ),
    "a number below all": (
        "BFB on K(2,2)",
        lambda d: d["sends"][2].__setitem__(3, -2),
        r"sends\[2\], to, is -2; it must be between -1 and",
    ),
    "first without amount": (
        "BFB on K(2,2)",
        lambda d: (d["columns"].pop(), [row.pop() for row in d["sends"]]),
        "of first and amount one is given without the other",
    ),
    "adding by halves": (
        "an allreduce rooted unit by unit",
        lambda d: d["sends"][0].__setitem__(4, 2),
        r"sends\[0\], reduce, is 2; it must be 1 if the receiver adds, else 0",
    ),
    "times without a clock": (
        "TACCL, contiguous",
        lambda d: d.update(clock=None),
        "clock is null, but transfers have message, start",
    ),
    "a clock without times": (
        "BFB on K(2,2)",
        lambda d: d.update(clock={"size_bytes": 1, "tick_us": "1"}),
        "clock is given, but transfers have no start and end",
    ),
    "a tick of nothing": (
        "TACCL, contiguous",
        lambda d: d["clock"].update(tick_us="0"),
        r"clock\.tick_us is '0'; it must be more than 0",
    ),
    "a tick that is a decimal": (
        "TACCL, contiguous",
        lambda d: d["clock"].update(tick_us=0.5),
        r"clock\.tick_us is 0.5; it must be text",
    ),
    "routes out of order": (
        "BFB on K(2,2)",
        lambda d: d["routes"].reverse(),
        r"routes\[0\] is out of order; sort routes by from and to",
    ),
    "no whole": ("BFB on K(2,2)", lambda d: d.update(whole=0), "whole is 0; it must be positive"),
    "no method": ("BFB on K(2,2)", lambda d: d.update(method=""), "method is ''; it must be the"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault: str, tmp_path: Path) -> None:
    name, change, message = FAULTS[fault]
    path = tmp_path / "faulty.json"
    write_schedule(ALL[name](), path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidScheduleError, match=message) as caught:
        read_schedule(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_faults_of_flows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "faulty.json"
    write_schedule(flows(), path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "collective": "allgather"}))
    with pytest.raises(InvalidScheduleError, match="'allgather'; it must be 'all-to-all'"):
        read_schedule(path)
    path.write_text(json.dumps({**document, "chunks": []}))
    with pytest.raises(InvalidScheduleError, match="'chunks' is not in the format"):
        read_schedule(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("sends.step"), "array sends.step is missing"),
        (lambda a: a.pop("routes.hop"), "array routes.hop is missing"),
        (lambda a: a.update(colour=a["sends.step"]), "array colour is not in the format"),
        (lambda a: a.update({"sends.step": a["sends.step"][1:]}), "entries; sends.step has"),
        (lambda a: a.update({"chunks.root": a["chunks.root"][1:]}), "3 entries; chunks.size has 4"),
        (lambda a: a.update({"sends.step": a["sends.step"] / 2}), "must hold integers"),
        (lambda a: a.pop("clock.end"), "of start and end one is given without the other"),
        (lambda a: a.update({"sends.head": a["sends.head"].reshape(2, -1)}), "2 dimensions"),
        (lambda a: a.update({"sends.head": a["sends.head"] + 2**40}), "it must fit int32"),
    ],
)
def test_a_fault_of_a_binary_file_is_named(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "faulty.npz"
    write_schedule(ALL["TACCL, contiguous"](), path)
    with np.load(path) as archive:
        arrays = {name: archive[name].astype(np.int64) for name in archive if name != "head"}
        head = archive["head"]
    change(arrays)
    np.savez(path, head=head, **arrays)
    with pytest.raises(InvalidScheduleError, match=message):
        read_schedule(path)


def test_the_example_of_the_documentation_is_what_is_written(tmp_path: Path) -> None:
    """A broadcast in halves: the page shows the very bytes, and they verify."""
    page = (DOCS / "schedule-format.md").read_text(encoding="utf-8")
    example = page.partition("## Step schedules")[2].partition("```json\n")[2].partition("```")[0]
    (tmp_path / "example.json").write_text(example, encoding="utf-8")
    found = read_schedule(tmp_path / "example.json")
    assert isinstance(found, StepSchedule)
    verdict = verify(found)
    assert (verdict.steps, verdict.time_s_per_gb, verdict.in_steps_s_per_gb) == (
        3,
        1,
        Fraction(3, 2),
    )
    write_schedule(found, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text(encoding="utf-8") == example


def test_files_of_forests_are_of_the_first_version(tmp_path: Path) -> None:
    """Whoever reads version 1 reads them as before."""
    write_schedule(schedule("forest"), tmp_path / "forest.json")
    assert json.loads((tmp_path / "forest.json").read_text())["version"] == 1
