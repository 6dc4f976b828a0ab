"""What files say of a schedule apart from its trees."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll import generate, load_topology
from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule import read_schedule, write_schedule
from forestcoll.schedule.files.fields import Record
from forestcoll.schedule.files.header import (
    checked,
    head_document,
    parse_head,
    phase_document,
    stepwise_form,
)
from forestcoll.schedule.files.plain_data import full_document
from forestcoll.schedule.forest import Forest
from tests.schedule.files.malformed import HEADS, refused, spoil
from tests.schedule.made.hand import ring3, star3
from tests.schedule.made.types import schedule


def test_fractions_stay_fractions(tmp_path: Path) -> None:
    """127/3 has no decimal; the file keeps it, with the nearest one beside it."""
    forest = replace(ring3(), congestion=Fraction(127, 3), optimum=None)
    write_schedule(forest, tmp_path / "schedule.json")
    document = json.loads((tmp_path / "schedule.json").read_text())
    assert (document["congestion"], document["congestion_decimal"]) == ("127/3", 127 / 3)
    assert read_schedule(tmp_path / "schedule.json").congestion == Fraction(127, 3)


def test_files_without_weights_are_those_of_before(tmp_path: Path) -> None:
    """An allgather of equal weights has the fields that version 1 has always had."""
    write_schedule(generate(load_topology("ring:nodes=3")).schedule, tmp_path / "schedule.json")
    document = json.loads((tmp_path / "schedule.json").read_text())
    assert list(document) == [
        *("format", "version", "collective", "method", "k", "congestion", "congestion_decimal"),
        *("topology", "optimum", "trees", "routes"),
    ]


def test_files_of_forests_are_of_the_first_version(tmp_path: Path) -> None:
    """Whoever reads version 1 reads them as before."""
    write_schedule(schedule("forest"), tmp_path / "forest.json")
    assert json.loads((tmp_path / "forest.json").read_text())["version"] == 1


def test_the_head_of_a_forest_by_hand() -> None:
    """The star, reduced to b with all the weight; its cut by the names of its nodes."""
    forest = replace(star3(), weights=(0, 1, 0), reduction=True)
    head = phase_document(forest, topology="here")
    assert list(head)[-3:] == ["weights", "topology", "optimum"]
    assert head == {
        "collective": "reduce",
        "method": "by hand",
        "k": 1,
        "congestion": "1",
        "congestion_decimal": 1.0,
        "weights": [0, 1, 0],
        "topology": "here",
        "optimum": {"inverse_rate": "1", "k": 1, "congestion": "1", "cut": ["a", "b", "w"]},
    }
    assert phase_document(replace(star3(), optimum=None))["optimum"] is None


@pytest.mark.parametrize(
    ("name", "form", "version"),
    [
        ("forest", None, 1),
        ("factored forest", None, 1),
        ("allreduce of forests", None, 1),
        ("step schedule with a clock", "steps", 2),
        ("flow schedule", "flows", 2),
    ],
)
def test_every_type_has_a_head(name: str, form: str | None, version: int) -> None:
    """With format, version and network; phases of an allreduce each say their own."""
    made = schedule(name)
    head = head_document(made)
    assert (head["format"], head["version"]) == ("forestcoll-schedule", version)
    assert head.get("form") == form
    assert head["topology"]["name"] == made.topology.name
    if name.startswith("allreduce"):
        assert ("bound" in head, "k" in head) == (True, False)
        assert [head[phase]["collective"] for phase in ("reduce", "gather")] == [
            "reduce-scatter",
            "allgather",
        ]
        assert "topology" not in head["reduce"]


@pytest.mark.parametrize("name", HEADS)
def test_malformed_heads_are_refused_by_field(name: str, tmp_path: Path) -> None:
    """The message names the file, the field, the value found and the values allowed."""
    change, message = HEADS[name]
    assert re.search(message, refused(spoil(tmp_path, change)))


def written(forest: Forest) -> Record:
    """The head of a forest as a reader of JSON sees it: decimals are text."""
    document: Record = full_document(json.dumps(phase_document(forest)))
    return document


def test_a_head_is_read_as_it_was_written() -> None:
    """All that a forest says of itself, the claim with its cut included."""
    forest = star3()
    head = parse_head(written(forest), forest.topology)
    assert (head.method, head.k, head.congestion) == ("by hand", 1, Fraction(1))
    assert (head.weights, head.reduction) == ((1, 1, 1), False)
    assert head.optimum == forest.optimum
    reduce = replace(forest, weights=(0, 1, 0), reduction=True, optimum=None)
    head = parse_head(written(reduce), forest.topology)
    assert (head.weights, head.reduction, head.optimum) == ((0, 1, 0), True, None)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "^not a schedule; a schedule is a JSON object"),
        ({"format": "forestcoll-certificate", "version": 1}, "^not a schedule"),
        ({"format": "forestcoll-schedule"}, "^version is None; it must be 1, 2, 3 or 4"),
        ({"format": "forestcoll-schedule", "version": "1"}, "^version is '1'"),
        ({"format": "forestcoll-schedule", "version": True}, "^version is True"),
    ],
)
def test_other_documents_are_refused(document: Any, message: str) -> None:
    with pytest.raises(InvalidScheduleError, match=message):
        checked(document)


def test_both_versions_are_known_and_forms_of_the_second() -> None:
    for version in (1, 2):
        document = {"format": "forestcoll-schedule", "version": version}
        assert checked(document) is document
    assert stepwise_form({"form": "flows"}) == "flows"
    with pytest.raises(InvalidScheduleError, match=r"^form is 'trees'; it must be 'steps' or"):
        stepwise_form({"form": "trees"})
