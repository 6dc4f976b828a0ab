"""Schedule files: an exact round trip, the same bytes, and a clear refusal of anything else."""

import json
import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from forestcoll.errors import (
    ExportError,
    ForestCollError,
    InvalidScheduleError,
    VerificationError,
)
from forestcoll.schedule.files import schedule_files as files
from forestcoll.schedule.files.schedule_files import read_schedule, write_schedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.verify.dispatch import verify
from tests.schedule.made.hand import FORESTS, MUTABLE, leaves4, rails2, ring3, star3
from tests.schedule.mutations_of.forests import FILE_MUTATIONS, MUTATIONS

DOCS = Path(__file__).parents[3] / "docs"
SCHEMA = json.loads((DOCS / "schemas" / "schedule.schema.json").read_text(encoding="utf-8"))


def assert_equal(one: Forest, other: Forest) -> None:
    """Everything a forest holds is the same, to the type of its arrays."""
    for name in ("topology", "method", "k", "congestion", "optimum"):
        assert getattr(one, name) == getattr(other, name), name
    pairs = [
        (getattr(one, name), getattr(other, name)) for name in ("root", "multiplicity", "parent")
    ]
    for name in ("tail", "head", "first_path", "multiplicity", "first_hop", "hop"):
        pairs.append((getattr(one.routes, name), getattr(other.routes, name)))
    for mine, yours in pairs:
        assert mine.dtype == yours.dtype
        assert np.array_equal(mine, yours)


def spoil(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Write the leaves' schedule with a change to its data."""
    path = tmp_path / "spoiled.json"
    write_schedule(leaves4(), path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


def refused(path: Path, kind: type[ForestCollError] = InvalidScheduleError) -> str:
    """Read a file, which must fail in one line that starts with its name; return the rest."""
    with pytest.raises(kind) as caught:
        read_schedule(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def test_many_trees_without_edges_are_refused_before_room_is_made(tmp_path: Path) -> None:
    """1.5e4 trees on 1e4 GPUs fill 600 MB, but the file lists no edge of them."""

    def change(document: dict[str, Any]) -> None:
        nodes = [{"name": f"g{i}", "kind": "compute"} for i in range(10_000)]
        links = [{"from": "g0", "to": "g1", "bandwidth_gb_s": 1, "both": True}]
        document["topology"] = {"name": "many", "nodes": nodes, "links": links}
        document["trees"] = [{"root": 0, "multiplicity": 1, "edges": []}] * 15_000
        document["optimum"] = None

    message = refused(spoil(tmp_path, change))
    assert message == (
        "trees lists 0 edges in all, but 15000 trees on 10000 GPUs have 149985000; "
        "is the file complete?"
    )


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
@pytest.mark.parametrize("claimed", [True, False])
def test_round_trip_is_exact(make: Callable[[], Forest], claimed: bool, tmp_path: Path) -> None:
    """What is read is what was written, and verifies from the file alone."""
    forest = make() if claimed else replace(make(), optimum=None)
    write_schedule(forest, tmp_path / "schedule.json")
    again = read_schedule(tmp_path / "schedule.json")
    assert_equal(forest, again)
    assert verify(again) == verify(forest)


@pytest.mark.parametrize("name", ["dropped edge", "cycle", "two shards swapped", "wrong k"])
@pytest.mark.parametrize("make", MUTABLE.values(), ids=MUTABLE)
def test_round_trip_keeps_faults(name: str, make: Callable[[], Forest], tmp_path: Path) -> None:
    """A file neither hides nor repairs what is wrong: verify says the same of what was read."""
    mutate, message = MUTATIONS[name]
    spoiled = mutate(make())
    write_schedule(spoiled, tmp_path / "schedule.json")
    again = read_schedule(tmp_path / "schedule.json")
    assert_equal(spoiled, again)
    with pytest.raises(VerificationError, match=message):
        verify(again)


def test_same_forest_same_bytes(tmp_path: Path) -> None:
    write_schedule(leaves4(), tmp_path / "one.json")
    write_schedule(read_schedule(tmp_path / "one.json"), tmp_path / "other.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()


def test_layout_is_one_tree_a_line_parents_first(tmp_path: Path) -> None:
    """Tree b of the star is b -> c -> a: rank 0 comes last, below rank 2."""
    write_schedule(star3(), tmp_path / "schedule.json")
    lines = (tmp_path / "schedule.json").read_text().splitlines()
    assert '    {"root": 1, "multiplicity": 1, "edges": [[1,2],[2,0]]},' in lines
    assert '  "congestion": "1",' in lines
    route = '{"from": 0, "to": 1, "paths": [{"nodes": ["a", "w", "b"], "multiplicity": 2}]}'
    assert f"    {route}," in lines


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_written_files_match_the_schema(make: Callable[[], Forest], tmp_path: Path) -> None:
    write_schedule(make(), tmp_path / "schedule.json")
    document = json.loads((tmp_path / "schedule.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


def test_order_of_edges_and_routes_in_a_file_is_free(tmp_path: Path) -> None:
    """Children may come before parents, and routes in any order."""

    def shuffle(document: dict[str, Any]) -> None:
        document["routes"].reverse()
        for tree in document["trees"]:
            tree["edges"].reverse()

    assert_equal(read_schedule(spoil(tmp_path, shuffle)), leaves4())


@pytest.mark.parametrize("name", FILE_MUTATIONS)
def test_child_with_two_parents_is_rejected(name: str, tmp_path: Path) -> None:
    """What an array of parents cannot hold is found while reading."""
    mutate, message = FILE_MUTATIONS[name]
    assert re.search(message, refused(spoil(tmp_path, mutate), VerificationError))


def test_duplicate_child_names_both_parents(tmp_path: Path) -> None:
    """Tree a of the leaves is a -> b, a -> c -> d; d is given b as a second parent."""
    path = spoil(tmp_path, lambda d: d["trees"][0]["edges"].append([1, 3]))
    assert refused(path, VerificationError) == (
        "tree 0, rooted at a: d is a child twice, of c and of b"
    )


def _set(*keys: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        inner: Any = document
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to

    return change


MALFORMED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "other format": (_set("format", to="topology"), "^not a schedule"),
    "no format": (lambda d: d.pop("format"), "^not a schedule"),
    "later version": (_set("version", to=3), r"^version is 3; it must be 1 or 2"),
    "true version": (_set("version", to=True), r"^version is True; it must be 1"),
    "no collective": (_set("collective", to="gossip"), "collective is 'gossip'; .* allgather, "),
    "other collective": (_set("collective", to="reduce"), "collective .* 'reduce-scatter', by the"),
    "missing field": (lambda d: d.pop("routes"), "^routes is missing"),
    "unknown field": (_set("colour", to=1), "'colour' is not in the format; the fields here are"),
    "empty method": (_set("method", to=""), "^method is ''"),
    "method of two lines": (_set("method", to="a\nb"), r"^method is 'a\\nb'"),
    "k as text": (_set("k", to="1"), "^k is '1'; it must be an integer"),
    "k of zero": (_set("k", to=0), "^k is 0; it must be positive"),
    "k of 64 bits": (_set("k", to=2**63), "^k is 9223372036854775808; it must be positive and at"),
    "k with a point": (_set("k", to=1.0), "^k is 1.0; it must be an integer"),
    "congestion as number": (_set("congestion", to=1), "^congestion is 1; it must be text"),
    "congestion as decimal": (_set("congestion", to="0.5"), "^congestion is '0.5'; .*exact"),
    "congestion over zero": (_set("congestion", to="1/0"), "^congestion is '1/0'; .*exact"),
    "endless congestion": (_set("congestion", to="1" * 400), "^congestion is '1+\\.\\.\\.1+'; "),
    "other decimal": (_set("congestion_decimal", to=1.5), "^congestion_decimal is 1.5; .*1.0"),
    "decimal as text": (_set("congestion_decimal", to="1"), "^congestion_decimal is '1'"),
    "huge decimal": (_set("congestion_decimal", to=10**400), "^congestion_decimal is 1"),
    "no topology": (_set("topology", to=None), "^topology is None; it must be an object"),
    "bad topology": (
        _set("topology", "links", 0, "bandwidth_gb_s", to=-1),
        r"^topology: links\[0\].bandwidth_gb_s .*positive",
    ),
    "optimum as list": (_set("optimum", to=[]), r"^optimum is \[\]; it must be an object"),
    "optimum without cut": (lambda d: d["optimum"].pop("cut"), "^optimum.cut is missing"),
    "cut of unknown node": (
        _set("optimum", "cut", to=["a", "z"]),
        "^optimum.cut is 'z'; .*leaves4",
    ),
    "cut by position": (_set("optimum", "cut", to=[0]), "^optimum.cut is 0; .*names of nodes"),
    "bound as number": (_set("optimum", "inverse_rate", to=1), "^optimum.inverse_rate is 1; "),
    "trees as object": (_set("trees", to={}), "^trees is {}; it must be a list"),
    "tree as list": (_set("trees", 1, to=[]), r"^trees\[1\] is \[\]; it must be an object"),
    "tree without root": (lambda d: d["trees"][2].pop("root"), r"^trees\[2\].root is missing"),
    "tree with a name": (_set("trees", 0, "name", to=1), r"^trees\[0\].'name' is not in the"),
    "unknown root": (_set("trees", 3, "root", to=4), r"^trees\[3\].root is 4; .*between 0 and 3"),
    "root by name": (_set("trees", 3, "root", to="d"), r"^trees\[3\].root is 'd'; .*an integer"),
    "multiplicity of zero": (
        _set("trees", 0, "multiplicity", to=0),
        r"^trees\[0\].multiplicity is 0; it must be between 1 and",
    ),
    "true multiplicity": (
        _set("trees", 0, "multiplicity", to=True),
        r"^trees\[0\].multiplicity is True; it must be an integer",
    ),
    "huge multiplicity": (_set("trees", 0, "multiplicity", to=2**63), r"^trees\[0\].multiplicity"),
    "edge of three": (
        _set("trees", 0, "edges", 1, to=[0, 1, 2]),
        r"^trees\[0\].edges\[1\] is \[0, 1, 2\]; it must be a pair",
    ),
    "edge as number": (_set("trees", 0, "edges", 1, to=7), r"^trees\[0\].edges\[1\] is 7; .*pair"),
    "edge as text": (_set("trees", 0, "edges", 1, to="ab"), r"^trees\[0\].edges\[1\] is 'ab'"),
    "edge by name": (
        _set("trees", 1, "edges", 2, to=["a", "b"]),
        r"^trees\[1\].edges\[2\] is 'a'; it must be an integer",
    ),
    "edge of booleans": (
        _set("trees", 1, "edges", 0, to=[False, True]),
        r"^trees\[1\].edges\[0\] is False; it must be an integer",
    ),
    "edge to unknown GPU": (
        _set("trees", 0, "edges", 2, to=[2, 4]),
        r"^trees\[0\].edges\[2\] is 4; it must be between 0 and 3",
    ),
    "edge from nowhere": (
        _set("trees", 0, "edges", 2, to=[-1, 3]),
        r"^trees\[0\].edges\[2\] is -1; it must be between 0 and 3",
    ),
    "route to unknown GPU": (_set("routes", 2, "to", to=9), r"^routes\[2\].to is 9; .*0 and 3"),
    "route without paths": (lambda d: d["routes"][1].pop("paths"), r"^routes\[1\].paths is mis"),
    "path as list": (
        _set("routes", 1, "paths", to=[["a", "x", "b"]]),
        r"^routes\[1\].paths\[0\] is .*; it must be an object",
    ),
    "path over unknown node": (
        _set("routes", 1, "paths", 0, "nodes", 1, to="z"),
        r"^routes\[1\].paths\[0\].nodes is 'z'; it must be names of nodes of leaves4",
    ),
    "path by positions": (
        _set("routes", 7, "paths", 0, "nodes", to=[0, 4, 1]),
        r"^routes\[7\].paths\[0\].nodes is 0; it must be names",
    ),
    "path multiplicity as text": (
        _set("routes", 0, "paths", 0, "multiplicity", to="2"),
        r"^routes\[0\].paths\[0\].multiplicity is '2'; it must be an integer",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_file_is_refused_by_field(name: str, tmp_path: Path) -> None:
    """The message names the file, the field, the value found and the values allowed."""
    change, message = MALFORMED[name]
    assert re.search(message, refused(spoil(tmp_path, change)))


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
def test_what_is_no_schedule_at_all_is_refused(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "schedule.json"
    path.write_bytes(content)
    assert re.search(message, refused(path))


def test_missing_file_and_directory_are_refused(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "nowhere.json")
    assert "is a directory" in refused(tmp_path)


def test_route_listed_twice_is_left_to_verify(tmp_path: Path) -> None:
    """The form allows it; the proof does not."""
    path = spoil(tmp_path, lambda d: d["routes"].append(d["routes"][0]))
    with pytest.raises(VerificationError, match="a -> b is listed twice"):
        verify(read_schedule(path))


def test_node_named_outside_ascii_survives(tmp_path: Path) -> None:
    """Names are text, whatever their letters."""
    forest = rails2()
    nodes = tuple(replace(node, name=f"GPU Ä {node.name}") for node in forest.topology.nodes)
    net = replace(forest.topology, nodes=nodes)
    write_schedule(replace(forest, topology=net, optimum=None), tmp_path / "schedule.json")
    assert read_schedule(tmp_path / "schedule.json").topology == net


def test_fractions_stay_fractions(tmp_path: Path) -> None:
    """127/3 has no decimal; the file keeps it, with the nearest one beside it."""
    forest = replace(ring3(), congestion=Fraction(127, 3), optimum=None)
    write_schedule(forest, tmp_path / "schedule.json")
    document = json.loads((tmp_path / "schedule.json").read_text())
    assert (document["congestion"], document["congestion_decimal"]) == ("127/3", 127 / 3)
    assert read_schedule(tmp_path / "schedule.json").congestion == Fraction(127, 3)


def test_missing_directory_is_an_export_error(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "schedule.json"
    with pytest.raises(ExportError, match=r"there is no directory .*nowhere; create it first$"):
        write_schedule(ring3(), path)


def test_directory_is_no_file_to_write(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="is a directory"):
        write_schedule(ring3(), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), OSError(28, "No space left")])
def test_interrupted_write_leaves_the_old_file(
    interruption: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there stays, and nothing half-written is left beside it."""
    path = tmp_path / "schedule.json"
    write_schedule(ring3(), path)
    before = path.read_bytes()

    def stop(forest: Forest) -> str:
        raise interruption

    monkeypatch.setattr(files, "_routes", stop)
    with pytest.raises((KeyboardInterrupt, ExportError)):
        write_schedule(star3(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_link_to_a_file_is_followed(tmp_path: Path) -> None:
    """Writing through a symbolic link replaces the file behind it, not the link."""
    (tmp_path / "link.json").symlink_to(tmp_path / "file.json")
    write_schedule(ring3(), tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert_equal(read_schedule(tmp_path / "file.json"), ring3())


def test_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    """Output to a pipe or a device (/dev/stdout) goes through it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_schedule(ring3(), pipe)
    reader.join(timeout=10)
    assert pipe.is_fifo()
    write_schedule(ring3(), tmp_path / "file.json")
    assert read == [(tmp_path / "file.json").read_bytes()]


def test_example_of_the_documentation_is_what_is_written(tmp_path: Path) -> None:
    """The page shows the very bytes that the two rails give, and they verify as optimal."""
    page = (DOCS / "schedule-format.md").read_text(encoding="utf-8")
    example = page.partition("```json\n")[2].partition("```")[0]
    write_schedule(rails2(), tmp_path / "schedule.json")
    assert (tmp_path / "schedule.json").read_text() == example
    assert verify(read_schedule(tmp_path / "schedule.json")).optimal


def test_schema_refuses_what_the_reader_refuses(tmp_path: Path) -> None:
    """An unknown field, a missing one and a multiplicity of zero fail the schema too."""
    for name in ("unknown field", "missing field", "multiplicity of zero", "edge of three"):
        document = json.loads(spoil(tmp_path, MALFORMED[name][0]).read_text())
        assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(document), name
