"""New schedules for networks that have changed."""

import itertools
from fractions import Fraction
from typing import Any

import pytest

from forestcoll import generate, optimum
from forestcoll.core.fixed_k import fixed_k
from forestcoll.errors import DisconnectedError, InvalidParameterError, UnsupportedError
from forestcoll.schedule import Allreduce, Forest
from forestcoll.topology import load_topology
from forestcoll.what_if.replanning import replan
from forestcoll.what_if.tree_changes import tree_changes
from tests.hand_networks import network_of

WHOLE = load_topology("dgx_a100:boxes=4")
DAMAGED = WHOLE.without("b1.gpu3 - ib")


def test_the_optimum_may_need_more_trees_and_the_same_number_is_a_bit_slower() -> None:
    """One NIC of 32 dead: 7 trees a GPU at 24 / 175; with one tree each 200 instead of 233."""
    old = generate(WHOLE).schedule
    best, same = replan(old, DAMAGED), replan(old, DAMAGED, same_k=True)
    assert isinstance(best.schedule, Forest)
    assert isinstance(same.schedule, Forest)
    assert best.schedule.algbw_gb_s == optimum(DAMAGED).algbw_gb_s == Fraction(32 * 175, 24)
    assert same.schedule.k == old.k
    assert same.schedule.algbw_gb_s == fixed_k(DAMAGED, old.k).algbw_gb_s < best.schedule.algbw_gb_s
    assert same.changes == (tree_changes(old, same.schedule),)
    assert same.verdict.algbw_gb_s == same.schedule.algbw_gb_s


@pytest.mark.parametrize(
    "options",
    [
        {"collective": "reduce-scatter"},
        {"collective": "broadcast", "root": "b2.gpu1"},
        {"collective": "reduce", "root": "b2.gpu1"},
        {"weights": [1 + rank % 3 for rank in range(32)]},
        {"collective": "allreduce", "root": "b2.gpu1"},
        {"collective": "allreduce", "lp_time_limit_s": 0},
    ],
)
def test_the_collective_stays(options: dict[str, Any]) -> None:
    old = generate(WHOLE, **options).schedule
    again = replan(old, DAMAGED, lp_time_limit_s=0, keep_weights="root" in options).schedule
    assert again.collective == old.collective
    phases = [one.phases if isinstance(one, Allreduce) else (one,) for one in (old, again)]
    for before, after in zip(*phases, strict=True):
        assert after.weights == before.weights
        assert after.reduction == before.reduction
    assert again == generate(DAMAGED, **{**options, "lp_time_limit_s": 0}).schedule


def test_gpus_that_are_gone_take_their_weights_with_them() -> None:
    weights = [1 + rank % 3 for rank in range(32)]
    less = WHOLE.without("b0.gpu1")
    again = replan(generate(WHOLE, weights=weights).schedule, less).schedule
    assert isinstance(again, Forest)
    assert again.weights == tuple(weights[:1] + weights[2:])
    more = replan(again, WHOLE).schedule
    assert isinstance(more, Forest)
    assert more.weights == (*weights[:1], 0, *weights[2:])
    equal = replan(generate(less).schedule, WHOLE).schedule
    assert isinstance(equal, Forest)
    assert set(equal.weights) == {1}


def test_factored_forests_are_taken_too() -> None:
    explicit, factored = generate(WHOLE).schedule, generate(WHOLE, factored=True).schedule
    assert replan(factored, DAMAGED, same_k=True) == replan(explicit, DAMAGED, same_k=True)


def test_schedules_that_cannot_be_replanned_are_refused() -> None:
    rooted = generate(WHOLE, collective="broadcast", root="b0.gpu0").schedule
    with pytest.raises(InvalidParameterError, match="had data in the old schedule"):
        replan(rooted, WHOLE.without("b0.gpu0"))
    with pytest.raises(DisconnectedError):
        replan(generate(WHOLE).schedule, WHOLE.without("ib"))
    copied = generate(load_topology("dgx_h100:boxes=1"), multicast=True).schedule
    with pytest.raises(UnsupportedError, match="MulticastForest"):
        replan(copied, WHOLE)  # type: ignore[arg-type]
    phases = (
        generate(WHOLE, collective="reduce-scatter", k=1).schedule,
        generate(WHOLE, k=2).schedule,
    )
    with pytest.raises(InvalidParameterError, match="1 and 2 trees per GPU"):
        replan(Allreduce(*phases), DAMAGED, same_k=True)


def test_an_allreduce_has_a_free_root_by_default() -> None:
    """A hub that held all sums may go; a root that was asked for stays if it is asked for again."""
    whole = network_of("hub a b c", "hub - a b c, a - b: 1/10, b - c: 1/10", "star")
    old = generate(whole, collective="allreduce", root="hub").schedule
    less = whole.without("hub")
    free = replan(old, less, lp_time_limit_s=0).schedule
    assert free == generate(less, collective="allreduce", lp_time_limit_s=0).schedule
    with pytest.raises(InvalidParameterError, match="had data in the old schedule"):
        replan(old, less, keep_weights=True)


@pytest.mark.parametrize(
    ("gpus", "options", "collective", "weights"),
    [
        (1, {}, "allgather", (1,)),  # one GPU with data of one is no root
        (2, {"collective": "broadcast", "root": 1}, "broadcast", (0, 1)),
        (2, {"collective": "reduce", "root": 0}, "reduce", (1, 0)),
        (2, {"weights": [1, 2]}, "allgather", (1, 2)),
        (3, {"weights": [1, 1, 2]}, "allgather", (1, 1, 2)),
        (3, {"weights": [0, 1, 1]}, "allgather", (0, 1, 1)),
    ],
)
def test_a_single_gpu_with_data_among_others_is_a_root(
    gpus: int, options: dict[str, Any], collective: str, weights: tuple[int, ...]
) -> None:
    """Weights stay as they are; all but one of 0 are those of a broadcast or reduce."""
    pairs = itertools.combinations(range(gpus), 2)
    links = ", ".join(f"gpu{one} - gpu{other}" for one, other in pairs)
    net = network_of(f"gpu0..{gpus - 1}", links, "few")
    again = replan(generate(net, **options).schedule, net).schedule
    assert isinstance(again, Forest)
    assert (again.collective, again.weights) == (collective, weights)
