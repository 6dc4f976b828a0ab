"""Settings of an experiment's model of training."""

from __future__ import annotations

from typing import Any

import pytest

from baselines.registry import METHODS
from experiments.training.communication import OnNetwork
from experiments.training.iteration import iteration
from experiments.training.known_models import Compute, layers_of, model_named
from experiments.training.training_settings import TrainingSettings
from forestcoll.errors import ForestCollError
from forestcoll.schedule.simulate import AlphaBeta
from forestcoll.topology import load_topology

GIVEN: dict[str, Any] = {
    "model": "gemma-2-2b",
    "parallel": "data",
    "tokens": 1024,
    "context": 512,
    "utilisation": "0.4",
    "flops": "1e15",
    "bytes_each": 4,
    "recompute": True,
    "bucket": "100MB",
    "alpha_us": "3",
    "lockstep": False,
}


def test_an_iteration_is_that_of_its_parts() -> None:
    topology = load_topology("ring:nodes=4")
    schedule = METHODS["ring"].run(topology, "allreduce")
    made = TrainingSettings.of(GIVEN).run(schedule, "ring", {})
    compute = Compute(1024, 512, 1e15, 0.4, 4, recompute=True)
    layers = layers_of(model_named("gemma-2-2b"), compute)
    seconds_of = OnNetwork(topology, "ring", AlphaBeta(alpha_us=3))
    assert made == iteration(layers, "data", seconds_of, bucket_bytes=100 * 2**20)
    assert made.visible("allreduce") == pytest.approx(made.timeline.visible)
    assert made.visible("all-to-all") is None


@pytest.mark.slow
def test_the_given_schedule_is_used() -> None:
    """A ring's, whatever the method would make for this collective."""
    topology = load_topology("torus:dims=4x4")
    schedule = METHODS["ring"].run(topology, "allreduce")
    settings = TrainingSettings.of(GIVEN)
    assert settings.run(schedule, "bfb", {}) == settings.run(schedule, "ring", {})
    other = METHODS["bfb"].run(topology, "allreduce")
    assert settings.run(other, "bfb", {}) != settings.run(schedule, "bfb", {})


def test_sharded_training_makes_the_other_collective_too() -> None:
    topology = load_topology("ring:nodes=4")
    schedule = METHODS["ring"].run(topology, "allgather")
    made = TrainingSettings.of({**GIVEN, "parallel": "sharded"}).run(schedule, "ring", {})
    kinds = {run.task.kind for run in made.timeline.runs}
    assert kinds == {"compute", "allgather", "reduce-scatter"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model", "gpt-9"),
        ("parallel", "tensor"),
        ("tokens", 0),
        ("utilisation", "2"),
        ("bucket", "big"),
        ("alpha_us", "-1"),
    ],
)
def test_wrong_values_are_refused(name: str, value: object) -> None:
    with pytest.raises(ForestCollError, match=str(value)):
        TrainingSettings.of({**GIVEN, name: value})
