"""Binary schedule files: an exact round trip of both forms; anything else is clearly refused."""

import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import InvalidScheduleError, VerificationError
from forestcoll.generation import generate
from forestcoll.schedule.files.schedule_files import read_schedule, write_schedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.topology import load_topology
from tests.schedule.files.malformed import assert_equal, refused
from tests.schedule.made.hand import FORESTS, leaves4
from tests.schedule.made.rotated import rotated
from tests.schedule.made.types import TYPES, schedule

Arrays = dict[str, Any]


def spoil(path: Path, change: Callable[[Arrays], object], save: Any = np.savez) -> Path:
    """Write the leaves' schedule with a change to its arrays."""
    write_schedule(leaves4(), path)
    with np.load(path) as members:
        arrays = dict(members)
    change(arrays)
    save(path, **arrays)
    return path


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_round_trip_is_exact(make: Callable[[], Forest], tmp_path: Path) -> None:
    """Explicit and factored, what is read is what was written."""
    path = tmp_path / "schedule.npz"
    for forest in (make(), as_factored(make())):
        write_schedule(forest, path)
        again = read_schedule(path)
        assert_equal(forest, again)
        assert verify(again) == verify(forest)


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=3", "mi250:boxes=2"])
def test_factored_forests_come_back(spec: str, tmp_path: Path) -> None:
    forest = generate(load_topology(spec), factored=True).schedule
    write_schedule(forest, tmp_path / "one.npz")
    again = read_schedule(tmp_path / "one.npz")
    assert_equal(forest, again)
    assert verify(again) == verify(forest)
    write_schedule(again, tmp_path / "other.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_rotated_trees_come_back(collective: str, tmp_path: Path) -> None:
    """Only files with rotated trees have version 4 and its two arrays."""
    made = rotated(f"{collective} dgx_a100:boxes=6")
    write_schedule(made, tmp_path / "one.npz")
    with np.load(tmp_path / "one.npz") as members:
        assert b'"version": 4' in members["head"].tobytes()
        assert sum(name.endswith(("digits", "radices")) for name in members) in (2, 4)
    again = read_schedule(tmp_path / "one.npz")
    assert made == again
    assert verify(again) == verify(made)
    write_schedule(again, tmp_path / "other.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"drop": "shapes.digits"}, "array shapes.digits is missing; the arrays of this form are "),
        ({"drop": "shapes.radices"}, "array shapes.radices is missing; the arrays of this form a"),
        ({"version": 1}, "array shapes.digits is not in the format; the arrays of this form are"),
        ({"put": ("shapes.radices", [[6]])}, "array shapes.radices has 2 dimensions; it must hav"),
        ({"put": ("shapes.digits", [0, 2**31])}, "array shapes.digits holds 2147483648; it must "),
    ],
)
def test_bad_arrays_of_rotated_trees(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "spoiled.npz"
    write_schedule(rotated("dgx_a100:boxes=6"), path)
    with np.load(path) as members:
        arrays = dict(members)
    if "drop" in change:
        del arrays[change["drop"]]
    if "put" in change:
        name, value = change["put"]
        arrays[name] = np.asarray(value)
    if "version" in change:
        head(b'"version": 4', b'"version": 1')(arrays)
    np.savez(path, **arrays)
    assert refused(path).startswith(message)


def test_numbers_of_any_size_come_back(tmp_path: Path) -> None:
    """Types are as narrow as the numbers allow: 127 fits a byte, 128 and -129 do not."""
    for largest in (127, 128, 2**15, 2**31, 2**63 - 1):
        forest = leaves4()
        forest.multiplicity[:] = [largest, -largest - 1, 0, 1]
        write_schedule(forest, tmp_path / "schedule.npz")
        assert_equal(forest, read_schedule(tmp_path / "schedule.npz"))


def drop(name: str) -> Callable[[Arrays], object]:
    return lambda arrays: arrays.pop(name)


def put(name: str, value: Any) -> Callable[[Arrays], object]:
    return lambda arrays: arrays.update({name: np.asarray(value)})


def head(old: bytes, new: bytes) -> Callable[[Arrays], object]:
    """Change the text of the head."""

    def change(arrays: Arrays) -> None:
        text = arrays["head"].tobytes()
        assert old in text
        arrays["head"] = np.frombuffer(text.replace(old, new), dtype=np.uint8)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop("head"), "not a schedule; array head is missing"),
        (drop("routes.hop"), "array routes.hop is missing; the arrays of this form are root, "),
        (put("extra", [1]), "array extra is not in the format; the arrays of this form are root, "),
        (put("root", [0.5] * 4), "array root holds float64; it must hold integers, row by row"),
        (put("root", np.ones(4, np.uint8)), "array root holds uint8; it must hold signed integers"),
        (put("root", [[0, 1, 2, 3]]), "array root has 2 dimensions; it must have 1"),
        (put("root", [0, 1, 2, 2**31]), "array root holds 2147483648; it must fit int32"),
        (put("root", [0, 1, 2]), "array parent has shape (4, 4); it must have (3, 4)"),
        (put("parent", [0] * 16), "array parent has 1 dimensions; it must have 2"),
        (
            put("parent", np.asfortranarray(np.zeros((4, 4), np.int8))),
            "array parent holds int8; it must hold integers, row by row",
        ),
        (put("root", [0, 1, 2, 4]), "root[3] is 4; it must be between 0 and 3"),
        (put("multiplicity", [1] * 3), "array multiplicity has 3 entries; root has 4"),
        (put("parent", [[0] * 4, [0, 0, 4, 0]] * 2), "parent[1, 2] is 4; it must be between -1 an"),
        (put("routes.multiplicity", [0] * 6), "routes.multiplicity[0] is 0; it must be between 1"),
        (put("routes.hop", [7]), "routes.hop[0] is 7; it must be between 0 and 5"),
        (put("routes.hop", [1]), "array routes.first_hop runs from 0 to "),
        (put("routes.first_path", [0]), "array routes.first_path has 1 entries; it must have "),
        (put("routes.tail", [4]), "array routes.head has "),
        (put("head", np.arange(3)), "array head holds int64; it must hold the bytes of a text"),
        (put("head", np.full(3, 255, np.uint8)), "array head is not text in UTF-8"),
        (head(b"explicit", b"expanded"), "form is 'expanded'; it must be one of 'explicit', "),
        (head(b'"explicit"', b"7"), "form is 7; it must be text"),
        (head(b'"version": 1', b'"version": 5'), "version is 5; it must be 1, 2, 3 or 4"),
        (head(b'"version": 1', b'"version": 4'), "version is 4, but form is 'explicit'; that ver"),
        (head(b'"k": 1', b'"k": 0'), "k is 0; it must be positive"),
        (head(b'"method"', b'"maker"'), "method is missing; add it"),
        (head(b"{", b""), "line 1: not JSON: "),
        (head(b'"compute"', b'"gpu"'), "topology"),
        (head(b'"explicit"', b'"factored"'), "array links.head is missing; the arrays of this"),
    ],
)
def test_bad_arrays(change: Callable[[Arrays], object], message: str, tmp_path: Path) -> None:
    assert refused(spoil(tmp_path / "spoiled.npz", change)).startswith(message)


@pytest.mark.parametrize("name", sorted(set(TYPES) - {"multicast forest"}))
def test_paths_that_there_are_not_are_refused(name: str, tmp_path: Path) -> None:
    """Every form that has routes: no node, row, link or multiplicity that cannot be."""
    if "multicast" in name:
        array, faults = (
            "gather.walks.node",
            {"gather.walks.first_node": (0, 1), "gather.walk": (0, -1)},
        )
    else:
        prefix = "gather." if "allreduce" in name else ""
        array = f"{prefix}routes.hop"
        faults = {
            f"{prefix}routes.{row}": fault
            for row, fault in {
                "first_path": (1, -1),
                "first_hop": (-1, 0),
                "multiplicity": (0, 0),
                "tail": (0, -1),
                "head": (-1, 10**6),
            }.items()
        }
    write_schedule(schedule(name), tmp_path / "right.npz")
    with np.load(tmp_path / "right.npz") as members:
        right = dict(members)
    for wrong, (at, number) in {**faults, array: (3, -1)}.items():
        changed = right[wrong].astype(np.int64)
        changed[at] = number
        np.savez(tmp_path / "wrong.npz", **{**right, wrong: changed})
        assert refused(tmp_path / "wrong.npz").removeprefix("array ").startswith(wrong)


def test_compressed_and_pickled_arrays_are_refused(tmp_path: Path) -> None:
    """A small file must not ask for much memory, and none runs code."""
    path = spoil(tmp_path / "small.npz", lambda arrays: None, save=np.savez_compressed)
    assert refused(path) == "array head is compressed; write it with numpy.savez, which does not"
    path = spoil(tmp_path / "pickled.npz", put("root", np.array([{}], dtype=object)))
    assert refused(path) == "array root holds object; it must hold integers, row by row"


def test_a_header_that_asks_for_more_than_there_is_is_refused(tmp_path: Path) -> None:
    """A thousand gigabytes, says the header of a member of a few bytes."""
    path = tmp_path / "large.npz"
    header = io.BytesIO()
    large = {"descr": "<i4", "fortran_order": False, "shape": (2**38,)}
    np.lib.format.write_array_header_1_0(header, large)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("root.npy", header.getvalue() + b"1234")
    assert refused(path) == (
        "array root has 4 bytes of data; its shape (274877906944,) asks for 1099511627776"
    )


def test_twice_the_same_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.npz"
    array = io.BytesIO()
    np.save(array, np.zeros(3, np.int32))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("root.npy", array.getvalue())
        archive.writestr("root", array.getvalue())
    assert refused(path) == "array root is there twice"


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    path.write_text("{}")
    assert refused(path) == "not a complete npz file: File is not a zip file"
    assert refused(tmp_path / "missing.npz").startswith("cannot be read: no such file")


@pytest.mark.parametrize("factored", [False, True])
def test_damaged_files_are_refused_or_judged(factored: bool, tmp_path: Path) -> None:
    """Cut off anywhere or with a few bytes changed: one typed error, or a forest to be judged."""
    path = tmp_path / "damaged.npz"
    forest = leaves4()
    write_schedule(as_factored(forest) if factored else forest, path)
    whole = path.read_bytes()
    refusals = 0
    for seed in range(300):
        draw = random.Random(seed)
        data = bytearray(whole)
        if seed % 2:
            del data[draw.randrange(len(data)) :]
        else:
            for _ in range(draw.randrange(1, 4)):
                data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data)
        try:
            verify(read_schedule(path))
        except (InvalidScheduleError, VerificationError) as error:
            refusals += 1
            message = str(error)
            assert "\n" not in message
    assert refusals > 200
