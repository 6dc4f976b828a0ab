"""The command that scores MSCCL's XML."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import assert_one_line, document, invoke
from tests.schedule.msccl_programs import changed, line_of, ring_allgather


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An allgather on a ring of four GPUs."""
    schedule, xml = tmp_path / "ring.json", tmp_path / "ring.xml"
    document("generate", "ring:nodes=4", "-o", schedule)
    document("export", schedule, "-o", xml)
    return xml


def test_a_right_file_is_scored(file: Path) -> None:
    """2 links of 1 GB/s into each GPU bring 3/4 of the data: 8/3 GB/s."""
    said = document("score", file, "--topology", "ring:nodes=4")
    assert said["right"] is True
    assert said["algbw_gb_s"]["exact"] == said["at_most_gb_s"]["exact"] == "8/3"
    assert said["share_of_optimum"]["exact"] == "1"


def test_a_ring_one_way_by_hand_is_half_of_the_optimum(tmp_path: Path) -> None:
    """Each link of one way carries 3/4 of the data, at 1 GB/s: 4/3 GB/s of 8/3."""
    xml = tmp_path / "hand.xml"
    xml.write_text(ring_allgather(4))
    lines = invoke("score", xml, "--topology", "ring:nodes=4").stdout.splitlines()
    assert "algbw             4/3 = 1.33333 GB/s" in lines
    assert "at most           8/3 = 2.66667 GB/s" in lines
    assert "share of optimum  1/2 = 0.5" in lines
    assert "over paths of fewest links" in lines[-1]


def test_a_wrong_file_is_told_with_exit_code_1(tmp_path: Path) -> None:
    text = ring_allgather(4)
    xml = tmp_path / "wrong.xml"
    xml.write_text(changed(text, line_of(text, 2, 0, 3), dstoff=0))
    found = invoke("score", xml, "--topology", "ring:nodes=4")
    assert found.exit_code == 1
    assert "right       no\n" in found.stdout
    assert "data: " in found.stdout
    assert "algbw" not in found.stdout


def test_a_network_of_another_size_is_told_in_one_line(file: Path) -> None:
    failed = invoke("score", file, "--topology", "ring:nodes=5")
    assert failed.exit_code == 2
    assert_one_line(failed.stderr, "is for 4 GPUs")
