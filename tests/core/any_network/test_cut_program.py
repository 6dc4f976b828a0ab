"""The rows and columns of the program of sub-capacities, counted by hand."""

import time
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.core.any_network.cut_program import CutProgram, ExactPoint, Limits
from forestcoll.errors import InfeasibleError, SolverError, TimeLimitError
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.symmetry.automorphism import Orbits, find_orbits, no_symmetry
from tests.core.any_network.networks import fan, half_duplex


def limits_of(network: Topology) -> Limits:
    links, groups = (
        tuple(int(one.bandwidth_gb_s) for one in each) for each in (network.links, network.shared)
    )
    return Limits(links, groups)


def program_of(network: Topology, orbits: Orbits | None = None) -> CutProgram:
    weights = [int(not node.is_switch) for node in network.nodes]
    orbits = no_symmetry(network) if orbits is None else orbits
    return CutProgram(network, limits_of(network), weights, network.switches, orbits)


def all_but(network: Topology, *names: str) -> np.ndarray:
    inside = np.ones(len(network.nodes), dtype=np.bool_)
    inside[[network.position_of[name] for name in names]] = False
    return inside


def soon() -> float:
    return time.monotonic() + 20


def test_only_links_that_may_have_to_be_lowered_have_columns():
    """The three links out of the switch; not the one into it, nor those between GPUs."""
    program = program_of(fan())
    assert not program.is_trivial
    (switch,) = program.stated
    assert (switch.kind, switch.members) == ("switch", [1])
    assert switch.row == {0: -1, 1: -1, 2: -1}
    assert switch.side == -1  # 1 GB/s enters


def test_a_balanced_network_has_no_column():
    assert program_of(load_topology("dgx_a100:boxes=2")).is_trivial


def test_a_switch_behind_another_is_lowered_with_it():
    """Ib receives 7 of 8 x 25; it sends to GPUs only, so nothing else has a column."""
    network = load_topology("dgx_a100:boxes=2").without("b0.gpu0 -> ib")
    program = program_of(network)
    assert sum(one.kind == "switch" for one in program.stated) == 1
    assert len(program.stated[0].row) == 16


def test_links_alike_are_one_column_and_switch_rows_alike_one_row():
    """All wires are alike: one column for the way in, one for the way out."""
    network = half_duplex()
    program = program_of(network, find_orbits(network))
    kinds = [(one.kind, one.members) for one in program.stated]
    assert kinds == [("switch", [0]), ("shared", [0, 1, 2, 3])]


def test_a_set_is_stated_once():
    network = half_duplex()
    program = program_of(network, find_orbits(network))
    assert program.add(all_but(network, "g0"))
    assert not program.add(all_but(network, "g1"))  # the same by symmetry
    assert not program.add_all([all_but(network, "g2"), all_but(network, "g3")])
    assert program.add_all([all_but(network, "g2"), all_but(network, "g2", "g3")])


def test_the_basis_is_solved_in_fractions():
    """Wires of 64: 3 x = c(out), x = c(in) + ..., in + out <= 64: x = 32/3 with all cuts stated."""
    network = half_duplex()
    program = program_of(network)
    for name in ("g0", "g1", "g2", "g3"):
        program.add(all_but(network, name))
    _, rate = program.solve(soon())
    point = program.exact(soon())
    assert point is not None
    assert program.satisfies(point)
    assert point.rate == Fraction(32, 3)
    assert rate == pytest.approx(4 * point.rate / 64)
    assert sum(point.prices.values()) > 0
    near = program.near_prices()
    scale = 64 * 4 / 64  # floats count capacities in widest links, the rate of all four GPUs
    for number, price in point.prices.items():
        assert float(near[number]) == pytest.approx(float(price) * scale)


def test_a_point_that_breaks_a_limit_or_row_is_reported():
    network = half_duplex()
    program = program_of(network)
    program.add(all_but(network, "g0"))
    program.solve(soon())
    point = program.exact(soon())
    assert point is not None
    assert program.satisfies(point)
    for wrong in (
        ExactPoint([one + 65 for one in point.capacity], point.rate, {}),
        ExactPoint([-one for one in point.capacity], point.rate, {}),
        ExactPoint(point.capacity, point.rate + 1, {}),
    ):
        assert not program.satisfies(wrong)


def test_before_a_solution_the_first_set_has_the_price():
    program = program_of(fan())
    program.add(all_but(fan(), "a"))
    (number,) = program.near_prices()
    assert program.stated[number].kind == "cut"


def test_a_rate_that_is_fixed_may_be_too_high():
    """The switch has 1 GB/s for three GPUs, so no rate of 1 is possible; 1/3 would be."""
    program = program_of(fan())
    program.fix_rate(whole=False)
    program.add_all([all_but(fan(), name) for name in "abc"])
    with pytest.raises(InfeasibleError):
        program.solve(soon())


def test_a_deadline_that_has_passed_stops_it():
    program = program_of(fan())
    program.add(all_but(fan(), "a"))
    with pytest.raises(TimeLimitError):
        program.solve(time.monotonic() - 1)


def test_without_a_set_every_rate_is_possible():
    """The solver says so, and it is an error of one line."""
    with pytest.raises(SolverError, match="stopped the program of sub-capacities with status"):
        program_of(fan()).solve(soon())
