"""Edges read line by line are those that are read in full, whatever is done to a file."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import ForestCollError
from forestcoll.schedule import write_schedule
from forestcoll.schedule.files import plain_data as reading
from forestcoll.schedule.files.edge_lines import UnreadableError, edges_lifted, edges_put_back
from forestcoll.schedule.files.parsing import _schedule
from forestcoll.schedule.files.plain_data import full_document, read_document
from tests.random_topologies import rounds
from tests.schedule.made.hand import leaves4
from tests.schedule.made.types import schedule

PIECES = [
    *(b"", b" ", b"\n", b"\r\n", b",", b"]", b"[", b"{", b"}", b'"', b"0", b"1", b"-", b".5", b"e"),
    *(
        b"[1]",
        b"[true]",
        b"[0,1]",
        b"],[",
        b"]]}",
        b"null",
        b"99999999999999999999",
        b"\\",
        b"\xe4",
    ),
]


def written(made: Any, folder: Path) -> bytes:
    write_schedule(made, folder / "schedule.json")
    return (folder / "schedule.json").read_bytes()


def outcome(content: bytes, *, quick: bool) -> Any:
    """What is read, or what is said."""
    try:
        if quick:
            return read_document(content, _schedule)
        return _schedule(full_document(reading._text(content)))
    except (ForestCollError, UnicodeDecodeError) as error:
        return type(error), str(error)


def spoiled(content: bytes, chance: random.Random) -> bytes:
    """Change a few bytes, or lines: one put elsewhere, left out, twice or joined to the next."""
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        if chance.random() < 0.7:
            start = chance.randrange(len(content))
            stop = start + chance.choice((0, 1, 1, 2))
            content = content[:start] + chance.choice(PIECES) + content[stop:]
        else:
            lines = content.split(b"\n")
            line = lines.pop(chance.randrange(len(lines)))
            for _ in range(chance.choice((0, 1, 2))):
                lines.insert(chance.randrange(len(lines) + 1), line)
            at = chance.randrange(len(lines))
            lines[at : at + 2] = [chance.choice((b"", b"\n")).join(lines[at : at + 2])]
            content = b"\n".join(lines)
    return content


def test_spoiled_files_are_read_or_refused_as_in_full(tmp_path: Path) -> None:
    """Three thousand of them, or a fifth; some are still right."""
    contents = [written(leaves4(), tmp_path), written(schedule("allreduce of forests"), tmp_path)]
    chance, right = random.Random(13), 0
    for number in range(count := rounds(3000, 600)):
        content = spoiled(contents[number % 20 == 0], chance)
        quick, full = outcome(content, quick=True), outcome(content, quick=False)
        assert quick == full, content
        right += not isinstance(full, tuple)
    assert count / 60 < right < count * 2 / 3


def test_every_tree_of_a_written_file_is_lifted(tmp_path: Path) -> None:
    """Of both phases of an allreduce; what is left holds the numbers of the lines."""
    made = schedule("allreduce of forests")
    rest, taken = edges_lifted(written(made, tmp_path))
    assert len(taken) == made.reduce.num_batches + made.gather.num_batches
    data = json.loads(rest)
    last = len(taken) - 1
    assert (data["reduce"]["trees"][0]["edges"], data["gather"]["trees"][-1]["edges"]) == (
        [0],
        [last],
    )
    edges_put_back(data, taken)
    full = json.loads((tmp_path / "schedule.json").read_bytes())
    for phase in ("reduce", "gather"):
        for tree, other in zip(data[phase]["trees"], full[phase]["trees"], strict=True):
            assert tree["edges"].tolist() == other["edges"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_right_file_is_read_without_lists_of_edges(
    end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = written(leaves4(), tmp_path).replace(b"\n", end)
    monkeypatch.delattr(reading, "full_document")
    kinds = set[type]()

    def build(data: Any) -> Any:
        kinds.update(type(tree["edges"]) for tree in data["trees"])
        return _schedule(data)

    assert read_document(content, build) == leaves4()
    assert kinds == {np.ndarray}


def test_another_layout_is_read_as_well(tmp_path: Path) -> None:
    """All on one line, or every number on its own; one tree laid out otherwise."""
    content = written(leaves4(), tmp_path)
    document = json.loads(content)
    mixed = content.replace(b'    {"root": 0,', b'    { "root": 0,')
    assert mixed != content
    for text in (json.dumps(document).encode(), json.dumps(document, indent=1).encode(), mixed):
        assert read_document(text, _schedule) == leaves4()


@pytest.mark.parametrize(
    "edges",
    [
        *(b"", b"0", b"0,1,2", b"0,1],[2", b",1", b"0,", b"0,1],[,2", b"0,,1", b"0,1],1,[2,3"),
        *(b"01,2", b"0,00", b"-1,2", b"1.0,2", b"1,2 ", b"1,2]],[[2,3", b"1,2],", b'1,"2"'),
        *(b"1,9223372036854775808", b"99999999999999999999,1", b"1e1,2", b"1,2][3,4"),
    ],
)
def test_edges_other_than_pairs_are_left_to_the_full_reader(edges: bytes) -> None:
    content = b'{"trees": [\n    {"root": 0, "multiplicity": 1, "edges": [[%s]]}\n]}' % edges
    rest, taken = edges_lifted(content)
    assert taken == [edges]
    with pytest.raises(UnreadableError):
        edges_put_back(json.loads(rest), taken)


def test_trees_that_left_no_number_or_another_are_not_mixed_up() -> None:
    """A tree that does not stand on a line has the number of a line for edges."""
    line = b'\n    {"root": 0, "multiplicity": 1, "edges": [[0,1]]}\n'
    odd = b'{"root": 0, "multiplicity": 1, "edges": [1]}'
    for content in (
        b'{"trees": [%s,%s,%s]}' % (line, line, odd),
        b'{"trees": [%s,%s]}' % (odd, line),
        b'{"trees": [%s], "routes": [%s]}' % (odd, line),
    ):
        rest, taken = edges_lifted(content)
        assert taken
        with pytest.raises(UnreadableError):
            edges_put_back(json.loads(rest), taken)


@pytest.mark.parametrize(
    "place", ['"nodes": [', '"links": [', '"trees": [', '"routes": [', '"paths": [', '"cut": [']
)
def test_lines_of_trees_elsewhere_are_refused(place: str, tmp_path: Path) -> None:
    """The last tree names the number of a line that stands where no tree may."""
    content = written(leaves4(), tmp_path).decode()
    lines = [line for line in content.split("\n") if line.startswith('    {"root"')]
    forged = content.replace(lines[-1], '    {"root":3,"multiplicity":1,"edges":[3]}')
    at = forged.index(place) + len(place)
    forged = f"{forged[:at]}\n{lines[-1]},\n{forged[at:]}".replace(
        lines[-1] + ",,", lines[-1] + ","
    )
    quick = outcome(forged.encode(), quick=True)
    assert isinstance(quick, tuple)
    assert quick == outcome(forged.encode(), quick=False)
