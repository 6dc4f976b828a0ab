"""The command ``forestcoll allreduce-optimum``."""

import re
from pathlib import Path

import pytest

from forestcoll.schedule import read_schedule
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.topology import write_topology
from tests.command_line import assert_refused, document, invoke
from tests.lp.networks import one_way_detour

NAME = "allreduce-optimum"


def test_an_optimal_combination_is_reported() -> None:
    result = invoke(NAME, "dgx_a100:boxes=4")
    assert result.exit_code == 0, result.output
    assert "reduce scatter and allgather is optimal  yes" in result.stdout
    assert "400/3 = 133.333 GB/s" in result.stdout
    assert "gather into box 0 (8 GPUs), price 0.6667" in result.stdout
    assert re.search("^schedule +forestcoll$", result.stdout, re.MULTILINE)
    assert re.search("^optimal +yes$", result.stdout, re.MULTILINE)


def test_a_better_schedule_than_the_combination_is_built_and_written(tmp_path: Path) -> None:
    """A one-way ring with a detour: 2 GB/s by hand, against 3/2."""
    network, file = tmp_path / "detour.yaml", tmp_path / "schedule.json"
    write_topology(one_way_detour(), network)
    facts = document(NAME, network, "-o", file)
    assert facts["allreduce_algbw_gb_s"] == pytest.approx(2)
    assert facts["at_most_gb_s"]["exact"] == "2"
    assert facts["reduce_scatter_and_allgather_gb_s"]["exact"] == "3/2"
    assert facts["reduce_scatter_and_allgather_is_optimal"] is False
    assert (facts["schedule"], facts["schedule_algbw_gb_s"]["exact"]) == ("allreduce-lp", "2")
    assert facts["verified"] is facts["optimal"] is True
    assert sum(facts["parts_gb_s"].values()) == pytest.approx(2)
    assert facts["file"] == str(file)
    assert cost(read_schedule(file)).algbw_gb_s == 2
    people = invoke(NAME, network, "--no-symmetry", "--solver", "glop")
    assert people.exit_code == 0
    assert "schedule algbw" in people.stdout
    assert "2 GB/s" in people.stdout


def test_an_optimal_combination_is_written_on_request(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    facts = document(NAME, "ring:nodes=4", "-o", file)
    assert facts["schedule_algbw_gb_s"]["exact"] == "4/3"
    assert invoke("verify", file).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ring:nodes=4", "--solver", "simplex"], 2, "no LP method 'simplex'"),
        (["ring:nodes=4", "--time-limit", "0"], 2, "seconds is 0"),
        (["mi250:boxes=4", "--time-limit", "0.000001"], 3, "the limit of 1e-06 s"),
        (["ring:nodes=4", "-o", f"{__file__}/all.json"], 2, "is a file; name a folder"),
        (["ring:nodes=1"], 2, "ring"),
    ],
)
def test_mistakes_are_one_typed_line(arguments: list[str], code: int, message: str) -> None:
    assert_refused(message, NAME, *arguments, code=code)
