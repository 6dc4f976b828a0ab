"""Forests over time for the sizes of a search."""

from fractions import Fraction

import pytest

from experiments.advice.tuning import tune
from experiments.advice.tuning.sized_forests import SizedForests
from forestcoll import generate, load_topology
from forestcoll.errors import TimeLimitError
from forestcoll.schedule.simulate import AlphaBeta


def test_the_first_size_is_as_generated() -> None:
    sized = SizedForests(load_topology("dgx_a100:boxes=2"), "allgather", None, Fraction(10))
    assert sized.at(2**22, 60) == generate("dgx_a100:boxes=2", size="4MB").schedule


def test_all_sizes_share_a_time_limit() -> None:
    sized = SizedForests(load_topology("mi250:boxes=2"), "allgather", None, Fraction(10))
    for seconds in (0, 60):
        with pytest.raises(TimeLimitError, match=f"^took longer than {seconds} s to make"):
            sized.at(2**20, seconds)


@pytest.mark.slow
def test_a_search_tries_one_for_each_size() -> None:
    """On a box of MI250 mixed depths win at a megabyte: 53 us, and 85 us by optimal trees."""
    found = tune("mi250:boxes=1", sizes=["1MB"], methods=["forestcoll"], model=AlphaBeta())
    (best,) = {one.name for one in found.ranges}
    assert best == "forest, for 1MB"
    assert found.candidate(best).parameters == {"size": 2**20}
