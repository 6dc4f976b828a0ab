"""An engineer's path: the commands of docs/how-to/from-dumps-to-schedule.md, in their order."""

import re
import shlex
from pathlib import Path

import pytest

from forestcoll import optimum, read_schedule, verify
from forestcoll.topology import load_topology
from tests.command_line import ROOT, invoke

PAGE = (ROOT / "docs/how-to/from-dumps-to-schedule.md").read_text(encoding="utf-8")


def test_the_commands_lead_from_dumps_to_a_right_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.S)
    commands = block.splitlines()
    assert len(commands) == 7
    monkeypatch.chdir(tmp_path)
    printed = {}
    for command in commands:
        name, *arguments = shlex.split(command.replace("docs/", f"{ROOT}/docs/"))
        assert name == "forestcoll"
        done = invoke(*arguments)
        assert done.exit_code == 0, done.output
        printed[arguments[0]] = done.stdout
    assert "bound, multicast + reduction         300       575" in printed["expected"]
    assert "NCCL ring                        208.696" in printed["expected"]
    assert "NCCL tree                        257.143" in printed["expected"]
    assert "469.565   -10.00%  any of 24 NICs" in printed["whatif"]
    assert re.search(r"right +yes", printed["check-xml"])
    schedule = read_schedule(tmp_path / "schedule.json")
    assert verify(schedule).optimal
    assert float(schedule.algbw_gb_s) == pytest.approx(6000 / 23)
    assert optimum(load_topology(str(tmp_path / "cluster.yaml"))).topology.num_compute == 24
