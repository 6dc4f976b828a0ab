"""What schedules of trees have in common: name, time and bandwidth, from weights and k."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.errors import UnsupportedError
from forestcoll.schedule.transform.factoring import as_factored
from tests.schedule.made.hand import leaves4, slow_ring3
from tests.schedule.mutations_of.multicast import star


def test_weights_that_are_not_given_are_one() -> None:
    """Of each GPU; of switches none."""
    assert replace(leaves4(), weights=()).weights == (1, 1, 1, 1)
    assert replace(as_factored(leaves4()), weights=()).weights == (1, 1, 1, 1)
    assert replace(star(), weights=()).weights == (1, 1, 1, 1)


def test_the_time_is_the_congestion_over_all_trees() -> None:
    """4 trees per GB/s, three roots of two trees each: 4/6 s per GB; of parts 1, 0, 3: 4/8."""
    forest = replace(slow_ring3(), optimum=None)
    assert (forest.time_s_per_gb, forest.algbw_gb_s) == (Fraction(2, 3), Fraction(3, 2))
    weighted = replace(forest, weights=(1, 0, 3))
    assert (weighted.time_s_per_gb, weighted.algbw_gb_s) == (Fraction(1, 2), 2)
    assert replace(as_factored(forest), weights=(1, 0, 3)).time_s_per_gb == Fraction(1, 2)


def test_weights_and_direction_name_the_collective() -> None:
    """A single root among others is one of a broadcast or of a reduce."""
    forest = replace(leaves4(), optimum=None)
    for reduction, names in (
        (False, ("allgather", "broadcast")),
        (True, ("reduce-scatter", "reduce")),
    ):
        made = replace(forest, reduction=reduction)
        assert made.collective == replace(made, weights=(3, 1, 0, 0)).collective == names[0]
        assert replace(made, weights=(0, 0, 1, 0)).collective == names[1]


def test_schedules_without_time_have_no_bandwidth() -> None:
    with pytest.raises(UnsupportedError, match="a single GPU takes no time"):
        _ = replace(leaves4(), congestion=Fraction(0)).algbw_gb_s
