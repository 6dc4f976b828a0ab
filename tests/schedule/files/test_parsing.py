"""Schedule files as a whole: what they hold, and what is none."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.generation import generate
from forestcoll.in_network.pruning import multicast
from forestcoll.schedule import read_schedule, write_schedule
from forestcoll.schedule.files.header import head_document
from forestcoll.schedule.files.parsing import parse_heads, parse_schedule, parse_stepwise_head
from forestcoll.schedule.files.plain_data import full_document
from forestcoll.topology import load_topology
from tests.schedule.files.malformed import FIELDS, refused, spoil
from tests.schedule.made.hand import leaves4
from tests.schedule.made.types import TYPES, schedule


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: not JSON"),
        (b'{"format": "forestcoll-schedule",\n "version": 1', "line 2: not JSON"),
        (b"[]", "not a schedule"),
        (b"\xff\xfe{}", "not text in UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"k": 1, "k": 2}', "'k' is given twice"),
        (b"9" * 5000, "thousands of digits"),
    ],
)
def test_files_without_a_schedule_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_bytes(content)
    assert re.search(message, refused(path))


def test_phases_of_an_allreduce_are_of_one_kind(tmp_path: Path) -> None:
    """One with walks and one with routes is no schedule."""
    whole = generate(load_topology("dgx_h100:boxes=1"), collective="allreduce").schedule
    paths = tmp_path / "routes.json", tmp_path / "walks.json"
    write_schedule(whole, paths[0])
    write_schedule(multicast(whole), paths[1])
    mixed, other = (json.loads(path.read_text()) for path in paths)
    mixed["gather"] = other["gather"]
    paths[0].write_text(json.dumps(mixed))
    with pytest.raises(InvalidScheduleError, match="only one of reduce and gather lists walks"):
        read_schedule(paths[0])


@pytest.mark.parametrize("name", FIELDS)
def test_malformed_documents_are_refused_by_field(name: str, tmp_path: Path) -> None:
    """The message names the file, the field, the value found and the values allowed."""
    change, message = FIELDS[name]
    assert re.search(message, refused(spoil(tmp_path, change)))


@pytest.mark.parametrize("name", TYPES)
def test_the_bytes_of_every_type_are_parsed(name: str, tmp_path: Path) -> None:
    """Equal to what was written; factored forests are binary, and read by another reader."""
    made = schedule(name)
    if "factored" in name:
        return
    path = tmp_path / "schedule.json"
    write_schedule(made, path)
    assert parse_schedule(path.read_bytes()) == made


def as_read(document: dict[str, Any]) -> Any:
    return full_document(json.dumps(document))


def test_heads_of_binary_files_are_read_alone(tmp_path: Path) -> None:
    """Their form beside what they say; that of steps is another reader's."""
    steps = head_document(schedule("step schedule"))
    forest = head_document(schedule("forest")) | {"form": "explicit"}
    both = head_document(schedule("allreduce of forests")) | {"form": "factored"}
    heads, form, bound = parse_heads(as_read(forest))
    assert (list(heads), form, bound) == ([""], "explicit", None)
    assert heads[""].k == forest["k"]
    heads, form, bound = parse_heads(as_read(both))
    assert (list(heads), form) == (["reduce", "gather"], "factored")
    assert bound == schedule("allreduce of forests").bound
    assert heads["reduce"].reduction
    assert not heads["gather"].reduction
    assert parse_stepwise_head(as_read(forest)) is None
    found = parse_stepwise_head(as_read(steps))
    assert found is not None
    assert found[1] == schedule("step schedule").topology
    with pytest.raises(InvalidScheduleError, match=r"^reduce\.k is missing"):
        parse_heads(
            as_read(both | {"reduce": {k: v for k, v in both["reduce"].items() if k != "k"}})
        )


def test_rotated_trees_are_not_in_json(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    write_schedule(leaves4(), path)
    path.write_text(path.read_text().replace('"version": 1', '"version": 4'))
    assert refused(path).startswith("version is 4; it must be 1, 2 or 3 in JSON; write rotated tre")
