"""A toy experiment as text, and what is said of one that is refused."""

from pathlib import Path

import pytest

from experiments.config.experiment import read_experiment
from forestcoll.errors import InvalidExperimentError

HEAD = "name: toy\n"
TOPOLOGIES = "topologies:\n  - {family: ring, parameters: {nodes: 3}}\n"
SWEEP = "topologies:\n  - family: ring\n    parameters: {nodes: "
METHODS = "methods:\n  - {name: ring}\n"
TOY = HEAD + TOPOLOGIES + METHODS
RING_BY = HEAD + TOPOLOGIES + "methods:\n  - "


def refusal(folder: Path, text: str) -> str:
    """Return the error of an experiment, which is one line."""
    path = folder / "toy.yaml"
    path.write_text(text)
    with pytest.raises(InvalidExperimentError) as caught:
        read_experiment(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)
