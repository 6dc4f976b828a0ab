"""Exact bounds from floating prices: the program's value, or more, and never less."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from forestcoll.allreduce import dual
from forestcoll.allreduce.dual import exact_bound
from forestcoll.allreduce.orbit_program import GATHER, REDUCE, CutProgram
from forestcoll.schedule.verification.trees.allreduce import check_bound
from forestcoll.solver.linear_program import Settings, Solution
from forestcoll.solver.solve import solve
from forestcoll.topology import Topology
from forestcoll.topology.symmetry.automorphism import find_orbits, no_symmetry
from tests.lp.networks import line, star, two_boxes


def solved(
    topology: Topology, insides: Sequence[Sequence[int]], *, symmetric: bool = False
) -> tuple[CutProgram, Solution]:
    """The program with the cuts that these sets make in both phases, and its solution."""
    orbits = find_orbits(topology) if symmetric else no_symmetry(topology)
    program = CutProgram(topology, orbits)
    for nodes in insides:
        inside = np.zeros(len(topology.nodes), dtype=bool)
        inside[list(nodes)] = True
        for phase in (GATHER, REDUCE):
            program.add(phase, inside)
    return program, solve(program.stated(), Settings(seconds=20))


PREFIXES = [(0,), (0, 1), (0, 1, 2), (1, 2, 3), (2, 3), (3,)]
"""The cuts of a line of four."""


@pytest.mark.parametrize("symmetric", [False, True])
def test_prices_of_a_line_prove_one_exactly(symmetric: bool) -> None:
    """By hand 1 GB/s; of an orbit each image has an even share of the price."""
    bound = exact_bound(*solved(line(4), PREFIXES, symmetric=symmetric))
    assert bound is not None
    assert check_bound(bound) == bound.algbw_gb_s == Fraction(1)
    if symmetric:
        turned = {tuple(sorted(3 - node for node in one.nodes)) for one in bound.sets}
        assert turned == {one.nodes for one in bound.sets}


STAR = [each for size in (1, 2, 3) for each in combinations(range(4), size) if each != (1, 2, 3)]
"""The cuts of a star of three GPUs, of which the switch is the first node."""


@pytest.mark.parametrize("symmetric", [False, True])
def test_orbits_of_unequal_size_share_their_prices_alike(symmetric: bool) -> None:
    """The two slow GPUs of a star are an orbit, the fast one is alone: by hand 1 GB/s."""
    bound = exact_bound(*solved(star(1, 1, 2), STAR, symmetric=symmetric))
    assert bound is not None
    assert check_bound(bound) == 1


def test_forwarding_switches_have_potentials() -> None:
    """Two boxes of 2 and 6 GPUs: the link between them alone, 1 GB/s, is the bound."""
    topology = two_boxes(2, 6)
    left = [topology.position_of[name] for name in ("left", "left0", "left1")]
    right = [v for v in range(len(topology.nodes)) if v not in left]
    bound = exact_bound(*solved(topology, [left, right]))
    assert bound is not None
    assert check_bound(bound) == 1
    assert {one.nodes for one in bound.sets} <= {tuple(sorted(left)), tuple(right)}


@pytest.mark.parametrize("seed", range(5))
def test_prices_that_are_off_prove_more(seed: int) -> None:
    """Weak duality: whatever the prices, the bound is right, so not below 1."""
    program, solution = solved(line(4), PREFIXES)
    assert solution.row_duals is not None
    noise = np.random.default_rng(seed).uniform(0.7, 1.3, len(solution.row_duals))
    bound = exact_bound(program, replace(solution, row_duals=solution.row_duals * noise))
    assert bound is not None
    assert check_bound(bound) == bound.algbw_gb_s >= 1


def test_noise_of_a_solver_is_rounded_off() -> None:
    program, solution = solved(star(1, 1, 2), STAR)
    assert solution.row_duals is not None
    exact = exact_bound(program, solution)
    near = exact_bound(program, replace(solution, row_duals=solution.row_duals + 1e-10))
    assert exact is not None
    assert near is not None
    assert exact.algbw_gb_s == near.algbw_gb_s
    assert len(near.sets) == len(exact.sets)


def test_prices_of_nothing_prove_nothing() -> None:
    program, solution = solved(line(4), PREFIXES)
    assert exact_bound(program, replace(solution, row_duals=0 * solution.x[:0])) is None
    zeros = np.zeros(program.stated().matrix.shape[0])
    assert exact_bound(program, replace(solution, row_duals=zeros)) is None


def test_images_that_are_too_many_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    program, solution = solved(line(4), PREFIXES, symmetric=True)
    monkeypatch.setattr(dual, "MOST_NODES", 3)
    assert exact_bound(program, solution) is None
