"""From the least depth up: which tree_depths are tried, and what is kept."""

import pytest

from forestcoll import generate
from forestcoll.bounded_depth.depth_ladder import SHALLOW_STAGE, Climb, Ladder, deepest
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request


def test_heights_are_tried_one_by_one_and_then_synchronous() -> None:
    """Chains over a fat tree are 63 hops deep; each GPU is one hop from each."""
    climb = Climb.of(
        Request.of("fat_tree:leaves=8,hosts=8,spines=4", Options(collective="broadcast", root=0))
    )
    assert climb.least == 1
    tried = list(climb.rungs(63))
    assert tried[:10] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
    assert tried[-1] == 63
    assert tried == sorted(set(tried))
    assert list(climb.rungs(1)) == [1]


@pytest.mark.slow
def test_each_is_taller_and_faster_than_the_one_before() -> None:
    request = Request.of("mi250:boxes=2", Options(k=1))
    clock = Stopwatch()
    deep = generate("mi250:boxes=2", k=1).schedule
    found = Ladder(Climb.of(request), deep, clock).up_to(7)
    tree_depths = [deepest(forest) for forest in found]
    rates = [forest.algbw_gb_s for forest in found]
    assert tree_depths == sorted(set(tree_depths))
    assert rates == sorted(set(rates))
    assert (tree_depths[0], rates[-1]) == (1, deep.algbw_gb_s)
    assert clock.seconds[SHALLOW_STAGE] > 0


def test_below_a_height_nothing_taller_is_kept() -> None:
    request = Request.of("mi250:boxes=2", Options(k=1))
    found = Ladder(Climb.of(request), generate("mi250:boxes=2", k=1).schedule, Stopwatch()).up_to(3)
    assert max(map(deepest, found)) <= 3
