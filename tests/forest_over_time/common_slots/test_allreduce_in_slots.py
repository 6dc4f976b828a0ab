"""Allreduces whose phases share slots."""

from fractions import Fraction

from forestcoll.core.stopwatch import Stopwatch
from forestcoll.forest_over_time.common_slots.allreduce_in_slots import AllreducesInSlots
from forestcoll.forest_over_time.one_phase import ForestsOfPhase
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule import verify
from forestcoll.topology import Topology, load_topology
from tests.forest_over_time.on_paths import path_of_three
from tests.hand_networks import network_of


def maker(network: Topology, alpha: int = 0) -> AllreducesInSlots:
    request = Request.of(network, Options())
    gathering = ForestsOfPhase(request, Fraction(alpha), Stopwatch())
    return AllreducesInSlots(network, gathering, Fraction(alpha))


def test_the_middle_of_a_path_sums_up():
    """1000 bytes take two hops of 1 us and 1 us of data, as no allreduce takes less."""
    made = maker(path_of_three()).at(1000, Fraction(4), Fraction(3))
    assert made is not None
    assert verify(made).plan_time_us == 3
    assert made.gather.weights == made.reduce.weights == (0, 1, 0)
    assert made.gather.k == 1


def test_no_time_is_better_than_a_good_one():
    path = maker(path_of_three())
    assert path.at(1000, Fraction(3), Fraction(3)) is None
    assert path.at(1000, Fraction(80), Fraction(3)) is None
    assert path.at(1000, Fraction(79), Fraction(3)) is not None


def test_data_are_divided_among_roots_of_unlike_weights():
    """Every part that a root sums up it also gathers."""
    network = network_of("a b c d", "a - b: 2 1, b - c: 1 1, c - d: 2 1, d - a: 1 1")
    made = maker(network).at(4000, Fraction(50), Fraction(1))
    assert made is not None
    assert made.gather.plan is not None
    assert verify(made).plan_time_us == made.gather.plan.time_us < 50


def test_parallel_planes_carry_their_parts():
    """Two switches side by side, one twice as fast: thirds of all data."""
    network = network_of("a b c [v] [w]", "a b c - v: 1 1, a b c - w: 2 1")
    made = maker(network).at(3000, Fraction(50), Fraction(1))
    assert made is not None
    assert verify(made).plan_time_us is not None


def test_a_shorter_time_than_one_phase_after_the_other_on_mi250():
    """Reduction and gathering take 106.7 us one after the other; the bound is 66.8 us."""
    made = maker(load_topology("mi250:boxes=1"), 10).at(2**22, Fraction(106), Fraction(79))
    assert made is not None
    assert verify(made).plan_time_us == 80
