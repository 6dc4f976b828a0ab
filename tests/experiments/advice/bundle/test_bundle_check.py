"""Whether a bundle is whole."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.advice.bundle.bundle_check import READERS, faults_in
from experiments.advice.bundle.bundling import Bundling
from forestcoll import compile_program, generate
from forestcoll.errors import ForestCollError
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from tests.experiments.advice.bundle.tuned_ring import rewritten, tuned


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    Bundling(tuned(tmp_path / "tuned"), tmp_path / "bundle").run()
    return tmp_path / "bundle"


def test_a_whole_one_has_no_fault(bundle: Path) -> None:
    ticks: list[tuple[int, int]] = []
    assert list(faults_in(bundle, tick=lambda done, total: ticks.append((done, total)))) == []
    assert ticks == [(0, 2), (1, 2)]


def test_a_file_that_was_changed_is_reported_and_executed(bundle: Path) -> None:
    """By its sum; even if that is changed with it by what it does."""
    file = bundle / "msccl" / "01-direct.xml"
    file.write_text(file.read_text().replace('dstoff="1"', 'dstoff="0"'))
    first = list(faults_in(bundle, execute=False))
    assert first == ["msccl/01-direct.xml is not the file that was written: its sha256 differs"]
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    rewritten(bundle, lambda index: index["ranges"][0].update(sha256=digest))
    assert list(faults_in(bundle, execute=False)) == []
    assert any("msccl/01-direct.xml is wrong: " in fault for fault in faults_in(bundle))


def test_files_that_are_lost_or_strange_are_reported(bundle: Path) -> None:
    (bundle / "msccl" / "01-direct.xml").unlink()
    (bundle / "msccl" / "02-bfb.xml").write_text("{}")
    (bundle / "msccl" / "notes.txt").write_text("x")
    message = "\n".join(faults_in(bundle))
    assert "msccl/notes.txt is in no range; the runtime reads all files in its folder" in message
    assert "msccl/01-direct.xml cannot be read: no such file" in message
    assert "msccl/02-bfb.xml cannot be read: " in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda index: index["ranges"].pop(), "the ranges do not begin at 1024 and end at"),
        (lambda index: index["ranges"][0].update(last_bytes=2000), "its largest size is"),
        (lambda index: index["ranges"][0].update(last_bytes=2000), "no range has 2001 to"),
        (lambda index: index["ranges"][0].update(last_bytes=10**6), "two ranges have"),
        (lambda index: index["ranges"][0].update(chunks=7), "its chunks is 6, and 7 in"),
        (lambda index: index.update(gpus=7), "its GPUs is 6, and 7 in the index"),
        (lambda index: index.update(collective="allreduce"), "its collective is allgather"),
        (lambda index: index.update(runtime="nccl"), "its files are for 'nccl', which is none"),
    ],
)
def test_other_indexes(
    bundle: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    rewritten(bundle, change)
    assert any(message in fault for fault in faults_in(bundle, execute=False))


SIZES: Any = {"min_bytes": 1024, "max_bytes": 4096}


def test_an_xml_says_its_sizes_and_is_executed() -> None:
    text = export(
        compile_program(generate("ring:nodes=4").schedule), MscclOptions(protocol="LL", **SIZES)
    ).text
    found = READERS["msccl"](text, None, True)
    assert (found.min_bytes, found.max_bytes) == (1024, 4096)
    assert (found.protocol, found.gpus, found.collective) == ("LL", 4, "allgather")
    assert found.executed
    assert not found.wrong
    assert READERS["msccl"](text, None, False).executed == ()


def test_a_plan_says_its_sizes_and_is_executed_in_place_and_out_of_place() -> None:
    """16 bytes a chunk at least, four chunks: a multiple of 64 bytes."""
    program = compile_program(generate("complete:nodes=4", collective="allreduce").schedule)
    text = export(program, MscclppOptions(**SIZES)).text
    found = READERS["mscclpp"](text, None, True)
    assert (found.min_bytes, found.max_bytes, found.chunks) == (1024, 4096, 64)
    assert (found.protocol, found.gpus, found.collective) == ("Simple", 4, "allreduce")
    assert len(found.executed) == 2
    assert not found.wrong
    assert READERS["mscclpp"](text, None, False).executed == ()
    moved = text.replace('"index":1', '"index":0')
    assert moved != text
    assert READERS["mscclpp"](moved, None, True).wrong


def test_faults_are_reported() -> None:
    text = export(compile_program(generate("ring:nodes=4").schedule), MscclOptions()).text
    found = READERS["msccl"](text.replace('srcoff="1"', 'srcoff="0"'), None, True)
    assert found.wrong
    assert not READERS["msccl"](text.replace('srcoff="1"', 'srcoff="0"'), None, False).wrong


def test_the_root_is_that_of_the_collective() -> None:
    schedule = generate("ring:nodes=4", collective="broadcast", root=2).schedule
    text = export(compile_program(schedule), MscclOptions()).text
    assert not READERS["msccl"](text, 2, True).wrong
    assert READERS["msccl"](text, 1, True).wrong


def test_text_that_is_not_xml_is_refused() -> None:
    with pytest.raises(ForestCollError):
        READERS["msccl"]("{}", None, True)
