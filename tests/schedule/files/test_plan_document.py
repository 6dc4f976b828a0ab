"""Time plans in files."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule import Allreduce, read_schedule, write_schedule
from forestcoll.schedule.files.header import PLANNED_VERSION, VERSION
from forestcoll.schedule.forest import Forest
from tests.schedule.files.malformed import PLANS, SCHEMA, refused, spoil
from tests.schedule.made.planned import at_rates, common_sum, path_forest, slotted_path, slotted_sum

PLANNED = {
    "slots": slotted_path(),
    "slots of a reduction": slotted_sum(),
    "constant rates": at_rates(),
    "both phases": Allreduce(slotted_sum(), slotted_path()),
    "one phase": Allreduce(slotted_sum(), path_forest()),
    "common slots": common_sum(),
}


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("name", PLANNED)
def test_plans_are_read_as_written(name: str, ending: str, tmp_path: Path):
    path = tmp_path / f"planned.{ending}"
    write_schedule(PLANNED[name], path)
    found = read_schedule(path)
    assert found == PLANNED[name]
    again = tmp_path / f"again.{ending}"
    write_schedule(found, again)
    assert again.read_bytes() == path.read_bytes()


def test_arrays_have_their_types(tmp_path: Path):
    for ending in ("json", "npz"):
        write_schedule(slotted_path(), tmp_path / f"x.{ending}")
        found = read_schedule(tmp_path / f"x.{ending}")
        assert isinstance(found, Forest)
        assert found.plan is not None
        assert found.plan.slots is not None
        kinds = [getattr(found.plan.slots, one).dtype for one in ("tree", "parts", "slot")]
        assert kinds == [np.int32, np.int64, np.int32]


@pytest.mark.parametrize("name", PLANNED)
def test_the_schema_holds(name: str, tmp_path: Path):
    write_schedule(PLANNED[name], tmp_path / "x.json")
    document = json.loads((tmp_path / "x.json").read_text())
    jsonschema.validate(document, SCHEMA)
    assert document["version"] == PLANNED_VERSION
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"plan": {}, "version": VERSION}, SCHEMA)


def test_only_plans_raise_the_version(tmp_path: Path):
    """So that earlier releases read all other files."""
    write_schedule(path_forest(), tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text())["version"] == VERSION


@pytest.mark.parametrize("name", PLANS)
def test_malformed_plans_are_refused_by_field(name: str, tmp_path: Path):
    change, message = PLANS[name]
    assert re.search(message, refused(spoil(tmp_path, change, slotted_path())))


def test_phases_are_named(tmp_path: Path):
    both = Allreduce(slotted_sum(), slotted_path())

    def change(document: dict[str, Any]) -> None:
        document["gather"]["plan"]["size_bytes"] = 0

    assert refused(spoil(tmp_path, change, both)).startswith("gather.plan.size_bytes is 0")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("plan.tree"), "array plan.tree is missing"),
        (lambda a: a.update({"plan.parts": np.ones(2, np.int32)}), "array plan.slot has shape"),
        (lambda a: a.update({"plan.slot": np.ones((3, 2), np.int8)}), "array plan.slot has shape"),
        (lambda a: a.update({"plan.slot": np.ones(9, np.int8)}), "array plan.slot has 1 dim"),
        (lambda a: a.update({"plan.slot": np.full((3, 3), -2)}), r"plan.slot\[0\] is -2"),
        (lambda a: a.update({"plan.tree": np.array([0, 1, 3])}), r"plan.tree\[2\] is 3"),
        (lambda a: a.update({"plan.parts": np.array([0, 1, 3])}), r"plan.parts\[0\] is 0"),
    ],
)
def test_malformed_arrays_are_refused(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
):
    path = tmp_path / "x.npz"
    write_schedule(slotted_path(), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    change(arrays)
    np.savez(path, **arrays)
    assert re.search(message, refused(path))


def test_arrays_without_a_width_are_refused(tmp_path: Path):
    slotted, plain = slotted_path(), replace(slotted_path(), plan=at_rates().plan)
    write_schedule(slotted, tmp_path / "x.npz")
    write_schedule(plain, tmp_path / "y.npz")
    with np.load(tmp_path / "x.npz") as one, np.load(tmp_path / "y.npz") as other:
        arrays = dict(one) | {"head": other["head"]}
    np.savez(tmp_path / "z.npz", **arrays)
    assert "array plan.parts is not in the format" in refused(tmp_path / "z.npz")


def test_other_forms_have_no_plan(tmp_path: Path):
    """A plan in a file of walks."""
    plan = {"size_bytes": 1, "alpha_us": "0", "time_us": "1"}

    def change(document: dict[str, Any]) -> None:
        document["version"], document["plan"] = PLANNED_VERSION, plan
        document["walks"], document["trees"] = [], []
        del document["routes"]

    assert refused(spoil(tmp_path, change)).startswith("only trees between GPUs have a plan")


def mutants(document: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return a document with one value of its plan or slots exchanged for another."""
    chance = np.random.default_rng(seed)
    values = [None, -1, 0, 1, 2**64, "x", "1/3", [], {}, True, 0.5, [0, 720720, -1, 0, 1]]
    place: Any = document
    key: Any = chance.choice(["plan", "slots"])
    while isinstance(place[key], dict | list) and place[key] and chance.random() < 0.8:
        place = place[key]
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = keys[int(chance.integers(len(keys)))]
    place[key] = values[int(chance.integers(len(values)))]
    return document


@pytest.mark.first_rows(38)
@pytest.mark.parametrize("seed", range(150))
def test_hostile_plans_end_in_one_line_or_are_read(seed: int, tmp_path: Path):
    path = spoil(tmp_path, lambda document: mutants(document, seed), slotted_path())
    try:
        found = read_schedule(path)
    except InvalidScheduleError:
        refused(path)
    else:
        write_schedule(found, tmp_path / "again.json")
        assert read_schedule(tmp_path / "again.json") == found
