"""Demands in files: every format, names in any order, and what is refused."""

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.problem import demand_files
from forestcoll.problem.demand_files import demand_in, read_demand
from forestcoll.topology import load_topology

THREE = load_topology("ring:nodes=3")
AMOUNTS = [[0, 5, 7], [1, 0, 2048], [0, 3, 0]]
"""What every file of these tests says."""

FORMS = {
    "rows.csv": "0,5,7\n1,0,2KB\n,3,0\n",
    "spaces.csv": "0 , 5, 7\r\n\r\n 1,9, 2 KiB\r\n0,3,0",
    "empty.csv": ",5,7\n1,,2048\n,3,\n",
    "names.csv": "bytes,gpu2,gpu0,gpu1\ngpu2,0,0,3\ngpu0,7,0,5\ngpu1,2048,1,0\n",
    "quoted.CSV": '"","gpu0","gpu1","gpu2"\n"gpu0","0","5","7"\ngpu1,1,0,2048\ngpu2,0,3,0\n',
    "rows.yaml": "amounts:\n  - [0, 5, 7]\n  - [1, 0, 2KB]\n  - [0, 3, 0]\n",
    "rows.yml": "name: layer 3\namounts: [[0, 5, 7], [1, 0, '2048'], [null, 3.0, 0]]\nunit: 1\n",
    "rows.json": json.dumps({"amounts": AMOUNTS}),
    "chunks.yaml": "chunks:\n- {from: gpu2, to: gpu1, size: 3}\n- {from: 0, to: 1, size: 5}\n"
    "- {from: gpu0, to: [gpu2], size: 7}\n- {from: gpu1, to: 0, size: 1}\n"
    "- {from: 1, to: gpu2, size: 2KB}\n",
    "chunks.json": json.dumps(
        {
            "chunks": [
                {"from": s, "to": f"gpu{t}", "size": size}
                for s, row in enumerate(AMOUNTS)
                for t, size in enumerate(row)
            ]
        }
    ),
}


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("name", FORMS)
def test_every_form_says_the_same(name: str, tmp_path: Path) -> None:
    path = _file(tmp_path, name, FORMS[name])
    made = read_demand(path, THREE)
    assert made.matrix.tolist() == AMOUNTS
    assert made.name == ("layer 3" if name == "rows.yml" else str(path))
    assert demand_in(str(path), THREE) == made


@pytest.mark.parametrize("kind", ["int64", "uint8", "float64", ">i4", "float32"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_of_any_type_and_order(
    kind: str, order: Any, save: Callable[..., None], tmp_path: Path
) -> None:
    amounts = np.array([[0, 5, 7], [1, 0, 255], [0, 3, 0]], dtype=kind, order=order)
    save(tmp_path / "a.npz", other=np.arange(9), amounts=amounts)
    assert read_demand(tmp_path / "a.npz", THREE).matrix.tolist() == amounts.tolist()


def test_amounts_are_in_their_unit(tmp_path: Path) -> None:
    """In units of 10 bytes; a size with a unit of its own keeps it."""
    text = "unit: 10\namounts: [[0, 5, 7], [1, 0, 2KB], [0, 3, 0]]\n"
    made = read_demand(_file(tmp_path, "u.yaml", text), THREE)
    assert made.matrix.tolist() == [[0, 50, 70], [10, 0, 2048], [0, 30, 0]]


def test_a_chunk_for_everybody_and_one_for_several(tmp_path: Path) -> None:
    text = "chunks:\n- {from: gpu1, to: '*', size: 4}\n- {from: gpu0, to: [2, gpu1], size: 6}\n"
    made = read_demand(_file(tmp_path, "c.yaml", text), THREE)
    assert [made.chunk(c) for c in range(2)] == [(0, 6, (1, 2)), (1, 4, (0, 2))]


def test_named_demands_are_added_up(tmp_path: Path) -> None:
    """A gather of 1 byte each from two GPUs, and 5 bytes to the next: gpu2 has 1 + 5 for gpu0."""
    text = "demands: ['gather:size=3', 'sendrecv:size=5']\n"
    made = read_demand(_file(tmp_path, "d.yaml", text), THREE)
    assert made.matrix.tolist() == [[0, 5, 0], [1, 0, 5], [6, 0, 0]]


def test_a_text_is_a_file_if_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name, a file of such a name, a misspelt name, and a file that is missing."""
    monkeypatch.chdir(tmp_path)
    assert demand_in("sendrecv:size=5", THREE).bytes == 15
    _file(tmp_path, "sendrecv", FORMS["rows.yaml"])
    assert demand_in("sendrecv", THREE).matrix.tolist() == AMOUNTS
    for text, message in (
        ("sendrec:size=1.5MB", "there is no demand 'sendrec'; did you mean 'sendrecv'"),
        ("gathr", "did you mean 'gather'"),
        ("none.csv", "none.csv: cannot be read: no such file"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            demand_in(text, THREE)


def test_the_network_may_be_a_specification() -> None:
    spec = "ring:nodes=4"
    assert demand_in("all-to-all", spec) == demand_in("all-to-all", load_topology(spec))


def test_a_path_that_cannot_be_printed_is_an_escaped_name(tmp_path: Path) -> None:
    made = read_demand(_file(tmp_path, "a\nb.csv", FORMS["rows.csv"]), THREE)
    assert made.name.endswith(r"a\nb.csv'")
    assert made.name.isprintable()


REFUSED = {
    "nothing.csv": ("", "has 0 rows of amounts; ring:nodes=3 has 3 GPUs and needs as many"),
    "few.csv": ("0,1\n1,0\n", "has 2 rows of amounts"),
    "ragged.csv": ("0,1,2\n1,0\n1,1,0\n", "has 3 rows of amounts"),
    "wide.csv": ("0,1,2,3\n" * 3, "has 3 rows of amounts"),
    "very wide.csv": ("1," * 1000, "has over 1000 amounts; ring:nodes=3 has 3 GPUs and needs"),
    "negative.csv": ("0,-1,2\n1,0,1\n1,1,0\n", r"row 1, column 2: is -1; amounts are from 0 up"),
    "signs.csv": ("0,--1,2\n1,0,1\n1,1,0\n", "row 1, column 2: has '--1'; write bytes, or a size"),
    "float.csv": ("0,1.5,2\n1,0,1\n1,1,0\n", "row 1, column 2: has '1.5', which is 3/2 bytes"),
    "nan.csv": ("0,1,2\n1,0,nan\n1,1,0\n", "row 2, column 3: has 'nan'; write bytes, or a size"),
    "exponent.csv": ("0,1,2\n1,0,1e5\n1,1,0\n", "row 2, column 3: has '1e5'"),
    "digits.csv": (f"0,{'9' * 5000},2\n1,0,1\n1,1,0\n", "row 1, column 2: has '999"),
    "petabyte.csv": ("0,1000000000000000,2\n1,0,1\n1,1,0\n", r"an amount is 10{15}; at most 1e"),
    "zeros.csv": ("0,0,0\n" * 3, "the demand is empty"),
    "other names.csv": (
        ",gpu0,gpu1,gpu2\ngpu0,0,1,1\ngpu2,0,1,1\ngpu1,0,1,1\n",
        "the first column does not name the same GPUs as the first row",
    ),
    "unknown name.csv": (
        ",gpu0,gpu1,gpu7\ngpu0,0,1,1\ngpu1,0,1,1\ngpu7,0,1,1\n",
        "names 'gpu7', which is not a node; did you mean",
    ),
    "twice.csv": (
        ",gpu0,gpu1,gpu1\ngpu0,0,1,1\ngpu1,0,1,1\ngpu1,0,1,1\n",
        "does not name every GPU of ring:nodes=3 once",
    ),
    "quote.csv": ('0,"1,2\n', "is not a CSV file: unexpected end of data"),
    "field.csv": ("0," + "a" * 200_000, "is not a CSV file: field larger than field limit"),
    "list.yaml": ("[1, 2]\n", "it must be a mapping of name, amounts, unit, chunks, demands"),
    "empty.yaml": ("", "must be a mapping"),
    "none.yaml": ("name: a\n", "must have one of amounts, chunks and demands"),
    "both.yaml": ("amounts: []\nchunks: []\n", "must have one of amounts, chunks and demands"),
    "field.yaml": ("amount: [[0]]\n", "amount is not a field; known are name, amounts"),
    "name.yaml": ("name: [a]\namounts: []\n", "name must be printable"),
    "no name.yaml": ('name: "a\\tb"\namounts: []\n', "name must be printable"),
    "unit.yaml": ("unit: 2\nchunks: []\n", "unit is for amounts"),
    "bad unit.yaml": ("unit: -1\namounts: []\n", "unit: is -1; amounts are from 0 up"),
    "short.yaml": ("amounts: [[0, 1, 2]]\n", "amounts must be 3 rows, one for each GPU"),
    "text.yaml": ("amounts: abc\n", "amounts must be 3 rows"),
    "row.yaml": (
        "amounts: [[0, 1, 2], [0, 1], [0, 1, 2]]\n",
        r"amounts\[1\] must be 3 amounts, one for each GPU",
    ),
    "cell.yaml": (
        "amounts: [[0, 1, 2], [0, 1, [2]], [0, 1, 2]]\n",
        r"amounts\[1\]\[2\]: has \[2\]; write bytes, or a size",
    ),
    "truth.json": ('{"amounts": [[0, true, 1], [0, 0, 0], [0, 0, 0]]}', r"\[0\]\[1\]: has True"),
    "NaN.json": ('{"amounts": [[0, NaN, 1], [0, 0, 0], [0, 0, 0]]}', r"\[0\]\[1\]: has 'NaN'"),
    "digits.json": (
        f'{{"amounts": [[0, {"9" * 900}, 1], [0, 0, 0], [0, 0, 0]]}}',
        r"has '999.*; write bytes, or a size",
    ),
    "below.json": (
        f'{{"amounts": [[0, -{"9" * 30}, 1], [0, 0, 0], [0, 0, 0]]}}',
        "amounts are from 0 up|write bytes, or a size",
    ),
    "chunk.yaml": ("chunks: {from: 0}\n", "chunks must be a list of mappings of from, to and size"),
    "chunks.yaml": ("chunks: [5]\n", r"chunks\[0\] must be a mapping of from, to and size"),
    "no chunks.yaml": ("chunks: []\n", "the demand is empty"),
    "more.yaml": (
        "chunks: [{from: 0, to: 1, size: 1, by: noon}]\n",
        r"chunks\[0\] must be a mapping of from, to and size",
    ),
    "gpu.yaml": (
        "chunks: [{from: gpu0, to: gpu9, size: 1}]\n",
        r"chunks\[0\]: names 'gpu9', which is not a node",
    ),
    "rank.yaml": ("chunks: [{from: 0, to: 3, size: 1}]\n", r"chunks\[0\]: names rank 3; ranks are"),
    "nobody.yaml": ("chunks: [{from: 0, to: null, size: 1}]\n", r"chunks\[0\]: None is not a GPU"),
    "size.yaml": (
        "chunks: [{from: 0, to: 1, size: much}]\n",
        r"chunks\[0\].size: has 'much'; write bytes, or a size",
    ),
    "demands.yaml": ("demands: sendrecv\n", "demands must be a list of demands such as all-to-all"),
    "demand.yaml": ("demands: [sendrec]\n", "there is no demand 'sendrec'"),
    "no demands.yaml": ("demands: []\n", "demands must be a list"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_refused(name: str, tmp_path: Path) -> None:
    text, message = REFUSED[name]
    with pytest.raises(InvalidParameterError, match=message) as caught:
        read_demand(_file(tmp_path, name, text), THREE)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _member(content: bytes, name: str = "amounts.npy") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def _head(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


HUGE = "{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000, 1000000000)}"
SPOILT = bytearray(_member(os.urandom(3000)))
SPOILT[200] ^= 255

ARCHIVES = {
    "nothing": (b"", "holds no array 'amounts' of whole numbers .*; write it with numpy.savez"),
    "text": (b"0,1,2\n", "holds no array 'amounts'"),
    "another name": (_npz(amount=np.eye(3)), "There is no item named 'amounts.npy'"),
    "another shape": (_npz(amounts=np.ones((2, 3))), r"'amounts' has shape \(2, 3\); ring:nodes=3"),
    "pickled": (_npz(amounts=np.array([[0, None]] * 2)), "it holds object"),
    "words": (_npz(amounts=np.full((3, 3), "a")), "it holds <U1"),
    "complex": (_npz(amounts=np.full((3, 3), 1j)), "it holds complex128"),
    "truth": (_npz(amounts=~np.eye(3, dtype=bool)), "it holds bool"),
    "negative": (_npz(amounts=np.full((3, 3), -1)), "an amount is -1 bytes"),
    "nan": (_npz(amounts=np.full((3, 3), np.nan)), "not a whole number"),
    "zeros": (_npz(amounts=np.zeros((3, 3))), "the demand is empty"),
    "huge": (_member(_head(HUGE)), r"'amounts' has shape \(1000000000, 1000000000\)"),
    "short": (_member(_head(HUGE.replace("1000000000", "3")) + b"\0" * 71), "holds no array"),
    "brackets": (_member(_head("(" * 9000)), "holds no array"),
    "no array": (_member(b"PK"), "holds no array"),
    "spoilt": (bytes(SPOILT), "holds no array"),
    "many": (b"PK\x01\x02" * 1001, "it has over 1000 arrays"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_is_refused(name: str, tmp_path: Path) -> None:
    content, message = ARCHIVES[name]
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    with pytest.raises(InvalidParameterError, match=message) as caught:
        read_demand(path, THREE)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_large_yaml_file_is_refused_with_other_formats(tmp_path: Path) -> None:
    path = _file(tmp_path, "a.yaml", "# " + "a" * 16_000_000)
    with pytest.raises(InvalidParameterError, match=r"over 16 MB.* large demands as CSV or npz"):
        read_demand(path, THREE)


def test_more_targets_and_demands_than_memory_should_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three chunks for all of three GPUs are nine targets; 2 demands of 9 pairs are 18."""
    monkeypatch.setattr(demand_files, "_MOST_TARGETS", 8)
    monkeypatch.setattr(demand_files, "_MOST_ADDED", 17)
    chunk = "{from: 0, to: '*', size: 1}"
    path = _file(tmp_path, "c.yaml", f"chunks: [{chunk}, {chunk}, {chunk}]\n")
    with pytest.raises(InvalidParameterError, match=r"chunks\[2\] is beyond 8 targets in all"):
        read_demand(path, THREE)
    path = _file(tmp_path, "d.yaml", "demands: [sendrecv, gather]\n")
    with pytest.raises(InvalidParameterError, match="demands has 2 entries; at most 1 fit"):
        read_demand(path, THREE)
    assert read_demand(_file(tmp_path, "e.yaml", "demands: [sendrecv]\n"), THREE).num_chunks == 3
