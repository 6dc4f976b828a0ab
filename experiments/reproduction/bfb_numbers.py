"""Numbers of the BFB paper, beside those of the rows that are kept.

Problem: hold what is printed against what comes out here.
Input:   rows by experiment; ``published/bfb_*.csv``.
Output:  differences.
Source:  Zhao et al. (NSDI 2025), tables 4 to 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from experiments.published import printed
from experiments.reproduction.difference import Difference
from experiments.results.rows import Row, Status

__all__ = ["differences"]

Rows = Mapping[str, Sequence[Row]]
"""By the name of the experiment."""

_ITEMS = {"4": "EB7", "5": "EB8", "7": "EB20", "8": "EB22"}
"""Which item a table is."""

_MB_US = 83.886
"""Table 4: what 1 MB takes at the 100 Gb/s of a node, in us; of four links each has a quarter."""

_DEGREE = 4


def differences(rows: Rows) -> Iterator[Difference]:
    """Yield every number that is printed and that rows can be held against."""
    yield from _tables(rows)
    yield from _all_to_alls(rows)
    yield from _generation(rows)


def _done(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.status is Status.OK]


def _tables(rows: Rows) -> Iterator[Difference]:
    """T_L in hops and T_B in M / B."""
    for line in printed("bfb_topologies.csv"):
        key = line["topology"], line["method"], line["collective"]
        its = _done(rows.get(f"bfb-table{line['table']}", ()))
        for row in (r for r in its if (r.topology, r.method, r.collective) == key):
            item, what = _ITEMS[line["table"]], f"{line['method']}, {line['topology']}"
            if row.steps is not None and row.bandwidth_runtime is not None:
                yield Difference(item, f"T_L, {what}", line["printed_steps"], row.steps, "hops")
                shown, ours = line["printed_bandwidth_runtime"], row.bandwidth_runtime
                kind = "derived" if "/" in shown else "theory"  # a tick for "optimal" is printed
                yield Difference(item, f"T_B, {what}", shown, ours, "M/B", kind)


def _all_to_alls(rows: Rows) -> Iterator[Difference]:
    """1 MB a node: its time is that of M at the rate of a node with links of 1."""
    ours = {row.topology: row for row in _done(rows.get("bfb-table4-all-to-all", ()))}
    for line in printed("bfb_all_to_all.csv"):
        row = ours.get(line["topology"])
        if row is not None and row.algbw_gb_s is not None:
            what = f"all-to-all of 1 MB, {line['topology']}"
            time_us = _DEGREE / row.algbw_gb_s * _MB_US
            yield Difference("EB7", what, line["printed_all_to_all_us"], time_us, "us")


def _generation(rows: Rows) -> Iterator[Difference]:
    """Generation times; those above a limit, and below what is printed as least, have no number."""
    for line in printed("bfb_generation.csv"):
        if line["printed_generation_s"].startswith((">", "<")) or line["symmetric"] == "no":
            continue
        experiment = "bfb-table6" if line["method"] == "bfb" else "bfb-figure10"
        for row in _done(rows.get(experiment, ())):
            given = dict(row.parameters)
            chunks = str(given.pop("chunks", ""))
            same = (row.topology, row.method, chunks) == (
                line["topology"], line["method"], line["chunks_of_each"],
            )  # fmt: skip
            if same and given in ({}, {"symmetry": True}) and row.generation_s:
                of = f", {chunks} chunks" if chunks else ""
                what = f"generation time, {line['method']}{of}, {line['topology']}"
                shown = line["printed_generation_s"]
                yield Difference("EB14", what, shown, row.generation_s, "s", "time")
