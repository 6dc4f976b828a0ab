"""Forests of little depth, one limit after the other."""

import pytest

from experiments.advice.tuning import tune
from experiments.advice.tuning.shallow_forests import ShallowForests
from forestcoll import generate, load_topology
from forestcoll.errors import TimeLimitError


@pytest.mark.parametrize(
    ("spec", "collective", "root", "tree_depths"),
    [
        pytest.param(
            *("mi250:boxes=2,gpus_per_box=8", "allgather", None, (1, 2, 3, 5)),
            marks=pytest.mark.slow,
        ),
        ("dgx_a100:boxes=2", "reduce", 3, (1, 2, 3, 5)),
        ("paper_example", "allreduce", 0, (2, 4, 5, 8)),
    ],
)
def test_one_search_finds_the_forests_of_each_depth(
    spec: str, collective: str, root: int | None, tree_depths: tuple[int, ...]
) -> None:
    """So that an index says how to make its schedules again."""
    low = ShallowForests(load_topology(spec), collective, root, 1.0)
    assert not low.is_settled(99)
    options = {"collective": collective, "root": root, "lp_time_limit_s": 1.0}
    for depth in tree_depths:
        again = generate(spec, max_depth=depth, **options).schedule  # type: ignore[call-overload]
        assert low.within(depth, 60) == again
    assert low.is_settled(99) == (collective != "allreduce" or again.optimal)


def test_once_it_took_too_long_greater_heights_are_not_looked_for() -> None:
    low = ShallowForests(load_topology("mi250:boxes=2"), "allgather", None, 1.0)
    assert low.within(1, 60).k == 1
    for seconds in (0, 60):
        with pytest.raises(TimeLimitError, match=f"^took longer than {seconds} s to make"):
            low.within(4, seconds)


def test_heights_that_limit_nothing_are_left_out() -> None:
    """Between boxes of A100 the optimal trees have two hops."""
    found = tune("dgx_a100:boxes=2", sizes=["1KB"], methods=["forestcoll"])
    low = [one.name for one in found.candidates if "depth" in one.name]
    assert low == ["forest, depth 1"]
