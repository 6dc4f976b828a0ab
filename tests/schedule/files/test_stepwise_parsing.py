"""Step and flow schedules in files: whatever is wrong in one is named."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule import StepSchedule, read_schedule, write_schedule
from forestcoll.schedule.allreduce import AnySchedule
from tests.random_topologies import rounds
from tests.schedule.files.stepwise_files import ALL, flows
from tests.schedule.made.flows import among_three
from tests.schedule.made.steps import demanded

Change = Callable[[dict[str, Any]], object]


FAULTS: dict[str, tuple[str, Change, str]] = {
    "no version": (
        "BFB on K(2,2)",
        lambda d: d.pop("version"),
        "version is None; it must be 1, 2, 3 or 4",
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
    "a chunk in part": (
        "BFB on K(2,2)",
        lambda d: d["chunks"][0].update(size=1.5),
        r"chunks\[0\]\.size is 1\.5; it must be an integer",
    ),
    "a step in part": (
        "BFB on K(2,2)",
        lambda d: d["sends"][0].__setitem__(0, 1.5),
        r"sends\[0\], step, is 1\.5; it must be an integer",
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


FLOW_FAULTS: dict[str, tuple[Change, str]] = {
    "no name": (lambda d: d["demand"].pop("name"), "demand.name is missing; add it"),
    "a name of two lines": (lambda d: d["demand"].update(name="a\nb"), "demand.name is 'a.*nb'"),
    "an empty name": (lambda d: d["demand"].update(name=""), "demand.name is ''; it must be a"),
    "a field too many": (lambda d: d["demand"].update(unit=1), "'unit' is not in the format"),
    "targets": (lambda d: d["demand"].update(targets=[[1]]), "'targets' is not in the format"),
    "a list": (lambda d: d.update(demand=[1]), r"demand is \[1\]; it must be an object"),
    "a pair too many": (lambda d: d["demand"]["bytes"].append(1), "has 4 entries; there are 3"),
    "a pair too few": (lambda d: d["demand"]["bytes"].pop(), "has 2 entries; there are 3 pairs"),
    "nothing": (lambda d: d["demand"]["bytes"].__setitem__(1, 0), r"bytes\[1\] is 0; it must be"),
    "negative": (lambda d: d["demand"]["bytes"].__setitem__(1, -1), r"bytes\[1\] is -1"),
    "truth": (lambda d: d["demand"]["bytes"].__setitem__(1, True), r"demand.bytes\[1\] is True"),
    "a float": (lambda d: d["demand"]["bytes"].__setitem__(1, 2.0), r"demand.bytes\[1\] is 2.0"),
    "a petabyte": (
        lambda d: d["demand"]["bytes"].__setitem__(1, 10**15),
        r"demand.bytes are \d+ in all; at most 10{14} are possible",
    ),
    "digits": (lambda d: d["demand"]["bytes"].__setitem__(1, 10**900), "in all; at most"),
    "a price too many": (lambda d: d["price"].append(1), "price has 5 entries; the network has 4"),
    "no prices": (lambda d: d.update(price=[]), "price has 0 entries"),
    "a negative price": (lambda d: d["price"].__setitem__(2, -1), r"price\[2\] is -1; it must be"),
    "a true price": (lambda d: d["price"].__setitem__(2, True), r"price\[2\] is True"),
    "a half price": (lambda d: d["price"].__setitem__(2, 0.5), r"price\[2\] is 0.5"),
    "a large price": (
        lambda d: d["price"].__setitem__(2, 2**32 + 1),
        r"price\[2\] is 4294967297; it must be between 0 and 4294967296",
    ),
    "a price by name": (lambda d: d.update(price={"a": 1}), "price is .*; it must be a list"),
}


@pytest.mark.parametrize("fault", FLOW_FAULTS)
def test_a_fault_of_a_demand_or_price_is_named(fault: str, tmp_path: Path) -> None:
    change, message = FLOW_FAULTS[fault]
    _expect(among_three(), change, message, tmp_path)


STEP_FAULTS: dict[str, tuple[Change, str]] = {
    "an unknown rank": (
        lambda d: d["demand"]["targets"][0].append(3),
        "a rank of demand.targets is 3; it must be between 0 and 2",
    ),
    "a rank by name": (lambda d: d["demand"]["targets"][0].append("b"), "a rank of demand.targets"),
    "no list": (lambda d: d["demand"]["targets"].__setitem__(0, 1), r"demand.targets\[0\] is 1"),
    "one too few": (lambda d: d["demand"]["targets"].pop(), "has 1 entries; there are 2 chunks"),
    "no targets": (lambda d: d["demand"].pop("targets"), "a rank of demand.targets is -1"),
    "no demand": (lambda d: d.pop("demand"), r"chunks\[0\].target is missing; add it"),
    "a target of nobody": (
        lambda d: d["chunks"][1].update(target=-1),
        r"chunks\[1\].target is -1; it must be between 0 and 2",
    ),
    "a true target": (lambda d: d["chunks"][1].update(target=True), r"chunks\[1\].target is True"),
}


@pytest.mark.parametrize("fault", STEP_FAULTS)
def test_a_fault_of_a_demand_of_steps_is_named(fault: str, tmp_path: Path) -> None:
    change, message = STEP_FAULTS[fault]
    _expect(demanded(), change, message, tmp_path)


def _expect(made: AnySchedule, change: Change, message: str, tmp_path: Path) -> None:
    path = tmp_path / "faulty.json"
    write_schedule(made, path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidScheduleError, match=message) as caught:
        read_schedule(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000


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


@pytest.mark.parametrize("name", ["TACCL, contiguous", "BFB on K(2,2)", "TE-CCL, multicast switch"])
def test_mutated_files_are_refused_or_comparable_and_writable(name: str, tmp_path: Path) -> None:
    """One number of one array is another: refused when it is read, or never an index too far."""
    path, again = tmp_path / "spoilt.npz", tmp_path / "again.json"
    read = 0
    for seed in range(count := rounds(200, 25)):
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
    assert 0 < read < count


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
