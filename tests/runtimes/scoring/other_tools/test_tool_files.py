"""Which tool wrote a file; whatever it holds ends in a result or in one error of ours."""

import json
import random
from pathlib import Path

import pytest

from forestcoll.errors import ForestCollError, InvalidScheduleError
from forestcoll.runtimes.scoring.other_tools import tool_files
from forestcoll.runtimes.scoring.other_tools.tool_files import is_json, read_tool_file
from forestcoll.runtimes.scoring.other_tools.tool_score import score_transfers
from forestcoll.topology import Topology, load_topology
from tests.runtimes.scoring.tool_documents import (
    allreduce_of_a_ring,
    ring_sentences,
    teccl_all_to_all,
    teccl_allgather,
    written,
)

RING = teccl_all_to_all(
    {
        (s, t, t): [[f"{s}->{t} with volume 1.0 in epoch 0"]]
        for s in (1, 2, 3)
        for t in (1, 2, 3)
        if s != t
    }
)


def test_each_is_reported_by_its_fields(tmp_path: Path) -> None:
    for data, tool in (
        (teccl_allgather(ring_sentences(3)), "TE-CCL"),
        (RING, "TE-CCL"),
        (allreduce_of_a_ring(3), "TACCL"),
    ):
        path = written(tmp_path / "file.json", data)
        assert is_json(path)
        assert read_tool_file(path).tool == tool


def test_leading_marks_and_spaces_do_not_hide_json(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text, json_ in (
        ("\ufeff <algo/>", False),
        ("", False),
        ("\ufeff\n\t {", True),
        ("[1]", True),
        ("7", False),
    ):
        path.write_text(text, encoding="utf-8")
        assert is_json(path) is json_


def test_unknown_formats_are_reported(tmp_path: Path) -> None:
    for data in ({"TopologyParams": {}}, [], {"7-Flow": []}):
        path = written(tmp_path / "file.json", data)
        with pytest.raises(InvalidScheduleError, match="has an unknown format"):
            read_tool_file(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"7-Flows": [', "line 1: not valid JSON"),
        (b'{"7-Flows": ["\xff"]}', "not text in UTF-8"),
        (b'{"a": 1, "a": 2}', "the key 'a' is given twice"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"7-Flows": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
    ],
)
def test_invalid_json_is_reported(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(InvalidScheduleError, match=problem):
        read_tool_file(path)


def test_unreadable_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "file.json", RING)
    monkeypatch.setattr(tool_files, "MOST_BYTES", 100)
    with pytest.raises(InvalidScheduleError, match="too much to read"):
        read_tool_file(path)
    with pytest.raises(InvalidScheduleError, match="cannot be read: no such file"):
        is_json(tmp_path / "none.json")


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_end_in_a_result_or_one_error_of_ours(tmp_path: Path, seed: int) -> None:
    """A hundred of each kind: cut off, bytes changed, numbers and parts of others put in."""
    chance, ring = random.Random(seed), load_topology("ring:nodes=3")
    data = (teccl_allgather(ring_sentences(3)), RING, allreduce_of_a_ring(3))[seed]
    text, path = json.dumps(data), tmp_path / "file.json"
    outcomes = set()
    for _ in range(100):
        path.write_text(damaged(text, chance))
        outcomes.add(outcome(path, ring))
    assert "refused in 1 line" in outcomes
    assert outcomes <= {"refused in 1 line", "right", "wrong"}
    assert len(outcomes) > 1


def outcome(path: Path, topology: Topology) -> str:
    try:
        found = score_transfers(read_tool_file(path), topology)
    except ForestCollError as error:
        return f"refused in {len(str(error).splitlines())} line"
    return "right" if found.wrong is None else "wrong"


def damaged(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(text))
        match chance.randrange(4):
            case 0 if chance.random() < 0.1:
                text = text[:place]
            case 1:
                digits = [i for i, sign in enumerate(text) if sign.isdigit()]
                place = chance.choice(digits or [0])
                text = text[:place] + str(chance.choice([0, 1, 2, 3, 77])) + text[place + 1 :]
            case 2:
                text = text[:place] + chance.choice('{}[]",: ') + text[place + 1 :]
            case _:
                end = place + chance.randrange(40)
                text = text[:place] + text[end:]
        text = text or " "
    return text
