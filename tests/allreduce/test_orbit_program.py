"""Rows and columns of the allreduce program, by hand."""

import numpy as np
import pytest

from forestcoll.allreduce.orbit_program import GATHER, REDUCE, CutProgram, Roles
from forestcoll.solver.linear_program import Settings
from forestcoll.solver.solve import solve
from forestcoll.topology import load_topology
from forestcoll.topology.symmetry.automorphism import find_orbits, no_symmetry
from tests.lp.networks import line, star

SETTINGS = Settings(seconds=20)
FIRST, SECOND = np.array([True, False]), np.array([False, True])
"""Either GPU of two."""


def pair(*, symmetric: bool = False, roles: Roles | None = None) -> CutProgram:
    """Two GPUs with a link of 1 GB/s each way; the scale is 2 GB/s."""
    topology = line(2)
    orbits = find_orbits(topology) if symmetric else no_symmetry(topology)
    return CutProgram(topology, orbits, roles)


def test_data_rooted_inside_a_cut_crosses_it_in_both_phases() -> None:
    """Columns x0, x1; g01, g10; r01, r10: g01 - x0 >= 0 and r10 - x0 >= 0."""
    program = pair()
    assert program.add(GATHER, FIRST)
    assert program.add(REDUCE, FIRST)
    stated = program.stated()
    assert stated.matrix.tolist() == [
        [0, 0, 1, 0, 1, 0],
        [0, 0, 0, 1, 0, 1],
        [-1, 0, 1, 0, 0, 0],
        [-1, 0, 0, 0, 0, 1],
    ]
    assert stated.row_upper[:2].tolist() == [0.5, 0.5]  # 1 GB/s of 2
    assert stated.row_lower[2:].tolist() == [0, 0]
    assert stated.cost.tolist() == [1, 1, 0, 0, 0, 0]


def test_two_gpus_have_a_rate_of_one() -> None:
    """Each link carries what is gathered one way and reduced the other way: x0 + x1 <= 1."""
    program = pair()
    for phase in (GATHER, REDUCE):
        for inside in (FIRST, SECOND):
            program.add(phase, inside)
    found = solve(program.stated(), SETTINGS)
    assert found.objective * program.scale_gb_s == pytest.approx(1)
    point = program.point(found.x)
    assert point.part.sum() == pytest.approx(0.5)
    assert (point.gather + point.reduce <= 0.5 + 1e-9).all()


def test_cuts_that_are_the_same_by_symmetry_are_stated_once() -> None:
    """One column for the GPUs, one for the links in either phase."""
    program = pair(symmetric=True)
    assert program.add(GATHER, FIRST)
    assert not program.add(GATHER, FIRST)
    assert not program.add(GATHER, SECOND)
    assert program.add(REDUCE, FIRST)
    assert program.num_cuts == 2
    assert program.stated().matrix.shape == (1 + 2, 3)
    found = solve(program.stated(), SETTINGS)
    assert found.objective == pytest.approx(0.5)
    assert program.point(found.x).part == pytest.approx([0.25, 0.25])


def test_weights_fix_the_proportions() -> None:
    """One column for all parts, 3 to 1: at 2/3 of it in either phase 01 and 10 carry 1/2."""
    program = pair(roles=Roles((0, 1), (0, 1), (), weights=(3, 1)))
    for phase in (GATHER, REDUCE):
        for inside in (FIRST, SECOND):
            program.add(phase, inside)
    found = solve(program.stated(), SETTINGS)
    assert program.point(found.x).part == pytest.approx([0.375, 0.125])


def test_rows_of_a_switch_balance_both_phases() -> None:
    """A row for either phase: 1 for links in and -1 for links out, then the other way round."""
    topology = star(1, 1)
    program = CutProgram(topology, no_symmetry(topology))
    rows = program.stated().matrix[4:6]
    switch = topology.position_of["switch"]
    into = np.array([1 if link.head == switch else -1 for link in topology.links])
    assert rows[0].tolist() == [0, 0, *into, 0, 0, 0, 0]
    assert rows[1].tolist() == [0, 0, 0, 0, 0, 0, *-into]


def test_prices_are_read_back_with_their_cuts_and_switches() -> None:
    """Of rows of links, of the switch's balance (in both phases), and of cuts, in this order."""
    topology = star(1, 1)
    program = CutProgram(topology, no_symmetry(topology))
    inside = np.zeros(3, dtype=bool)
    inside[0] = True
    program.add(REDUCE, inside)
    duals = -np.arange(7.0)
    assert program.potentials(duals) == [(topology.position_of["switch"], 4, 5)]
    ((phase, known), price) = program.priced_cuts(duals)[0]
    assert (phase, price) == (REDUCE, 6)
    assert known is inside


def test_switches_that_copy_may_be_roots_and_forward_nothing() -> None:
    topology = load_topology("dgx_h100:boxes=2")
    copies = tuple(v for v in topology.switches if topology.nodes[v].multicast)
    others = tuple(v for v in topology.switches if v not in copies)
    plain, multicast = (Roles.of(topology, multicast=multicast) for multicast in (False, True))
    assert (plain.roots, plain.forwarding) == (topology.compute, topology.switches)
    assert (multicast.roots, multicast.forwarding) == ((*topology.compute, *copies), others)
    assert copies
    assert others
    weighted = Roles.of(topology, multicast=True, weights=(1,) * 16)
    assert weighted.roots == topology.compute
