"""``forestcoll optimum --size``."""

from pathlib import Path

from tests.command_line import assert_refused, document, invoke

BOXES = ("optimum", "dgx_a100:boxes=2")
STAR = "fat_tree:leaves=1,hosts=4,spines=1"
SUMS = ("--collective", "allreduce", "--size", "10000")


def test_the_least_time_and_the_binding_cut_are_printed() -> None:
    result = invoke(*BOXES, "--size", "4MB", "--alpha", "10us")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "at least           365447/12500 = 29.2358 us" in lines
    assert "share of the rate  41.4 %" in lines
    assert "size               4MB" in lines
    assert any("2097152 bytes of GPUs 0-7 of box 1 must reach GPU 0 of box 0" in s for s in lines)


def test_alpha_is_10_us_unless_given() -> None:
    default, given = (
        document(*BOXES, "--size", "1", *more) for more in ((), ("--alpha", "500 ns"))
    )
    assert default["alpha_us"]["value"] == 10
    assert given["alpha_us"]["exact"] == "1/2"
    assert 0.5 < given["at_least_us"]["value"] < 0.501


def test_a_document_has_the_label_of_each_node() -> None:
    found = document(*BOXES, "--size", "4000000", "--collective", "reduce-scatter")
    assert found["size_bytes"] == 4_000_000
    assert found["at_least_us"]["exact"] == "115/4"
    assert len(found["labels_us"]) == 19
    assert found["labels_us"]["b0.gpu0"]["exact"] == "115/4"


def test_pairs_and_groups_have_least_times_too() -> None:
    for collective in ("all-to-all", "allreduce"):
        found = document(
            *BOXES,
            "--size",
            "1MB",
            "--collective",
            collective,
            "--group",
            "0/*",
            "--idle",
            "absent",
        )
        assert (found["gpus"], found["idle"]) == (8, "absent")
        assert found["at_least_us"]["value"] > 10
    rate = document("optimum", "torus:dims=3x3", "--size", "1GB", "--collective", "allreduce")
    assert rate["labels_us"] is None


def test_other_questions_are_refused() -> None:
    assert_refused("leave --k out", *BOXES, "--size", "4MB", "--k", "1")
    assert_refused("leave --demand out", *BOXES, "--size", "4MB", "--demand", "uniform")
    assert_refused("add --size", *BOXES, "--alpha", "10")
    assert_refused("--no-one-pass is of a size", *BOXES, "--no-one-pass")
    assert_refused("the size has", *BOXES, "--size", "4 apples")
    assert_refused("alpha", *BOXES, "--size", "4MB", "--alpha", "10 apples")


def test_a_certificate_and_a_drawing_are_written(tmp_path: Path) -> None:
    proof, picture = tmp_path / "proof.json", tmp_path / "cut.svg"
    found = document(*BOXES, "--size", "4000000", "-o", proof, "--draw", picture)
    assert (found["certificate"], found["drawing"]) == (str(proof), str(picture))
    assert document("verify", proof)["at_least_us"]["exact"] == "115/4"
    assert "18.75 us" in picture.read_text()


def test_files_that_cannot_be_written_are_refused_first(tmp_path: Path) -> None:
    assert_refused("--output is of a size", *BOXES, "-o", tmp_path / "a.json")
    assert_refused("--draw is of a size", *BOXES, "--draw", tmp_path / "a.png")
    assert_refused(".json", *BOXES, "--size", "4MB", "-o", tmp_path / "a.txt")
    assert_refused(".png", *BOXES, "--size", "4MB", "--draw", tmp_path / "a.txt")
    assert not list(tmp_path.iterdir())


def test_an_allreduce_has_both_times() -> None:
    """10 us at 1 GB/s after a hop; or T - 20 + 2 x 10 / 4 us, of two passes (docs)."""
    result = invoke("optimum", f"{STAR},multicast=true", *SUMS)
    lines = result.stdout.splitlines()
    assert lines[5:7] == ["at least           20 us", "without one pass   25 us"]
    assert "without_one_pass_us" not in document("optimum", STAR, *SUMS)


def test_the_time_without_one_pass_is_certified_and_drawn(tmp_path: Path) -> None:
    """The larger time alone, with its proof; verify reads which allreduces it is about."""
    proof, picture = tmp_path / "proof.json", tmp_path / "cut.svg"
    star = ("optimum", f"{STAR},multicast=true", *SUMS, "--no-one-pass")
    result = invoke(*star, "-o", proof, "--draw", picture)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[1:] == [
        "collective         allreduce",
        "GPUs               4",
        "size               10000",
        "alpha              10 us",
        "at least           25 us",
        "algbw at most      2/5 = 0.4 GB/s",
        "by rate alone      10 us",
        "share of the rate  40 %",
        "what binds         no switch reduces and multicasts in one pass, so each of 10000 bytes "
        "must leave each of 4 sets of GPUs, or go to each other set directly",
        "                   in the last 10 us only the latter",
        "                   each GPU is a set",
        f"certificate        {proof}",
        f"drawing            {picture}",
    ]
    verdict = document("verify", proof)
    assert (verdict["at_least_us"]["exact"], verdict["proof"]) == ("25", "passes over time")
    assert verdict["model"] == "any allreduce if no switch reduces and multicasts in one pass"
    assert "at least 25 us if no switch reduces" in picture.read_text()
