"""Linear program of the best mixture of spans: trees that reach some multicast switches.

Problem: with x^C, g^C, r^C the parts and shares of the trees that span the GPUs and the switches of
         a set C, of which there are n_C images, all in the program of
         :mod:`forestcoll.allreduce.cutting_planes` for targets that are GPUs or in C,

             max  sum_C n_C sum_v x^C_v
             s.t. the cuts of each C for its targets, the balances of each C at all other switches
                  sum_C n_C (g^C + r^C) <= b    on average over each orbit of links
                  the same, added up over the links of a shared capacity, <= its limit

Input:   a topology, its orbits, spans (:mod:`forestcoll.in_network.spans`).
Output:  the value, and the parts and shares of each span.
Cost:    that of one program for each span, solved together.
Source:  ours, beyond ForestColl's appendix on allreduce. Its program has a single span: all
         multicast switches, or none. The core can pack the trees of every C, because it treats the
         switches in C as GPUs without data. Roots are GPUs.

Averages suffice: the images of a solution under all symmetries, in equal shares, put the same on
all links of an orbit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forestcoll.allreduce.cutting_planes import first_cuts, missed_cuts
from forestcoll.allreduce.orbit_program import CutProgram, Roles
from forestcoll.allreduce.result import rate_scale, useful_bandwidth
from forestcoll.errors import TimeLimitError
from forestcoll.in_network.spans import Span
from forestcoll.solver.linear_program import Program, Settings, Vector
from forestcoll.solver.matrix_blocks import beside, compact, diagonal, stacked
from forestcoll.solver.solve import solve
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits

__all__ = ["Ingredient", "MixtureProgram"]

NEGLIGIBLE = 1e-9
"""Of the scale: a span with less has no trees."""


@dataclass(frozen=True, slots=True)
class Ingredient:
    """The contribution of one span, which is equal for each of its images.

    Parameters
    ----------
    span : Span
    parts_gb_s : float array, one entry a rank
        The part of the rate rooted at each GPU.
    reduce_gb_s, gather_gb_s : float array, one entry a link
    """

    span: Span
    parts_gb_s: Vector = field(repr=False)
    reduce_gb_s: Vector = field(repr=False)
    gather_gb_s: Vector = field(repr=False)


class MixtureProgram:
    """The program with the spans and cuts that were added so far.

    Parameters
    ----------
    topology : Topology
    orbits : Orbits
        Of the whole network; those of each span are under a subgroup.
    weights : tuple of int
        Of each rank, if the parts are to be in these proportions; else empty.
    """

    def __init__(self, topology: Topology, orbits: Orbits, weights: tuple[int, ...] = ()) -> None:
        self._topology, self._orbits, self._weights = topology, orbits, weights
        self._scale = rate_scale(topology)
        self._bandwidth = np.zeros(int(orbits.link.max()) + 1)
        self._bandwidth[orbits.link] = useful_bandwidth(topology, self._scale)
        self._spans: list[Span] = []
        self._programs: list[CutProgram] = []
        self._found: tuple[Ingredient, ...] = ()

    def add(self, span: Span) -> None:
        """Allow trees of one more span."""
        targets = (*self._topology.compute, *span.switches)
        forwarding = tuple(v for v in self._topology.switches if v not in set(span.switches))
        roles = Roles(self._topology.compute, targets, forwarding, self._weights)
        program = CutProgram(self._topology, span.orbits, roles, self._scale)
        for phase, inside in first_cuts(program):
            program.add(phase, inside)
        self._spans.append(span)
        self._programs.append(program)

    def solved(self, deadline: float) -> tuple[float, tuple[Ingredient, ...]]:
        """Return the best rate in GB/s, and the contributions of the spans.

        Parameters
        ----------
        deadline : float
            Of ``time.monotonic``.

        Raises
        ------
        TimeLimitError
            If it is passed.
        SolverError
            If the solver fails.
        """
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeLimitError("no time is left for the mixture of trees")
            solution = solve(self._stated(), Settings(seconds=left))
            added = False
            ends = np.cumsum([0, *(len(one.worth) for one in self._programs)])
            points = []
            for program, start, end in zip(self._programs, ends, ends[1:], strict=False):
                point = program.point(solution.x[start:end])
                points.append(point)
                if point.part.sum() > NEGLIGIBLE:
                    for phase, inside in missed_cuts(program, point, deadline):
                        added |= program.add(phase, inside)
            if not added:
                break
        found = tuple(
            Ingredient(
                span,
                point.part * self._scale,
                point.reduce * self._scale,
                point.gather * self._scale,
            )
            for span, point in zip(self._spans, points, strict=True)
            if point.part.sum() > NEGLIGIBLE
        )
        return solution.objective * self._scale, found

    def _stated(self) -> Program:
        images = [len(span.images) for span in self._spans]
        worth = [n * one.worth for n, one in zip(images, self._programs, strict=True)]
        loads = beside(
            [
                n * one.loads(self._orbits.link)
                for n, one in zip(images, self._programs, strict=True)
            ]
        )
        conditions = diagonal([one.conditions for one in self._programs])
        groups, limits = self._groups()
        matrix = stacked([loads, groups @ loads, conditions])
        bounded, rows = len(self._bandwidth) + len(limits), matrix.shape[0]
        lower, upper = np.zeros(rows), np.full(rows, np.inf)
        lower[:bounded], upper[:bounded] = -np.inf, np.concatenate([self._bandwidth, limits])
        most = np.concatenate([one.most for one in self._programs])
        return Program(
            np.concatenate(worth), matrix, lower, upper, np.zeros(len(most)), most, maximise=True
        )

    def _groups(self) -> tuple[Any, Vector]:
        """Return the links of each class in every shared capacity, and its limit."""
        shared = self._topology.shared_places
        rows = np.zeros((len(shared), len(self._bandwidth)))
        for row, (places, _) in zip(rows, shared, strict=True):
            np.add.at(row, self._orbits.link[list(places)], 1)
        limits = np.array([float(limit) / self._scale for _, limit in shared])
        return compact(rows), limits
