"""A few of a product's rows: each value of each parameter once, with ever other partners."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, groupby

import pytest

MARK = "each_value_once"
"""The mark of tests of which ``make test`` runs a cover alone."""

Row = Mapping[str, Hashable]
"""A value by parameter, or its identity: equal text and numbers are one value."""


def value_cover(rows: Sequence[Row]) -> list[int]:
    """Return the places of rows in which together each value of each parameter occurs.

    One after the other: the row with the most values that none had before, then with the most new
    pairs of values, then the first. So there are about as many as the longest parameter has values.
    """
    values = [frozenset(row.items()) for row in rows]
    pairs = [frozenset(combinations(sorted(row, key=str), 2)) for row in values]
    left, met, chosen = set().union(*values), set(), []
    while left:
        best = max(range(len(rows)), key=lambda i: (len(values[i] & left), len(pairs[i] - met)))
        left -= values[best]
        met |= pairs[best]
        chosen.append(best)
    return chosen


def leave_others_slow(items: Iterable[pytest.Function]) -> None:
    """Mark what :func:`value_cover` leaves out as slow, of each test with the mark."""
    marked = (one for one in items if one.get_closest_marker(MARK))
    for _, group in groupby(marked, key=lambda one: (one.parent, one.originalname)):
        rows = [one for one in group if not one.get_closest_marker("slow")]
        chosen = {rows[i] for i in value_cover([_values(one) for one in rows])}
        for one in rows:
            if one not in chosen:
                one.add_marker("slow")


def _values(item: pytest.Function) -> Row:
    """Rows of a product share the objects that are its values."""
    return {
        name: value if isinstance(value, str | int | float | Fraction | None) else id(value)
        for name, value in item.callspec.params.items()
    }
