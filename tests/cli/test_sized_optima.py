"""``forestcoll optimum --size``."""

from pathlib import Path

from tests.command_line import assert_refused, document, invoke

BOXES = ("optimum", "dgx_a100:boxes=2")


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
