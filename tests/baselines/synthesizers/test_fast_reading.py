"""Two-phase balancing: what crosses, when, and in what time."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from baselines import METHODS
from baselines.synthesizers.fast_reading import generate
from forestcoll.all_to_all.best_flow import AllToAllPlanner
from forestcoll.all_to_all.birkhoff import birkhoff, few_matchings, time_of
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.problem.named_demands import named_demand
from forestcoll.schedule import StepSchedule, cost, verify
from forestcoll.topology import load_topology

TWO, FOUR = (load_topology(f"dgx_h100:boxes={boxes}") for boxes in (2, 4))


def crossing(made: StepSchedule) -> np.ndarray:
    """Step, box, other box, GPU's number, the other's number and bytes of what crosses."""
    sends, amount = made.sends, made.intervals.amount
    rows = np.stack(
        [sends.step, sends.tail // 8, sends.head // 8, sends.tail % 8, sends.head % 8, amount],
        axis=1,
    )
    return rows[rows[:, 1] != rows[:, 2]]


@pytest.mark.parametrize("seed", range(3))
def test_every_nic_sends_as_much_to_the_same_number_of_one_other_box(seed: int) -> None:
    """To a byte for each of the other boxes; and in each step a box has one partner."""
    demand = named_demand(f"zipf:exponent=1.5,seed={seed}", FOUR)
    made = generate(FOUR, demand=demand)
    assert verify(made).demand == demand.name
    rows = crossing(made)
    assert (rows[:, 3] == rows[:, 4]).all()
    partners = {(step, here, there) for step, here, there, *_ in rows.tolist()}
    assert len({(step, here) for step, here, _ in partners}) == len(partners)
    assert len({(step, there) for step, _, there in partners}) == len(partners)
    sent: Counter[tuple[int, ...]] = Counter()
    for _, here, there, number, _, amount in rows.tolist():
        sent[here, there, number] += amount
    for here in range(4):
        for there in {*range(4)} - {here}:
            each = [sent[here, there, number] for number in range(8)]
            assert max(each) - min(each) <= 1


def test_the_matchings_are_those_of_the_boxes() -> None:
    """A step for each, after the one that balances; the last one redistributes."""
    demand = named_demand("zipf:exponent=1.5", FOUR)
    between = demand.matrix.reshape(4, 8, 4, 8).sum(axis=(1, 3))
    made = generate(FOUR, demand=demand)
    matchings = birkhoff(between)
    assert made.num_steps == len(matchings) + 2
    rows = crossing(made)
    for step, matching in enumerate(matchings, start=1):
        sent: Counter[tuple[int, int]] = Counter()
        for _, here, there, _, _, amount in rows[rows[:, 0] == step].tolist():
            sent[here, there] += amount
        for here, there, amount in matching.sent:
            assert abs(sent[here, there] - amount) <= 8  # every NIC's part is a whole number


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_nics_are_as_busy_as_the_cut_around_a_box(exponent: float) -> None:
    """What is left is what single GPUs must send or get, and rounding."""
    demand = named_demand(f"zipf:exponent={exponent},seed=5", FOUR)
    least = AllToAllPlanner(FOUR).least_us(demand)
    found = cost(generate(FOUR, demand=demand)).time_s_per_gb * demand.bytes / 1000
    assert least <= found <= least * Fraction(1001, 1000)


def test_equal_parts_by_hand() -> None:
    """No balance; 64 parts of a box cross over 8 x 50 GB/s, while 7 stay, and 7 are passed on."""
    verdict = verify(generate(TWO))
    assert verdict.steps == 2
    assert verdict.time_s_per_gb == Fraction(8, 16 * 50)
    assert verdict.synchronous_s_per_gb == Fraction(8, 16 * 50) + Fraction(7, 16 * 450)


def test_one_pair_uses_all_nics() -> None:
    """8000 bytes: 7000 leave the GPU inside, 1000 cross over each NIC, 7000 come in."""
    demand = Demand.of_chunks(16, [(2, 8000, [12])])
    verdict = verify(generate(TWO, demand=demand))
    assert verdict.steps == 3
    each = Fraction(1, 8 * 50)
    assert verdict.synchronous_s_per_gb == Fraction(7, 8 * 450) * 2 + each


def test_latencies_make_matchings_fewer() -> None:
    demand = named_demand("zipf:exponent=1.5,size=1MB", FOUR)
    between = demand.matrix.reshape(4, 8, 4, 8).sum(axis=(1, 3))
    exact = generate(FOUR, demand=demand)
    made = METHODS["fast-reading"].run(FOUR, None, {"demand": demand, "alpha_us": 10})
    assert isinstance(made, StepSchedule)
    verify(made)
    alpha = 10 * 8 * 50 * 1000
    few = few_matchings(between, alpha)
    assert made.num_steps == len(few) + 2 < exact.num_steps
    assert time_of(few, alpha) < time_of(birkhoff(between), alpha)


def test_a_demand_within_boxes_takes_one_step() -> None:
    assert verify(generate(TWO, demand="all-to-all:group=0/*|1/*")).steps == 1


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"alpha_us": -1, "demand": "zipf"}, InvalidParameterError, "alpha_us is -1"),
        ({"alpha_us": 10}, InvalidParameterError, "0 without a demand"),
        (
            {"demand": Demand.of_chunks(16, [(0, 5, [1, 2])])},
            UnsupportedError,
            "chunks that several GPUs need",
        ),
    ],
)
def test_unsupported_parameters_and_demands_are_refused(
    parameters: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        generate(TWO, **parameters)
