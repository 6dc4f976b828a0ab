"""The ways of three new users, from what they have to what they want.

A student with an experiment of her own, an engineer with damaged boxes; the third, a reviewer with
cuts in Jupyter, walks through tests/across/test_notebooks.py.
"""

from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.schedule import read_schedule, verify
from forestcoll.topology import read_topology
from tests.command_line import document, invoke

EXPERIMENT = """\
name: mine
title: My ring beside ForestColl
collective: allgather
topologies:
  - {family: ring, parameters: {nodes: 3}}
methods:
  - {name: forestcoll}
  - {name: "my_ring:generate"}
  - {name: "my_ring:broken"}
limits: {seconds: 60, memory_gb: 2}
figures: [theoretical-algbw]
"""

METHOD = """\
from baselines.registry import METHODS


def generate(topology):
    return METHODS["ring"].run(topology, "allgather", {})


def broken(topology):
    raise ValueError("not yet")
"""

CLUSTER = """\
base: dgx_a100:boxes=8
without: ["b3.gpu2 - ib", "b7.gpu0 -> ib"]
scale: {"b5.* - ib": 1/2}
"""


@pytest.mark.slow  # eight processes; tests/experiments/test_cli.py runs such methods too
def test_a_student_runs_her_own_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_ring.py").write_text(METHOD)
    (tmp_path / "mine.yaml").write_text(EXPERIMENT)
    planned = invoke("run", "mine.yaml", "--dry-run")
    assert planned.exit_code == 0
    ran = invoke("run", "mine.yaml")
    assert ran.exit_code == 1  # one of the methods fails; the others have rows
    assert "not yet" in ran.stdout
    assert (tmp_path / "results" / "mine" / "theoretical-algbw.png").is_file()
    shown = invoke("results", "show", "results/mine").stdout
    assert "my_ring:generate" in shown
    again = invoke("run", "mine.yaml")
    assert "forestcoll" in again.stdout


def test_an_engineer_gets_from_damaged_boxes_to_a_schedule_and_its_proof(tmp_path: Path) -> None:
    """A NIC dead, one dead one way, the NICs of a box at half their speed."""
    mine, schedule = tmp_path / "mine.yaml", tmp_path / "schedule.npz"
    mine.write_text(CLUSTER)
    assert read_topology(mine).num_compute == 64
    made = invoke("generate", mine, "-o", schedule)
    assert (made.exit_code, made.stderr) == (0, "")
    assert verify(read_schedule(schedule)).algbw_gb_s == Fraction(800, 7)
    assert document("verify", schedule, "--topology", mine)["optimal"] is True
    proof = document("certificate", mine, "-o", tmp_path / "proof.json")
    assert proof["algbw_gb_s"]["exact"] == "800/7"
    assert document("topology", "draw", mine, "--cut", "-o", tmp_path / "mine.svg")["cut"]["gpus"]
    asked = document("whatif", mine)
    assert asked["algbw_gb_s"] == proof["algbw_gb_s"]
    best = max(asked["upgrades"], key=lambda one: one["gain"]["value"])
    assert best["parts"][0].startswith("b5.")
    worse = document("replan", schedule, "-o", tmp_path / "new.npz", "--without", "b5.gpu1 - ib")
    assert worse["algbw_gb_s"]["exact"] == "100"
    assert document("expected", mine, "--collective", "allgather")["gpus"] == 64
