"""Step and flow schedules in files: read back equal, the same bytes, and faults named."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from forestcoll.errors import ExportError, InvalidScheduleError
from forestcoll.schedule import (
    FlowSchedule,
    Intervals,
    StepSchedule,
    read_schedule,
    verify,
    write_schedule,
)
from tests.schedule.literals import LITERALS
from tests.schedule.test_steps import SCHEDULES
from tests.schedule.types import schedule
from tests.schedule.verify.steps.test_steps import random_schedule, ticking

DOCS = Path(__file__).parents[3] / "docs"
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
    assert verify(huge).finish_s_per_gb == verify(made).finish_s_per_gb


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
        r"sends\[2\], from, is 2147483648; it must be between 0 and 3",
    ),
    "a number below all": (
        "BFB on K(2,2)",
        lambda d: d["sends"][2].__setitem__(3, -2),
        r"sends\[2\], to, is -2; it must be between -1 and",
    ),
    "a chunk that is none": (
        "BFB on K(2,2)",
        lambda d: d["sends"][2].__setitem__(1, 4),
        r"sends\[2\], chunk, is 4; it must be between 0 and 3",
    ),
    "no chunk": (
        "BFB on K(2,2)",
        lambda d: d["sends"][2].__setitem__(1, -1),
        r"sends\[2\], chunk, is -1; it must be between 0 and 3",
    ),
    "a receiver that is none": (
        "BFB on K(2,2)",
        lambda d: d["sends"][2].__setitem__(3, 4),
        r"sends\[2\], to, is 4; it must be between 0 and 3",
    ),
    "more steps than transfers": (
        "BFB on K(2,2)",
        lambda d: d["sends"][15].__setitem__(0, 2**31 - 1),
        r"sends\[15\], step, is 2147483647; it must be between 0 and 15",
    ),
    "a transfer of nothing": (
        "BFB on K(2,2)",
        lambda d: d["sends"][3].__setitem__(5, 0),
        r"sends\[3\], amount, is 0; it must be between 1 and",
    ),
    "a part before the first": (
        "BFB on K(2,2)",
        lambda d: d["sends"][3].__setitem__(4, -1),
        r"sends\[3\], first, is -1; it must be between 0 and",
    ),
    "a path that is none": (
        "BFB on K(2,2)",
        lambda d: (d["columns"].append("path"), [row.append(8) for row in d["sends"]]),
        r"sends\[0\], path, is 8; it must be between -1 and 7",
    ),
    "a start before the beginning": (
        "TACCL, contiguous",
        lambda d: d["sends"][0].__setitem__(d["columns"].index("start"), -1),
        r"sends\[0\], start, is -1; it must be between 0 and",
    ),
    "a link without a path": (
        "BFB on K(2,2)",
        lambda d: d["routes"][1].update(paths=[]),
        r"routes: the logical link from 0 to 3 has no path; leave it out",
    ),
    "a path of one node": (
        "BFB on K(2,2)",
        lambda d: d["routes"][1]["paths"][0]["nodes"].pop(),
        r"routes: a path of the logical link from 0 to 3 has less than 2 nodes; name both its ends",
    ),
    "weights of some GPUs": (
        "BFB on K(2,2)",
        lambda d: d.update(weights=[1, 2]),
        r"weights is \[1, 2\]; it must be a list of 4 integers, one for each GPU",
    ),
    "weights in an allreduce": (
        "an allreduce rooted unit by unit",
        lambda d: d.update(weights=[2] + [1] * (len(d["topology"]["nodes"]) - 1)),
        "weights is given; a schedule of allreduce has none, so leave it out",
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
    path.write_text(json.dumps({**document, "weights": [1, 1, 2]}))
    with pytest.raises(InvalidScheduleError, match="'weights' is not in the format"):
        read_schedule(path)
    document["routes"][0]["paths"] = []
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidScheduleError, match="from 0 to 1 has no path"):
        read_schedule(path)


def put(array: str, at: int, number: int) -> Callable[[dict[str, Any]], object]:
    """Change one number of an array."""
    return lambda arrays: arrays[array].__setitem__(at, number)


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
        *(
            (put(array, at, number), rf"{array}\[{at % 12}\] is {number}; it must be {allowed}")
            for array, at, number, allowed in (
                ("sends.chunk", 2, 4, "between 0 and 3"),
                ("sends.chunk", 2, -1, "between 0 and 3"),
                ("sends.tail", 5, 4, "between 0 and 3"),
                ("sends.head", 5, -1, "between 0 and 3"),
                ("sends.step", -1, 2**31 - 1, "between 0 and 11"),
                ("sends.step", 0, -1, "between 0 and 11"),
                ("clock.start", 3, -1, "between 0 and"),
                ("clock.end", 3, -1, "between 0 and"),
                ("clock.message", 3, -2, "between -1 and"),
                ("chunks.root", 1, 4, "between -1 and 3"),
                ("chunks.root", 1, -2, "between -1 and 3"),
                ("chunks.size", 1, 0, "between 1 and"),
                ("routes.tail", 1, -1, "between 0 and 3"),
                ("routes.head", 1, 4, "between 0 and 3"),
                ("routes.hop", 7, 4, "between 0 and 3"),
                ("routes.multiplicity", 3, 0, "between 1 and"),
                ("routes.first_path", 3, 1, "at least 2, as the one before it"),
                ("routes.first_hop", 3, 1, "at least 4, as the one before it"),
            )
        ),
        (put("routes.first_path", 0, 1), "array routes.first_path runs from 1 to 6; it must run"),
        (put("routes.first_hop", -1, 9), "array routes.first_hop runs from 0 to 9; it must run"),
        (put("routes.first_path", 3, 2), "the logical link from 1 to 2 has no path; leave it out"),
        (put("routes.first_hop", 3, 5), "a path of the logical link from 1 to 2 has less than 2"),
        (
            lambda a: a.update({"routes.head": a["routes.head"][1:]}),
            "array routes.head has 5 entries; routes.tail has 6",
        ),
        (
            lambda a: a.update({"routes.first_hop": a["routes.first_hop"][1:]}),
            "array routes.first_hop has 6 entries; it must have 7",
        ),
        (
            lambda a: a.update({"sends.path": np.full(12, 6)}),
            r"sends.path\[0\] is 6; it must be between -1 and 5",
        ),
        (
            lambda a: a.update({"sends.path": np.full(12, -2)}),
            r"sends.path\[0\] is -2; it must be between -1 and 5",
        ),
        (
            lambda a: a.update({"chunks.target": np.full(4, 4)}),
            r"chunks.target\[0\] is 4; it must be between -1 and 3",
        ),
        (
            lambda a: a.update(
                {
                    "sends.interval.first": np.full(12, -1),
                    "sends.interval.amount": np.full(12, 1),
                }
            ),
            r"sends.interval.first\[0\] is -1; it must be between 0 and",
        ),
        (
            lambda a: a.update(
                {
                    "sends.interval.first": np.full(12, 0),
                    "sends.interval.amount": np.full(12, 0),
                }
            ),
            r"sends.interval.amount\[0\] is 0; it must be between 1 and",
        ),
    ],
)
def test_a_fault_of_a_binary_file_is_named(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidScheduleError, match=message):
        read_schedule(spoilt(ALL["TACCL, contiguous"](), tmp_path / "faulty.npz", change))


def spoilt(made: StepSchedule, path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Write a schedule, and its arrays once more with a change to them."""
    write_schedule(made, path)
    with np.load(path) as archive:
        arrays = {name: archive[name].astype(np.int64) for name in archive if name != "head"}
        head = archive["head"]
    change(arrays)
    np.savez(path, head=head, **arrays)
    return path


@pytest.mark.parametrize("name", ["TACCL, contiguous", "BFB on K(2,2)", "TE-CCL, copying switch"])
def test_what_is_read_can_be_compared_and_written(name: str, tmp_path: Path) -> None:
    """One number of one array is another: refused when it is read, or never an index too far."""
    path, again = tmp_path / "spoilt.npz", tmp_path / "again.json"
    read = 0
    for seed in range(200):
        draw = random.Random(seed)

        def change(arrays: dict[str, Any], draw: random.Random = draw) -> None:
            array = arrays[draw.choice(sorted(arrays))]
            array[draw.randrange(len(array))] = draw.choice(
                [-(2**31), -2, -1, 0, 1, 3, 7, 2**31 - 1]
            )

        try:
            found = read_schedule(spoilt(ALL[name](), path, change))
        except InvalidScheduleError:
            continue
        read += 1
        assert isinstance(found, StepSchedule)
        assert found == read_schedule(path)
        assert hash(found) == hash(read_schedule(path))
        write_schedule(found, again)
    assert 0 < read < 200


def test_schedules_that_cannot_be_indexed_can_be_compared() -> None:
    """A chunk before the first, columns of two lengths: all is kept as it is written."""
    made = ALL["BFB on K(2,2)"]()
    sends, interval = made.sends, made.intervals
    nobody = np.full(3, -1, dtype=np.int32)
    odd = [
        replace(made, sends=replace(sends, chunk=sends.chunk - 1, interval=interval)),
        replace(made, sends=replace(sends, chunk=sends.chunk + 99, interval=interval)),
        replace(made, sends=replace(sends, chunk=sends.chunk[1:], interval=interval)),
        replace(made, sends=replace(sends, path=nobody)),
    ]
    for one in odd:
        assert one == replace(one)
        assert one != made
        short = one.in_short().sends
        assert (short.interval, short.path) == (one.sends.interval, one.sends.path)


def test_a_number_beyond_64_bits_is_not_written(tmp_path: Path) -> None:
    """Files hold signed integers; nothing is left behind."""
    made = ALL["BFB on K(2,2)"]()
    size = np.array([2**64 - 1, 1, 1, 1], dtype=np.uint64)
    with pytest.raises(
        ExportError, match=r"one\.npz: array chunks\.size holds 18446744073709551615"
    ):
        write_schedule(replace(made, chunks=replace(made.chunks, size=size)), tmp_path / "one.npz")
    assert not list(tmp_path.iterdir())


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
