"""The command that writes the plugin's file."""

from pathlib import Path

from experiments.advice.nccl_tuner.tuner_file import read_tuner_file
from tests.command_line import assert_refused, document, invoke
from tests.experiments.advice.nccl_tuner.plugin import chosen

_SPELLED = {"reduce-scatter": "reducescatter"}


def test_the_file_has_what_is_shown(tmp_path: Path) -> None:
    """At every size of every collective; sizes beyond the first and last included."""
    file = tmp_path / "tuner.csv"
    found = document("nccl-tuner", "dgx_a100:boxes=2", "-o", file, "--sizes", "1KB,1MB,64MB")
    assert found["machine"] == "a100"
    for one in found["collectives"]:
        name = _SPELLED.get(one["collective"], one["collective"])
        for at in one["sizes"]:
            due = at["algorithm"], at["protocol"], at["channels"]
            assert chosen(file, name, at["size_bytes"], 2, 16) == due
        assert chosen(file, name, 0, 2, 16)
        assert chosen(file, name, 2**60, 2, 16)
    collectives = [one["collective"] for one in found["collectives"]]
    assert sorted({line.collective for line in read_tuner_file(file)}) == sorted(collectives)


def test_options_limit_it(tmp_path: Path) -> None:
    file = tmp_path / "tuner.csv"
    options = ("--collective", "allreduce", "--protocol", "simple", "--machine", "h100")
    result = invoke("nccl-tuner", "dgx_a100:boxes=2", "-o", file, "--sizes", "1KB", *options)
    assert "left out: nvls: unsupported" in result.output
    assert {line.protocol for line in read_tuner_file(file)} == {"simple"}
    assert {line.collective for line in read_tuner_file(file)} == {"allreduce"}


def test_mistakes_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tuner.csv"
    ring, box = ("nccl-tuner", "ring:nodes=4", "-o", file), ("nccl-tuner", "dgx_a100", "-o", file)
    assert_refused("the machine of ring:nodes=4 is unknown", *ring)
    assert_refused(
        "--protocol is 'LL'; it must be one of ll, ll128, simple", *box, "--protocol", "LL"
    )
    assert_refused("costs are those of v100", *ring, "--machine", "mi300x")
    assert not file.exists()
