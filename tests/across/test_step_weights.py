"""Weights of step schedules and programs: whoever makes one of another hands them on."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from forestcoll import compile_program, generate, group
from forestcoll.schedule import (
    StepSchedule,
    by_shards,
    cost,
    lockstep,
    read_schedule,
    sequential,
    stepwise,
    time_reversed,
    write_schedule,
)
from tests.schedule.made.weighted import WEIGHTS, ring, weighted

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((DOCS / "schemas" / "schedule.schema.json").read_text(encoding="utf-8"))
)


def shares(schedule: StepSchedule) -> list[int]:
    """How many units are rooted at each GPU."""
    chunks = schedule.chunks
    roots = np.bincount(chunks.root, chunks.size, minlength=schedule.topology.num_compute)
    return roots.astype(int).tolist()


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_weights_are_handed_on(collective: str) -> None:
    """Of 2 + 1 + 1 parts half are the first GPU's, whatever the schedule is made into."""
    made = weighted(collective)
    program = compile_program(
        generate(ring(), collective=collective, weights=WEIGHTS).schedule, pipeline_chunks=2
    )
    back = time_reversed(made, ring().reversed())
    assert program.weights == compile_program(made).weights == WEIGHTS
    for one in (made, stepwise(program), stepwise(compile_program(made)), by_shards(made), back):
        assert one.weights == WEIGHTS
        unit = one.chunks.whole // 4
        assert shares(one) == [2 * unit, unit, unit]
    assert cost(made).time_s_per_gb == cost(stepwise(program)).time_s_per_gb


def test_all_else_has_weights_of_one() -> None:
    """A broadcast shares nothing out, nor does an allreduce, whatever the weights of its phases."""
    root = lockstep(generate(ring(), collective="broadcast", root=1).schedule)
    sums = generate(ring(), collective="allreduce", weights=WEIGHTS).schedule
    both = sequential(weighted("reduce-scatter"), weighted())
    for one in (
        root,
        lockstep(sums),
        both,
        stepwise(compile_program(sums)),
        stepwise(compile_program(root)),
    ):
        assert one.weights == (1, 1, 1)
    assert compile_program(sums).weights == compile_program(root).weights == (1, 1, 1)
    assert both.collective == "allreduce"


def test_one_gpu_with_all_of_the_data_is_still_an_allgather() -> None:
    """A step schedule is what it says it is."""
    made = replace(weighted(), weights=(1, 0, 0))
    assert made.collective == "allgather"
    assert made != weighted()


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_files_name_weights_only_if_they_are_unequal(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"steps.{suffix}"
    for made in (weighted(), weighted("reduce-scatter"), lockstep(generate(ring()).schedule)):
        write_schedule(made, path)
        found = read_schedule(path)
        assert found == made
        assert hash(found) == hash(made)
        assert isinstance(found, StepSchedule)
        assert found.weights == made.weights
        assert (b'"weights": [2, 1, 1]' in path.read_bytes()) == (made.weights == WEIGHTS)
        assert (b'"weights"' in path.read_bytes()) == (made.weights == WEIGHTS)
        if suffix == "json":
            SCHEMA.validate(json.loads(path.read_text()))


def test_weights_of_a_group_are_those_of_its_members() -> None:
    """Two of three GPUs: two weights."""
    part = group(ring(), ["gpu0", "gpu1"])
    made = lockstep(generate(part, weights=(3, 1)).schedule)
    assert made.weights == (3, 1)
    assert stepwise(compile_program(made)).weights == (3, 1)
