"""Schedule files: an exact round trip, the same bytes, and a clear refusal of anything else."""

import json
import os
import struct
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import jsonschema
import numpy as np
import pytest

from forestcoll.errors import ExportError, InvalidScheduleError, VerificationError
from forestcoll.schedule.files import schedule_files as files
from forestcoll.schedule.files.schedule_files import read_schedule, write_schedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.verification.dispatch import verify
from tests.schedule.files.malformed import DOCS, MALFORMED, SCHEMA, assert_equal, refused, spoil
from tests.schedule.made.hand import FORESTS, MUTABLE, leaves4, rails2, ring3, star3
from tests.schedule.mutations_of.forests import MUTATIONS


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
@pytest.mark.parametrize("claimed", [True, False])
def test_round_trip_is_exact(make: Callable[[], Forest], claimed: bool, tmp_path: Path) -> None:
    """What is read is what was written, and verifies from the file alone."""
    forest = make() if claimed else replace(make(), optimum=None)
    write_schedule(forest, tmp_path / "schedule.json")
    again = read_schedule(tmp_path / "schedule.json")
    assert_equal(forest, again)
    assert verify(again) == verify(forest)


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_shared_capacities_are_in_the_file(suffix: str, tmp_path: Path) -> None:
    """The network inside is the one of the schedule, its common limit with it."""
    forest = leaves4()
    names = [node.name for node in forest.topology.nodes]
    first = forest.topology.links[0]
    shared = forest.topology.with_shared("bus", f"{names[first.tail]} - {names[first.head]}", 10**6)
    limited = replace(forest, topology=shared, optimum=None)
    write_schedule(limited, tmp_path / f"schedule.{suffix}")
    again = read_schedule(tmp_path / f"schedule.{suffix}")
    assert_equal(limited, again)
    assert again.topology.shared == shared.shared != ()


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


def test_missing_file_and_directory_are_refused(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "nowhere.json")
    assert "is a directory" in refused(tmp_path)


def test_node_named_outside_ascii_survives(tmp_path: Path) -> None:
    """Names are text, whatever their letters."""
    forest = rails2()
    nodes = tuple(replace(node, name=f"GPU Ä {node.name}") for node in forest.topology.nodes)
    net = replace(forest.topology, nodes=nodes)
    write_schedule(replace(forest, topology=net, optimum=None), tmp_path / "schedule.json")
    assert read_schedule(tmp_path / "schedule.json").topology == net


def test_a_file_as_a_directory_is_an_export_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ExportError, match=r"cannot be written"):
        write_schedule(ring3(), tmp_path / "file" / "schedule.json")


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


def test_the_documented_example_equals_the_written_file(tmp_path: Path) -> None:
    """The page shows the very bytes that the two rails give, and they verify as optimal."""
    page = (DOCS / "formats" / "schedule.md").read_text(encoding="utf-8")
    example = page.partition("```json\n")[2].partition("```")[0]
    write_schedule(rails2(), tmp_path / "schedule.json")
    assert (tmp_path / "schedule.json").read_text() == example
    assert verify(read_schedule(tmp_path / "schedule.json")).optimal


def test_the_schema_refuses_the_files_that_the_reader_refuses(tmp_path: Path) -> None:
    """An unknown field, a missing one and a multiplicity of zero fail the schema too."""
    for name in ("unknown field", "missing field", "multiplicity of zero", "edge of three"):
        document = json.loads(spoil(tmp_path, MALFORMED[name][0]).read_text())
        assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(document), name


MARK = '"format": "forestcoll-schedule"'


def test_junk_is_refused_before_parsing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2 MB without our mark; what is as large and has it goes on to be parsed."""
    path = tmp_path / "junk.json"
    path.write_text("[" + "0," * 10**6 + "0]")
    parsed: list[int] = []
    monkeypatch.setattr(files, "parse_schedule", lambda content: parsed.append(len(content)))
    with pytest.raises(InvalidScheduleError, match=r"junk\.json: not a schedule; a schedule is a"):
        read_schedule(path)
    assert parsed == []
    path.write_text("{" + " " * 2 * 10**6 + MARK + "}")
    read_schedule(path)
    assert parsed == [2 * 10**6 + len(MARK) + 2]


def test_junk_with_our_mark_is_refused_by_the_number_of_its_values(tmp_path: Path) -> None:
    """11 million empty lists would take 1.2 GB: 112 bytes each."""
    path = tmp_path / "junk.json"
    path.write_text("{" + MARK + ', "trees": [' + "[]," * 11 * 10**6 + "[]]}")
    with pytest.raises(InvalidScheduleError, match=r"junk\.json: holds so many values .* 1232 MB"):
        read_schedule(path)


def test_large_files_are_refused_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way out is npz; nothing is left of what was begun."""
    path = tmp_path / "schedule.json"
    write_schedule(star3(), path)
    monkeypatch.setattr(files, "MOST_BYTES", path.stat().st_size - 1)
    with pytest.raises(
        InvalidScheduleError, match=r"too much to read; .* write the schedule as \.npz"
    ):
        read_schedule(path)
    with pytest.raises(
        ExportError, match=r"which read_schedule refuses; write the schedule as \.npz"
    ):
        write_schedule(star3(), tmp_path / "other.json")
    assert list(tmp_path.iterdir()) == [path]
    write_schedule(star3(), tmp_path / "other.npz")


def test_an_archive_that_lists_its_bytes_twice_is_refused(tmp_path: Path) -> None:
    """Two members of the same thousand bytes: 2256 in all, in a file that has fewer."""
    path = tmp_path / "twice.npz"
    np.savez(path, head=np.zeros(1000, dtype=np.uint8))
    content = path.read_bytes()
    start = content.index(b"PK\x01\x02")
    entry = content[start : content.index(b"PK\x05\x06")]
    end = bytearray(content[start + len(entry) :])
    end[8:12] = struct.pack("<HH", 2, 2)
    end[12:16] = struct.pack("<I", 2 * len(entry))
    path.write_bytes(content[:start] + 2 * entry + bytes(end))
    with pytest.raises(
        InvalidScheduleError, match="its arrays have 2256 bytes in all, and the file"
    ):
        read_schedule(path)


def test_a_header_of_thousands_of_signs_is_refused(tmp_path: Path) -> None:
    """Python's parser runs out of its stack for it, and says that memory is at its end."""
    header = b"-" * 9000 + b"1"
    member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    with ZipFile(tmp_path / "deep.npz", "w") as archive:
        archive.writestr("head.npy", member)
    with pytest.raises(InvalidScheduleError, match="head has a header that is nested too deeply"):
        read_schedule(tmp_path / "deep.npz")
