"""What is wrong with an experiment file, in a line: the place, and the likeliest cause."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from experiments.config.document import read_document
from experiments.config.entries import Experiment
from experiments.config.faults import explained
from forestcoll.errors import InvalidExperimentError
from tests.experiments.config.toy import HEAD, METHODS, RING_BY, SWEEP, TOPOLOGIES, TOY


def fault(path: Path) -> str:
    """What is said of the first mistake in a file."""
    document = read_document(path)
    with pytest.raises(ValidationError) as caught:
        Experiment.model_validate(document.data)
    error = explained(document, caught.value)
    assert isinstance(error, InvalidExperimentError)
    return str(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + "topologes: []\n" + METHODS,
            'line 2: topologes is an unknown key; did you mean "topologies"?',
        ),
        (
            RING_BY + "{nmae: ring}\n",
            'line 5: methods[0].nmae is an unknown key; did you mean "name"?',
        ),
        (
            HEAD + "topologies:\n  - {family: mi250, file: a.yaml}\n" + METHODS,
            'line 3: topologies[0] needs either "family" or "file"',
        ),
        (
            TOY + "collective: alltoall\n",
            "line 6: collective is 'alltoall', an unknown value; did you mean \"all-to-all\"?",
        ),
        (
            TOY + "limits: {second: 5}\n",
            'line 6: limits.second is an unknown key; did you mean "seconds"?',
        ),
        (
            TOY + "limits: {seconds: -5}\n",
            "line 6: limits.seconds is -5; it should be greater than 0",
        ),
        (
            TOY + "limits:\n  memory_gb: 0.01\n",
            "line 7: limits.memory_gb is 0.01; it should be greater than or equal to 0.1",
        ),
        (
            TOY + "limits: {seconds: .inf}\n",
            "line 6: limits.seconds is '.inf'; it should be a finite number",
        ),
        (TOY + "repetitions: no\n", "line 6: repetitions is 'no'; it should be a valid integer"),
        (
            HEAD + SWEEP + "{from: 3, too: 9}}\n" + METHODS,
            'line 4: topologies[0].parameters.nodes.too is an unknown key; did you mean "to"?',
        ),
        (
            HEAD + SWEEP + "{from: 3}}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes.to is missing; add it",
        ),
        (
            HEAD + SWEEP + "{from: 3, to: 9, step: 1, factor: 2}}\n" + METHODS,
            'line 4: topologies[0].parameters.nodes has both "step" and "factor"; keep one',
        ),
        (
            HEAD + SWEEP + "{from: 9, to: 3}}\n" + METHODS,
            'line 4: topologies[0].parameters.nodes runs from 9 to 3; "to" must not be less',
        ),
        (
            HEAD + SWEEP + "{from: 0, to: 3, factor: 2}}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes runs by a factor from 0; it must start from 1",
        ),
        (
            HEAD + SWEEP + "{from: 1, to: 1000000}}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes has over 10000 values",
        ),
        (
            HEAD + SWEEP + "{from: 1, to: four}}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes.to is 'four'; it should be a valid integer",
        ),
        (
            HEAD + SWEEP + "}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes has no value; add one",
        ),
        (HEAD + TOPOLOGIES, "line 1: methods is missing; add it"),
        ("name: ../toy\n" + TOPOLOGIES + METHODS, "line 1: name is '../toy'; it should match"),
        (
            HEAD + TOPOLOGIES + "methods: [ring]\n",
            "methods[0] must hold keys and values, as in {name: ring}",
        ),
        (
            HEAD + "topologies: [torus]\n" + METHODS,
            "topologies[0] must hold keys and values, as in {family: torus, parameters: ",
        ),
        ("just words\n", "line 1: the file must hold keys and values"),
        ("", "toy.yaml: the file must hold keys and values"),
    ],
)
def test_mistakes_name_place_and_nearest_word(tmp_path: Path, text: str, message: str) -> None:
    """In our words, not in those of the checker."""
    path = tmp_path / "toy.yaml"
    path.write_text(text)
    shown = fault(path)
    assert message in shown
    assert "\n" not in shown


def test_a_misspelt_key_is_reported_before_the_missing_one(tmp_path: Path) -> None:
    """A key "topologes" leaves "topologies" out, which would be the first complaint."""
    path = tmp_path / "toy.yaml"
    path.write_text(HEAD + METHODS + "topologes: []\n")
    assert "line 4: topologes is an unknown key" in fault(path)


def test_the_place_is_that_of_the_file(tmp_path: Path) -> None:
    """Without what the checker adds for the branches of a union."""
    path = tmp_path / "toy.yaml"
    path.write_text(HEAD + SWEEP + "{from: 1, to: x}}\n" + METHODS)
    assert fault(path).startswith(f"{path}, line 4: topologies[0].parameters.nodes.to is 'x'; it")
