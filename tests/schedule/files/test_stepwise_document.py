"""Step and flow schedules in files: read back equal, the same bytes."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from forestcoll.errors import ExportError
from forestcoll.schedule import (
    FlowSchedule,
    Intervals,
    StepSchedule,
    read_schedule,
    verify,
    write_schedule,
)
from tests.schedule.files.stepwise_files import ALL, flows
from tests.schedule.made.flows import among_three, unequal
from tests.schedule.made.steps import demanded
from tests.schedule.verification.steps.test_steps import random_schedule, ticking

DOCS = Path(__file__).parents[3] / "docs"


SCHEMA = jsonschema.Draft202012Validator(
    json.loads((DOCS / "schemas" / "schedule.schema.json").read_text(encoding="utf-8"))
)


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.each_value_once
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
@pytest.mark.each_value_once
def test_random_intervals_come_back_equal(seed: int, suffix: str, tmp_path: Path) -> None:
    for i, made in enumerate([random_schedule(seed), ticking(random_schedule(seed))]):
        path = tmp_path / f"{i}.{suffix}"
        write_schedule(made, path)
        assert read_schedule(path) == made


@pytest.mark.parametrize("name", ALL)
def test_a_file_of_steps_is_in_its_schema(name: str, tmp_path: Path) -> None:
    write_schedule(ALL[name](), tmp_path / "steps.json")
    SCHEMA.validate(json.loads((tmp_path / "steps.json").read_text()))


DEMANDED = {
    "flows": unequal,
    "flows of few pairs": among_three,
    "steps": lambda: demanded(several=False),
    "steps to several": demanded,
}


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("name", DEMANDED)
def test_demands_and_prices_come_back_equal(name: str, suffix: str, tmp_path: Path) -> None:
    made, path, again = DEMANDED[name](), tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
    write_schedule(made, path)
    found = read_schedule(path)
    assert isinstance(found, StepSchedule | FlowSchedule)
    assert isinstance(made, StepSchedule | FlowSchedule)
    assert found == made
    assert hash(found) == hash(made)
    assert found.demand is not None
    assert made.demand is not None
    assert found.demand.name == made.demand.name
    assert verify(found) == verify(made)
    write_schedule(found, again)
    assert again.read_bytes() == path.read_bytes()
    if suffix == "json":
        SCHEMA.validate(json.loads(path.read_text()))


def test_a_price_without_a_demand_comes_back(tmp_path: Path) -> None:
    made = replace(flows(), price=(1,) * len(flows().topology.links))
    write_schedule(made, tmp_path / "flows.json")
    assert read_schedule(tmp_path / "flows.json") == made
    SCHEMA.validate(json.loads((tmp_path / "flows.json").read_text()))


def test_a_file_of_flows_is_in_its_schema(tmp_path: Path) -> None:
    write_schedule(flows(), tmp_path / "flows.json")
    SCHEMA.validate(json.loads((tmp_path / "flows.json").read_text()))
    assert read_schedule(tmp_path / "flows.json") == flows()


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_default_columns_are_not_written(suffix: str, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("name", ALL)
def test_the_order_within_a_step_says_nothing(name: str, tmp_path: Path) -> None:
    """Transfers of a step listed the other way round: the same schedule, hash and bytes."""
    made, clock = ALL[name](), ALL[name]().clock
    order = np.lexsort((-np.arange(len(made.sends)), made.sends.step))
    if clock is not None:
        columns = ((n, getattr(clock, n)) for n in ("start", "end", "left", "message"))
        clock = replace(clock, **{n: each[order] for n, each in columns if each is not None})
    other = replace(made, sends=made.sends.taken(order), clock=clock)
    assert other == made
    assert hash(other) == hash(made)
    assert verify(other) == verify(made)
    write_schedule(made, tmp_path / "one.npz")
    write_schedule(other, tmp_path / "other.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()


def test_units_may_be_more_than_64_bits_count(tmp_path: Path) -> None:
    """Four chunks of 2^62 units are 2^64 in all; and a clock for as many bytes."""
    made = ALL["TACCL, contiguous"]()
    assert made.clock is not None
    chunks = replace(made.chunks, size=made.chunks.size * 2**62, whole=2**64)
    huge = replace(made, chunks=chunks, clock=replace(made.clock, size_bytes=4000))
    for suffix in ("json", "npz"):
        write_schedule(huge, tmp_path / f"huge.{suffix}")
        assert read_schedule(tmp_path / f"huge.{suffix}") == huge
    assert verify(huge).makespan_s_per_gb == verify(made).makespan_s_per_gb


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


def test_a_number_beyond_64_bits_is_not_written(tmp_path: Path) -> None:
    """Files hold signed integers; nothing is left behind."""
    made = ALL["BFB on K(2,2)"]()
    size = np.array([2**64 - 1, 1, 1, 1], dtype=np.uint64)
    with pytest.raises(
        ExportError, match=r"one\.npz: array chunks\.size holds 18446744073709551615"
    ):
        write_schedule(replace(made, chunks=replace(made.chunks, size=size)), tmp_path / "one.npz")
    assert not list(tmp_path.iterdir())


def test_the_documented_example_equals_the_written_file(tmp_path: Path) -> None:
    """A broadcast in halves: the page shows the very bytes, and they verify."""
    page = (DOCS / "formats" / "step-schedule.md").read_text(encoding="utf-8")
    example = page.partition("## Step schedules")[2].partition("```json\n")[2].partition("```")[0]
    (tmp_path / "example.json").write_text(example, encoding="utf-8")
    found = read_schedule(tmp_path / "example.json")
    assert isinstance(found, StepSchedule)
    verdict = verify(found)
    assert (verdict.steps, verdict.time_s_per_gb, verdict.synchronous_s_per_gb) == (
        3,
        1,
        Fraction(3, 2),
    )
    write_schedule(found, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text(encoding="utf-8") == example
