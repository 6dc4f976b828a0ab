"""What files say of a schedule apart from its trees."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll import generate, load_topology
from forestcoll.schedule import read_schedule, write_schedule
from forestcoll.schedule.files.header import head_document, phase_document
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
