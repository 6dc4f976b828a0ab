"""Files of every collective: an exact round trip in both formats, and refusals by field."""

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from forestcoll import (
    Allreduce,
    FactoredForest,
    Forest,
    generate,
    group,
    load_topology,
    read_schedule,
    verify,
    write_schedule,
)
from forestcoll.errors import ExportError, InvalidScheduleError, VerificationError
from forestcoll.schedule.factored import Links, Sets, Shapes
from forestcoll.schedule.forest import Routes
from tests.schedule.files.malformed import SCHEMA

DEMANDS: dict[str, tuple[str, dict[str, Any]]] = {
    "weighted": ("allgather", {"weights": [1, 2, 0, 3]}),
    "broadcast": ("broadcast", {"root": 2}),
    "reduce": ("reduce", {"root": 0}),
    "reduce-scatter": ("reduce-scatter", {}),
    "weighted reduce-scatter": ("reduce-scatter", {"weights": [1, 2, 0, 3]}),
    "allreduce": ("allreduce", {}),
    "allreduce through a root": ("allreduce", {"root": 3}),
}


def schedule_of(name: str, *, factored: bool = False) -> Any:
    collective, demand = DEMANDS[name]
    net = load_topology("dgx_a100:boxes=2")
    members = ["b0.gpu0", "b0.gpu3", "b1.gpu1", "b1.gpu2"]
    made = generate(group(net, members), collective=collective, factored=factored, **demand)
    return made.schedule


def assert_equal(one: Any, other: Any) -> None:
    """Everything that a schedule holds is the same, to the type of its arrays."""
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    elif isinstance(one, Allreduce | Forest | FactoredForest | Routes | Sets | Shapes | Links):
        for field in filter(lambda field: field.compare, fields(one)):
            assert_equal(getattr(one, field.name), getattr(other, field.name))
    else:
        assert one == other


@pytest.mark.parametrize("form", ["explicit.json", "explicit.npz", "factored.npz"])
@pytest.mark.parametrize("name", DEMANDS)
@pytest.mark.each_value_once
def test_round_trip_is_exact(name: str, form: str, tmp_path: Path) -> None:
    """What is read is what was written, verifies from the file alone, and gives the same bytes."""
    schedule = schedule_of(name, factored=form.startswith("factored"))
    path, again = tmp_path / form, tmp_path / f"again-{form}"
    write_schedule(schedule, path)
    found = read_schedule(path)
    assert_equal(schedule, found)
    assert verify(found) == verify(schedule)
    write_schedule(found, again)
    assert path.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("name", DEMANDS)
def test_written_files_match_the_schema(name: str, tmp_path: Path) -> None:
    write_schedule(schedule_of(name), tmp_path / "schedule.json")
    document = json.loads((tmp_path / "schedule.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


def test_a_factored_allreduce_is_no_json(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"needs a name that ends in \.npz"):
        write_schedule(schedule_of("allreduce", factored=True), tmp_path / "schedule.json")


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_an_empty_schedule_is_kept(suffix: str, tmp_path: Path) -> None:
    """A group of one: no trees, congestion 0."""
    alone = generate(
        group(load_topology("ring:nodes=3"), ["gpu1"]), collective="allreduce"
    ).schedule
    write_schedule(alone, tmp_path / f"schedule.{suffix}")
    found = read_schedule(tmp_path / f"schedule.{suffix}")
    assert isinstance(found, Allreduce)
    assert_equal(alone, found)
    assert verify(found).time_s_per_gb == 0


def test_edges_of_a_reduction_run_as_the_data_does(tmp_path: Path) -> None:
    """A chain of three, all to gpu0: gpu2 sends first, then gpu1."""
    mesh = load_topology("torus:dims=3,wrap=false")
    names = [node.name for node in mesh.nodes]
    write_schedule(generate(mesh, collective="reduce", root=0).schedule, tmp_path / "schedule.json")
    document = json.loads((tmp_path / "schedule.json").read_text())
    assert document["weights"] == [1, 0, 0]
    assert document["trees"] == [{"root": 0, "multiplicity": 1, "edges": [[2, 1], [1, 0]]}]
    ends = [
        (route["from"], route["to"], route["paths"][0]["nodes"]) for route in document["routes"]
    ]
    assert ends == [(1, 0, [names[1], names[0]]), (2, 1, [names[2], names[1]])]


def _set(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *way, last = path
        place: Any = document
        for key in way:
            place = place[key]
        place[last] = to

    return change


def _drop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *way, last = path
        place: Any = document
        for key in way:
            place = place[key]
        del place[last]

    return change


FAULTS: dict[str, tuple[str, Callable[[dict[str, Any]], None], str]] = {
    "weights too short": (
        "weighted",
        _set("weights", to=[1, 2]),
        r"^weights is \[1, 2\]; it must be a list of 4 integers, one for each GPU",
    ),
    "negative weight": (
        "weighted",
        _set("weights", 2, to=-1),
        r"^weights\[2\] is -1; it must be b",
    ),
    "weight with a point": ("weighted", _set("weights", 2, to=0.5), r"^weights\[2\] is 0\.5; it"),
    "weights that are no list": (
        "weighted",
        _set("weights", to=3),
        r"^weights is 3; it must be a l",
    ),
    "weights of a broadcast": (
        "weighted",
        _set("weights", to=[0, 1, 0, 0]),
        "^collective is 'allgather'; it must be 'broadcast', by the weights",
    ),
    "no weights": ("broadcast", _drop("weights"), "^collective is 'broadcast'; it must be 'allg"),
    "phase missing": ("allreduce", _drop("gather"), "^gather is missing; add it"),
    "phase that is a list": (
        "allreduce",
        _set("reduce", to=[]),
        "^reduce is .*; it must be an obj",
    ),
    "trees beside the phases": (
        "allreduce",
        _set("trees", to=[]),
        "^'trees' is not in the format; the fields here are .*reduce, gather",
    ),
    "topology in a phase": (
        "allreduce",
        _set("reduce", "topology", to={}),
        r"^reduce\.'topology' is not in the format",
    ),
    "field of a phase": ("allreduce", _drop("gather", "k"), r"^gather\.k is missing"),
    "tree of a phase": (
        "allreduce",
        _set("reduce", "trees", 0, "root", to=4),
        r"^reduce\.trees\[0\]\.root is 4; it must be between 0 and 3",
    ),
    "allreduce in an allreduce": (
        "allreduce",
        _set("gather", "collective", to="allreduce"),
        r"^gather\.collective is 'allreduce'; it must be one of allgather",
    ),
    "relay without a place": (
        "weighted",
        _set("topology", "nodes", 0, "kind", to="spare"),
        "kind is 'spare'; it must be 'compute', 'switch' or 'relay'",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_malformed_files_are_refused_by_field(fault: str, tmp_path: Path) -> None:
    """In one line, with the file, the field, what was found and what is allowed."""
    name, change, message = FAULTS[fault]
    path = tmp_path / "schedule.json"
    write_schedule(schedule_of(name), path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidScheduleError) as caught:
        read_schedule(path)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{path}: ")
    with pytest.raises(InvalidScheduleError, match=message):
        raise InvalidScheduleError(text.removeprefix(f"{path}: "))


@pytest.mark.parametrize(("name", "prefix"), [("reduce", ""), ("allreduce", "phase reduce: ")])
def test_a_double_contribution_is_found_on_reading(name: str, prefix: str, tmp_path: Path) -> None:
    """A GPU that sends its sum to two others: the arrays of a forest could not hold that."""
    path = tmp_path / "schedule.json"
    write_schedule(schedule_of(name), path)
    document = json.loads(path.read_text())
    phase = document["reduce"] if prefix else document
    edges = phase["trees"][0]["edges"]
    sender, receiver = edges[0]
    edges.append([sender, next(rank for rank in range(4) if rank not in (sender, receiver))])
    path.write_text(json.dumps(document))
    message = rf": {prefix}tree 0, .*: \S+ sends its sum twice, to \S+ and to \S+, so it would be"
    with pytest.raises(VerificationError, match=message):
        read_schedule(path)


def test_arrays_of_phases_are_named_after_them(tmp_path: Path) -> None:
    """A missing array is named with its phase."""
    path = tmp_path / "schedule.npz"
    write_schedule(schedule_of("allreduce"), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    assert {"reduce.parent", "gather.parent", "head"} <= arrays.keys()
    del arrays["gather.root"]
    np.savez(path, **arrays)
    with pytest.raises(InvalidScheduleError, match=r"array gather\.root is missing"):
        read_schedule(path)
    arrays["gather.root"] = np.zeros(1, np.int8)
    np.savez(path, **arrays)
    with pytest.raises(InvalidScheduleError, match=r"array gather\.parent has shape"):
        read_schedule(path)
