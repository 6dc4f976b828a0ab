"""Printed numbers of SCCL and TACCL in the TE-CCL paper, compared with the stored rows.

Liu et al. (SIGCOMM 2024), tables 3, 7 and 8, figures 5 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from experiments.published import printed
from experiments.reproduction.difference import Difference, Rows, may_be_stopped
from experiments.reproduction.printed_numbers.teccl_numbers import model_us
from experiments.results.rows import Row, Status

__all__ = ["differences", "leads_percent"]

_ALPHA_US = 0.7
"""Of a link of DGX1, table 3."""

_FASTER = (
    ("ndv2, allgather, early stops", "40", "teccl-table8-early-stop", "teccl-table8", "ndv2"),
    ("ndv2, all-to-all", "45", "teccl-table8-all-to-all", "teccl-table8-taccl-all-to-all", "ndv2"),
    ("dgx2, allgather", "27", *2 * ("teccl-figures5-6-allgather",), "dgx2"),
    ("dgx2, all-to-all", "72", *2 * ("teccl-figures5-6-all-to-all",), "dgx2"),
)
"""Figure 6: the share of sizes, in percent, at which TE-CCL's search ends before TACCL's; whose
rows name ours, TE-CCL's and TACCL's."""


_LEADS = (
    ("dgx2", "allgather", "12", "471"),
    ("dgx2", "all-to-all", "9", "2979"),
    ("ndv2", "allgather", "0.36", "970"),
    ("ndv2", "all-to-all", "0.18", "2919"),
)
"""Figure 5: by how much, in percent, TE-CCL's algbw exceeds TACCL's, at least and at most."""

_MEASURES = ("makespan", "epochs")


def differences(rows: Rows) -> Iterator[Difference]:
    """Yield every printed number for which there are rows."""
    for line in printed("teccl_peers.csv"):
        for row in _ok(rows.get(line["experiment"], ()), line["method"], line["topology"]):
            if _same(row, line):
                yield from _compared(row, line)
    yield from _leads(rows)
    yield from _shares(rows)


def _ok(rows: Sequence[Row], method: str, topology: str) -> list[Row]:
    ours = [row for row in rows if row.status is Status.OK and row.method == method]
    return [row for row in ours if row.topology == topology]


def _same(row: Row, line: Mapping[str, str]) -> bool:
    """Whether a row has the chunks of a line, and its size if the method takes one."""
    size = row.parameters.get("size_bytes")
    chunks = row.parameters.get("chunks") == int(line["chunks_of_each"])
    return chunks and size in (None, int(line["size_bytes"] or 0))


def _compared(row: Row, line: Mapping[str, str]) -> Iterator[Difference]:
    what = f"{line['method']}, {line['collective']}, {line['topology']}"
    what += f", {line['size_bytes']} bytes" if line["size_bytes"] else ""
    what += f", {line['chunks_of_each']} chunks"
    if shown := line["printed_time_us"]:
        if line["method"] == "sccl":
            assert row.steps is not None
            assert row.algbw_synchronous_gb_s is not None
            busy_us = int(line["size_bytes"]) / row.algbw_synchronous_gb_s / 1000
            taken_us = row.steps * _ALPHA_US + busy_us
            yield Difference(line["item"], f"time, {what}", shown, taken_us, "us")
        elif row.incumbent is not None:
            yield Difference(line["item"], f"time, {what}", shown, row.incumbent, "us", "search")
    shown, taken_s = line["printed_solver_s"], row.generation_s
    if shown and taken_s is not None and not may_be_stopped(row):
        yield Difference(line["item"], f"solver time, {what}", shown, taken_s, "s", "time")


def _leads(rows: Rows) -> Iterator[Difference]:
    """Compare what both found, size by size, by the time of each model and by makespan."""
    for chassis, collective, least, most in _LEADS:
        its = rows.get(f"teccl-figures5-6-{collective}", ())
        for measure in _MEASURES:
            leads = list(leads_percent(its, chassis, measure).values())
            where = f"of TE-CCL over TACCL, {chassis}, {collective}, by {measure}"
            if leads:
                where += f", of {len(leads)}"
                yield Difference("ET8", f"least lead {where}", least, min(leads), "%", "search")
                yield Difference("ET8", f"largest lead {where}", most, max(leads), "%", "search")


def leads_percent(rows: Sequence[Row], chassis: str, measure: str) -> dict[int, float]:
    """Return by how many percent TE-CCL's algbw exceeds TACCL's, by the size of the data.

    Parameters
    ----------
    rows : sequence of Row
        Of one collective.
    chassis : str
        The family of the topology.
    measure : str
        "epochs": TE-CCL's epochs times their length, as its paper's tables have it, and the time
        that TACCL reports. "makespan": by the clock of both, which ``verify`` checks.
    """
    ours, theirs = (_fastest(rows, method, chassis, measure) for method in ("teccl", "taccl"))
    return {s: 100 * (theirs[s] / ours[s] - 1) for s in sorted(ours.keys() & theirs.keys())}


def _fastest(rows: Sequence[Row], method: str, chassis: str, measure: str) -> dict[int, float]:
    """Microseconds by size of the fastest schedule that was found."""
    found: dict[int, float] = {}
    for row in rows:
        ok = row.status is Status.OK and row.method == method and row.incumbent is not None
        if ok and row.topology.startswith(f"{chassis}:"):
            size = int(row.parameters["size_bytes"])
            taken_us = _taken_us(row, size, measure)
            found[size] = min(found.get(size, taken_us), taken_us)
    return found


def _taken_us(row: Row, size: int, measure: str) -> float:
    if measure == "epochs":
        return model_us(row) if row.method == "teccl" else float(row.incumbent or 0)
    assert row.algbw_makespan_gb_s is not None
    return size / row.algbw_makespan_gb_s / 1000


def _shares(rows: Rows) -> Iterator[Difference]:
    """Count the sizes at which TE-CCL's search, with the better epochs, is the quicker one."""
    for what, shown, experiment, peers, chassis in _FASTER:
        ours = _quickest(rows.get(experiment, ()), "teccl", chassis)
        theirs = _quickest(rows.get(peers, ()), "taccl", chassis)
        if both := ours.keys() & theirs.keys():
            share = 100 * sum(ours[size] < theirs[size] for size in both) / len(both)
            of = f"sizes where TE-CCL solves sooner than TACCL, {what}, of {len(both)}"
            yield Difference("ET9", of, shown, share, "%", "search")


def _quickest(rows: Sequence[Row], method: str, chassis: str) -> dict[int, float]:
    """Seconds by size; a search that ran into its limit took at least that."""
    found: dict[int, float] = {}
    for row in rows:
        ended = row.status in (Status.OK, Status.TIMEOUT)
        if ended and row.method == method and row.topology.startswith(f"{chassis}:"):
            size = int(row.parameters["size_bytes"])
            taken = row.generation_s if row.status is Status.OK else row.limit_s
            found[size] = min(found.get(size, taken or 0.0), taken or 0.0)
    return found
