"""The points of an experiment: every choice of one value from each sweep."""

import itertools
from pathlib import Path

import yaml

from experiments.config.entries import Experiment
from experiments.config.experiment import read_experiment
from experiments.config.points import Point
from experiments.config.sweeps import count_of, points_of
from forestcoll.topology import load_topology, write_topology


def test_lists_are_sweeps_and_options_name_the_cluster(write_experiment) -> None:
    """2 sizes x 2 options x 2 notes = 8 points in 2 clusters; the default option names none."""
    path = write_experiment(
        topologies=[
            {"family": "mi250", "parameters": {"boxes": [1, 2], "gpus_per_box": [16, 8]}},
        ],
        methods=[{"name": "zoo:good", "parameters": {"note": ["a", "b"]}}],
    )
    points = read_experiment(path).points
    assert len(points) == 8
    assert list(dict.fromkeys(point.cluster for point in points)) == [
        "mi250",
        "mi250:gpus_per_box=8",
    ]
    assert points[-1].topology == "mi250:boxes=2,gpus_per_box=8"
    assert points[-1].parameters == {"note": "b"}


def test_a_topology_file_counts_by_its_content(write_experiment, tmp_path: Path) -> None:
    """The same file is the same point wherever it lies; a changed file is another point."""
    file = tmp_path / "mine.yaml"
    write_topology(load_topology("ring:nodes=3"), file)
    path = write_experiment(topologies=[{"file": "mine.yaml"}])
    (first,) = read_experiment(path).points
    assert (first.cluster, first.topology) == ("mine", "mine.yaml")
    write_topology(load_topology("ring:nodes=4"), file)
    (second,) = read_experiment(path).points
    assert first.identity != second.identity


def test_the_last_sweep_turns_fastest(write_experiment) -> None:
    """Topologies first, then methods, their parameters, and repetitions last of all."""
    path = write_experiment(
        topologies=[
            {"family": "ring", "parameters": {"nodes": [4, 3]}},
            {"family": "ring", "parameters": {"nodes": 2}},
        ],
        methods=[{"name": "zoo:good", "parameters": {"note": ["a", "b"]}}, {"name": "ring"}],
        repetitions=2,
    )
    document = yaml.safe_load(path.read_text())
    placed = list(points_of(Experiment.model_validate(document), path.parent))
    points = [(p.point.topology, p.point.series, p.point.repetition) for p in placed]
    series = ("zoo:good (note=a)", "zoo:good (note=b)", "ring")
    topologies = ("ring:nodes=4", "ring:nodes=3", "ring:nodes=2")
    assert points == list(itertools.product(topologies, series, (0, 1)))
    assert [(p.topology, p.method) for p in placed[6:]] == [
        *([(0, 0)] * 4 + [(0, 1)] * 2),
        *([(1, 0)] * 4 + [(1, 1)] * 2),
    ]


def test_the_first_gpu_is_the_default_root(write_experiment) -> None:
    def root(**changes: object) -> object:
        document = yaml.safe_load(write_experiment(**changes).read_text())
        placed = points_of(Experiment.model_validate(document), Path())
        return {each.point.root for each in placed}

    assert root() == root(collective="allreduce") == {None}
    assert root(collective="broadcast") == {0}
    assert root(collective="reduce", root="gpu1") == {"gpu1"}


def test_models_of_training_are_swept_after_the_methods(write_experiment) -> None:
    train = {"model": ["gemma-2-2b", "llama-3-8b"], "tokens": 512, "bucket": ["1MB", "best"]}
    document = yaml.safe_load(write_experiment(collective="allreduce", train=train).read_text())
    experiment = Experiment.model_validate(document)
    points = [each.point for each in points_of(experiment, Path())]
    plain = Experiment.model_validate({**document, "train": None})
    assert len(points) == count_of(experiment) == 4 * count_of(plain)
    assert [point.train["bucket"] for point in points[:2]] == ["1MB", "best"]
    assert {point.train["tokens"] for point in points} == {512}
    shown = [(p.shown_parameters["model"], p.shown_parameters["bucket"]) for p in points[:4]]
    assert shown == list(itertools.product(*(train[name] for name in ("model", "bucket"))))
    assert "tokens" not in points[0].shown_parameters
    assert "bucket=1MB" in points[0].series
    assert points[0].job["train"] == points[0].train
    assert len({point.identity for point in points}) == len(points)


def test_a_model_that_does_not_vary_is_in_the_identity_alone(write_experiment) -> None:
    def points(**train: object) -> list[Point]:
        document = yaml.safe_load(write_experiment(collective="allreduce", train=train).read_text())
        return [each.point for each in points_of(Experiment.model_validate(document), Path())]

    small, large = points(model="gemma-2-2b"), points(model="gemma-2-27b")
    assert [point.series for point in small] == [point.series for point in large]
    assert not {point.identity for point in small} & {point.identity for point in large}
