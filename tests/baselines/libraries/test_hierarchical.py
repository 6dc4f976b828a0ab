"""Hierarchical all-to-alls, by hand."""

from fractions import Fraction
from typing import Any

import pytest

from baselines import METHODS
from baselines.libraries.hierarchical import generate
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.schedule import StepSchedule, cost, verify
from forestcoll.topology import load_topology

TWO = load_topology("dgx_h100:boxes=2")


def test_gpus_exchange_with_the_same_number_of_each_box() -> None:
    """A step inside, a step on the rails; nothing is left to scatter."""
    made = generate(load_topology("dgx_h100:boxes=3"))
    sends, box = made.sends, made.sends.tail // 8
    crossing = box != sends.head // 8
    assert set(sends.step[crossing].tolist()) == {1}
    assert set(sends.step[~crossing].tolist()) == {0}
    assert (sends.tail[crossing] % 8 == sends.head[crossing] % 8).all()


@pytest.mark.parametrize(
    ("parameters", "steps", "pipelined", "synchronous"),
    [
        # Inside a GPU gives 7 parts of its own box and 7 for the other over 450 GB/s; then 8
        # cross over 50 GB/s.
        ({}, 2, Fraction(8, 16 * 50), Fraction(14, 16 * 450) + Fraction(8, 16 * 50)),
        # The leader gets 7 x 8 parts, beside 7 for itself; 64 parts cross over its NIC.
        (
            {"over": "leader"},
            3,
            Fraction(64, 16 * 50),
            Fraction(63, 16 * 450) + Fraction(64, 16 * 50) + Fraction(56, 16 * 450),
        ),
    ],
)
def test_times_by_hand(
    parameters: dict[str, Any], steps: int, pipelined: Fraction, synchronous: Fraction
) -> None:
    verdict = verify(generate(TWO, **parameters))
    assert verdict.steps == steps
    assert (verdict.time_s_per_gb, verdict.synchronous_s_per_gb) == (pipelined, synchronous)


def test_a_rotation_has_a_step_for_each_other_box() -> None:
    """In each a box sends to one other: as busy a NIC in all, so it takes as long."""
    topology = load_topology("dgx_h100:boxes=4")
    at_once, rotated = (verify(generate(topology, order=one)) for one in ("at-once", "rotation"))
    assert (at_once.steps, rotated.steps) == (2, 4)
    assert at_once.synchronous_s_per_gb == rotated.synchronous_s_per_gb


def test_skew_between_rails_stays() -> None:
    """All is for GPU 3 of the other box: it crosses over one NIC of 50 GB/s."""
    demand = Demand.of_chunks(16, [(rank, 1000, [11]) for rank in range(8)])
    made = METHODS["hierarchical"].run(TWO, None, {"demand": demand})
    assert isinstance(made, StepSchedule)
    assert made.demand == demand
    assert verify(made).steps == 2
    assert cost(made).time_s_per_gb == Fraction(1, 50)
    assert cost(made).busiest_link[0] == "b0.gpu3"


@pytest.mark.parametrize("over", ["rails", "leader"])
@pytest.mark.parametrize("order", ["at-once", "rotation"])
def test_any_demand_is_exchanged(over: str, order: str) -> None:
    made = generate(TWO, over=over, order=order, demand="zipf:exponent=1.5,seed=4")
    assert verify(made).demand == "zipf:exponent=1.5,seed=4"


def test_a_demand_within_boxes_takes_one_step() -> None:
    assert verify(generate(TWO, demand="all-to-all:group=0/*|1/*")).steps == 1


def test_unknown_options_and_shared_chunks_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"over is 'spine'; .* rails, leader"):
        generate(TWO, over="spine")
    with pytest.raises(InvalidParameterError, match=r"order is 'xor'; .* at-once, rotation"):
        generate(TWO, order="xor")
    with pytest.raises(UnsupportedError, match="chunks that several GPUs need"):
        generate(TWO, demand=Demand.of_chunks(16, [(0, 5, [1, 2])]))
