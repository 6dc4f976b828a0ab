"""Columns of rows for figures: by series, by size, by parameter."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from experiments.config.kinds import SIDES
from experiments.config.points import Value
from experiments.results.rows import Row, Status
from forestcoll.topology import FAMILIES

__all__ = [
    "BEYOND", "failed_places", "grouped", "medians", "medians_along", "quantity", "scaling_series",
    "series_of", "sides", "simulated_bounds", "swept",
]  # fmt: skip

BEYOND = {"algbw_simulated_gb_s": 1, "time_simulated_s": -1}
"""Bounded columns of simulations, with the power of ``over_bound`` that gives the bound."""


Place = TypeVar("Place", int, float)

_DECIMAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", re.ASCII)


def grouped(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    """Group the rows by the value of a column."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, column), []).append(row)
    return groups


def series_of(rows: Iterable[Row]) -> list[str]:
    """Return the methods with their parameters, in the order in which they appear."""
    return list(dict.fromkeys(row.series for row in rows))


def quantity(row: Row, name: str) -> Value | None:
    """Return a column, the method, the topology, or a parameter of either; None if there is none.

    Examples of names: "gpus", "method", "boxes", "effort".
    """
    if name == "method":
        return row.series
    if name in ("gpus", "topology", "size_bytes"):
        found: Value | None = getattr(row, name)
        return found
    if name in row.parameters:
        return _plain(row.parameters[name])
    return _topology_parameters(row).get(name)


def swept(row: Row, name: str) -> tuple[Row, Value | None]:
    """Return a row without a swept parameter, and the parameter's value, None if it has none.

    ``name`` is a parameter of the method or of the topology, "gpus" or "size_bytes". The returned
    row lacks it, also in the name of its topology; for "gpus" the topology is the cluster.
    """
    if name in row.parameters:
        left = {other: value for other, value in row.parameters.items() if other != name}
        return replace(row, parameters=left), _plain(row.parameters[name])
    if name == "size_bytes":
        return row, row.size_bytes
    if name == "gpus":
        return replace(row, topology=row.cluster), row.gpus
    value = _topology_parameters(row).get(name)
    return (row, None) if value is None else (replace(row, topology=_less(row, name)), value)


def _less(row: Row, parameter: str) -> str:
    """Name a topology without one of its parameters."""
    specification, space, changes = row.topology.partition(" ")
    family, _, given = specification.partition(":")
    others = [part for part in given.split(",") if not part.startswith(f"{parameter}=")]
    return f"{family}{':' if others else ''}{','.join(others)}{space}{changes}"


def sides(rows: Iterable[Row]) -> set[str]:
    """Return the names for which :func:`quantity` has a value in some row."""
    own = {name for row in rows for name in (*row.parameters, *_topology_parameters(row))}
    return own | set(SIDES)


def _topology_parameters(row: Row) -> dict[str, Value]:
    """Parse the parameters in the topology's specification, which omits default values."""
    family, _, given = row.topology.partition(" ")[0].partition(":")  # without the changes
    if family not in FAMILIES:
        return {}
    defaults = {p.name: p.default_text for p in FAMILIES[family].parameters if not p.required}
    texts = defaults | dict(part.split("=", 1) for part in given.split(",") if "=" in part)
    return {name: _plain(text) for name, text in texts.items()}


def _plain(value: Value) -> Value:
    """Convert a text to a number where possible, so that axes place it; else return the value."""
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        return value
    return float(value) if "." in value else int(value)


def medians(rows: Iterable[Row], column: str, along: str = "gpus") -> dict[int, float]:
    """Return the median of a column over the successful repetitions, by number of GPUs.

    ``along`` may be "size_bytes" too.
    """
    return medians_along(((row, getattr(row, along)) for row in rows), column)


def medians_along(rows: Iterable[tuple[Row, Place | None]], column: str) -> dict[Place, float]:
    """Return the median of a column over the successful repetitions, by the given place."""
    found: dict[Place, list[float]] = {}
    for row, place in rows:
        number = getattr(row, column)
        if row.status is Status.OK and place is not None and number is not None:
            found.setdefault(place, []).append(number)
    return {place: statistics.median(found[place]) for place in sorted(found)}


def simulated_bounds(rows: Iterable[Row], y: str) -> dict[int, float]:
    """Return the bound on simulations by data size, for a column of :data:`BEYOND`."""
    best = {
        row.size_bytes: getattr(row, y) * row.simulated_over_bound ** BEYOND[y]
        for row in rows
        if row.size_bytes and row.simulated_over_bound
    }
    return {size: best[size] for size in sorted(best)}


def failed_places(rows: Sequence[Row]) -> dict[tuple[str, int | None], Row]:
    """Return a row for each method and number of GPUs without a successful repetition.

    A point that failed before it knew its number of GPUs takes that of others on its topology.
    """
    sizes = {row.topology: row.gpus for row in rows if row.gpus is not None}
    places: dict[tuple[str, int | None], list[Row]] = {}
    for row in rows:
        size = sizes.get(row.topology) if row.gpus is None else row.gpus
        places.setdefault((row.series, size), []).append(row)
    return {
        place: found[0]
        for place, found in places.items()
        if all(row.status is not Status.OK for row in found)
    }


def scaling_series(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, with clusters split that have several networks of one size.

    A median over different networks would be meaningless. The new cluster name is the topology
    without its growing parameter; without such a parameter, every topology is separate.
    """
    names = {cluster: _names(its) for cluster, its in grouped(rows, "cluster").items()}
    return [replace(row, cluster=names[row.cluster].get(row.topology, row.cluster)) for row in rows]


def _names(rows: Sequence[Row]) -> dict[str, str]:
    """Return the new cluster name of each topology; empty if the cluster stays whole."""
    gpus = {row.topology: row.gpus for row in rows}
    if _apart(gpus, dict.fromkeys(gpus, "")):
        return {}
    networks = list({row.topology: replace(row, parameters={}) for row in rows}.values())
    choices = [
        {row.topology: swept(row, parameter)[0].topology for row in networks}
        for parameter in sorted(sides(networks))
        if parameter not in ("gpus", "method", "topology", "size_bytes")
        and len({quantity(row, parameter) for row in networks}) > 1
    ]
    choices = [names for names in choices if _apart(gpus, names)]
    alone = {topology: topology for topology in gpus}
    return min(choices, key=lambda names: len(set(names.values())), default=alone)


def _apart(gpus: dict[str, int | None], names: dict[str, str]) -> bool:
    """Whether topologies of one name all differ in their number of GPUs."""
    places = [(names[topology], count) for topology, count in gpus.items() if count is not None]
    return len(set(places)) == len(places)
