"""The JSON schema for editors: current, and of one mind with the reader."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from experiments.config.entries import Range
from experiments.config.experiment import read_experiment
from experiments.config.schema import experiment_schema
from forestcoll.errors import InvalidExperimentError

DOCS = Path(__file__).parents[3] / "docs"
QUICKSTART = Path(__file__).parents[3] / "experiments" / "quickstart.yaml"
SCHEMA = jsonschema.Draft202012Validator(experiment_schema())

GOOD: dict[str, object] = {
    "name": "toy",
    "topologies": [{"family": "ring", "parameters": {"nodes": 3}}],
    "methods": [{"name": "ring"}, {"name": "zoo:good"}],
}


def test_the_schema_in_the_docs_is_current() -> None:
    """If this fails: python -m experiments.config.schema > docs/schemas/experiment.schema.json."""
    assert (
        json.loads((DOCS / "schemas" / "experiment.schema.json").read_text()) == experiment_schema()
    )


def test_quickstart_names_the_schema_and_fits_it() -> None:
    """Editors find it by the first line of the file."""
    text = QUICKSTART.read_text()
    name = text.splitlines()[0].partition("$schema=")[2]
    assert (QUICKSTART.parent / name).resolve() == (
        DOCS / "schemas" / "experiment.schema.json"
    ).resolve()
    SCHEMA.validate(yaml.safe_load(text))


def test_the_file_that_is_spoilt_below_is_right(write_experiment) -> None:
    assert SCHEMA.is_valid(GOOD)
    assert read_experiment(write_experiment(**GOOD)).points


@pytest.mark.parametrize(
    "changes",
    [
        {"collectiv": "allgather"},
        {"collective": "alltoall"},
        {"topologies": []},
        {"topologies": [{"family": "rnig", "parameters": {"nodes": 3}}]},
        {"topologies": [{"family": "ring", "parameters": {"boxes": 3}}]},
        {"topologies": [{"family": "ring"}]},
        {"topologies": [{"family": "ring", "file": "a.yaml", "parameters": {"nodes": 3}}]},
        {"topologies": [{"family": "ring", "parameters": {"nodes": []}}]},
        {"topologies": [{"family": "ring", "parameters": {"nodes": [3, 3]}}]},
        {"topologies": [{"family": "ring", "parameters": {"nodes": {"from": 1}}}]},
        {"methods": [{"name": "rnig"}]},
        {"methods": [{"name": "ring", "parameters": {"speed": 3}}]},
        {"limits": {"seconds": 0}},
        {"limits": {"memory_gb": 0.01}},
        {"repetitions": 0},
        {"figures": ["pie"]},
        {"figures": ["generation-time:y=depth"]},
    ],
    ids=str,
)
def test_schema_and_reader_refuse_the_same(write_experiment, changes: dict[str, object]) -> None:
    """A valid file, one thing of which has been spoilt."""
    assert not SCHEMA.is_valid({**GOOD, **changes})
    with pytest.raises(InvalidExperimentError):
        read_experiment(write_experiment(**{**GOOD, **changes}))


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"from": 1, "to": 8}, [1, 2, 3, 4, 5, 6, 7, 8]),
        ({"from": 2, "to": 9, "step": 3}, [2, 5, 8]),
        ({"from": 1, "to": 128, "factor": 2}, [1, 2, 4, 8, 16, 32, 64, 128]),
        ({"from": 3, "to": 100, "factor": 3}, [3, 9, 27, 81]),
        ({"from": 5, "to": 5}, [5]),
    ],
)
def test_a_range_is_the_list_of_its_values(given: dict[str, int], values: list[int]) -> None:
    """From and to are values, if the steps meet them."""
    assert Range.model_validate(given).values() == values


def test_a_range_makes_the_points_of_its_list(write_experiment) -> None:
    """Writing a sweep otherwise makes no other points."""
    points = []
    for nodes in ([3, 6, 12], {"from": 3, "to": 12, "factor": 2}):
        topologies = [{"family": "ring", "parameters": {"nodes": nodes}}]
        points.append(read_experiment(write_experiment(topologies=topologies)).points)
    assert points[0] == points[1]
    assert len(points[0]) == 3
