"""Options that commands share."""

from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.cli.options import in_group, rate_of, read_if_given, root_of
from forestcoll.errors import InvalidParameterError
from forestcoll.topology import load_topology
from tests.command_line import assert_refused, document, invoke
from tests.hand_networks import network_of


def test_a_group_is_given_by_names_or_boxes(tmp_path: Path) -> None:
    """GPU 0 of either box: two shards of the pair over eight NICs a box, 200 GB/s."""
    path = tmp_path / "schedule.json"
    made = document("generate", "dgx_a100:boxes=2", "--group", "*/0", "-o", path)
    named = document("optimum", "dgx_a100:boxes=2", "--group", "b0.gpu0,b1.gpu0")
    assert made["algbw_gb_s"]["exact"] == named["algbw_gb_s"]["exact"] == "400"
    assert named["gpus"] == 2
    words = "(1 GPU): 1 shard must leave over 8 links, 200 GB/s in all"
    assert named["bottleneck_cut"]["in_words"].endswith(words)
    alone = document("generate", "dgx_a100:boxes=2", "--group", "b0.gpu0", "-o", path)
    assert (alone["trees"], alone["depth"], alone["algbw_gb_s"]) == (0, 0, None)
    assert document("verify", path)["optimal"] is True
    assert invoke("verify", path).exit_code == 0
    empty = tmp_path / "empty.npz"
    one = ["dgx_a100:boxes=2", "--group", "b0.gpu0", "--factored"]
    assert document("generate", *one, "-o", empty)["trees"] == 0
    assert_refused(
        "tree 0 does not exist; the schedule is empty", "draw", empty, "-o", tmp_path / "tree.png"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--collective", "gossip"], "collective is 'gossip'; it must be one of allgather"),
        (["--collective", "broadcast"], "broadcast needs a root; give the name of a GPU"),
        (["--root", "b0.gpu1"], "allgather takes no root"),
        (["--collective", "reduce", "--root", "ib"], "the root is 'ib', which is a switch"),
        (["--collective", "reduce", "--root", "99"], "the root is rank 99; ranks are 0 to 15"),
        (["--group", ""], "the group is empty"),
        (["--group", "7/*"], "no GPU has box 7; the boxes of"),
        (["--group", "b0.gpu0,b0.gpu0"], "names 'b0.gpu0' twice"),
        (
            ["--group", "*/1", "--collective", "reduce", "--root", "b0.gpu0"],
            "the root is 'b0.gpu0', which is a relay; only a compute node can be one",
        ),
        (["--idle", "absent"], "--idle is of GPUs outside a group; name one by --group"),
        (["--group", "*/0", "--idle", "x"], "--idle is 'x'; it must be forward or absent"),
        (["--weights", "none.yaml"], "none.yaml: cannot be read: no such file or directory"),
    ],
)
@pytest.mark.parametrize("command", ["optimum", "generate"])
def test_bad_options(command: str, options: list[str], message: str, tmp_path: Path) -> None:
    output = ["-o", tmp_path / "schedule.json"] if command == "generate" else []
    assert_refused(message, command, "dgx_a100:boxes=2", *options, *output)
    assert list(tmp_path.iterdir()) == []


def test_a_number_is_a_rank_unless_a_node_is_called_so() -> None:
    """Names that look like numbers are those of some networks."""
    net = network_of("1 0 x", "", "numbers")
    assert [root_of(net, text) for text in ("1", "2", "x", "-1", "1.0", "9" * 10)] == [
        "1",
        2,
        "x",
        "-1",
        "1.0",
        "9" * 10,
    ]
    assert root_of(net, None) is None


def test_only_gpus_of_the_group_stay_compute_nodes(tmp_path: Path) -> None:
    """All of it, or some GPUs; weights are read where a file is given."""
    ring = load_topology("ring:nodes=4")
    assert in_group(ring, None) is ring
    part = in_group(load_topology("dgx_a100:boxes=2"), "*/0-1")
    assert [part.nodes[v].name for v in part.compute] == [
        "b0.gpu0",
        "b0.gpu1",
        "b1.gpu0",
        "b1.gpu1",
    ]
    assert read_if_given(None) is None
    (tmp_path / "weights.yaml").write_text("[1, 2]")
    assert read_if_given(tmp_path / "weights.yaml") == [1, 2]


def test_idle_gpus_forward_or_are_absent_and_the_output_says_which(tmp_path: Path) -> None:
    """One GPU a box: 8 NICs of 25 GB/s take its shard out, or its own alone: 400 or 50 GB/s."""
    pair = ["dgx_a100:boxes=2", "--group", "*/0"]
    schedule, proof = tmp_path / "s.json", tmp_path / "c.json"
    for idle, algbw in (("forward", "400"), ("absent", "50")):
        chosen = [*pair, "--idle", idle]
        made = document("generate", *chosen, "-o", schedule)
        found = document("optimum", *chosen)
        for one in (made, found):
            assert (one["idle"], one["algbw_gb_s"]["exact"]) == (idle, algbw)
        assert document("whatif", *chosen)["algbw_gb_s"]["exact"] == algbw
        assert document("depths", *chosen)["idle"] == idle
        assert document("certificate", *chosen, "-o", proof)["idle"] == idle
        assert document("optimum", *chosen, "--k", "1")["idle"] == idle
        network = ["--topology", pair[0], *pair[1:]]
        assert document("verify", schedule, *network, "--idle", idle)["idle"] == idle
        other = "absent" if idle == "forward" else "forward"
        assert invoke("verify", schedule, *network, "--idle", other).exit_code == 1
    assert document("optimum", *pair)["idle"] == "forward"
    assert "idle" not in document("optimum", pair[0])


def test_idle_gpus_are_named_in_text() -> None:
    pair = ["ring:nodes=4", "--group", "gpu0,gpu1"]
    words = "ring:nodes=4, allgather, GPUs outside the group are absent: "
    for command in ("whatif", "depths"):
        assert invoke(command, *pair, "--idle", "absent").stdout.startswith(words)
    tuned = invoke("tune", *pair, "--sizes", "1KB", "--method", "ring", "--idle", "forward")
    assert tuned.stdout.startswith("GPUs outside the group forward\n")


def test_a_rate_is_a_positive_bandwidth_or_absent() -> None:
    """400 Gb/s are 50 GB/s; a number alone is in GB/s."""
    assert [rate_of("--rate", text) for text in ("400 Gb/s", "12.5", None)] == [
        50, Fraction(25, 2), None,
    ]  # fmt: skip
    for text, message in (("0", "--rate is 0; it must be above 0"), ("5 Gbps", "--rate ")):
        with pytest.raises(InvalidParameterError, match=message):
            rate_of("--rate", text)
