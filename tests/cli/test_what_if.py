"""The command that asks what fails and what would help."""

from pathlib import Path

import pytest

from tests.command_line import assert_refused, document, invoke


def test_failures_upgrades_and_cuts_are_lists_for_people() -> None:
    shown = invoke("whatif", "dgx_a100:boxes=4").stdout
    assert shown == (
        "dgx_a100:boxes=4, allgather: 266.667 GB/s\n"
        "\n"
        "If one fails\n"
        "      stops            switch ib\n"
        "    25.8065   -90.32%  any of 32 links, b*.gpu* - b*.nvswitch\n"
        "    25.8065   -90.32%  any of 4 switches, b*.nvswitch\n"
        "    226.042   -15.23%  any of 32 GPUs, b*.gpu*\n"
        "    233.333   -12.50%  any of 32 NICs, b*.gpu* - ib\n"
        "\n"
        "If one, or all alike, were 2 times as fast\n"
        "     361.29   +35.48%  all 32 NICs, b*.gpu* - ib\n"
        "    nothing            any one of 32 NICs or 32 links\n"
        "    nothing            all alike of 32 links\n"
        "\n"
        "The tightest cuts; the first binds\n"
        "    266.667       4 x  everything but box 0 (8 GPUs): 24 shards must enter it over 8 "
        "links, 200 GB/s in all (25 per GPU)\n"
        "    335.484      32 x  everything but GPU 1 of box 0: 31 shards must enter it over 2 "
        "links, 325 GB/s in all\n"
    )


def test_the_same_is_there_for_machines() -> None:
    text = document("whatif", "dgx_a100:boxes=4", "--cuts", 1, "--factor", "3/2")
    nic = text["failures"][-1]
    assert (nic["kind"], len(nic["parts"]), nic["algbw_gb_s"]["exact"]) == ("NIC", 32, "700/3")
    assert nic["bottleneck_cut"]["exit_gb_s"]["exact"] == "175"
    assert text["failures"][0]["reason"].startswith("GPU 'b0.gpu0' cannot reach")
    assert text["upgrades"][0]["factor"]["exact"] == "3/2"
    assert [cut["copies"] for cut in text["tightest_cuts"]] == [4]


def test_parts_of_one_effect_share_a_line() -> None:
    lines = invoke("whatif", "mi250:boxes=1", "--rows", 3).stdout.splitlines()
    assert lines[3] == (
        "        160   -53.33%  any of 8 links, such as b0.gpu0 - b0.gpu1, b0.gpu4 - b0.gpu5"
    )
    assert lines[6:8] == ["  and 1 line more: --rows", ""]


def test_it_is_of_the_network_as_changed_and_of_a_root(tmp_path: Path) -> None:
    options = ["--without", "b0.gpu0 - ib", "--collective", "broadcast", "--root", "b1.gpu0"]
    picture = tmp_path / "outcomes.svg"
    text = document("whatif", "dgx_a100:boxes=2", *options, "-o", picture)
    assert text["topology"] == "dgx_a100:boxes=2 without b0.gpu0 - ib"
    assert text["collective"] == "broadcast"
    reasons = [one["reason"] for one in text["failures"] if one["parts"] == ["b1.gpu0"]]
    assert reasons == ["no GPU that is left has any data"]
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--factor", "1"], "the factor is 1; an upgrade has one above 1"),
        (["--collective", "allreduce"], "take reduce-scatter or allgather, its two phases"),
        (["--collective", "allreduce"], "allreduce with forestcoll expected --without PART"),
        (["-o", "x.doc"], "ends in .png, .pdf or .svg"),
    ],
)
def test_bad_questions_are_reported_in_one_line(options: list[str], message: str) -> None:
    assert_refused(message, "whatif", "ring:nodes=4", *options)
