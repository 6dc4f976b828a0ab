"""Program for the rates of given trees: how much they deliver by a time.

Problem: max x subject to sum over trees of a root of r_i (T - L_i) >= x w(root) for every root, and
         sum over trees on a link of r_i <= b(link); shared capacities are rows as well.
Input:   columns, T.
Output:  rates, x, and the prices of links and roots.
Cost:    a linear program of as many columns as trees; equal rows are stated once.
Source:  ours; docs/mathematics/forests-over-time.md. Floats: what is claimed is computed anew from
         whole shares (:mod:`forestcoll.forest_over_time.repeated_time`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from forestcoll.forest_over_time.priced_hops import Floats, Ints
from forestcoll.forest_over_time.timed_trees import Column
from forestcoll.solver.linear_program import LEAST_ENTRY, Program, Settings
from forestcoll.solver.solve import solve

__all__ = ["Limits", "Rates", "best_rates", "distinct_rows"]

Number = TypeVar("Number", np.int64, np.float64)

_SECONDS = 600.0


@dataclass(frozen=True, eq=False)
class Limits:
    """What limits the rates.

    Parameters
    ----------
    links : int
    groups : tuple of tuple of int
        Links of each shared capacity, by place.
    exact : tuple of Fraction
        The capacity of each link, then of each group, in units of capacity.
    weights : tuple of int
        Of the first root of each orbit.
    """

    links: int
    groups: tuple[tuple[int, ...], ...]
    exact: tuple[Fraction, ...]
    weights: tuple[int, ...]

    def rows(self, loads: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Append the loads of shared capacities to those of links; rows are links."""
        shared: list[npt.NDArray[Number]]
        shared = [loads[list(places)].sum(axis=0) for places in self.groups]
        return np.vstack([loads, *shared]) if shared else loads

    @cached_property
    def upper(self) -> Floats:
        """The capacity of each row, for programs in floats."""
        return np.array([float(limit) for limit in self.exact])

    def prices(self, rows: Floats) -> Floats:
        """Return what each link costs, its shared capacities included."""
        prices = rows[: self.links].copy()
        for places, price in zip(self.groups, rows[self.links :], strict=True):
            prices[list(places)] += price
        return prices


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """An optimal solution for a time.

    Parameters
    ----------
    amount : float
        What each root delivers per unit of its weight by T, in capacity times ticks.
    rates : float array, one entry a column
        In units of capacity, of each root of the orbit.
    link_prices : float array, one entry a link
    root_prices : float array, one entry an orbit
        A tree of latency L of the orbit increases the amount if its root's price times T - L
        is more than the prices of its links.
    """

    amount: float
    rates: Floats = field(repr=False)
    link_prices: Floats = field(repr=False)
    root_prices: Floats = field(repr=False)


def best_rates(columns: Sequence[Column], limits: Limits, time: float) -> Rates:
    """Return the rates that deliver the most by a time.

    Parameters
    ----------
    columns : sequence of Column
        At least one of each orbit has a latency below the time, by more than rounding.
    time : float
        In ticks.
    """
    left = [1 - one.latency / time for one in columns]
    # Without trees that end so late that no solver takes their entry, the time can only be longer.
    used = [i for i, share in enumerate(left) if share > LEAST_ENTRY]
    scale = float(limits.upper[: limits.links].max())
    loads = limits.rows(np.stack([columns[i].loads for i in used], axis=1))
    kept, first, place = distinct_rows(loads, limits.upper / scale)
    orbits = len(limits.weights)
    matrix = np.zeros((len(first) + orbits, len(used) + 1))
    matrix[: len(first), :-1] = kept
    for column, i in enumerate(used):
        matrix[len(first) + columns[i].orbit, column] = left[i]
    matrix[len(first) :, -1] = -np.array(limits.weights, dtype=np.float64)
    cost = np.zeros(len(used) + 1)
    cost[-1] = 1
    program = Program(
        cost,
        matrix,
        np.concatenate([np.full(len(first), -np.inf), np.zeros(orbits)]),
        np.concatenate([(limits.upper / scale)[first], np.full(orbits, np.inf)]),
        np.zeros(len(used) + 1),
        np.full(len(used) + 1, np.inf),
        maximise=True,
    )
    found = solve(program, Settings(seconds=_SECONDS))
    duals = found.row_duals
    assert duals is not None  # of a linear program that was solved
    rates = np.zeros(len(columns))
    rates[used] = np.maximum(found.x[:-1], 0) * scale
    # Equal rows share their price, so that prices are as symmetric as the columns.
    of_rows = np.maximum(duals[: len(first)], 0)[place] / np.bincount(place)[place]
    return Rates(
        amount=float(found.x[-1]) * scale * time,
        rates=rates,
        link_prices=limits.prices(of_rows),
        root_prices=np.maximum(-duals[len(first) :], 0) / time,
    )


def distinct_rows(loads: Floats, upper: Floats) -> tuple[Floats, Ints, Ints]:
    """Return rows that differ, the first place of each, and the row of every place."""
    rows = np.column_stack([loads, upper])
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return loads[first], first, place.reshape(-1)
