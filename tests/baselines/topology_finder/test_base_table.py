"""The stored table: a sample is computed again, and it can be extended."""

from __future__ import annotations

from pathlib import Path

import pytest

from baselines.topology_finder.base_networks import bases, measured
from baselines.topology_finder.base_table import BaseTable, extend


@pytest.mark.parametrize(("nodes", "degree"), [(7, 4), (30, 2), (64, 4), (125, 4), (200, 4)])
def test_stored_times_are_those_of_a_computation(nodes: int, degree: int) -> None:
    table = BaseTable()
    known = [one for one in bases(nodes, degree) if not one.times]
    assert known
    for base in known:
        assert table.stored(base) == measured(base), base.name


def test_a_table_goes_on_where_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    assert extend(4, 8, file) == 8
    before = file.read_text()
    assert extend(4, 8, file) == 0
    assert file.read_text() == before
    assert extend(4, 9, file) == 3
    assert file.read_text().startswith(before)
    assert len(BaseTable(file)) == 11


def test_what_is_not_stored_is_computed_once() -> None:
    table = BaseTable()
    (base,) = (one for one in bases(23, 5) if one.name.startswith("Pi"))
    assert table.stored(base) is None
    first = table.times_of(base)
    assert table.stored(base) is first is table.times_of(base)
