"""The command that says what shallow trees cost."""

from pathlib import Path

from tests.command_line import assert_one_line, document, invoke


def test_a_line_for_each_height() -> None:
    assert invoke("depths", "dgx_a100:boxes=2").stdout == (
        "dgx_a100:boxes=2, allgather: the fastest found at each depth, GB/s\n"
        "   depth     algbw   at most     k   trees\n"
        "       1        50        50     1      16\n"
        "       2   346.667   346.667    13      32\n"
    )


def test_the_same_for_machines() -> None:
    text = document("depths", "ring:nodes=5", "--collective", "broadcast", "--root", "gpu0")
    assert (text["topology"], text["collective"]) == ("ring:nodes=5", "broadcast")
    lowest = text["depths"][0]
    assert (lowest["depth"], lowest["distinct_trees"] <= lowest["k"]) == (2, True)
    assert lowest["proved"] == (lowest["algbw_gb_s"] == lowest["at_most_gb_s"])


def test_an_allreduce_has_no_bound_of_its_height() -> None:
    options = ["--collective", "allreduce", "--max-depth", "4", "--k", "1"]
    text = document("depths", "ring:nodes=5", *options)
    assert [one["depth"] for one in text["depths"]] == [4]
    assert text["depths"][0]["at_most_gb_s"] is None
    assert len(invoke("depths", "ring:nodes=5", *options).stdout.splitlines()) == 3


def test_generate_keeps_to_a_height(tmp_path: Path) -> None:
    file = tmp_path / "low.json"
    text = document("generate", "mi250:boxes=2", "--max-depth", 5, "--k", 1, "-o", file)
    assert text["depth"] <= 5
    assert text["optimal"] is False
    assert invoke("verify", file).exit_code == 0


def test_depths_below_the_eccentricity_are_refused(tmp_path: Path) -> None:
    refused = invoke("generate", "ring:nodes=8", "--max-depth", 2, "-o", tmp_path / "none.json")
    assert refused.exit_code == 3
    assert_one_line(refused.stderr, "give a depth of 4 or more")
