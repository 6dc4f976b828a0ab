"""The linear program of balanced sub-capacities: rows, columns and solutions.

Problem: maximise x over capacities 0 <= c_e <= b_e such that

             c(links that leave S) >= x w(S)    for every node set S added so far
             c(into s) >= c(out of s)           for every switch s
             c(links of K) <= C_K               for every shared capacity K.

Input:   a network, limits of its links in whole numbers, weights, orbits; node sets, one by one.
         One column stands for all links of an orbit.
Output:  a solution in floats, and the exact solution of its basis, with its prices.
Cost:    a simplex run for each round, which starts from the basis of the one before.
Source:  :mod:`forestcoll.core.any_network.sub_capacities` says why this is the optimum. The solver
         is HiGHS.

A link has a column only if a lower capacity can help. Two kinds keep their capacity and have no
column: links out of a GPU that are in no shared capacity, and links out of switches that surely
receive enough.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from forestcoll.core.any_network.exact_basis import Row, solve_exactly, transposed
from forestcoll.errors import InfeasibleError, SolverError, TimeLimitError
from forestcoll.native.standard_output import printed_as_errors
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits

if TYPE_CHECKING:
    import highspy

__all__ = ["CutProgram", "ExactPoint", "Inside", "Limits", "Stated"]

Inside = npt.NDArray[np.bool_]
"""Whether each node is in a set."""

_OPTIONS = {
    "output_flag": False,
    "presolve": "off",
    "solver": "choose",  # with whole variables another choice would solve the relaxation
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
    "mip_feasibility_tolerance": 1e-9,
    "mip_rel_gap": 1.0,  # any whole solution will do
}

_SMALL = 10**6
"""Largest denominator of prices that are rounded from floats."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What links and shared capacities carry at most, in whole numbers of one unit."""

    link: tuple[int, ...]
    shared: tuple[int, ...] = ()


Kind = Literal["cut", "switch", "shared"]


class Stated(NamedTuple):
    """A row of the program: the sum over its columns is ``side`` or more.

    ``kind`` and ``members`` give its source: a node set ("cut", the number of the set), switches
    ("switch", their positions) or shared capacities ("shared", their numbers). Switches with the
    same row by symmetry are members of one row; so are shared capacities.
    """

    row: Row
    side: int
    kind: Kind
    members: list[int]


class ExactPoint(NamedTuple):
    """The solution of a basis, in fractions.

    Parameters
    ----------
    capacity : list of Fraction
        One for each link, in the unit of the limits.
    rate : Fraction
        x, in that unit per unit of weight.
    prices : dict
        The price of each row that has one, by the row's number. Prices may be negative if the basis
        is not exactly optimal.
    """

    capacity: list[Fraction]
    rate: Fraction
    prices: dict[int, Fraction]


class CutProgram:
    """The program with the node sets added so far.

    Parameters
    ----------
    network : Topology
        Out-trees are packed on it; a reduction has the reversed network here.
    weights : sequence of int
        One for each node; 0 where nothing is rooted.
    forwarding : collection of int
        Nodes that send what they receive once.
    orbits : Orbits
        Orbits of symmetries that keep limits, weights and forwarding nodes.
    unit : int, optional
        The unit of capacities in floats; the widest link if not given.
    """

    def __init__(
        self,
        network: Topology,
        limits: Limits,
        weights: Sequence[int],
        forwarding: Iterable[int],
        orbits: Orbits,
        unit: int | None = None,
    ) -> None:
        self.network, self.limits = network, limits
        self.weights, self.forwarding = tuple(weights), frozenset(forwarding)
        self.sets: list[Inside] = []
        self.stated: list[Stated] = []
        self._tail = np.array([link.tail for link in network.links], dtype=np.int64)
        self._head = np.array([link.head for link in network.links], dtype=np.int64)
        self._column = _columns(network, limits, self.forwarding, orbits)
        self._columns = max(self._column, default=-1) + 1
        self._unit = unit or max(limits.link)
        self._whole = sum(weights)
        self._known: dict[tuple[object, ...], int] = {}
        self._solver = self._started()
        self._duals: list[float] = []
        self._state_switches_and_groups()

    @property
    def is_trivial(self) -> bool:
        """Whether no capacity needs to be lowered."""
        return self._columns == 0

    # --- rows -----------------------------------------------------------------------------------

    def _started(self) -> highspy.Highs:
        import highspy

        # HiGHS keeps one thread pool per process; a run that asks for another size would fail.
        highspy.Highs.resetGlobalScheduler(True)
        solver = highspy.Highs()
        for option, value in _OPTIONS.items():
            if solver.setOptionValue(option, value) != highspy.HighsStatus.kOk:
                raise AssertionError(f"HiGHS refused {option} = {value!r}")
        none, nothing = np.zeros(0, dtype=np.int32), np.zeros(0)
        for limit in self._upper():
            solver.addCol(0.0, 0.0, limit / self._unit, 0, none, nothing)
        solver.addCol(1.0, 0.0, highspy.kHighsInf, 0, none, nothing)
        solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        return solver

    def _upper(self) -> list[int]:
        upper = [0] * self._columns
        for column, limit in zip(self._column, self.limits.link, strict=True):
            if column >= 0:
                upper[column] = limit
        return upper

    def _state_switches_and_groups(self) -> None:
        into: dict[int, list[int]] = defaultdict(list)
        out: dict[int, list[int]] = defaultdict(list)
        for number, link in enumerate(self.network.links):
            into[link.head].append(number)
            out[link.tail].append(number)
        for switch in sorted(self.forwarding):
            if any(self._column[number] >= 0 for number in out[switch]):
                signed = [(number, 1) for number in into[switch]]
                signed += [(number, -1) for number in out[switch]]
                self._state(signed, 0, "switch", switch)
        place = {(link.tail, link.head): i for i, link in enumerate(self.network.links)}
        for number, group in enumerate(self.network.shared):
            held = [(place[ends], -1) for ends in group.links]
            self._state(held, -self.limits.shared[number], "shared", number)

    def add_all(self, sets: Iterable[Inside]) -> bool:
        """Add the rows of node sets; return whether any of them is new."""
        return any([self.add(inside) for inside in sets])  # noqa: C419 (each must be stated)

    def add(self, inside: Inside) -> bool:
        """Add the row of a node set; return False if it or a symmetric one has a row already."""
        leaving = np.flatnonzero(inside[self._tail] & ~inside[self._head]).tolist()
        rooted = sum(self.weights[v] for v in np.flatnonzero(inside).tolist())
        if not self._state([(link, 1) for link in leaving], 0, "cut", len(self.sets), rooted):
            return False  # the row of the symmetric set covers it
        self.sets.append(inside.copy())
        return True

    def _state(
        self,
        signed: Iterable[tuple[int, int]],
        side: int,
        kind: Kind,
        what: int,
        rooted: int = 0,
    ) -> bool:
        row: Row = defaultdict(int)
        for link, sign in signed:
            if (column := self._column[link]) >= 0:
                row[column] += sign
            else:
                side -= sign * self.limits.link[link]
        row[self._columns] -= rooted
        row = {column: value for column, value in sorted(row.items()) if value}
        key = (kind, side, *row.items())
        if (known := self._known.get(key)) is not None:
            self.stated[known].members.append(what)
            return False
        self._known[key] = len(self.stated)
        self.stated.append(Stated(row, side, kind, [what]))
        scale = [1.0 if at < self._columns else 1 / self._whole for at in row]
        values = np.array(list(row.values()), dtype=np.float64) * scale
        self._solver.addRow(
            side / self._unit, np.inf, len(row), np.array(list(row), dtype=np.int32), values
        )
        return True

    def fix_rate(self, *, whole: bool) -> None:
        """Fix the rate at 1 and maximise the capacities; in whole numbers if ``whole``."""
        import highspy

        self._solver.changeColBounds(
            self._columns, self._whole / self._unit, self._whole / self._unit
        )
        self._solver.changeColCost(self._columns, 0.0)
        if whole:
            self._solver.setOptionValue("presolve", "choose")
        for column in range(self._columns):
            self._solver.changeColCost(column, 1.0)
            if whole:
                self._solver.changeColIntegrality(column, highspy.HighsVarType.kInteger)

    # --- solutions ------------------------------------------------------------------------------

    def solve(self, deadline: float) -> tuple[npt.NDArray[np.float64], float]:
        """Return the capacity of each link in units of the widest, and x times the total weight.

        Raises
        ------
        TimeLimitError
            At the deadline, of ``time.monotonic``.
        InfeasibleError
            If no capacities attain the fixed rate.
        SolverError
            If the solver stops without an answer.
        """
        import highspy

        left = deadline - time.monotonic()
        if left > 0:
            self._solver.setOptionValue("time_limit", self._solver.getRunTime() + left)
            with printed_as_errors():
                self._solver.run()
        status = self._solver.getModelStatus()
        if left <= 0 or status == highspy.HighsModelStatus.kTimeLimit:
            raise TimeLimitError("no time is left for the program of sub-capacities")
        if status == highspy.HighsModelStatus.kInfeasible:
            raise InfeasibleError("no capacities have the rate that was fixed")
        if status != highspy.HighsModelStatus.kOptimal:
            status_name = self._solver.modelStatusToString(status)
            raise SolverError(
                f"HiGHS stopped the program of sub-capacities with status {status_name!r}"
            )
        solution = self._solver.getSolution()
        values, self._duals = np.array(solution.col_value), list(solution.row_dual)
        fixed = np.array([limit / self._unit for limit in self.limits.link])
        column = np.array(self._column)
        capacity = np.where(column >= 0, values[np.maximum(column, 0)], fixed)
        return np.clip(capacity, 0, fixed), float(values[-1])

    def exact(self, deadline: float) -> ExactPoint | None:
        """Solve the equations of the last solution's basis; None if they have no solution.

        Raises TimeLimitError at the deadline, of ``time.monotonic``.
        """
        import highspy

        basis, status = self._solver.getBasis(), highspy.HighsBasisStatus
        basic = [j for j, one in enumerate(basis.col_status) if one == status.kBasic]
        binding = [i for i, one in enumerate(basis.row_status) if one != status.kBasic]
        if len(basic) != len(binding):
            return None
        upper = [*self._upper(), 0]
        at_limit = {j for j, one in enumerate(basis.col_status) if one == status.kUpper}
        place = {column: number for number, column in enumerate(basic)}
        rows, sides = [], []
        for i in binding:
            row, side = self.stated[i].row, self.stated[i].side
            rows.append({place[j]: value for j, value in row.items() if j in place})
            sides.append(side - sum(v * upper[j] for j, v in row.items() if j in at_limit))
        found = solve_exactly(rows, sides, deadline)
        priced = solve_exactly(transposed(rows), [-(j == self._columns) for j in basic], deadline)
        if found is None or priced is None:
            return None
        value = {j: Fraction(upper[j]) for j in at_limit} | dict(zip(basic, found, strict=True))
        return ExactPoint(
            [
                value.get(column, Fraction(0)) if column >= 0 else Fraction(limit)
                for column, limit in zip(self._column, self.limits.link, strict=True)
            ],
            value.get(self._columns, Fraction(0)),
            {i: price for i, price in zip(binding, priced, strict=True) if price},
        )

    def near_prices(self) -> dict[int, Fraction]:
        """Return prices near those of the last solution, as fractions of small denominators.

        Before the first solution, only the first set has a price.
        """
        near = (Fraction(abs(one)).limit_denominator(_SMALL) for one in self._duals)
        return {i: price for i, price in enumerate(near) if price} or self._first_cut()

    def _first_cut(self) -> dict[int, Fraction]:
        number = next(i for i, one in enumerate(self.stated) if one.kind == "cut")
        return {number: Fraction(1)}

    def satisfies(self, point: ExactPoint) -> bool:
        """Whether the limits and all rows hold exactly."""
        links = zip(point.capacity, self.limits.link, strict=True)
        if not all(0 <= capacity <= limit for capacity, limit in links):
            return False
        value = [Fraction(0)] * self._columns + [point.rate]
        for column, capacity in zip(self._column, point.capacity, strict=True):
            if column >= 0:
                value[column] = capacity
        return all(
            sum(each * value[column] for column, each in one.row.items()) >= one.side
            for one in self.stated
        )


def _columns(
    network: Topology, limits: Limits, forwarding: frozenset[int], orbits: Orbits
) -> list[int]:
    """Return the column of each link; -1 for links that keep their capacity."""
    lowered = _lowered(network, limits, forwarding)
    number: dict[int, int] = {}
    return [
        number.setdefault(orbit, len(number)) if link in lowered else -1
        for link, orbit in enumerate(orbits.link.tolist())
    ]


def _lowered(network: Topology, limits: Limits, forwarding: frozenset[int]) -> set[int]:
    """Return the links whose capacity may have to be lowered.

    They are the links of shared capacities, and the links out of switches that may receive too
    little: unbalanced switches, and switches with an in-link that may be lowered itself.
    """
    excess: dict[int, int] = defaultdict(int)
    out: dict[int, list[int]] = defaultdict(list)
    for number, link in enumerate(network.links):
        excess[link.tail] += limits.link[number]
        excess[link.head] -= limits.link[number]
        out[link.tail].append(number)
    grouped = {ends for group in network.shared for ends in group.links}
    lowered = {i for i, e in enumerate(network.links) if (e.tail, e.head) in grouped}
    waiting = [v for v in forwarding if excess[v] > 0]
    waiting += [head for i in lowered if (head := network.links[i].head) in forwarding]
    seen = set(waiting)
    while waiting:
        for number in out[waiting.pop()]:
            lowered.add(number)
            head = network.links[number].head
            if head in forwarding and head not in seen:
                seen.add(head)
                waiting.append(head)
    return lowered
