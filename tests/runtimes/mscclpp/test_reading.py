"""Reading plans that nobody vouches for."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.mscclpp import parse_plan, read_plan, reading, written_plan
from forestcoll.runtimes.mscclpp.reading import is_plan
from tests.runtimes.mscclpp.plans import BROADCAST, GATHER, changed, document


def test_all_of_a_file_is_read() -> None:
    plan = read_plan(BROADCAST).plan
    assert (plan.collective, plan.protocol, plan.in_place) == ("broadcast", "Simple", False)
    gpu = plan.gpus[1]
    assert (gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks) == (1, 1, 0)
    assert gpu.memory_channels == (0, 2, 3)
    assert [one.rank for one in gpu.remote_buffers] == [2, 3]
    block = gpu.threadblocks[0]
    assert [one.kind for one in block.operations][:3] == ["rlxsignal", "rlxwait", "wait"]
    assert [span.number for span in block.operations[4].targets] == [0, 1]
    assert not read_plan(BROADCAST).remarks


def put(data: dict[str, Any], path: str, value: Any) -> None:
    """Change one field of the file, or take it out."""
    *places, last = path.split(".")
    for place in places:
        data = data[int(place) if place.isdigit() else place]  # type: ignore[call-overload]
    if value is ...:
        del data[last]
    else:
        data[last] = value


OP = "gpus.1.threadblocks.0.ops"
IN_WORDS = r"gpus\[1\]\.threadblocks\[0\]\.ops"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("name", ..., "name is missing; add it, since the loader crashes without"),
        ("inplace", 1, "inplace is 1; it must be true or false"),
        ("collective", "x" * 300, "collective is .*; it must be text of at most 255"),
        ("gpus", [], r"gpus is \[\]"),
        ("gpus", {}, r"gpus is \{\}; it must be a list"),
        ("buffer_alignment", 0, "buffer_alignment is 0; it must be a whole number from 1"),
        ("max_message_size", 2**64, "max_message_size is"),
        ("gpus.1.id", 0, r"gpus\[1\]\.id is 0; it must be 1, its place"),
        ("gpus.1.output_chunks", 0, r"gpus\[1\]\.output_chunks is 0; it must be .* from 1"),
        ("gpus.1.inputChunks", 1, r"gpus\[1\]\.inputChunks is of the format before v0\.8"),
        ("gpus.1.remote_buffers", ..., r"gpus\[1\]\.remote_buffers is missing"),
        ("gpus.1.channels", [{"channel_type": "sm"}], "channel_type is 'sm'; it must be one of"),
        ("gpus.1.threadblocks.0.id", 2, r"threadblocks\[0\]\.id is 2; it must be 0"),
        (f"{OP}.3.name", "glre", rf"{IN_WORDS}\[3\]\.name is 'glre'; it must be one of nop"),
        (f"{OP}.4.channel_type", ..., rf"{IN_WORDS}\[4\]\.channel_type is missing; put needs it"),
        (f"{OP}.4.channel_type", "switch", r"dst_buff\[0\]\.buffer_id is given, but channel_type"),
        (f"{OP}.4.src_buff", [{"type": "x", "index": 0, "size": 1}], "type is 'x'"),
        (f"{OP}.4.src_buff", [{"type": "i", "index": -1, "size": 1}], "index is -1"),
        (f"{OP}.4.src_buff", [{"type": "i", "index": 0, "size": 0}], "size is 0"),
        (f"{OP}.4.src_buff", [{"type": "i", "index": 0.5, "size": 1}], "index is 0.5"),
        (f"{OP}.6.channel_ids", [1, "2"], rf"{IN_WORDS}\[6\]\.channel_ids\[1\] is '2'"),
        (f"{OP}.3", {"name": "barrier", "barrier_id": 0}, "num_threadblocks is missing"),
        (f"{OP}.3.tbg_info", {"tb_id": 2, "tbg_size": 2}, "tb_id is 2; .* from 0 to 1"),
        (f"{OP}.3", {"name": "pipeline", "ops": []}, "iter_context is missing"),
    ],
)
def test_invalid_fields_are_reported_with_their_place(path: str, value: Any, message: str) -> None:
    data = document(BROADCAST)
    target = data
    if path.rsplit(".", 1)[-1].isdigit():
        place = int(path.rsplit(".", 1)[-1])
        target["gpus"][1]["threadblocks"][0]["ops"][place] = value
    else:
        put(target, path, value)
    with pytest.raises(InvalidScheduleError, match=f"^file: .*{message}"):
        parse_plan(json.dumps(target), "file")


def test_a_pipeline_holds_no_other() -> None:
    inner = {"name": "pipeline", "iter_context": {"unit_size": 1, "num_chunks": 1}, "ops": []}
    outer = {**inner, "ops": [inner]}
    with pytest.raises(InvalidScheduleError, match="a pipeline in a pipeline; take it out"):
        parse_plan(json.dumps(changed(GATHER, 0, 2, **outer)))


def test_fields_that_the_loader_ignores_are_remarked() -> None:
    data = changed(GATHER, 0, 3, source=1)
    found = parse_plan(json.dumps({**data, "in_place": True}))
    assert found.remarks == (
        "gpus[0].threadblocks[0].ops[3].source is unknown, and ignored by the loader",
        "in_place is unknown, and ignored by the loader",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[1]", r"all is \[1\]; it must be an object"),
        ('{"name": "a", "name": "b"}', "not JSON: .*name"),
        ("[" * 100_000, "not JSON: .*recursion"),
        ('{"name": NaN}', "not JSON"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_documents_that_are_no_plan_are_reported_in_one_line(
    text: str | bytes, message: str
) -> None:
    with pytest.raises(InvalidScheduleError, match=message) as report:
        parse_plan(text)
    assert "\n" not in str(report.value)


def test_a_plan_is_known_by_the_fields_that_it_must_have(tmp_path: Path) -> None:
    """Without the field `inplace`, as in an algorithm of SCCL, a file is none."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document(GATHER)))
    assert is_plan(path)
    path.write_text(json.dumps({**document(GATHER), "inplace": None}).replace("inplace", "place"))
    assert not is_plan(path)
    with pytest.raises(InvalidScheduleError, match="cannot be read"):
        is_plan(tmp_path / "none.json")


def test_too_large_a_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 1000)
    with pytest.raises(InvalidScheduleError, match="too much to read"):
        read_plan(GATHER)
    with pytest.raises(InvalidScheduleError, match=r"none\.json: cannot be read: no such file"):
        read_plan(tmp_path / "none.json")


def test_cut_and_changed_files_are_read_or_refused_and_nothing_else() -> None:
    """Cut at every fifth byte, and with a random byte another, 400 times; in seconds."""
    start = time.perf_counter()
    text = written_plan(read_plan(BROADCAST).plan).encode()
    for end in range(0, len(text) - 4, 5):
        with pytest.raises(InvalidScheduleError):
            parse_plan(text[:end])
    chance, refused = random.Random(5), 0
    for _ in range(400):
        data = bytearray(text)
        data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            parse_plan(bytes(data))
        except InvalidScheduleError:
            refused += 1
    assert 100 < refused < 400
    assert time.perf_counter() - start < 10
