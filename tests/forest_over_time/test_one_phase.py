"""Forests of one phase for sizes."""

from fractions import Fraction

import pytest

from forestcoll.core.stopwatch import Stopwatch
from forestcoll.errors import UnsupportedError
from forestcoll.forest_over_time.one_phase import STAGE, ForestsOfPhase
from forestcoll.forest_over_time.repeated_time import repeated_time_us
from forestcoll.forest_over_time.slot_program import SlotPlan, SlottedTree
from forestcoll.forest_over_time.timed_trees import TimedTree
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule import verify
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import TimePlan
from tests.hand_networks import network_of

ALPHA = Fraction(10)


def plan_of(forest: Forest) -> TimePlan:
    assert forest.plan is not None
    return forest.plan


def forests(spec: str, **options: object) -> ForestsOfPhase:
    asked = Options(**options)  # type: ignore[arg-type]
    return ForestsOfPhase(Request.of(spec, asked), ALPHA, Stopwatch())


def test_few_bytes_go_direct_and_many_by_the_optimal_forest():
    """Direct trees of A100 x 2: 10 us + 8 x 1 KB / 25 GB/s."""
    found = forests("dgx_a100:boxes=2")
    small, large = found.at(16_000), found.at(10**10)
    assert plan_of(small).time_us == ALPHA + Fraction(8 * 1000, 25_000)
    assert small.tree_depths().max() == 1
    assert large.optimum is not None
    assert plan_of(small).slots is plan_of(large).slots is None


@pytest.mark.slow
def test_in_between_slots_are_sooner_than_constant_rates():
    found = forests("dgx_a100:boxes=2").at(16_000_000)
    verify(found)
    assert plan_of(found).slots is not None
    assert plan_of(found).time_us < 61 < repeated_time_us(found, 16_000_000, ALPHA)


def test_a_good_time_needs_no_slots():
    found = forests("dgx_a100:boxes=2").at(16_000_000, good_us=Fraction(100))
    assert plan_of(found).slots is None


def plan_over(*paths: tuple[int, ...]) -> Forest | None:
    """Return what becomes of a plan in which a (node 0) sends 1 to b (1) over each path.

    From v (2), where b is, it is 1 us more if w (3) lies between. Capacities suffice.
    """
    network = network_of("a b [v] [w]", "a > v w: 9 1, w > v: 9 1, v > b: 9 1, b > a: 9 1")
    asked = Request.of(network, Options(collective="broadcast", root=0))
    phase = ForestsOfPhase(asked, Fraction(0), Stopwatch())
    trees = [SlottedTree(0, TimedTree(0, (-1, 0), ((), path)), (-1, 0)) for path in paths]
    plan = SlotPlan(1, 1, float(len(paths)), tuple((one, 1.0) for one in trees))
    return phase._of_plan(plan, 9000 * len(paths))


def test_the_slowest_path_of_a_plan_counts():
    """2 us by v and 3 us by w, after a slot that is as wide."""
    short, long = plan_over((0, 2, 1)), plan_over((0, 3, 2, 1))
    assert short is not None
    assert long is not None
    assert (plan_of(short).time_us, plan_of(long).time_us) == (3, 4)


def test_plans_that_pass_a_link_at_two_offsets_are_left_out():
    """What a sends by w reaches the link to b a microsecond after what it sends to v."""
    assert plan_over((0, 2, 1), (0, 3, 2, 1)) is None


def test_unequal_weights():
    found = forests("ring:nodes=4", weights=[3, 1, 0, 2]).at(60_000)
    verify(found)
    assert found.weights == (3, 1, 0, 2)


def test_the_stage_is_timed():
    clock = Stopwatch()
    ForestsOfPhase(Request.of("ring:nodes=4", Options()), ALPHA, clock)
    assert STAGE in clock.seconds


def test_too_many_gpus_are_refused():
    with pytest.raises(UnsupportedError, match="528 GPUs"):
        forests("dgx_a100:boxes=66")


def test_a_broadcast_shares_its_data_among_images_of_a_tree():
    """4 MB on four boxes: 21 us over 200 GB/s, 40 us for four hops; images of depth 4 share it.

    Depth-bounded forests of that depth have half the rate.
    """
    found = forests("dgx_a100:boxes=4", collective="broadcast", root=0)
    made = found.at(4_000_000)
    verify(made)
    assert made.num_batches % 21 == 0
    assert plan_of(made).time_us < 58
    large = found.at(10**9)
    verify(large)
    assert plan_of(large).time_us < 10**9 / 200_000 + 52


def test_equal_images_are_one_tree():
    """The star of a root has no other image, so k is 1."""
    made = forests("dgx_a100:boxes=4", collective="broadcast", root=0).at(1000)
    verify(made)
    assert (made.k, made.num_batches, made.tree_depths().max()) == (1, 1, 1)


def test_a_reduce_of_images_is_proved():
    made = forests("dgx_a100:boxes=3", collective="reduce", root=9).at(1_000_000)
    verify(made)
    assert plan_of(made).time_us < 40
