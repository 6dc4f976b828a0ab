"""Entries of an experiment file, and the values that they stand for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from experiments.config.entries import (
    MOST_NUMBER,
    MOST_REPETITIONS,
    Experiment,
    LimitsEntry,
    MethodEntry,
    Range,
    TopologyEntry,
    TrainEntry,
    text_of,
    values_of,
)
from experiments.config.experiment import read_experiment
from experiments.config.schema import experiment_schema
from forestcoll.errors import InvalidExperimentError
from tests.experiments.config.toy import HEAD, TOPOLOGIES, refusal


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


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("1KB..1GB", "sizes is '1KB..1GB'; write a list, such as [1KB..1GB]"),
        (["1QB"], "sizes has '1QB'; write bytes, or a size such as 1KB"),
        (["0.3KB"], "sizes has '0.3KB', which is 1536/5 bytes; a size is a whole number"),
        (["1KB", 1024], "sizes has 1KB twice; keep one"),
        (["1GB..1KB"], "sizes has a range from 1GB to 1KB; exchange its two ends"),
        ([{"from": "1KB"}], 'sizes has a range without "from" or "to"'),
        ([{"from": 1, "to": 2, "by": 3}], "sizes has a range with 'by'; known: from, to, factor"),
        ([{"from": 1, "to": 2, "factor": 1}], "by the factor 1; it must be a whole number from 2"),
        ([[1]], "sizes has [1]; write bytes, or a size"),
        ([*range(1, 1100)], "sizes has over 1000 sizes"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_a_mistake_in_the_sizes_is_one_line(write_experiment, sizes: object, message: str) -> None:
    with pytest.raises(InvalidExperimentError) as caught:
        read_experiment(write_experiment(sizes=sizes))
    assert message in str(caught.value)
    assert "toy.yaml, line " in str(caught.value)


def test_sizes_are_no_other_points(write_experiment, tmp_path: Path) -> None:
    """A schedule is made once for all of them, so that its identity is what it was without."""
    plain = read_experiment(write_experiment()).points
    sized = read_experiment(write_experiment(sizes=["1KB..4KB", 5000])).points
    assert [point.identity for point in sized] == [point.identity for point in plain]
    assert {point.sizes for point in sized} == {(1024, 2048, 4096, 5000)}
    assert sized[0].job["sizes"] == [1024, 2048, 4096, 5000]
    assert "sizes" not in plain[0].job


def test_a_figure_by_size_needs_sizes(write_experiment) -> None:
    """And what depends on the size needs such a figure."""
    for figure, message in (
        ("lines-by-size", "there are no sizes of the data; add some"),
        ("heat-map:x=size_bytes,value=time_pipelined_s", "there are no sizes of the data"),
        ("lines:y=time_pipelined_s", "take lines-by-size:y=time_pipelined_s"),
        ("lines-by-size:x=gpus", "unknown option 'x'"),
    ):
        with pytest.raises(InvalidExperimentError, match=message):
            read_experiment(write_experiment(figures=[figure]))
    figures = ["lines-by-size", "heat-map:x=size_bytes,value=time_synchronous_s"]
    path = write_experiment(sizes=["1KB..4KB"], figures=figures)
    assert yaml.safe_load(path.read_text())["figures"] == figures
    assert read_experiment(path).points


SIMULATE = HEAD + TOPOLOGIES + "methods: [{name: ring}]\nsizes: [1KB]\nsimulate: "


def test_simulations_have_the_given_model_and_defaults(tmp_path: Path) -> None:
    """The rest has its defaults; decimals are exact."""
    path = tmp_path / "toy.yaml"
    path.write_text(SIMULATE + "{alpha_us: 9.6, pipeline_chunks: 4}\n")
    entry = read_experiment(path).experiment.simulate
    assert entry is not None
    assert entry.model_dump() == {
        "alpha_us": "9.6", "gamma_s_per_gb": 0, "constant_us": 0, "window": 1,
        "chunk_cost_us": 0, "message_cost_us": 0, "sharing": "fair", "lockstep": False,
        "pipeline_chunks": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{alpha: 1}", 'simulate.alpha is an unknown key; did you mean "alpha_us"?'),
        ("{alpha_us: -1}", "simulate.alpha_us is -1; it should be greater than or equal to 0"),
        ("{alpha_us: ten}", "simulate.alpha_us cannot be: alpha is 'ten', which is not a number"),
        ("{gamma_s_per_gb: 1e99}", "simulate.gamma_s_per_gb cannot be: gamma"),
        ("{window: 0}", "simulate.window is 0; it must be a whole number from 1 to 1048576, or"),
        ("{window: true}", "simulate.window is True; it must be a whole number from 1 to 1048576"),
        ("{window: some}", "simulate.window is 'some'; it must be a whole number from 1"),
        ("{chunk_cost_us: '1e99'}", "simulate.chunk_cost_us cannot be: chunk cost"),
        ("{message_cost_us: '1e99'}", "simulate.message_cost_us cannot be: message cost"),
        ("{constant_us: '1e99'}", "simulate.constant_us cannot be: constant"),
        ("{sharing: fare}", "simulate.sharing is 'fare', an unknown value; did you mean \"fair\"?"),
        (
            "{pipeline_chunks: 0}",
            'simulate.pipeline_chunks is 0; it must be a whole number from 1 to 16384, or "best"',
        ),
        ("{lockstep: 1}", "simulate.lockstep is 1; it should be a valid boolean"),
        (
            "{pipeline_chunks: some}",
            "simulate.pipeline_chunks is 'some'; it must be a whole number from 1",
        ),
        ("10", "simulate must hold keys and values"),
    ],
)
def test_mistakes_in_simulate_are_reported(given: str, message: str, tmp_path: Path) -> None:
    assert f"line 6: {message}" in refusal(tmp_path, SIMULATE + given + "\n")


def numbers_in(schema: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every part of a JSON schema that lets numbers pass, by its place."""
    if isinstance(schema, dict):
        kinds = schema.get("type", ())
        if {"integer", "number"} & set([kinds] if isinstance(kinds, str) else kinds):
            yield place, schema
        for key, inner in schema.items():
            yield from numbers_in(inner, f"{place}/{key}")
    elif isinstance(schema, list):
        for number, inner in enumerate(schema):
            yield from numbers_in(inner, f"{place}/{number}")


@pytest.mark.parametrize("schema", [Experiment.model_json_schema(), experiment_schema()])
def test_every_number_of_an_experiment_has_an_upper_bound(schema: dict[str, Any]) -> None:
    """In the entries as they are checked, and in the schema for editors."""
    found = dict(numbers_in(schema))
    assert len(found) > 15
    assert [place for place, one in found.items() if "maximum" not in one] == []
    assert max(one["maximum"] for one in found.values()) == MOST_NUMBER


def fields_of(experiment: str) -> str:
    return HEAD + TOPOLOGIES + "methods: [{name: ring}]\n" + experiment


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (fields_of("repetitions: 1099511627777\n"), "repetitions"),
        (fields_of(f"repetitions: {MOST_REPETITIONS + 1}\n"), "repetitions"),
        (fields_of(f"repetitions: {'9' * 5000}\n"), "repetitions"),
        (fields_of("limits: {seconds: 1e300}\n"), "limits.seconds"),
        (fields_of("limits: {memory_gb: 1000001}\n"), "limits.memory_gb"),
        (fields_of("sizes: [9999999TB]\n"), "sizes"),
        (fields_of(f"sizes: [{{from: 1, to: 2, factor: {10**18 - 1}}}, 0]\n"), "sizes"),
        (fields_of("k: {from: 1, to: 100000, factor: 1}\n"), "k.factor"),
        (fields_of("k: 999999999999999999\n"), "k"),
        (
            fields_of("simulate: {pipeline_chunks: 16385}\nsizes: [1KB]\n"),
            "simulate.pipeline_chunks",
        ),
        (
            fields_of("").replace("nodes: 3", "nodes: 1000000000000"),
            "topologies[0].parameters.nodes",
        ),
        (
            fields_of("").replace("{name: ring}", "{name: ring, parameters: {rings: 1000000}}"),
            "methods[0].parameters.rings",
        ),
    ],
)
def test_numbers_out_of_bounds_are_refused(tmp_path: Path, text: str, field: str) -> None:
    """With its field: nothing is enumerated first."""
    assert f": {field} " in refusal(tmp_path, text)


def test_an_experiment_of_too_many_points_is_refused_before_they_are_made(tmp_path: Path) -> None:
    """A thousand rings, ten repetitions, eleven numbers of trees: 110,000 points."""
    text = fields_of("k: {from: 1, to: 11}\nrepetitions: 10\n")
    said = refusal(tmp_path, text.replace("nodes: 3", "nodes: {from: 3, to: 1002}"))
    assert "has 110000 points; at most 100000 are allow" in said


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ({}, "model"),
        ({"model": "gpt-9"}, "model is 'gpt-9'"),
        ({"model": ["gemma-2-2b", "gpt-9"]}, "model is 'gpt-9'"),
        ({"model": "gemma-2-2b", "parallel": "tensor"}, "parallel is 'tensor'"),
        ({"model": "gemma-2-2b", "tokens": 0}, "tokens is 0"),
        ({"model": "gemma-2-2b", "tokens": "many"}, "many"),
        ({"model": "gemma-2-2b", "utilisation": "1.5"}, "utilisation is 1.5"),
        ({"model": "gemma-2-2b", "bucket": "big"}, "bucket has 'big'"),
        ({"model": "gemma-2-2b", "optimizer": "adam"}, "optimizer"),
        (
            {
                "model": "gemma-2-2b",
                "tokens": {"from": 1, "to": 200},
                "context": {"from": 1, "to": 200},
            },
            "over 10000 combinations",
        ),
    ],
)
def test_wrong_models_of_training_are_refused(train: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TrainEntry.model_validate(train)
