"""The numbers of the rows that are kept, read once."""

from pathlib import Path

import pytest

from experiments.reproduction.coverage import Coverage

CLONE = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def coverage() -> Coverage:
    """That of the clone we stand in, with its rows."""
    return Coverage(CLONE)
