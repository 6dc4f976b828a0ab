"""Data of a box over its ports in one direction, by hand."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.all_to_all.boxes.port_side import Parts, PortSide
from forestcoll.all_to_all.two_tiers import two_tiers
from forestcoll.topology import Topology
from tests.hand_networks import network_of

EVEN = network_of(
    "g0..3 [v] [w] [hub]", "g0 g1 - v: 90, g2 g3 - w: 90, g0 g1 g2 g3 - hub: 2", "two boxes"
)
UNEVEN = network_of(
    "g0..3 [v] [w] [hub]",
    "g0 g1 - v: 90, g2 g3 - w: 90, g0 - hub: 3, g1 g2 g3 - hub: 1",
    "a wide port",
)


def side_of(topology: Topology) -> tuple[PortSide, np.ndarray, int]:
    """Return the ports outwards, the box of each rank, and the hub."""
    tiers = two_tiers(topology)
    assert tiers is not None
    hub = tiers.ports[0][0].hub
    return PortSide.of(tiers, lambda port: port.up), np.array(tiers.box), hub


def shares(side: PortSide, box: np.ndarray, hub: int, across: list[int]) -> set[tuple[int, ...]]:
    made = side.shared_out(box, hub, np.array(across))
    return set(zip(*(column.tolist() for column in made), strict=True))


def test_each_port_has_its_share_of_the_box() -> None:
    side, _, _ = side_of(UNEVEN)
    assert [Fraction(int(part), side.under) for part in side.part] == [
        Fraction(3, 4), Fraction(1, 4), Fraction(1, 2), Fraction(1, 2),
    ]  # fmt: skip
    assert side.wide == (3, 1, 1, 1)


@pytest.mark.parametrize(
    ("topology", "across", "divided"),
    [
        (EVEN, [4, 4, 0, 0], {(0, 0, 4), (1, 1, 4)}),  # by the own ports
        (EVEN, [6, 0, 0, 0], {(0, 0, 3), (0, 1, 3)}),  # the excess by the other
        (EVEN, [6, 2, 0, 0], {(0, 0, 4), (0, 1, 2), (1, 1, 2)}),
        (UNEVEN, [4, 4, 0, 0], {(0, 0, 4), (1, 0, 2), (1, 1, 2)}),  # 6 of 8 by the wide port
        (EVEN, [0, 0, 0, 2], {(3, 2, 1), (3, 3, 1)}),
        (EVEN, [0, 0, 0, 0], set()),
    ],
)
def test_the_own_port_first_and_none_above_its_share(
    topology: Topology, across: list[int], divided: set[tuple[int, ...]]
) -> None:
    side, box, hub = side_of(topology)
    assert shares(side, box, hub, across) == divided


def test_a_gpu_that_must_use_its_port_keeps_it() -> None:
    """All 6 of GPU 0 leave by its own port, though its share of the box is 3."""
    side, box, hub = side_of(EVEN)
    limited = side.limited(box, np.array([6, 0, 0, 0]), frozenset({0}), frozenset())
    assert limited is not None
    assert shares(limited, box, hub, [6, 0, 0, 0]) == {(0, 0, 6)}


def test_a_gpu_without_a_port_cannot_be_made_to_use_one() -> None:
    alone = network_of(
        "g0..3 [v] [w] [hub]", "g0 g1 - v: 90, g2 g3 - w: 90, g0 g2 g3 - hub: 2", "one without"
    )
    side, box, _ = side_of(alone)
    assert side.limited(box, np.array([0, 5, 0, 0]), frozenset({1}), frozenset()) is None
    assert side.limited(box, np.array([0, 0, 0, 0]), frozenset({1}), frozenset()) is not None


def test_fixed_loads_grow_with_the_whole() -> None:
    side, box, _ = side_of(EVEN)
    assert side.scaled(3) is side
    limited = side.limited(box, np.array([6, 0, 0, 0]), frozenset({0}), frozenset())
    assert limited is not None
    assert limited.scaled(3).fixed.tolist() == [
        3 * load if load >= 0 else -1 for load in limited.fixed.tolist()
    ]


def test_boxes_without_ports_are_not_reached() -> None:
    side, _, _ = side_of(EVEN)
    assert side.reaches(np.array([0, 1]))
    assert not side.reaches(np.array([0, 2]))


def test_parts_are_cut_where_their_port_is_full() -> None:
    """GPU 0 has 5 and 1 for two receivers: 3 leave by each port of its box."""
    side, box, hub = side_of(EVEN)
    nobody = np.full(2, -1)
    parts = Parts(
        np.array([0, 0]), np.array([2, 3]), np.array([5, 1]), np.full(2, hub), nobody, nobody
    )
    made = side.chosen(parts, "source", "out", box)
    loads = {int(port): int(made.amount[made.out == port].sum()) for port in set(made.out.tolist())}
    assert loads == {0: 3, 1: 3}
    for target, amount in ((2, 5), (3, 1)):
        assert made.amount[made.target == target].sum() == amount
