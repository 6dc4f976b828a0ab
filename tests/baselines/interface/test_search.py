"""The gap between what is found and what is proved."""

import pytest

from baselines.interface.search import Search


@pytest.mark.parametrize(
    ("incumbent", "bound", "gap"),
    [
        (5, 4, 0.2),
        (4, 5, 0.25),
        (3, 3, 0),
        (0, 0, 0),
        (0, 1, None),
        (None, 3, None),
        (3, None, None),
    ],
)
def test_gaps_are_relative(incumbent: float | None, bound: float | None, gap: float | None) -> None:
    """Of a search for the least (bound below) or the most (above); none without both."""
    assert Search("epochs", "feasible", incumbent, bound).gap == gap
