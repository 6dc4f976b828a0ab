"""The stored table: a sample is computed again, and it can be extended."""

from __future__ import annotations

from pathlib import Path

import pytest

from baselines.topology_finder import base_table
from baselines.topology_finder.base_distances import distances_of, has_closed_form
from baselines.topology_finder.base_networks import bases, measured
from baselines.topology_finder.base_table import BaseTable, extend


@pytest.mark.parametrize(("nodes", "degree"), [(7, 4), (30, 2), (64, 4), (125, 4), (200, 4)])
def test_stored_times_are_those_of_a_computation(nodes: int, degree: int) -> None:
    table = BaseTable()
    known = [one for one in bases(nodes, degree) if not one.times]
    assert known
    for base in known:
        assert table.stored(base) == measured(base), base.name


@pytest.mark.first_rows(3)
@pytest.mark.parametrize(
    ("nodes", "degree"), [(7, 4), (8, 2), (30, 2), (35, 4), (64, 4), (200, 4), (1999, 16), (13, 3)]
)
def test_stored_distances_are_those_of_a_computation(nodes: int, degree: int) -> None:
    table = BaseTable()
    for base in bases(nodes, degree):
        assert (base in table) != has_closed_form(base), base.name
        assert table.distances_of(base) == distances_of(base), base.name


def test_all_base_networks_of_the_stored_degrees_have_a_row() -> None:
    table = BaseTable()
    for degree, most in ((2, 2000), (4, 2000), (8, 2000), (16, 2000), (3, 1024)):
        for nodes in range(2, most + 1):
            for base in bases(nodes, degree):
                assert base in table or has_closed_form(base), base.name


def test_a_table_is_extended_from_its_end(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    assert extend(4, 8, file) == 12
    before = file.read_text()
    assert extend(4, 8, file) == 0
    assert file.read_text() == before
    assert extend(4, 9, file) == 4
    assert file.read_text().startswith(before)
    assert len(BaseTable(file)) == 16


def test_missing_times_are_computed_once() -> None:
    table = BaseTable()
    (base,) = (one for one in bases(23, 5) if one.name.startswith("Pi"))
    assert table.stored(base) is None
    first = table.times_of(base)
    assert table.stored(base) is first is table.times_of(base)


def test_nothing_that_is_known_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither times in closed form nor what the table has; other distances once."""
    table = BaseTable()
    with monkeypatch.context() as computing:
        computing.delattr(base_table, "measured")
        computing.delattr(base_table, "distances_of")
        for base in bases(64, 4):
            assert table.times_of(base) == (base.times or table.stored(base))
            if base in table:
                assert table.distances_of(base).total > 0
    for closed in (one for one in bases(64, 2) if one.times):
        assert table.stored(closed) is closed.times
        assert table.distances_of(closed) is table.distances_of(closed)
