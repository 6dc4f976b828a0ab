"""Schedule files looked at: proved, compared with a network, drawn."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from baselines.registry import METHODS
from forestcoll import generate, load_topology, write_schedule
from tests.command_line import assert_refused, document, invoke


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A schedule file of the running example: eight GPUs, k = 1."""
    path = tmp_path_factory.mktemp("schedules") / "example.json"
    assert invoke("generate", "paper_example", "-o", path).exit_code == 0
    return path


def test_verify_prints_the_verdict(schedule: Path) -> None:
    """Eight GPUs: 8 * 7 deliveries, U = 1 tree per GB/s."""
    verdict = document("verify", schedule)
    assert (verdict["verified"], verdict["deliveries"], verdict["gpus"]) == (True, 56, 8)
    assert verdict["congestion"] == {"exact": "1", "value": 1.0}
    assert "congestion     1 tree per GB/s\n" in invoke("verify", schedule).stdout


def _exact(value: Any) -> Fraction:
    return Fraction(value["exact"])


@pytest.mark.parametrize(
    ("method", "collective", "share"),
    [
        ("bfb", "allgather", 1),
        ("bfb", "reduce-scatter", 1),
        # All ways of 1, 2 and 3 hops: 9/2 shards over a link, which are 3/4 of the data.
        ("direct", "allgather", Fraction(5, 9)),
    ],
)
def test_a_schedule_without_a_claim_gets_its_share_of_the_optimum(
    method: str, collective: str, share: Fraction, tmp_path: Path
) -> None:
    """A GPU of the ring gets 5/6 of the data over two links of 1 GB/s: 12/5 GB/s."""
    path = tmp_path / "steps.json"
    made: Any = METHODS[method].run(load_topology("ring:nodes=6"), collective)
    write_schedule(made, path)
    found = document("verify", path)
    assert _exact(found["at_most_gb_s"]) == Fraction(12, 5)
    assert _exact(found["share_of_optimum"]) == share
    assert found["optimal"] is (share == 1)
    assert found["at_most_for"] == "any schedule; switches may multicast and reduce"


def test_few_trees_get_their_share_of_the_optimum(tmp_path: Path) -> None:
    """With k = 1 two MI250 boxes have 320 of 354.1 GB/s."""
    path = tmp_path / "k1.json"
    made = document("generate", "mi250:boxes=2", "--k", "1", "-o", path)
    for found in (made, document("verify", path)):
        assert _exact(found["share_of_optimum"]) == Fraction(75, 83)
        assert found["optimal"] is False
    assert invoke("verify", path).stdout.endswith("optimal           no\n")


def test_allreduces_below_a_bound_that_none_may_attain_are_not_called_slow(tmp_path: Path) -> None:
    """Neither as a whole nor, where nothing is claimed, in a phase."""
    path = tmp_path / "one-shot.json"
    made: Any = METHODS["one-shot"].run(load_topology("ring:nodes=6"), "allreduce")
    write_schedule(made, path)
    found = document("verify", path)
    assert found["optimal"] is None
    assert 0 < _exact(found["share_at_least"]) < 1
    assert "optimal" not in invoke("verify", path).stdout
    write_schedule(generate("mi250:boxes=2", collective="allreduce", k=1).schedule, path)
    assert document("verify", path)["reduce"]["optimal"] is None


def test_verify_fails_on_a_corrupted_file(schedule: Path, tmp_path: Path) -> None:
    """A claim of half the congestion: exit 1 and the overloaded link; half a file: exit 2."""
    content = json.loads(schedule.read_text())
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(content | {"congestion": "1/2", "congestion_decimal": 0.5}))
    assert_refused("overloaded", "verify", forged, code=1)
    torn = tmp_path / "torn.json"
    torn.write_text(schedule.read_text()[:1000])
    assert_refused("torn.json", "verify", torn)


def test_one_tree_of_a_schedule_is_drawn(schedule: Path, tmp_path: Path) -> None:
    """Tree 7 is there, tree 8 is not."""
    path = tmp_path / "tree.png"
    assert document("draw", schedule, "--tree", 7, "-o", path)["tree"] == 7
    assert path.read_bytes().startswith(b"\x89PNG")
    assert_refused("trees are 0 to 7", "draw", schedule, "--tree", 8, "-o", path)


def test_multicast_trees_are_drawn(tmp_path: Path) -> None:
    """Of an allreduce either phase."""
    file, picture = tmp_path / "schedule.json", tmp_path / "tree.png"
    options = ("dgx_h100:boxes=1", "--multicast", "--collective", "allreduce")
    assert invoke("generate", *options, "-o", file).exit_code == 0
    for phase in ("reduce", "gather"):
        assert invoke("draw", file, "--phase", phase, "-o", picture).exit_code == 0
        assert picture.read_bytes().startswith(b"\x89PNG")
        picture.unlink()


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("dgx_a100:boxes=3", "in it compute node b2.gpu0 is missing (and "),
        ("dgx_a100:boxes=2,nic_bandwidth=50", "has 25 GB/s, not 50 (and "),
        ("dgx_a100:boxes=2,ib_switches=2", "in it switch node ib0 is missing (and "),
        ("dgx_h100:boxes=2", "b0.nvswitch is a switch node, not a switch node with multicast"),
    ],
)
def test_other_networks_are_refused(network: str, message: str, tmp_path: Path) -> None:
    """The first difference is named, and how many more there are."""
    file = tmp_path / "schedule.npz"
    assert invoke("generate", "dgx_a100:boxes=2", "-o", file).exit_code == 0
    assert invoke("verify", file, "--topology", "dgx_a100:boxes=2").exit_code == 0
    assert_refused(message, "verify", file, "--topology", network, code=1)


def test_a_group_of_ones_own_network_is_compared_too(tmp_path: Path) -> None:
    """A schedule of a group is for the network in which the other GPUs forward."""
    file = tmp_path / "schedule.npz"
    members = ("--group", "b0.gpu0,b0.gpu1,b1.gpu0")
    assert invoke("generate", "dgx_a100:boxes=2", *members, "-o", file).exit_code == 0
    mine = ("--topology", "dgx_a100:boxes=2")
    assert invoke("verify", file, *mine, *members).exit_code == 0
    assert_refused("is a relay node, not a compute node", "verify", file, *mine, code=1)
    assert invoke("verify", file, *members).exit_code == 2


def test_a_schedule_in_steps_has_no_trees_to_draw(tmp_path: Path) -> None:
    """What is no tree is said to be none."""
    file = tmp_path / "steps.json"
    assert invoke("baselines", "run", "bruck", "dgx_a100:boxes=2", "-o", file).exit_code == 0
    assert_refused(
        "draw_tree takes a schedule of trees, not StepSchedule",
        "draw",
        file,
        "-o",
        tmp_path / "tree.png",
    )


def test_two_files_of_a_schedule_are_the_same(tmp_path: Path) -> None:
    """Whatever they are written as; the exit code is 0."""
    text, binary = tmp_path / "one.json", tmp_path / "one.npz"
    for file in (text, binary):
        document("generate", "dgx_a100:boxes=2", "-o", file)
    same = document("diff", text, binary)
    assert same["same"] is True
    assert same["shared_trees"]["only_first"] == same["shared_trees"]["only_second"] == 0


def test_differences_are_reported_with_exit_code_1(tmp_path: Path) -> None:
    whole, damaged = tmp_path / "whole.npz", tmp_path / "damaged.npz"
    document("generate", "dgx_a100:boxes=4", "-o", whole)
    document("replan", whole, "-o", damaged, "--without", "b1.gpu3 - ib")
    found = invoke("diff", whole, damaged)
    assert found.exit_code == 1
    assert "800/3 = 266.667 GB/s | 700/3 = 233.333 GB/s" in found.stdout
    assert "\n                b1.gpu3 -> ib is missing\n" in found.stdout
    as_json = invoke("diff", whole, damaged, "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["second"]["algbw_gb_s"]["exact"] == "700/3"


def test_a_wrong_schedule_is_bad_input_not_a_difference(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.json", tmp_path / "wrong.json"
    document("generate", "ring:nodes=4", "-o", right)
    text = right.read_text().replace('"congestion": "3"', '"congestion": "2"')
    wrong.write_text(text)
    assert text != right.read_text()
    assert_refused("wrong.json", "diff", right, wrong)
    assert invoke("diff", right, tmp_path / "none.json").exit_code == 2


def test_a_stage_of_a_network_is_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "split.svg"
    made = document("draw", "paper_example", "--stage", "split", "--number", 3, "-o", picture)
    assert made == {"topology": "paper_example", "stage": "split", "file": str(picture)}
    assert "split 3 of 20" in picture.read_text()
    assert_refused(
        "they are 0 to 19", "draw", "paper_example", "--stage", "split", "--number", 20,
        "-o", picture,
    )  # fmt: skip
