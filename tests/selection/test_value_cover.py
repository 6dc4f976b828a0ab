"""Which rows of a product ``make test`` runs."""

from itertools import product

from tests.selection.value_cover import value_cover


def test_a_product_of_two_takes_the_longer() -> None:
    """Three by two: (0, 0), (1, 1), and the last of the three with either of the two."""
    rows = [{"a": a, "b": b} for a, b in product(range(3), range(2))]
    assert [rows[i] for i in value_cover(rows)] == [
        {"a": 0, "b": 0},
        {"a": 1, "b": 1},
        {"a": 2, "b": 0},
    ]


def test_every_value_occurs_with_ever_other_partners() -> None:
    """Of 7 x 3 x 2 rows, seven, with no pair of the first two twice, and few others."""
    rows = [{"a": a, "b": b, "c": c} for a, b, c in product(range(7), range(3), range(2))]
    chosen = [rows[i] for i in value_cover(rows)]
    assert len(chosen) == 7
    for name, count in (("a", 7), ("b", 3), ("c", 2)):
        assert {row[name] for row in chosen} == set(range(count))
    assert len({(row["b"], row["c"]) for row in chosen}) == 6


def test_rows_need_not_be_a_whole_product() -> None:
    rows = [{"a": 0, "b": 0}, {"a": 1, "b": 0}, {"a": 1, "b": 1}]
    assert value_cover(rows) == [0, 2]


def test_no_rows_are_covered_by_none() -> None:
    assert value_cover([]) == []
