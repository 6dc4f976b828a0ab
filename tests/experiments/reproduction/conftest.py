"""The rows that are kept, read once, and a clone with a toy experiment."""

from pathlib import Path

import pytest

from experiments.reproduction.coverage import Coverage

CLONE = Path(__file__).parents[3]

TOY = """
name: toy
topologies: [{family: ring, parameters: {nodes: [3, 4]}}]
methods: [{name: forestcoll}]
"""


@pytest.fixture(scope="session")
def coverage() -> Coverage:
    """That of the clone we stand in, with its rows."""
    return Coverage(CLONE)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with one experiment of two points, without rows, and one test."""
    for folder in ("experiments/toys", "results/toy", "tests"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "experiments/toys/toy.yaml").write_text(TOY)
    (tmp_path / "tests/test_toy.py").write_text("def test_it() -> None:\n    pass\n")
    return tmp_path
