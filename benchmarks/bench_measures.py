"""Print tables of the results of every method, by measure, from the rows of experiments.

    forestcoll run experiments/own/measures-allgather.yaml
    python -m benchmarks.bench_measures results/measures-allgather

Markdown, in GB/s: pipelined / in steps, then at the finish of a clock if there is one. Each choice
of parameters is a line. ``--topology`` chooses the columns; a dash is what a method does not do.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.results.row_groups import series_of
from experiments.results.rows import Row, Status
from experiments.results.selection import load_results

TOPOLOGIES = {
    "dgx_a100:boxes=2": "A100 x 2",
    "dgx_a100:boxes=4": "A100 x 4",
    "dgx_h100:boxes=2": "H100 x 2",
    "mi250:boxes=2": "MI250 x 2",
}
"""Columns by default, with what stands above them."""


def main() -> None:
    """Read the arguments and print the table of every results folder."""
    parser = argparse.ArgumentParser(description="Tables of all measures of all methods.")
    parser.add_argument("results", nargs="+", type=Path, help="folders, as forestcoll run writes")
    parser.add_argument("--topology", action="append", help="a column; repeatable")
    args = parser.parse_args()
    for folder in args.results:
        print("\n".join(table(load_results(folder), args.topology or list(TOPOLOGIES))), end="\n\n")


def table(rows: Sequence[Row], topologies: Sequence[str]) -> list[str]:
    """Return the lines of a Markdown table, without the methods that do nothing here."""
    names = [TOPOLOGIES.get(topology, topology) for topology in topologies]
    lines = [f"| {rows[0].collective} | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    for series in series_of(rows):
        own = {row.topology: row for row in rows if row.series == series}
        cells = [cell(own.get(topology)) for topology in topologies]
        if set(cells) != {"–"}:
            method, _, parameters = series.partition(" (")
            given = f", {parameters.rstrip(')')}" if parameters else ""
            lines.append(f"| `{method}`{given} | {' | '.join(cells)} |")
    return lines


def cell(row: Row | None) -> str:
    """Return the measures of a row, the first one first; else how it ended.

    Raises
    ------
    ValueError
        If there is no such row.
    """
    if row is None:
        raise ValueError("a method has no row on a topology; run the experiment there first")
    if row.status is Status.UNSUPPORTED:
        return "–"
    if row.status is not Status.OK:
        return str(row.status)
    rates = (row.algbw_gb_s, row.algbw_synchronous_gb_s, row.algbw_makespan_gb_s)
    return " / ".join(f"{rate:.1f}" for rate in rates if rate is not None)


if __name__ == "__main__":
    main()
