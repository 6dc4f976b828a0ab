"""What a run of the fuzzer found, family by family."""

import statistics
from collections.abc import Iterable, Sequence

from rich.table import Table

from tests.fuzz.check import Outcome
from tests.fuzz.families import FAMILIES, LARGE

COLUMNS = ("family", "networks", f"N >= {LARGE}", "median s", "max s", "max N", "k", "failures")


def summary(outcomes: Sequence[Outcome]) -> Table:
    """Return a row for each family met, and one for all."""
    table = Table(title="Networks that were generated for, verified, and compared with the bound")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name == "family" else "right")
    for family in dict.fromkeys([*FAMILIES, *(outcome.family for outcome in outcomes)]):
        rows = [outcome for outcome in outcomes if outcome.family == family]
        if rows:
            table.add_row(family, *_cells(rows))
    table.add_section()
    if outcomes:
        table.add_row("all", *_cells(outcomes))
    return table


def _cells(rows: Sequence[Outcome]) -> Iterable[str]:
    seconds = [row.seconds for row in rows]
    trees = [row.k for row in rows if row.k] or [0]
    yield str(len(rows))
    yield f"{sum(row.gpus >= LARGE for row in rows) / len(rows):.0%}"
    yield f"{statistics.median(seconds):.3f}"
    yield f"{max(seconds):.2f}"
    yield str(max(row.gpus for row in rows))
    yield f"{min(trees)} - {max(trees)}"
    yield str(sum(bool(row.failure) for row in rows))
