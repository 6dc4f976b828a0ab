"""Entries of an experiment file, and the values that they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from experiments.config.entries import (
    LimitsEntry,
    MethodEntry,
    Range,
    TopologyEntry,
    text_of,
    values_of,
)
from experiments.config.experiment import read_experiment

HEAD = "name: toy\n"
TOPOLOGIES = "topologies:\n  - {family: ring, parameters: {nodes: 3}}\n"


def a_range(**given: int) -> Range:
    return Range.model_validate({"from" if k == "start" else k: v for k, v in given.items()})


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"start": 3, "to": 6}, [3, 4, 5, 6]),
        ({"start": 3, "to": 9, "step": 4}, [3, 7]),
        ({"start": -2, "to": -2}, [-2]),
        ({"start": 3, "to": 24, "factor": 2}, [3, 6, 12, 24]),
        ({"start": 3, "to": 23, "factor": 2}, [3, 6, 12]),
    ],
)
def test_a_range_ends_at_its_last_value_or_before(given: dict[str, int], values: list[int]) -> None:
    assert a_range(**given).values() == values


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"start": 1, "to": 9, "step": 1, "factor": 2}, 'has both "step" and "factor"; keep one'),
        ({"start": 9, "to": 3}, 'runs from 9 to 3; "to" must not be less than "from"'),
        ({"start": 0, "to": 3, "factor": 2}, "by a factor from 0; it must start from 1 or more"),
        ({"start": 1, "to": 10_001}, "has over 10000 values; take a larger step"),
    ],
)
def test_ranges_that_run_nowhere_are_refused(given: dict[str, int], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        a_range(**given)


def test_ten_thousand_values_are_not_too_many() -> None:
    assert len(a_range(start=1, to=10_000).values()) == 10_000


def test_a_sweep_is_a_value_or_several() -> None:
    """A truth value is one value, and no number."""
    entry = MethodEntry(
        name="m", parameters={"a": 1, "b": ["x", 2.5], "c": True, "d": a_range(start=1, to=2)}
    )
    assert [values_of(sweep) for sweep in entry.parameters.values()] == [
        [1],
        ["x", 2.5],
        [True],
        [1, 2],
    ]


def test_values_are_written_as_in_files() -> None:
    assert [text_of(value) for value in (True, False, 3, "25/2")] == ["true", "false", "3", "25/2"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, 'needs either "family" or "file"'),
        ({"family": "ring", "file": "a.yaml"}, 'needs either "family" or "file"'),
        ({"file": "a.yaml", "parameters": {"nodes": 3}}, "which a file does not take; remove them"),
    ],
)
def test_a_topology_is_of_a_family_or_a_file(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TopologyEntry.model_validate(given)


def test_limits_are_finite_numbers_as_files_give_them() -> None:
    """As text or as a number; within them a worker must be able to start."""
    limits = LimitsEntry.model_validate({"seconds": "2.5", "memory_gb": 1})
    assert (limits.seconds, limits.memory_gb) == (2.5, 1.0)
    assert (LimitsEntry().seconds, LimitsEntry().memory_gb) == (60, 4)
    for given in ({"seconds": "nan"}, {"seconds": ".inf"}, {"seconds": 0}, {"memory_gb": "0.05"}):
        with pytest.raises(ValidationError):
            LimitsEntry.model_validate(given)


def test_decimals_stay_exact_and_titles_are_text(tmp_path: Path) -> None:
    """A unit of 12.50 reaches the method as written; limits are numbers; 2024-13-45 is a title."""
    path = tmp_path / "toy.yaml"
    for title, text in (("2024-13-45", "2024-13-45"), ("2024", "2024"), ("true", "true")):
        methods = "methods:\n  - {name: multitree, parameters: {unit: 12.50}}\n"
        limits = "limits: {seconds: 2.5, memory_gb: 1}\n"
        path.write_text(f"{HEAD}title: {title}\n{TOPOLOGIES}{methods}{limits}")
        parsed = read_experiment(path)
        assert parsed.experiment.title == text
        (point,) = parsed.points
        assert point.parameters == {"unit": "12.50"}
        assert (point.limits.seconds, point.limits.memory_gb) == (2.5, 1.0)
