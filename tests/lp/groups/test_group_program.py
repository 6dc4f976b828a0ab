"""Rows and columns of the program of groups that share links, by hand."""

import numpy as np
import pytest

from forestcoll.solver.linear_program import Settings
from forestcoll.solver.solve import solve
from forestcoll.topology.groups import group
from lp.groups.group_program import GroupsProgram
from tests.lp.networks import line, star

SETTINGS = Settings(seconds=20)


def pairs(first: float = 1, second: float = 1) -> GroupsProgram:
    """GPUs 0 and 1, and 2 and 3, at a switch with 1 GB/s each, and weights."""
    topology = star(1, 1, 1, 1)
    networks = [group(topology, names) for names in (("gpu0", "gpu1"), ("gpu2", "gpu3"))]
    return GroupsProgram(networks, np.array([first, second]))


def only(program: GroupsProgram, *names: str) -> np.ndarray:
    inside = np.zeros(5, dtype=bool)
    inside[[program.networks[0].position_of[name] for name in names]] = True
    return inside


def all_cuts(program: GroupsProgram) -> None:
    """All but one member, for each of both groups: what goes to it must leave the others."""
    for number, network in enumerate(program.networks):
        for member in network.compute:
            inside = np.ones(5, dtype=bool)
            inside[member] = False
            program.add(number, inside)


def test_the_scale_is_the_ingress_of_a_member() -> None:
    """1 GB/s from the one other member, at twice the speed of t for weight 2."""
    assert pairs().scale_gb_s == 1
    assert pairs(1, 2).scale_gb_s == 0.5


def test_a_cut_is_a_row_over_its_groups_shares() -> None:
    """Twice t, less the share of the link out of GPU 2; the columns of group 0 are left alone."""
    program = pairs(1, 2)
    links = program.networks[0].links
    out = next(i for i, e in enumerate(links) if e.tail == program.networks[0].position_of["gpu2"])
    assert program.add(1, only(program, "gpu2"))
    row = program.fastest().matrix.toarray()[-1]
    assert row[0] == 2
    assert np.flatnonzero(row).tolist() == [0, 1 + len(links) + out]
    assert row[-len(links) :].sum() == -1


def test_no_cut_is_stated_twice() -> None:
    program = pairs()
    assert program.add(0, only(program, "gpu0"))
    assert not program.add(0, only(program, "gpu0"))
    assert program.add(1, only(program, "gpu0"))
    assert program.num_cuts == 2


def test_groups_on_links_of_their_own_are_not_in_each_others_way() -> None:
    """T = 1, over four links a group, 1 GB/s each."""
    program = pairs()
    all_cuts(program)
    found = solve(program.fastest(), SETTINGS)
    assert found.objective == pytest.approx(1)
    lean = solve(program.leanest(1.0), SETTINGS)
    assert lean.objective == pytest.approx(8)
    shares = program.shares(lean.x)
    assert shares.shape == (2, 8)
    assert shares.sum(axis=0) == pytest.approx(np.ones(8))


def test_the_leanest_shares_of_half_the_rate_are_half_as_much() -> None:
    program = pairs()
    all_cuts(program)
    assert solve(program.leanest(0.5), SETTINGS).objective == pytest.approx(4)


def test_relays_send_no_more_than_they_get() -> None:
    """On a line of three, the ends talk over the middle: 1 GB/s, and none of it is made there."""
    network = group(line(3), ("gpu0", "gpu2"))
    program = GroupsProgram([network], np.ones(1))
    for inside in ([True, False, False], [True, True, False], [False, True, True]):
        program.add(0, np.array(inside))
    shares = program.shares(solve(program.leanest(1.0), SETTINGS).x)[0]
    into = sum(s for s, e in zip(shares, network.links, strict=True) if e.head == 1)
    out = sum(s for s, e in zip(shares, network.links, strict=True) if e.tail == 1)
    assert out == pytest.approx(2)
    assert into >= out - 1e-9


def test_even_shares_divide_every_link() -> None:
    program = pairs()
    even = program.even_shares()
    assert even[0] == 0
    assert program.shares(even).tolist() == [[0.5] * 8] * 2
