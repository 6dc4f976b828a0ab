"""Slots of all-to-all files that hold a demand, and scores against its bound."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from baselines.registry import METHODS
from forestcoll.all_to_all.best_flow import best_flow
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError, TimeLimitError
from forestcoll.problem.demand import Demand
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl import Algorithm, parse_algorithm
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.runtimes.mscclpp import Plan, parse_plan
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.runtimes.scoring.demand_slots import demand_bound, slots_of
from forestcoll.runtimes.scoring.file_score import score
from forestcoll.runtimes.scoring.sent_data import RuntimeFile
from forestcoll.schedule import cost
from forestcoll.topology import load_topology
from tests.command_line import document, invoke

RING = load_topology("ring:nodes=3")
UNEVEN = Demand.of_matrix([[0, 4, 2], [1, 0, 0], [0, 2, 0]], "uneven")


def exported(schedule: Any) -> Algorithm:
    return parse_algorithm(export(compile_program(schedule), MscclOptions()).text).algorithm


def plan_of(schedule: Any) -> Plan:
    return parse_plan(export(compile_program(schedule), MscclppOptions()).text).plan


def file_of(demand: Demand | None) -> Algorithm:
    direct = METHODS["direct"].run(RING, "all-to-all", {} if demand is None else {"demand": demand})
    return exported(direct)


def test_the_largest_amount_fills_a_slot_and_others_begin_it() -> None:
    """Slots of 4 chunks of a byte: of 9 bytes, each chunk is a ninth."""
    slots = slots_of(file_of(UNEVEN), UNEVEN, range(3))
    assert slots.chunks == ((0, 4, 2), (1, 0, 0), (0, 2, 0))
    assert slots.share == Fraction(1, 9)


def test_a_part_of_a_chunk_is_a_chunk() -> None:
    """Equal slots of one chunk each: all amounts need theirs, a chunk is the largest amount."""
    slots = slots_of(file_of(None), UNEVEN, range(3))
    assert slots.chunks == ((0, 1, 1), (1, 0, 0), (0, 1, 0))
    assert slots.share == Fraction(4, 9)


def test_by_hand_a_ring() -> None:
    """GPU 0 has 6 of 9 bytes for others and two links of 1 GB/s: 3 ns at least.

    With one of the 4 bytes for GPU 1 over GPU 2 no link carries more. Directly, they take 4 ns; so
    does a file of equal parts, with 4 bytes a pair.
    """
    for demand in (UNEVEN, None):
        found = score(file_of(demand), RING, demand=UNEVEN).measurement
        assert found is not None
        assert found.bound is not None
        assert found.bound.optimal
        assert found.bound.algbw_gb_s == 3
        assert found.algbw_gb_s == Fraction(9, 4)


def test_a_file_that_lacks_data_of_the_demand_is_wrong() -> None:
    more = Demand.of_matrix([[0, 4, 2], [1, 0, 3], [0, 2, 0]])
    found = score(file_of(UNEVEN), RING, demand=more)
    assert not found.findings.is_right
    assert found.measurement is None


@pytest.mark.parametrize("made", [exported, plan_of])
def test_the_rate_of_our_paths_is_that_of_the_file(made: Callable[[Any], RuntimeFile]) -> None:
    schedule = best_flow(RING, UNEVEN)
    found = score(made(schedule), RING, demand=UNEVEN)
    assert found.measurement is not None
    assert found.measurement.share == 1
    assert found.measurement.algbw_gb_s == cost(schedule).algbw_gb_s == 3


@pytest.mark.parametrize("made", [exported, plan_of])
def test_ranks_of_a_file_in_another_order(made: Callable[[Any], RuntimeFile]) -> None:
    """The ring and the demand turned by one GPU: rank r of the file is GPU r + 1."""
    turned = Demand.of_matrix([[0, 0, 2], [2, 0, 4], [0, 1, 0]])
    found = score(made(best_flow(RING, UNEVEN)), RING, demand=turned, order=[1, 2, 0])
    assert found.measurement is not None
    assert found.measurement.share == 1


def test_a_plan_that_lacks_data_of_the_demand_is_wrong() -> None:
    more = Demand.of_matrix([[0, 4, 2], [1, 0, 3], [0, 2, 0]])
    found = score(plan_of(best_flow(RING, UNEVEN)), RING, demand=more)
    assert not found.findings.is_right
    assert found.measurement is None


@pytest.mark.parametrize(
    ("form", "ending", "check"), [("msccl", "xml", "xml"), ("mscclpp", "json", "plan")]
)
def test_the_command_scores_an_export(tmp_path: Path, form: str, ending: str, check: str) -> None:
    schedule, file, demand = tmp_path / "s.npz", tmp_path / f"f.{ending}", "zipf:size=64KB"
    asked = ["--demand", demand, "--round-up", "1KB"]
    assert invoke("generate", "dgx_a100:boxes=1", *asked, "-o", schedule).exit_code == 0
    assert invoke("export", schedule, "--format", form, "-o", file).exit_code == 0
    scoring = ("score", file, "--topology", "dgx_a100:boxes=1")
    shown = document(*scoring, *asked, "--machine", "none")
    assert (shown["right"], shown["share_of_optimum"]["exact"]) == (True, "1")
    counted = document(*scoring, *asked)
    times = [float(Fraction(one["time_us"]["exact"])) for one in (shown, counted)]
    rates = [one["algbw_gb_s"]["value"] for one in (shown, counted)]
    assert counted["by_links_gb_s"] == shown["algbw_gb_s"]
    assert counted["by_threadblocks_gb_s"] == counted["algbw_gb_s"]
    assert times[1] * rates[1] == pytest.approx(times[0] * rates[0])
    assert rates[1] < rates[0]
    assert shown["demand"] == demand
    lost = invoke(*scoring, "--round-up", "1KB")
    assert "--round-up is for a demand" in lost.stderr
    kept = invoke(*scoring, *asked, "-o", tmp_path / "ours.json")
    assert "--output is for JSON of other tools" in kept.stderr
    more = invoke(*scoring, "--demand", "all-to-all:size=64KB")
    assert more.exit_code == 1
    assert f"see check-{check}" in more.stdout


def test_files_of_other_collectives_or_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    algorithm = file_of(None)
    with pytest.raises(InvalidParameterError, match="is of allgather; a demand is for all-to-alls"):
        slots_of(replace(algorithm, collective="allgather"), UNEVEN, range(3))
    plan = replace(plan_of(best_flow(RING, UNEVEN)), collective="shuffle")
    with pytest.raises(InvalidParameterError, match="is of shuffle; a demand is for all-to-alls"):
        slots_of(plan, UNEVEN, range(3))
    other = Demand.of_matrix([[0, 1], [1, 0]], "two")
    with pytest.raises(InvalidParameterError, match="two is of 2 GPUs, and not of 3"):
        slots_of(algorithm, other, range(3))

    def late(*_: object, **__: object) -> None:
        raise TimeLimitError("too late")

    monkeypatch.setattr("forestcoll.all_to_all.multicast_bounds.demand_bounds", late)
    assert demand_bound(RING, UNEVEN, 1) is None
