"""Concurrent process groups: optimal shares of the links, and a forest for each group.

Problem: with t the rate, w_g the weight of group g and c^g_e its share of link e,

             max  t
             s.t. sum_g c^g_e <= b_e                      for every link e
                  c^g(into v) >= c^g(out of v)            for every group g and node v outside it
                  w_g |S and g| t <= c^g(out of S)        for every g and node set S that misses a
                                                          member of g
                  c, t >= 0

         Members of g each send w_g t GB/s to all others. Then, at this t, the sum of all c is
         minimised. Shares are rounded to exact numbers, and the core packs each group's trees into
         its own.
Output:  a forest for each group, the bound on t, the exact t that the loads of all forests allow.
Cost:    G |E| + 1 variables; per round one solution and one or two passes of max-flows over the
         members of each group.
Source:  ForestColl, Theorem 1 for each group on its share, coupled as the phases are in its
         appendix on allreduce. Missed cuts are looked for halfway between the solution and a point
         that misses none (Ben-Ameur and Neto 2007), and at the solution itself only if there are
         none.

Only those cuts are stated that some solution of the others misses. Nodes outside a group need no
equality: what enters in excess and does not leave is of no use. Solutions are floats: shares are
rounded down to a grid to look for cuts, exactly, and a cut counts as missed by more than
:data:`MISSED` of the first bound on t. Accuracy, rounds and times: docs/groups.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from forestcoll.core.problem import Problem
from forestcoll.core.violation import violated_cut
from forestcoll.errors import DisconnectedError, InvalidParameterError, TimeLimitError
from forestcoll.solver.linear_program import Program, Settings, Solution, Vector
from forestcoll.solver.solve import solve
from forestcoll.topology import Topology
from forestcoll.topology.validation import refuse_shared
from lp.groups.group_program import GroupsProgram
from lp.groups.result import ConcurrentGroups, ProcessGroup, check_concurrent, rate_of
from lp.groups.rounding import forests_within, rounded

__all__ = ["MISSED", "concurrent_groups", "groups_by_box", "groups_by_index"]

MISSED = 4e-9
"""By how much a cut must be missed, in units of the scale, to be stated."""

_SLACK = 2 * MISSED
"""How much of t is given up for the leanest shares, so that they exist in floats."""


def concurrent_groups(
    topology: Topology,
    groups: Mapping[str, Sequence[str]],
    settings: Settings,
    *,
    weights: Mapping[str, Fraction | int] | None = None,
) -> ConcurrentGroups:
    """Find the largest common rate of several allgathers, and forests that (nearly) attain it.

    Parameters
    ----------
    groups : mapping
        Names of the members by the name of the group.
    settings : Settings
        The time limit is for all rounds of the linear programs together; rounding and packing come
        on top. If it is reached when t is known, what groups do not need is left to them.
    weights : mapping, optional
        How fast the members of a group send, by its name; 1 if not given.

    Returns
    -------
    ConcurrentGroups
        Checked by :func:`lp.groups.result.check_concurrent`.

    Raises
    ------
    InvalidParameterError
        If a group has fewer than two members, names a GPU that is unknown, repeated or in another
        group, or has a weight that is not positive; or there is no group.
    UnsupportedError
        If the network has shared capacities.
    DisconnectedError
        If a member cannot reach another of its group.
    TimeLimitError
        If t is not known by then; with the best bound on it in GB/s.
    SolverError
        If the solver fails, or no grid leaves every group connected.

    Examples
    --------
    In two boxes, GPUs with the same index: 8 groups, each with 25 GB/s of network between boxes
    and nothing else to share, so that either member sends at 25 GB/s.

    >>> from forestcoll.topology import load_topology
    >>> pair = load_topology("dgx_a100:boxes=2")
    >>> found = concurrent_groups(pair, groups_by_index(pair), Settings(seconds=20))
    >>> len(found.forests), found.rate_gb_s
    (8, Fraction(25, 1))
    """
    refuse_shared(topology, "the program of concurrent groups")
    chosen = _checked(topology, groups, weights or {})
    networks = [one.on(topology) for one in chosen]
    _check_reachable(topology, chosen)
    search = _Search(chosen, networks, settings)
    shares = search.shares()
    forests = forests_within(networks, rounded(topology, chosen, networks, shares, search.bound))
    found = ConcurrentGroups(
        topology=topology,
        groups=chosen,
        forests=forests,
        bound_gb_s=search.bound,
        rate_gb_s=rate_of(chosen, forests),
        status=search.status,
        tolerance=max(settings.tolerance, MISSED),
        cuts=search.program.num_cuts,
        rounds=search.rounds,
        lean=search.lean,
    )
    check_concurrent(found)
    return found


def groups_by_box(topology: Topology) -> dict[str, list[str]]:
    """Return a group for the GPUs of each box, as tensor parallelism wants them.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> [len(members) for members in groups_by_box(load_topology("dgx_a100:boxes=2")).values()]
    [8, 8]
    """
    return _gathered(topology, "box")


def groups_by_index(topology: Topology) -> dict[str, list[str]]:
    """Return a group for the GPUs of each index in their boxes, as data parallelism wants them."""
    return _gathered(topology, "index")


def _gathered(topology: Topology, what: str) -> dict[str, list[str]]:
    found: dict[int, list[str]] = {}
    for position in topology.compute:
        node = topology.nodes[position]
        number = node.box if what == "box" else node.index
        if number is None:
            raise InvalidParameterError(
                f"{topology.name}: GPU {node.name!r} has no {what}; name the groups' members"
            )
        found.setdefault(number, []).append(node.name)
    return {f"{what} {number}": found[number] for number in sorted(found)}


def _checked(
    topology: Topology, groups: Mapping[str, Sequence[str]], weights: Mapping[str, Fraction | int]
) -> tuple[ProcessGroup, ...]:
    if not groups:
        raise InvalidParameterError(f"{topology.name}: there is no group; name at least one")
    for name in weights:
        if name not in groups:
            raise InvalidParameterError(f"there is a weight for group {name!r}, which is not given")
    chosen = tuple(
        ProcessGroup(name, tuple(members), Fraction(weights.get(name, 1)))
        for name, members in groups.items()
    )
    holder: dict[str, str] = {}
    for one in chosen:
        one.on(topology)
        for member in one.members:
            if member in holder:
                raise InvalidParameterError(
                    f"GPU {member!r} is in group {holder[member]!r} and in group {one.name!r}; "
                    f"groups that run at once must not overlap"
                )
            holder[member] = one.name
    return chosen


def _check_reachable(topology: Topology, groups: Sequence[ProcessGroup]) -> None:
    """Members that reach each other both ways are in one strong component."""
    tails, heads = [e.tail for e in topology.links], [e.head for e in topology.links]
    size = len(topology.nodes)
    graph = sp.coo_array((np.ones(len(tails)), (tails, heads)), shape=(size, size))
    component = connected_components(graph, connection="strong")[1].tolist()
    for one in groups:
        first, *others = one.members
        for other in others:
            if component[topology.position_of[first]] != component[topology.position_of[other]]:
                raise DisconnectedError(
                    f"group {one.name!r}: {first!r} and {other!r} cannot reach each other both "
                    f"ways in {topology.name}; add the missing links"
                )


class _Search:
    """Cutting-plane loop: solve, find violated cuts, state them."""

    def __init__(
        self,
        groups: Sequence[ProcessGroup],
        networks: Sequence[Topology],
        settings: Settings,
    ) -> None:
        self._least = min(one.weight for one in groups)
        weights = np.array([float(one.weight / self._least) for one in groups])
        self.program = GroupsProgram(networks, weights)
        self._settings = settings
        self._deadline = time.monotonic() + settings.seconds
        self._best = 1.0  # bound on t, in units of the program
        self.rounds, self.status, self.lean = 0, "", False
        self._centre = self.program.even_shares()
        for number, network in enumerate(networks):
            for member in network.compute:
                inside = np.ones(len(network.nodes), dtype=np.bool_)
                inside[member] = False
                self.program.add(number, inside)

    @property
    def bound(self) -> float:
        """No t is larger, in GB/s."""
        return self._best * self.program.scale_gb_s / float(self._least)

    def shares(self) -> Vector:
        """Return shares of the largest t, in GB/s: the leanest, if there is time for them."""
        found = self._converged(self.program.fastest)
        self.status, rate = found.status, found.objective
        try:
            found = self._converged(lambda: self.program.leanest(rate - _SLACK))
            self.lean = True
        except TimeLimitError:
            self.lean = False  # no slower
        return self.program.shares(found.x) * self.program.scale_gb_s

    def _converged(self, stated: Callable[[], Program]) -> Solution:
        self._centre = self.program.even_shares()  # misses no cut, and is far from most
        while True:
            program = stated()
            solution = self._solved(program)
            self.rounds += 1
            if program.maximise:
                self._best = min(self._best, solution.bound)
            if not self._cut_off(solution.x):
                return solution

    def _cut_off(self, x: Vector) -> bool:
        """State the cuts that a solution violates; return whether there are any.

        Points halfway to the centre come first: their cuts are deeper (Ben-Ameur and Neto 2007).
        """
        for point in ((x + self._centre) / 2, x):
            added = [self.program.add(number, inside) for number, inside in self._missed(point)]
            if any(added):
                return True
            self._centre = point
        return False

    def _solved(self, program: Program) -> Solution:
        left = self._deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeLimitError("no time is left")
            return solve(program, replace(self._settings, seconds=left))
        except TimeLimitError as error:
            if program.maximise and isinstance(error.bound, float):
                self._best = min(self._best, error.bound)
            raise TimeLimitError(
                f"{self.program.networks[0].name}: the limit of {self._settings.seconds:g} s "
                f"was reached after {self.program.num_cuts} cuts; the best rate is at "
                f"most {self.bound:.9g} GB/s; allow more time",
                bound=self.bound,
            ) from error

    def _missed(self, x: Vector) -> Iterator[tuple[int, npt.NDArray[np.bool_]]]:
        """Yield a cut that a point misses for each member of a group that has one."""
        shares, rate = self.program.shares(x), float(x[0])
        for number, network in enumerate(self.program.networks):
            row = shares[number]
            weight = float(self.program.weights[number])
            grid = 2.0 ** min(40, 60 - math.frexp(row.sum() + weight * network.num_compute)[1])
            capacity = np.floor(row * grid).astype(np.int64)
            trees = np.full(network.num_compute, math.floor(weight * rate * grid), dtype=np.int64)
            passed = 0
            while passed < network.num_compute:
                found = violated_cut(Problem(network, capacity, trees), passed=passed)
                if found is None:
                    break
                if found.shortage > MISSED * grid:
                    yield number, found.inside
                passed = found.passed + 1
