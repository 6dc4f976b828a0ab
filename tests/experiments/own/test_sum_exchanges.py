"""Allreduces that exchange sums: proved, counted by hand, and refused on other networks."""

from collections.abc import Callable

import numpy as np
import pytest

from experiments.own.sum_exchanges import cube_exchange, grid_exchange, rail_exchange
from forestcoll.compilation import compile_program
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import StepSchedule, verify
from forestcoll.schedule.simulate import AlphaBeta, Simulator
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of


def sent(schedule: StepSchedule) -> list[int]:
    """Transfers in each step."""
    return np.bincount(schedule.sends.step).tolist()


def time_us(schedule: StepSchedule, size: int) -> float:
    model = AlphaBeta(alpha_us=10, window="unlimited")
    return Simulator(compile_program(schedule)).run(size, model, 1).time_s * 1e6


def test_rails_take_three_hops():
    """3 boxes of 8: 7 summands for each of 24 parts, 2 sums for each, 7 copies of each."""
    made = rail_exchange(load_topology("dgx_a100:boxes=3"))
    verify(made)
    assert sent(made) == [24 * 7, 24 * 2, 24 * 7]
    assert 30 < time_us(made, 1) < 30.01


@pytest.mark.parametrize(
    ("halved", "steps"), [(0, [24] * 3), (1, [24] * 4), (2, [48, 24, 24, 24, 48])]
)
def test_a_cube_exchanges_what_it_does_not_halve(halved: int, steps: list[int]):
    """A cube of 3: from each of 3 first dimensions on, 8 GPUs send all, or the half of it.

    Halved once, 3 x 2 chunks have 4 owners each: 4 transfers to them, 4 exchanges in each of two
    dimensions, 4 transfers back. Halved twice, 3 x 4 chunks have 4 owners, and then 2.
    """
    made = cube_exchange(load_topology("hypercube:dimension=3"), halved)
    verify(made)
    assert sent(made) == steps
    assert 10 * len(steps) < time_us(made, 1) < 10 * len(steps) + 0.01


@pytest.mark.parametrize(("halved", "steps"), [(False, [96, 96]), (True, [96, 96, 96])])
def test_a_torus_exchanges_along_rows_and_columns(halved: bool, steps: list[int]):
    """4 x 4: 8 lines of 12 pairs in a step, one half of the data along rows, one along columns.

    Halved: 2 x 4 chunks with an owner in each of 4 lines, who gets 3 summands, or exchanges 3.
    """
    made = grid_exchange(load_topology("torus:dims=4x4"), halved=halved)
    verify(made)
    assert sent(made) == steps
    assert 20 * len(steps) < time_us(made, 1) < 20 * len(steps) + 0.01


UNEQUAL = network_of("a@0 b@0 c@1 [s]", "a b c - s: 1")


@pytest.mark.parametrize(
    ("exchange", "network", "message"),
    [
        (rail_exchange, load_topology("ring:nodes=4"), "GPUs outside boxes"),
        (rail_exchange, load_topology("dgx_a100:boxes=1"), "no boxes of equal size"),
        (rail_exchange, UNEQUAL, "no boxes of equal size"),
        (lambda one: cube_exchange(one, 1), load_topology("ring:nodes=6"), "no hypercube"),
        (lambda one: cube_exchange(one, 1), load_topology("ring:nodes=8"), "no hypercube"),
        (lambda one: grid_exchange(one, halved=True), load_topology("ring:nodes=8"), "no square"),
        (lambda one: grid_exchange(one, halved=True), load_topology("ring:nodes=9"), "no square"),
    ],
)
def test_other_networks_are_refused(
    exchange: Callable[[Topology], StepSchedule], network: Topology, message: str
):
    with pytest.raises(UnsupportedError, match=message):
        exchange(network)
