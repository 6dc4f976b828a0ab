"""The first rows of tests whose rows are alike: random networks, or one more network each."""

from collections import Counter
from collections.abc import Iterable

import pytest

MARK = "first_rows"
"""The mark of tests of which ``make test`` runs the first rows alone, as many as it says."""


def leave_later_rows_slow(items: Iterable[pytest.Function]) -> None:
    """Mark the others as slow."""
    rows: Counter[tuple[object, str]] = Counter()
    for one in items:
        mark = one.get_closest_marker(MARK)
        if mark is None or one.get_closest_marker("slow"):
            continue
        test = one.parent, one.originalname
        rows[test] += 1
        if rows[test] > mark.args[0]:
            one.add_marker("slow")
