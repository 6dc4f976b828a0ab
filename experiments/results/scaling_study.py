"""Scaling studies: networks of one family that share a panel and a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from experiments.results.columns import quantity, sides, swept
from experiments.results.rows import Row

__all__ = ["scaling_series"]


def scaling_series(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, with clusters split that have several networks of one size.

    A median over different networks would be meaningless. The new cluster name is the topology
    without its growing parameter; without such a parameter, every topology is separate.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.cluster, []).append(row)
    names = {cluster: _names(its) for cluster, its in groups.items()}
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
