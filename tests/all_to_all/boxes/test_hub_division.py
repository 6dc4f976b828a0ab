"""Data between boxes over several hubs: by hand, and as the definition has it."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from forestcoll.all_to_all.boxes.hub_division import HubDivision
from forestcoll.all_to_all.two_tiers import Port


def boxes(*widths: tuple[int, ...]) -> list[list[Port]]:
    """Boxes with ports of these widths to hubs 10, 11, ..., both ways; 0 for none."""
    return [
        [Port(node, 10 + node, Fraction(w), Fraction(w)) for node, w in enumerate(row) if w]
        for row in widths
    ]


def test_boxes_that_divide_their_bandwidth_alike_divide_their_data_so() -> None:
    """Ports of 1 and 3, and of 2 and 6: a quarter over the first hub, whatever the amounts are."""
    found = HubDivision.of(boxes((1, 3), (2, 6)))
    assert found is not None
    assert (found.hubs, found.odd) == ((10, 11), -1)
    made = found.divided(np.array([[0, 5], [7, 0]]))
    assert made is not None
    assert (made.shares, made.under) == ((Fraction(1, 4), Fraction(3, 4)), 4)
    assert made.rooms(np.array([1, 2]), np.array([20, 28]), 4).tolist() == [[5, 15], [7, 21]]


def test_a_port_that_lacks_is_made_up_for_by_the_other_boxes() -> None:
    """Three boxes with ports of 1 to three hubs, but box 0 has none to hub 10.

    Box 0 sends 4 bytes to box 1 over its two ports: 2 ns. Box 1 also gets 2 from box 2, and all its
    6 bytes keep its three ports busy for 2 ns: so hub 10 carries both bytes of box 2.
    """
    found = HubDivision.of(boxes((0, 1, 1), (1, 1, 1), (1, 1, 1)))
    assert found is not None
    assert (found.hubs[found.odd], found.shares) == (10, (0, Fraction(1, 2), Fraction(1, 2)))
    made = found.divided(np.array([[0, 4, 0], [0, 0, 0], [0, 2, 0]]))
    assert made is not None
    assert (made.unit, made.under) == (1, 2)
    rooms = made.rooms(np.array([1, 7]), np.array([8, 4]), 2)
    assert rooms.tolist() == [[0, 4, 4], [4, 0, 0]]


def test_boxes_that_differ_in_two_hubs_are_left_to_the_program() -> None:
    """One lacks the first of three hubs, another the second; with two hubs one of them is odd."""
    assert HubDivision.of(boxes((0, 1, 1), (1, 0, 1), (1, 1, 1))) is None
    assert HubDivision.of(boxes((1, 2), (3, 1))) is not None
    assert HubDivision.of([[], []]) is None


def test_data_of_a_box_without_ports_has_no_division() -> None:
    """Box 2 has no port at all; it may be silent, but sends and receives nothing."""
    found = HubDivision.of(boxes((0, 2), (1, 2), (0, 0)))
    assert found is not None
    assert found.divided(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])) is not None
    assert found.divided(np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]])) is None
    assert found.divided(np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]])) is None


def test_boxes_may_differ_so_much_that_no_division_attains_their_cuts() -> None:
    """Box 0 sends 1 byte over ports of 1 and 2, in 1/3 ns; of these 2/3 over the second hub.

    There box 1 has a port of 1, which takes 1/3 in that time.
    """
    found = HubDivision.of(boxes((1, 2), (3, 1)))
    assert found is not None
    assert found.divided(np.array([[0, 1], [0, 0]])) is None


def test_two_boxes_without_a_hub_in_common_have_no_division() -> None:
    """The whole is over the hub that the other lacks: no time keeps both boxes' ports."""
    found = HubDivision.of(boxes((1, 0), (0, 1)))
    assert found is not None
    assert found.divided(np.array([[0, 1], [0, 0]])) is None


def test_amounts_whose_parts_do_not_fit_64_bits_have_no_division() -> None:
    found = HubDivision.of(boxes((0, 1, 1), (1, 1, 1)))
    assert found is not None
    assert found.divided(np.array([[0, 2**59 + 1], [0, 0]])) is not None
    assert found.divided(np.array([[0, 0], [2**61, 2**61]])) is None


@pytest.mark.parametrize("seed", range(30))
def test_one_missing_port_of_equal_ones_always_has_a_division(seed: int) -> None:
    """All parts are whole and add up, and no port is busier than the busiest box must be."""
    draw = np.random.default_rng(seed)
    count, hubs = int(draw.integers(2, 7)), int(draw.integers(2, 5))
    widths = np.ones((count, hubs), dtype=np.int64)
    widths[draw.integers(count), draw.integers(hubs)] = 0
    found = HubDivision.of(boxes(*map(tuple, widths.tolist())))
    assert found is not None
    between = draw.integers(0, 1000, (count, count)) ** draw.integers(1, 4)
    between *= draw.random((count, count)) < draw.random() + 0.1
    np.fill_diagonal(between, 0)
    made = found.divided(between)
    assert made is not None
    pairs = np.array([a * count + b for a, b in permutations(range(count), 2)])
    total = between.reshape(-1)[pairs] * made.under
    rooms = made.rooms(pairs, total, made.under)
    assert (rooms >= 0).all()
    assert (rooms.sum(axis=1) == total).all()
    least = max(
        (
            Fraction(int(amount) * made.under, int(wide))
            for sums in (between.sum(axis=1), between.sum(axis=0))
            for amount, wide in zip(sums, widths.sum(axis=1), strict=True)
            if amount
        ),
        default=Fraction(0),
    )
    for ends in (pairs // count, pairs % count):
        loads = np.zeros((count, hubs), dtype=np.int64)
        np.add.at(loads, ends, rooms)
        for load, wide in zip(loads.reshape(-1), widths.reshape(-1), strict=True):
            assert int(load) <= least * int(wide)


def test_rows_are_raised_over_others() -> None:
    """Boxes 1 and 2 send 6 each; all ports are 1, box 0 has none to hub 10, and all take 3 ns.

    Box 1 has 3 for box 0, which go over the other two hubs, so its 3 for box 3 go over hub 10 as
    far as they must: 6 - 2 * 3 = 0. Box 2 sends 9 to box 3: 3 of them over hub 10.
    """
    found = HubDivision.of(boxes((0, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)))
    assert found is not None
    between = np.zeros((4, 4), dtype=np.int64)
    between[1, 0], between[2, 3], between[1, 2] = 6, 9, 3
    made = found.divided(between)
    assert made is not None
    assert made.over is not None
    assert (made.over // made.unit).tolist() == [
        [0, 0, 0, 0],
        [0, 0, 3, 0],
        [0, 0, 0, 3],
        [0, 0, 0, 0],
    ]
