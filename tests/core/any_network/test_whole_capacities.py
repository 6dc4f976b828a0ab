"""Whole capacities that carry so many trees, or that there are none."""

import itertools
import time

import numpy as np
import numpy.typing as npt
import pytest

from forestcoll.core.any_network.cut_program import CutProgram, Limits
from forestcoll.core.any_network.sub_capacities import Roles
from forestcoll.core.any_network.whole_capacities import whole_capacities
from forestcoll.core.problem import Problem
from forestcoll.core.violation import violated_cut
from forestcoll.errors import SolverError
from forestcoll.topology import Topology, TopologyBuilder
from tests.core.any_network.networks import damaged_network, fan, four_routes, half_duplex


def found_for(network: Topology, limits: Limits, trees: list[int]) -> np.ndarray | None:
    return whole_capacities(network, limits, Roles.of(network, trees), time.monotonic() + 20)


def is_right(network: Topology, limits: Limits, trees: list[int], capacity: np.ndarray) -> bool:
    """Within limits, balanced, and no cut lacks room."""
    within = bool((capacity <= np.array(limits.link)).all() and (capacity >= 0).all())
    links = list(zip(network.links, capacity.tolist(), strict=True))
    balanced = all(
        sum(c for e, c in links if e.head == s) >= sum(c for e, c in links if e.tail == s)
        for s in network.switches
    )
    by_ends = {(e.tail, e.head): c for e, c in links}
    shared = all(
        sum(by_ends[ends] for ends in group.links) <= most
        for group, most in zip(network.shared, limits.shared, strict=True)
    )
    problem = Problem(network, capacity.astype(np.int64), np.array(trees, dtype=np.int64))
    return within and balanced and shared and violated_cut(problem) is None


def test_a_switch_forwards_no_more_than_its_ingress():
    """Three trees of the root into the switch, one to each GPU: then each GPU lacks two."""
    roots = [1, 0, 0, 0]
    assert found_for(fan(), Limits((1, 1, 1, 1, 1, 1, 1)), roots) is None
    wide = Limits(tuple(3 for _ in fan().links))
    found = found_for(fan(), wide, roots)
    assert found is not None
    assert is_right(fan(), wide, roots, found)


def test_half_a_tree_on_each_route_is_no_whole_solution():
    """Limits of one tree: each two routes share one, so a single tree is all, not two."""
    limits = Limits((1,) * len(four_routes().links), (1,) * 6)
    limits = Limits(
        tuple(4 if four_routes().nodes[e.tail].name == "b" else 1 for e in four_routes().links),
        (1,) * 6,
    )
    assert found_for(four_routes(), limits, [2, 0]) is None
    found = found_for(four_routes(), limits, [1, 0])
    assert found is not None
    assert is_right(four_routes(), limits, [1, 0], found)


def test_no_time_finds_nothing():
    limits = Limits((64,) * 8, (64,) * 4)
    roles = Roles.of(half_duplex(), [1] * 4)
    assert whole_capacities(half_duplex(), limits, roles, time.monotonic() - 1) is None


def two_pairs() -> Topology:
    """Pairs a, b and c, d with links both ways inside; a -> d and back c -> a between them. The
    way there shares 1 GB/s with b -> a, and 1 GB/s with c -> a.
    """
    builder = TopologyBuilder()
    a, b, c, d = (builder.gpu(name) for name in "abcd")
    builder.link(a, b, 1)
    builder.link(c, d, 1)
    builder.arc(a, d, 1)
    builder.arc(c, a, 1)
    builder.share("one", [f"{a} -> {d}", f"{b} -> {a}"], 1)
    builder.share("other", [f"{a} -> {d}", f"{c} -> {a}"], 1)
    return builder.build("two pairs")


def test_sets_of_several_gpus_are_found_as_they_are_missed():
    """Each GPU alone is reached from its pair. Without a -> d the two others fill both limits, but
    the tree of a must get from its pair to the other.
    """
    limits = Limits((1,) * 6, (1, 1))
    found = found_for(two_pairs(), limits, [1, 0, 0, 0])
    assert found is not None
    assert is_right(two_pairs(), limits, [1, 0, 0, 0], found)
    assert dict(zip(two_pairs().link_between, found.tolist(), strict=True))[0, 3] == 1


def test_the_integer_program_follows_a_failure_of_the_fractional_one(
    monkeypatch: pytest.MonkeyPatch,
):
    """The program in fractions gives up; the one in whole numbers does not."""
    asked: list[CutProgram] = []

    def once(program: CutProgram, deadline: float) -> tuple[npt.NDArray[np.float64], float]:
        asked.append(program)
        if len(asked) == 1:
            raise SolverError("HiGHS stopped")
        return solve(program, deadline)

    solve = CutProgram.solve
    monkeypatch.setattr(CutProgram, "solve", once)
    limits = Limits((1,) * 6, (1, 1))
    found = found_for(two_pairs(), limits, [1, 0, 0, 0])
    assert found is not None
    assert is_right(two_pairs(), limits, [1, 0, 0, 0], found)


@pytest.mark.parametrize("seed", range(30))
def test_random_limits_against_all_capacities(seed: int):
    """On networks of few links every choice of whole capacities is tried."""
    if (made := damaged_network(seed, groups=seed % 2 == 0)) is None:
        return
    network, _ = made
    limits = Limits(
        tuple(min(2, int(e.bandwidth_gb_s)) for e in network.links),
        tuple(max(1, int(g.bandwidth_gb_s) // 2) for g in network.shared),
    )
    choices = [range(most + 1) for most in limits.link]
    if np.prod([len(one) for one in choices], dtype=float) > 3000:
        return
    trees = [1] + [0] * (network.num_compute - 1)
    possible = any(
        is_right(network, limits, trees, np.array(one, dtype=np.int64))
        for one in itertools.product(*choices)
    )
    found = found_for(network, limits, trees)
    assert (found is not None) == possible
    assert found is None or is_right(network, limits, trees, found)
