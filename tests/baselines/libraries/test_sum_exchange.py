"""Allreduces that exchange sums: proved, counted by hand, and refused on other networks."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.libraries.sum_exchange import dimensions, foldable_dimensions, generate
from forestcoll.compilation import compile_program
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import StepSchedule, cost, verify
from forestcoll.schedule.simulate import AlphaBeta, Simulator
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of


def made(name: str, halved: int, folded: int = 0) -> StepSchedule:
    schedule = generate(load_topology(name), halved=halved, folded=folded)
    verify(schedule)
    return schedule


def sent(schedule: StepSchedule) -> list[int]:
    """Transfers in each step."""
    return np.bincount(schedule.sends.step).tolist()


def time_us(schedule: StepSchedule, size: int) -> float:
    model = AlphaBeta(alpha_us=10, window="unlimited")
    return Simulator(compile_program(schedule)).run(size, model, 1).time_s * 1e6


@pytest.mark.parametrize(("halved", "steps"), [(0, [168, 48]), (1, [168, 48, 168])])
def test_boxes_take_a_hop_for_each_dimension_and_one_more_if_halved(
    halved: int, steps: list[int]
) -> None:
    """3 boxes of 8: 7 summands for each of 24 GPUs or parts, 2 sums for each, 7 copies of each."""
    schedule = made("dgx_a100:boxes=3", halved)
    assert sent(schedule) == steps
    assert 10 * len(steps) < time_us(schedule, 1) < 10 * len(steps) + 0.01


def test_rates_of_boxes_by_hand() -> None:
    """A NIC of 25 GB/s sends 2 sums of all data, or of an eighth of it. NVLinks have 300 GB/s."""
    assert cost(made("dgx_a100:boxes=3", 0)).algbw_gb_s == Fraction(25, 2)
    assert cost(made("dgx_a100:boxes=3", 1)).algbw_gb_s == 8 * Fraction(25, 2)


@pytest.mark.parametrize(
    ("halved", "steps"), [(0, [24] * 3), (1, [24] * 4), (2, [48, 24, 24, 24, 48])]
)
def test_a_cube_exchanges_what_it_does_not_halve(halved: int, steps: list[int]) -> None:
    """A cube of 3: from each of 3 first dimensions on, 8 GPUs send all, or the half of it.

    Halved once, 3 x 2 chunks have 4 owners each: 4 transfers to them, 4 exchanges in each of two
    dimensions, 4 transfers back. Halved twice, 3 x 4 chunks have 4 owners, and then 2.
    """
    schedule = made("hypercube:dimension=3", halved)
    assert sent(schedule) == steps
    assert 10 * len(steps) < time_us(schedule, 1) < 10 * len(steps) + 0.01


@pytest.mark.parametrize(
    ("halved", "steps"), [(0, [64, 64, 64, 64]), (1, [32, 64, 32, 32, 64, 32])]
)
def test_a_torus_exchanges_along_rows_and_columns(halved: int, steps: list[int]) -> None:
    """4 x 4: one half of the data along rows first, one along columns; each GPU gets two sums.

    Pairs begin at the first or second place, in two parts of each half. Halved, 2 x 4 chunks have
    an owner in each of 4 lines. In each line one GPU is opposite of it, and two are beside it; then
    4 owners get two sums each. A step has one hop.
    """
    schedule = made("torus:dims=4x4", halved)
    assert sent(schedule) == steps
    assert 10 * len(steps) < time_us(schedule, 1) < 10 * len(steps) + 0.01


@pytest.mark.parametrize(
    ("halved", "folded", "hops", "rate"),
    [(0, 0, 8, "1/2"), (0, 1, 9, "8/9"), (0, 2, 10, "1"), (1, 0, 12, "16/9"), (1, 1, 13, "16/9")],
)
def test_rates_and_hops_on_long_rings(halved: int, folded: int, hops: int, rate: str) -> None:
    """A ring of 8 has 16 links. An exchange takes 32 of them, a fold 16 and then 4.

    256 links have 2 x 8 exchanges of all data, 2 units each. With a fold first it is 8 x 20 + 4 x
    32 units; with both 8 x 20 + 4 x 20, of which some links carry more than others. Halved, a unit
    is 1/16 of the data, and each link carries 7 on the way to owners and back, and 2 in exchanges.
    """
    schedule = made("torus:dims=8x8", halved, folded)
    assert 10 * hops < time_us(schedule, 1) < 10 * hops + 0.01
    assert cost(schedule).algbw_gb_s == Fraction(rate)


def test_parts_of_folded_rings_load_all_links_equally_in_each_step() -> None:
    """Halves begin at four places: in a step of the first fold each link has one of 8 parts."""
    schedule = made("torus:dims=8x8", 0, 2)
    assert schedule.chunks.size.tolist() == [1] * 8
    sends = schedule.sends
    for step in range(4):
        now = sends.step == step
        links = set(zip(sends.tail[now].tolist(), sends.head[now].tolist(), strict=True))
        assert len(links) == now.sum() == 256


def test_data_opposite_of_their_owners_go_both_ways_round() -> None:
    """Those of owners of odd number go up, the others down."""
    sends = made("torus:dims=8x8", 1).sends
    first = sends.step == 0
    ends = [np.stack(np.divmod(side[first], 8)) for side in (sends.tail, sends.head)]
    ways = (ends[1] - ends[0]).sum(axis=0) % 8
    assert np.bincount(ways).tolist() == [0, 64, 0, 0, 0, 0, 0, 64]


def test_odd_rings_exchange_in_one_step() -> None:
    """3 x 3 has no pairs: 9 GPUs of each of 2 parts send to 2 others in each dimension."""
    assert sent(made("torus:dims=3x3", 0)) == [36, 36]
    assert sent(made("torus:dims=3x3", 1)) == [36, 36, 36]


def test_parts_of_unequal_dimensions_have_a_third_of_the_data_each() -> None:
    """2 x 3 x 4, halved twice: 6, 12 and 8 parts; the whole is 3 times 24 units."""
    chunks = made("torus:dims=2x3x4", 2).chunks
    assert chunks.whole == 72
    assert chunks.size.tolist() == [4] * 6 + [2] * 12 + [3] * 8


def test_dimensions_are_counted() -> None:
    for name, count in (("dgx_a100:boxes=2", 2), ("torus:dims=2x3x4", 3)):
        assert dimensions(load_topology(name)) == count


@pytest.mark.parametrize(
    ("name", "halved", "folded", "message"),
    [
        ("torus:dims=8x8", 0, 3, "folded is 3; it must be 0 to 2, since torus:dims=8x8 has 2 dim"),
        ("torus:dims=8x8", 1, 2, "folded is 2; it must be 0 to 1, since torus:dims=8x8 has 1 dim"),
        ("torus:dims=8x8", 1, -1, "folded is -1; it must be 0 to 1"),
        ("dgx_a100:boxes=2", 0, 1, "folded is 1; it must be 0 to 0, since .* has no rings"),
    ],
)
def test_rings_are_folded_along_dimensions_that_are_not_halved(
    name: str, halved: int, folded: int, message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        made(name, halved, folded)


def test_networks_with_long_even_rings_are_foldable() -> None:
    for name, count in (("torus:dims=3x6x4", 3), ("torus:dims=4x5", 0), ("dgx_a100:boxes=2", 0)):
        assert foldable_dimensions(load_topology(name)) == count


@pytest.mark.parametrize("halved", [-1, 2])
def test_a_dimension_is_left_for_the_exchange(halved: int) -> None:
    with pytest.raises(InvalidParameterError, match=f"halved is {halved}; it must be 0 to 1, "):
        made("torus:dims=3x3", halved)


def test_it_has_allreduces_only() -> None:
    with pytest.raises(UnsupportedError, match="has no allgather; it has allreduce"):
        generate(load_topology("torus:dims=3x3"), "allgather")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (load_topology("ring:nodes=5"), "is a ring; sum-exchange takes boxes"),
        (load_topology("dgx_a100:boxes=1"), "is not a torus"),
        (network_of("a@0 b@0 c@1 [s]", "a b c - s: 1", "unequal"), "unequal is not a torus"),
        (network_of("a@0 b@0 c d [s]", "a b c d - s: 1", "outside"), "outside is not a torus"),
        (network_of("a@0 b@1 c@2 [s]", "a b c - s: 1", "single"), "single is not a torus"),
    ],
)
def test_other_networks_are_refused(network: Topology, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        generate(network)
