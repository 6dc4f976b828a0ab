"""The command that scores MSCCL's XML, and JSON of other tools."""

from pathlib import Path

import pytest

from tests.command_line import assert_one_line, assert_refused, document, invoke
from tests.runtimes.msccl_programs import changed, line_of, ring_allgather
from tests.runtimes.scoring.tool_documents import ring_sentences, teccl_allgather, written


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An allgather on a ring of four GPUs."""
    schedule, xml = tmp_path / "ring.json", tmp_path / "ring.xml"
    document("generate", "ring:nodes=4", "-o", schedule)
    document("export", schedule, "-o", xml)
    return xml


def test_a_right_file_is_scored(file: Path) -> None:
    """2 links of 1 GB/s into each GPU bring 3/4 of the data: 8/3 GB/s."""
    shown = document("score", file, "--topology", "ring:nodes=4")
    assert shown["right"] is True
    assert shown["algbw_gb_s"]["exact"] == shown["at_most_gb_s"]["exact"] == "8/3"
    assert shown["share_of_optimum"]["exact"] == "1"


def test_a_ring_one_way_by_hand_is_half_of_the_optimum(tmp_path: Path) -> None:
    """Each link of one way carries 3/4 of the data, at 1 GB/s: 4/3 GB/s of 8/3."""
    xml = tmp_path / "hand.xml"
    xml.write_text(ring_allgather(4))
    lines = invoke("score", xml, "--topology", "ring:nodes=4").stdout.splitlines()
    assert "algbw             4/3 = 1.33333 GB/s" in lines
    assert "at most           8/3 = 2.66667 GB/s" in lines
    assert "share of optimum  1/2 = 0.5" in lines
    assert "over paths of fewest links" in lines[-1]


def test_the_share_of_an_allreduce_is_of_a_bound(tmp_path: Path) -> None:
    """8 links of 1 GB/s, 6 hops: 4/3 GB/s at most, which the schedule of ours attains."""
    schedule, xml = tmp_path / "ring.json", tmp_path / "ring.xml"
    document("generate", "ring:nodes=4", "--collective", "allreduce", "-o", schedule)
    document("export", schedule, "-o", xml)
    shown = document("score", xml, "--topology", "ring:nodes=4")
    assert shown["algbw_gb_s"]["exact"] == shown["at_most_gb_s"]["exact"] == "4/3"
    assert shown["share_of_optimum"] is None
    assert shown["share_at_least"]["exact"] == "1"
    assert shown["at_most_for"] == "any allreduce in which switches only forward"


def test_a_wrong_file_is_reported_with_exit_code_1(tmp_path: Path) -> None:
    text = ring_allgather(4)
    xml = tmp_path / "wrong.xml"
    xml.write_text(changed(text, line_of(text, 2, 0, 3), dstoff=0))
    found = invoke("score", xml, "--topology", "ring:nodes=4")
    assert found.exit_code == 1
    assert "right       no\n" in found.stdout
    assert "data: " in found.stdout
    assert "algbw" not in found.stdout


def test_a_network_of_another_size_is_reported_in_one_line(file: Path) -> None:
    assert_refused("is for 4 GPUs", "score", file, "--topology", "ring:nodes=5")


@pytest.fixture
def of_a_box(tmp_path: Path) -> Path:
    """An allgather in a box of 8 A100, on one channel of MSCCL."""
    schedule, xml = tmp_path / "box.json", tmp_path / "box.xml"
    document("generate", "dgx_a100:boxes=1", "-o", schedule)
    document("export", schedule, "--channels", 1, "-o", xml)
    return xml


def test_threadblocks_count_on_the_machine_of_the_topology(of_a_box: Path) -> None:
    """A threadblock sends 1/8 to each of 7 GPUs: 160 GB/s at 20, where links allow 2400/7."""
    scoring = ("score", of_a_box, "--topology", "dgx_a100:boxes=1")
    shown = document(*scoring)
    assert shown["algbw_gb_s"]["exact"] == shown["by_threadblocks_gb_s"]["exact"] == "160"
    assert shown["by_links_gb_s"]["exact"] == "2400/7"
    assert shown["share_of_optimum"]["exact"] == "7/15"
    assert shown["busiest_threadblock"]["share_of_data"]["exact"] == "1/8"
    machine = shown["machine"]
    assert (machine["name"], machine["chosen_by"]) == ("a100", "the topology")
    assert machine["threadblock_gb_s"]["exact"] == "20"
    text = invoke(*scoring).stdout
    assert "by threadblocks      160 GB/s\n" in text
    assert "name a100, threadblock 20 GB/s, rate by NVIDIA/nccl src/graph/tuning.cc" in text


def test_another_machine_or_a_measured_rate_counts(of_a_box: Path) -> None:
    """1/8 at 36.7 GB/s are 293.6 GB/s; at 30 they are 240; links allow 2400/7 on any machine."""
    scoring = ("score", of_a_box, "--topology", "dgx_a100:boxes=1")
    shown = document(*scoring, "--machine", "h100")
    assert shown["algbw_gb_s"]["exact"] == "1468/5"
    assert shown["machine"]["chosen_by"] == "--machine"
    given = document(*scoring, "--threadblock-rate", "30 GB/s")
    assert given["algbw_gb_s"]["exact"] == "240"
    assert given["machine"]["rate_by"] == "--threadblock-rate"
    fast = document(*scoring, "--threadblock-rate", "100")
    assert fast["algbw_gb_s"]["exact"] == "2400/7"


def test_without_a_machine_the_output_names_the_option(of_a_box: Path, file: Path) -> None:
    line = "take no time; --machine v100|a100|h100|b200|mi250|mi300x counts what one carries"
    none = invoke("score", of_a_box, "--topology", "dgx_a100:boxes=1", "--machine", "none").stdout
    assert "algbw             2400/7 = 342.857 GB/s\n" in none
    assert f"threadblocks      {line}\n" in none
    assert (
        f"threadblocks      {line}\n" in invoke("score", file, "--topology", "ring:nodes=4").stdout
    )


def test_unusable_machines_and_rates_are_refused(of_a_box: Path, file: Path) -> None:
    box = ("score", of_a_box, "--topology", "dgx_a100:boxes=1")
    assert_refused("machine is 'a10'; it must be one of v100, a100", *box, "--machine", "a10")
    assert_refused("--threadblock-rate is 0; it must be", *box, "--threadblock-rate", 0)
    ring = ("score", file, "--topology", "ring:nodes=4")
    assert_refused("--threadblock-rate needs a machine", *ring, "--threadblock-rate", 20)


# --- JSON of other tools -------------------------------------------------------------------------


def test_teccl_files_are_scored_and_converted(tmp_path: Path) -> None:
    """The ring one way again; its XML and ours are then made of the file that is written."""
    path = written(tmp_path / "teccl.json", teccl_allgather(ring_sentences(4)))
    ours, xml = tmp_path / "ours.json", tmp_path / "ours.xml"
    shown = document("score", path, "--topology", "ring:nodes=4", "-o", ours)
    assert (shown["written_by"], shown["collective"], shown["right"]) == (
        "TE-CCL",
        "allgather",
        True,
    )
    assert (shown["chunks"], shown["transfers"], shown["steps"]) == (4, 12, 3)
    assert (shown["algbw_gb_s"]["exact"], shown["share_of_optimum"]["exact"]) == ("4/3", "1/2")
    assert document("verify", ours)["algbw_gb_s"]["exact"] == "4/3"
    document("export", ours, "-o", xml)
    again = document("score", xml, "--topology", "ring:nodes=4")
    assert again["algbw_gb_s"] == shown["algbw_gb_s"]


def test_a_wrong_one_is_reported_with_exit_code_1_and_not_written(tmp_path: Path) -> None:
    path = written(tmp_path / "teccl.json", teccl_allgather(ring_sentences(4)[:-1]))
    ours = tmp_path / "ours.json"
    found = invoke("score", path, "--topology", "ring:nodes=4", "-o", ours)
    assert found.exit_code == 1
    assert "chunk 3 never gets to gpu2 (in the file: chunk 0 from 4)" in found.stdout
    assert "algbw" not in found.stdout
    assert not ours.exists()
    lost = ring_sentences(4)[1:4]
    lost = invoke(
        "score", written(path, teccl_allgather(lost)), "--topology", "ring:nodes=3", "--json"
    )
    assert lost.exit_code == 2, "GPU 1 sends no chunk, so it is taken for a switch"


def test_a_chunk_that_nobody_sends_is_reported_with_exit_code_1(tmp_path: Path) -> None:
    flows = ring_sentences(3)
    flows[0] = flows[0].replace("Chunk 0", "Chunk 1")
    path = written(tmp_path / "teccl.json", teccl_allgather(flows))
    found = invoke("score", path, "--topology", "ring:nodes=3")
    assert found.exit_code == 1
    assert "is never sent" in found.stdout


def test_some_gpus_may_take_no_part_and_the_order_may_be_another(tmp_path: Path) -> None:
    """Three of four GPUs at a switch, the others forward; a ring in another order is a ring."""
    path = written(tmp_path / "teccl.json", teccl_allgather(ring_sentences(3)))
    options = ("--topology", "dgx_a100:boxes=1", "--group", "0/0-2")
    assert document("score", path, *options)["right"]
    shown = document("score", path, *options, "--gpus", "b0.gpu2,0/0-1")
    assert shown["right"]
    ring = written(path, teccl_allgather(ring_sentences(4)))
    wound = ("--topology", "ring:nodes=4", "--gpus", "gpu3,gpu2,gpu1,gpu0")
    assert document("score", ring, *wound)["busiest_link"] == ["gpu0", "gpu3"]
    mixed = ("--topology", "ring:nodes=4", "--gpus", "gpu0,gpu2,gpu1,gpu3")
    assert_one_line(invoke("score", ring, *mixed).stderr, "no path from")
    for text in ("gpu0,gpu1", "gpu0,gpu1,gpu2,gpu2"):
        assert_refused(
            "which must be the 4 of ring:nodes=4, each once",
            "score",
            ring,
            "--topology",
            "ring:nodes=4",
            "--gpus",
            text,
        )


def test_xml_may_be_of_gpus_in_another_order(file: Path) -> None:
    shown = document("score", file, "--topology", "ring:nodes=4", "--gpus", "gpu1,gpu2,gpu3,gpu0")
    assert shown["share_of_optimum"]["exact"] == "1"


def test_options_of_another_kind_of_file_are_refused(file: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "teccl.json", teccl_allgather(ring_sentences(4)))
    for arguments, message in (
        ((file, "-o", tmp_path / "x.json"), "--output is for JSON of other tools"),
        ((path, "--root", "1"), "--root is for files of MSCCL and MSCCL"),
        ((path, "-o", tmp_path / "x.txt"), "the file name must end in"),
        ((tmp_path / "none",), "cannot be read"),
    ):
        assert_refused(message, "score", *arguments, "--topology", "ring:nodes=4")


def test_files_of_other_tools_have_no_threadblocks(tmp_path: Path) -> None:
    path = written(tmp_path / "teccl.json", teccl_allgather(ring_sentences(4)))
    scoring = ("score", path, "--topology", "ring:nodes=4")
    assert_refused("files of other tools have no threadblocks", *scoring, "--machine", "a100")
    assert "threadblocks" not in invoke(*scoring).stdout
