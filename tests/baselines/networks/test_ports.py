"""How busy ports are, and what one more course would cost them."""

import pytest

from baselines.networks.ports import MOST_LANES, Ports, has_direct_links
from forestcoll.errors import UnsupportedError
from forestcoll.topology import Topology
from tests.hand_networks import network_of


def triangle(ab: int = 2, bc: int = 3) -> Topology:
    """GPU a is linked to b, and b to c; a and c are on a switch of 9 GB/s."""
    return network_of("a b c [w]", f"a - b: {ab}, b - c: {bc}, a c - w: 9", "triangle")


def test_the_first_course_goes_by_the_widest_port_the_next_may_not() -> None:
    """Fourth powers of courses by bandwidth: 1/81 against 1/16; then 15/81 is more than 1/16."""
    ports = Ports(triangle())
    narrow, wide = ports.port(1, 0), ports.port(1, 2)
    assert ports.penalty(wide) < ports.penalty(narrow)
    assert 81 * ports.penalty(wide) == 16 * ports.penalty(narrow)
    ports.add(wide, 1)
    assert ports.penalty(wide) * 81 == 15 * 16 * ports.penalty(narrow)
    ports.add(wide, -1)
    assert ports.penalty(wide) < ports.penalty(narrow)


@pytest.mark.parametrize(
    ("links", "direct"), [("a - b: 2, a b - w: 9", True), ("a b - w: 9, w - v: 1", False)]
)
def test_direct_links_lead_from_gpu_to_gpu(links: str, direct: bool) -> None:
    """Not those between switches."""
    assert has_direct_links(network_of("a b [w] [v]", f"{links}, w - v: 3", "x")) == direct


def test_the_busiest_port_is_that_of_most_courses_by_bandwidth() -> None:
    """Two courses over 3 GB/s are busier than one over 2; in units of 1/18 of the common 18."""
    ports = Ports(triangle())
    ports.add(ports.port(1, 2), 2)
    ports.add(ports.port(1, 0), 1)
    assert ports.worst == 2 * 18 // 3


def test_a_gpu_sends_by_a_link_or_by_its_port_to_a_switch() -> None:
    topology = triangle()
    place = topology.position_of
    ports = Ports(topology)
    assert ports.port(place["a"], place["b"]) == (place["a"], place["b"])
    assert ports.port(place["a"], place["c"]) == (place["a"], place["w"])


def test_pairs_without_a_port_are_named() -> None:
    with pytest.raises(UnsupportedError, match=r"^unsupported: no ring .* lead from b to a$"):
        Ports(network_of("a b", "a > b", "dead end")).port(1, 0)


@pytest.mark.parametrize(("ab", "bc", "lanes"), [(2, 3, 2), (2, 6, 4), (1, 99, MOST_LANES)])
def test_lanes_are_the_times_of_the_narrowest_link(ab: int, bc: int, lanes: int) -> None:
    """At b, which has both links: one for the narrow one, and bc / ab, rounded down."""
    assert Ports(triangle(ab, bc)).lanes([0, 1, 2]) == lanes


def test_links_among_gpus_go_by_place_the_widest_first() -> None:
    """Of c, b and a; b, the second, is linked to c by 3 GB/s and to a by 2."""
    ports = Ports(triangle())
    assert ports.direct([2, 1, 0]) == ((1,), (0, 2), (1,))
    assert ports.direct([0, 2]) == ((), ())


def test_ways_lead_over_links_and_switches() -> None:
    """From a by the switch, 9 GB/s, before the link; from b by the wider link."""
    assert Ports(triangle()).ways([0, 1, 2]) == ((2, 1), (2, 0), (0, 1))


def test_lanes_are_those_of_the_gpu_that_has_most_in_the_direction_that_it_sends() -> None:
    """Links a -> b 2 GB/s and back 1, b -> c 3 and back 1: a has 2, b 1 + 3, c 1.

    Of a and b alone a has 2; of b and c alone b has 3. Through a switch there are none.
    """
    ports = Ports(network_of("a b c", "a > b: 2, b > a, b > c: 3, c > b", "uneven line"))
    assert [ports.lanes(some) for some in ([0, 1, 2], [0, 1], [1, 2], [0, 2])] == [4, 2, 3, 0]
