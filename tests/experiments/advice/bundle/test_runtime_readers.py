"""Files of runtimes, read back."""

from typing import Any

import pytest

from experiments.advice.bundle.runtime_readers import READERS
from forestcoll import compile_program, generate
from forestcoll.errors import ForestCollError
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions

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


def test_what_is_wrong_is_said() -> None:
    text = export(compile_program(generate("ring:nodes=4").schedule), MscclOptions()).text
    found = READERS["msccl"](text.replace('srcoff="1"', 'srcoff="0"'), None, True)
    assert found.wrong
    assert not READERS["msccl"](text.replace('srcoff="1"', 'srcoff="0"'), None, False).wrong


def test_the_root_is_that_of_the_collective() -> None:
    schedule = generate("ring:nodes=4", collective="broadcast", root=2).schedule
    text = export(compile_program(schedule), MscclOptions()).text
    assert not READERS["msccl"](text, 2, True).wrong
    assert READERS["msccl"](text, 1, True).wrong


def test_what_is_no_xml_is_an_error() -> None:
    with pytest.raises(ForestCollError):
        READERS["msccl"]("{}", None, True)
