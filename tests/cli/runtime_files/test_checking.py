"""The command that checks MSCCL's XML."""

import json
from pathlib import Path
from typing import Any

import pytest

from forestcoll.cli.runtime_files.checking import lines_of, record_of
from forestcoll.runtimes.interpretation.findings import Finding, Findings, Kind, Place
from tests.command_line import assert_refused, document, invoke
from tests.runtimes.msccl_programs import Block, changed, line_of, ring_allgather, xml
from tests.runtimes.mscclpp.plans import BROADCAST, GATHER, dropped
from tests.runtimes.mscclpp.plans import changed as changed_plan


def written(folder: Path, text: str) -> Path:
    path = folder / "file.xml"
    path.write_text(text)
    return path


def test_a_right_file_is_a_screen_that_ends_with_yes(tmp_path: Path) -> None:
    path = written(tmp_path, ring_allgather(4))
    result = invoke("check-xml", path)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"file          {path}",
        "name          by hand",
        "collective    allgather",
        "calls         out of place",
        "GPUs          4",
        "protocol      Simple",
        "channels      1",
        "threadblocks  2 a GPU at most",
        "chunks        4",
        "sizes         0 bytes to any size",
        "executed      the largest call: one chunk a transfer, several slices",
        "findings      none",
        "right         yes",
    ]


def test_a_wrong_file_ends_with_one_and_names_the_line(tmp_path: Path) -> None:
    text = ring_allgather(4)
    line = line_of(text, 2, 0, 3)
    path = written(tmp_path, changed(text, line, dstoff=0))
    result = invoke("check-xml", path)
    assert result.exit_code == 1
    assert f"(line {line})" in result.stdout
    assert result.stdout.splitlines()[-1] == "right         no"
    assert not result.stderr


def test_the_document_has_all_findings(tmp_path: Path) -> None:
    """A ring of 20 that needs calls in place is all wrong in others; a screen shows five."""
    path = written(tmp_path, changed(ring_allgather(20, in_place=True), 1, inplace=0, outofplace=1))
    result = invoke("check-xml", path, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["right"], len(found["findings"]), found["more_of"]) == (False, 50, ["data"])
    assert {one["kind"] for one in found["findings"]} == {"data"}
    shown = invoke("check-xml", path).stdout
    assert shown.count("data: GPU") == 5
    assert "data: 45 or more others; see --json" in shown


def test_files_that_the_executor_ignores_are_noted(tmp_path: Path) -> None:
    """It is right, were it read; so the code is 0."""
    path = written(tmp_path, ring_allgather(3).replace(' maxBytes="0"', ""))
    result = invoke("check-xml", path)
    assert result.exit_code == 0
    assert "notes         algo has no maxBytes, so the executor ignores the file" in result.stdout
    found = document("check-xml", path)
    assert (found["right"], found["missing"]) == (True, ["maxBytes"])
    assert found["findings"][0]["line"] == 1


def test_a_root_may_be_given(tmp_path: Path) -> None:
    gpus = [[Block(1, 1).step("s").step("r", "i0", "s0")], [Block(0, 0).step("r").step("s", "i0")]]
    path = written(tmp_path, xml("broadcast", gpus, 1, (1, 1, 1)))
    assert_refused("the root of this broadcast is not plain; give it", "check-xml", path)
    assert invoke("check-xml", path, "--root", "0").exit_code == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [("<algo", "file.xml:1: not XML"), ("<!DOCTYPE a><algo/>", "has a document type")],
)
def test_other_files_than_msccl_are_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    assert_refused(message, "check-xml", written(tmp_path, text))


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    assert_refused("cannot be read: no such file", "check-xml", tmp_path / "none.xml")


def of_121_threadblocks() -> str:
    """An allgather of 4 GPUs over 20 channels: 60 threadblocks send, 60 receive, one copies."""
    gpus = []
    for rank in range(4):
        blocks = [Block().step("cpy", "i0", f"o{20 * rank}", 20)]
        for peer in (one for one in range(4) if one != rank):
            for channel in range(20):
                mine, theirs = f"o{20 * rank + channel}", f"o{20 * peer + channel}"
                blocks.append(Block(peer, -1, channel).step("s", f"i{channel}", mine))
                blocks.append(Block(-1, peer, channel).step("r", f"i{channel}", theirs))
        gpus.append(blocks)
    return xml("allgather", gpus, 80, (20, 80, 0))


def test_the_threadblocks_that_run_are_those_of_the_machine(tmp_path: Path) -> None:
    """121 run on an H100 of 132 multiprocessors, not on an A100 of 108; files do not say which."""
    path = written(tmp_path, of_121_threadblocks())
    found = document("check-xml", path)
    assert (found["threadblocks"], found["right"]) == (121, True)
    assert {one["kind"] for one in found["findings"]} == {"note"}
    assert "a100 108, h100 132, mi300x 304" in found["findings"][0]["message"]
    for options, right in (
        (["--machine", "a100"], False),
        (["--machine", "h100"], True),
        (["--machine", "mi300x"], True),
        (["--threadblocks", "120"], False),
        (["--threadblocks", "121"], True),
    ):
        result = invoke("check-xml", path, *options, "--json")
        assert result.exit_code == (0 if right else 1), options
        limits = [one["kind"] for one in json.loads(result.stdout)["findings"]]
        assert limits == ([] if right else ["limit"] * 4), options


def test_a_connection_with_one_end_is_found(tmp_path: Path) -> None:
    """A threadblock that could send to GPU 0, which has none that receives from it."""
    right = ring_allgather(4)
    assert invoke("check-xml", written(tmp_path, right)).exit_code == 0
    extra = '<tb id="2" send="0" recv="-1" chan="0"></tb>'
    last = right.rindex("</gpu>", 0, right.index('<gpu id="3"'))
    result = invoke("check-xml", written(tmp_path, right[:last] + extra + "\n" + right[last:]))
    assert result.exit_code == 1
    assert "pairing" in result.stdout
    assert "no threadblock of that has recv=2" in result.stdout


def test_scratch_of_billions_is_found(tmp_path: Path) -> None:
    text = ring_allgather(4).replace('s_chunks="0"', 's_chunks="2000000000"')
    result = invoke("check-xml", written(tmp_path, text))
    assert result.exit_code == 1
    assert "s_chunks is 2000000000; steps reach 32768 at most" in result.stdout


def written_plan(folder: Path, data: dict[str, Any] | str) -> Path:
    path = folder / "plan.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_a_right_plan_is_a_screen_that_ends_with_yes() -> None:
    result = invoke("check-plan", BROADCAST)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"file          {BROADCAST}",
        "name          by hand: broadcast of four",
        "collective    broadcast",
        "calls         out of place",
        "GPUs          4",
        "protocol      Simple",
        "threadblocks  1",
        "operations    7",
        "chunks        1",
        "min bytes     0",
        "max bytes     18446744073709551615",
        "executed      a launch out of place",
        "findings      none",
        "right         yes",
    ]


def test_a_wrong_file_ends_with_one_and_names_the_operation(tmp_path: Path) -> None:
    path = written_plan(tmp_path, dropped(GATHER, 0, 5))
    result = invoke("check-plan", path)
    assert result.exit_code == 1
    assert "launch: put of GPU 0, threadblock 0, operation 4" in result.stdout
    assert result.stdout.splitlines()[-1] == "right         no"
    assert not result.stderr
    found = json.loads(invoke("check-plan", path, "--json").stdout)
    assert not found["right"]
    assert (found["findings"][0]["gpu"], found["findings"][0]["step"]) == (0, 4)


def test_fields_that_the_loader_ignores_are_noted(tmp_path: Path) -> None:
    path = written_plan(tmp_path, changed_plan(GATHER, 0, 3, comment="own part"))
    found = document("check-plan", path)
    assert found["right"]
    assert "ops[3].comment is unknown" in found["findings"][0]["message"]
    assert "notes         gpus[0].threadblocks[0].ops[3]" in invoke("check-plan", path).stdout


def test_threadblocks_that_run_at_once_and_the_root_may_be_given() -> None:
    assert invoke("check-plan", BROADCAST, "--root", "0", "--threadblocks", "1").exit_code == 0
    assert invoke("check-plan", BROADCAST, "--threadblocks", "0").exit_code == 2
    assert invoke("check-plan", BROADCAST, "--machine", "h100", "--root", "0").exit_code == 0
    assert (
        invoke("check-plan", BROADCAST, "--machine", "h100", "--threadblocks", "9").exit_code == 2
    )
    assert invoke("check-plan", BROADCAST, "--root", "1").exit_code == 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "plan.json: not JSON"),
        (changed_plan(GATHER, 0, 3, name="sum"), "gpus[0].threadblocks[0].ops[3].name is 'sum'"),
        (
            changed_plan(GATHER, 0, 3, name="ppkt", channel_type="port"),
            "sends packets from buffers of the first plan",
        ),
    ],
)
def test_bad_plans_take_one_line(tmp_path: Path, data: dict[str, Any] | str, message: str) -> None:
    assert_refused(message, "check-plan", written_plan(tmp_path, data))


def test_a_plan_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    assert_refused("cannot be read: no such file", "check-plan", tmp_path / "none.json")


def test_five_of_a_kind_are_shown_and_the_others_counted() -> None:
    races = [Finding(Kind.RACE, f"race {number}") for number in range(7)]
    data = [Finding(Kind.DATA, "x" * 1000), Finding(Kind.NOTE, "odd")]
    lines = list(lines_of([*races, *data], Findings((), more=(Kind.RACE,))))
    assert lines[:2] == ["race: race 0", "race: race 1"]
    assert lines[5] == "race: 2 or more others; see --json"
    assert lines[6] == f"data: {'x' * 400} ..."
    assert lines[7] == "odd"


def test_a_record_has_all_that_is_known() -> None:
    found = record_of(Finding.at(Kind.LIMIT, "many", Place(1, 2, 3, 4), Place(line=9)))
    assert (found["kind"], found["wrong"], found["message"]) == ("limit", True, "many")
    assert (found["gpu"], found["threadblock"], found["step"]) == (1, 2, 3)
    assert (found["line"], found["lines"]) == (4, [4, 9])


@pytest.mark.parametrize(("name", "check"), [("msccl", "check-xml"), ("mscclpp", "check-plan")])
def test_different_amounts_are_checked_beside_their_schedule(
    name: str, check: str, tmp_path: Path
) -> None:
    """Without it, what lies behind a pair's own amount counts too."""
    made, out = tmp_path / "made.json", tmp_path / "out"
    ring = ("ring:nodes=3", "--demand", "zipf:size=30KB", "--round-up", "4KB", "--parts", 2)
    document("generate", *ring, "-o", made)
    assert document("export", made, "--format", name, "-o", out)["verified"]
    assert document(check, out, "--schedule", made)["right"]
    alone = invoke(check, out, "--json")
    assert (alone.exit_code, json.loads(alone.stdout)["right"]) == (1, False)


def test_every_algorithm_of_a_file_is_checked(tmp_path: Path) -> None:
    """One screen each; the file is as wrong as its worst."""
    good = ring_allgather(3)
    path = written(tmp_path, good + good)
    assert invoke("check-xml", path).stdout.count("right         yes") == 2
    spoilt = changed(good, line_of(good, 1, 0, 2), dstoff=0)
    path = written(tmp_path, good + spoilt)
    assert invoke("check-xml", path).exit_code == 1
    found = json.loads(invoke("check-xml", path, "--json").stdout)
    assert (found["right"], [one["right"] for one in found["algorithms"]]) == (False, [True, False])


def test_a_file_without_its_collective_may_be_told(tmp_path: Path) -> None:
    """As SCCL's tools write it; a file that has one keeps it."""
    good = ring_allgather(3)
    path = written(tmp_path, good.replace('coll="allgather"', ""))
    result = invoke("check-xml", path)
    assert result.exit_code == 0
    assert "custom collective promises no result" in result.stdout
    result = invoke("check-xml", path, "--collective", "allgather")
    assert "collective    allgather" in result.stdout
    assert "allgather is given" in result.stdout
    assert invoke("check-xml", path, "--collective", "reduce-scatter").exit_code == 1
    assert_refused("--collective is 'gossip'", "check-xml", path, "--collective", "gossip")
    path = written(tmp_path, good)
    message = "says that by hand is of the collective allgather; leave --collective out"
    assert_refused(message, "check-xml", path, "--collective", "allgather")


def test_more_threadblocks_than_some_machines_run_are_a_warning(tmp_path: Path) -> None:
    """121 on a GPU: the file names no machine; an A100 runs 108, an H100 132."""
    blocks = [Block().step("cpy", f"i{n}", f"o{n}") for n in range(121)]
    path = written(tmp_path, xml("custom", [blocks, blocks], 121, (121, 121, 0)))
    result = invoke("check-xml", path)
    assert result.exit_code == 0
    assert "the file does not say the machine" in result.stdout
    assert invoke("check-xml", path, "--machine", "h100").exit_code == 0
    result = invoke("check-xml", path, "--machine", "a100")
    assert result.exit_code == 1
    assert "121 threadblocks; there must be at most 108" in result.stdout
