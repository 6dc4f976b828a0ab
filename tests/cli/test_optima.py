"""Optima and their certificates on the command line."""

from fractions import Fraction
from pathlib import Path

import pytest

from tests.command_line import assert_one_line, assert_refused, document, invoke


def test_optimum_prints_exact_numbers_and_the_cut_in_words() -> None:
    """Four A100 boxes, by hand: 24 shards into a box over 8 x 25 GB/s, 24/200 = 3/25 s/GB."""
    lines = invoke("optimum", "dgx_a100:boxes=4").stdout.splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "topology dgx_a100:boxes=4",
        "collective allgather",
        "GPUs 32",
        "1/x* 3/25 = 0.12 s/GB",
        "algbw 800/3 = 266.667 GB/s",
        "time 3/800 = 0.00375 s/GB",
        "k 1",
        "model any schedule",
        "bottleneck cut everything but box 0 (8 GPUs): 24 shards must enter it over 8 links, "
        "200 GB/s in all (25 per GPU)",
        "8 x 25 GB/s from switch ib to GPUs 0-7 of box 0",
    ]


def test_binding_parts_are_named_with_the_model(tmp_path: Path) -> None:
    """Two boxes, a NIC dead one way: 375 of 400 GB/s reach ib, whose price assumes no copies."""
    found = document("optimum", "dgx_a100:boxes=2", "--without", "b0.gpu0 -> ib")
    assert found["model"] == "switches only forward"
    assert found["what_binds"][-1] == "switch ib: of 400 GB/s out, only 375 GB/s enter"
    assert found["bottleneck_cut"] is None
    path = tmp_path / "schedule.json"
    made = document("generate", "dgx_a100:boxes=2", "--without", "b0.gpu0 -> ib", "-o", path)
    assert (made["model"], made["optimal"]) == ("switches only forward", True)
    assert document("verify", path)["model"] == "switches only forward"


def test_fractions_in_json_stand_beside_their_decimals() -> None:
    """Two MI250 boxes: 1/x* = 15/166, k = 83, 332 GB/s into an OAM."""
    best = document("optimum", "mi250:boxes=2")
    assert best["k"] == 83
    assert best["inverse_rate"]["exact"] == "15/166"
    assert best["inverse_rate"]["value"] == float(Fraction(15, 166))
    assert best["bottleneck_cut"]["exit_gb_s"]["exact"] == "332"
    assert best["bottleneck_cut"]["gpus"] == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["ring:nodes=3", "--group", "gpu1"], "has a single GPU: there is nothing to certify"),
        (["ring:nodes=3", "--k", "0"], "k is 0; it must be a whole number from 1 to"),
        (["ring:nodes=3", "--collective", "reduce"], "reduce needs a root"),
    ],
)
def test_requests_without_a_certificate_are_refused(
    options: list[str], message: str, tmp_path: Path
) -> None:
    """Exit code 2, one line, no file."""
    assert_refused(message, "certificate", *options, "-o", tmp_path / "never.json")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    result = invoke("certificate", "ring:nodes=3", "-o", tmp_path / "file" / "where.json")
    assert_one_line(result.stderr, "file is a file; name a folder")
