"""Groups of small orders, against their known numbers and by the laws of groups."""

from __future__ import annotations

import numpy as np
import pytest

from baselines.topology_finder.small_groups import automorphisms, cyclic, groups
from forestcoll.errors import InvalidParameterError

NUMBER = [1, 1, 1, 2, 1, 2, 1, 5, 2, 2, 1, 5, 1, 2, 1, 14, 1, 5, 1, 5, 2, 2, 1, 15]
"""Groups of each order from 1 (OEIS A000001)."""


@pytest.mark.slow
def test_there_are_as_many_groups_as_known() -> None:
    assert [len(groups(order)) for order in range(1, 25)] == NUMBER


@pytest.mark.parametrize("order", [1, 2, 6, 8, 12, 16])
def test_every_table_is_that_of_a_group(order: int) -> None:
    every = np.arange(order)
    for table in groups(order):
        assert (table[0] == every).all()
        assert (table[:, 0] == every).all()
        for a in range(order):
            assert sorted(table[a].tolist()) == sorted(table[:, a].tolist()) == every.tolist()
            assert (table[table[a]] == table[a][table]).all()  # (a b) c = a (b c)


def test_automorphisms_keep_products_and_are_as_many_as_known() -> None:
    """Of order 8: 4 of the cyclic group, 8 of C_4 x C_2 and of D_4, 24 of Q_8, 168 of C_2^3."""
    assert sorted(len(automorphisms(table)) for table in groups(8)) == [4, 8, 8, 24, 168]
    for table in groups(8):
        for image in automorphisms(table):
            assert (image[table] == table[image][:, image]).all()


def test_a_cyclic_group_is_numbered_by_powers() -> None:
    for order in (1, 6, 9, 12):
        (number,) = (found for table in groups(order) if (found := cyclic(table)) is not None)
        (table,) = (table for table in groups(order) if cyclic(table) is not None)
        numbers = np.array(number)
        assert (numbers[table] == (numbers[:, None] + numbers) % order).all()


@pytest.mark.parametrize("order", [0, 60])
def test_orders_out_of_range_are_refused(order: int) -> None:
    with pytest.raises(InvalidParameterError, match="it must be from 1 to 59"):
        groups(order)
