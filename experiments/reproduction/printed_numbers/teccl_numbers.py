"""Printed numbers of the TE-CCL paper, compared with the stored rows.

Liu et al. (SIGCOMM 2024), tables 3, 7 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from baselines.synthesizers.teccl.instance.epochs import epoch_us
from experiments.published import printed
from experiments.reproduction.difference import Difference, Rows
from experiments.results.rows import Row, Status
from forestcoll.topology import load_topology

__all__ = ["differences", "model_us"]

_Key = tuple[str, str, str, int, int]
"""Topology, collective, epochs, size and chunks."""


_EARLY = "8-early-stop"


def differences(rows: Rows) -> Iterator[Difference]:
    """Yield every printed number for which there are rows."""
    for line in printed("teccl_times.csv"):
        row = _ours(rows, f"teccl-table{line['table']}", line)
        if row is None:
            continue
        what, shown = f"time, {_named(line)}", line["printed_time_us"]
        if line["table"] != _EARLY:
            yield Difference(line["item"], what, shown, model_us(row), "us")
        else:
            assert row.algbw_makespan_gb_s is not None
            found_us = int(line["size_bytes"]) / row.algbw_makespan_gb_s / 1000
            yield Difference(line["item"], f"early stop: {what}", shown, found_us, "us", "search")
        yield from _solver(line, row)
    for line in printed("teccl_epochs.csv"):
        row = _ours(rows, f"teccl-table{line['table']}", line)
        if row is None or row.incumbent is None:
            continue
        shown = line["printed_epochs"]
        yield Difference(line["item"], f"epochs, {_named(line)}", shown, row.incumbent)
        yield from _solver(line, row)
        yield from _sccl(rows, line, row)
    yield from _eight_chunks(rows)


def _sccl(rows: Rows, line: Mapping[str, str], ours: Row) -> Iterator[Difference]:
    """Compare the time of TE-CCL's epochs with that of SCCL's rounds, of as many chunks.

    The paper's measure is 100 (SCCL - TECCL) / SCCL.
    """
    suffix = "" if line["collective"] == "allgather" else f"-{line['collective']}"
    for row in rows.get(f"teccl-table{line['table']}{suffix}", ()):
        chunks = row.parameters.get("chunks") == int(line["chunks_of_each"])
        if row.method == "sccl" and chunks and line["printed_saved_percent"]:
            assert row.algbw_synchronous_gb_s is not None
            taken_us = int(line["size_bytes"]) / row.algbw_synchronous_gb_s / 1000
            what = f"time that TE-CCL saves over SCCL, {_named(line)}"
            saved = round(100 * (1 - model_us(ours) / taken_us), 9) + 0.0  # no -0.0
            yield Difference(line["item"], what, line["printed_saved_percent"], saved, "%")


def _eight_chunks(rows: Rows) -> Iterator[Difference]:
    """The text's all-to-all of 8 chunks of 25 KB on DGX1, by table 7's epochs without latencies."""
    for row in rows.get("teccl-table7-all-to-all", ()):
        given = row.parameters
        asked = row.method, given["chunks"], given.get("epoch")
        if row.status is Status.OK and asked == ("teccl", 8, "fastest"):
            chunk_bytes = int(given["size_bytes"]) / load_topology(row.topology).num_compute / 8
            ours = model_us(row) * 25_000 / chunk_bytes
            yield Difference("ET7", "time, all-to-all, dgx1, 8 chunks of 25 KB", "21", ours, "us")


def model_us(row: Row) -> float:
    """Return the time that TE-CCL's model gives: its epochs, without latencies that it drops."""
    topology, given = load_topology(row.topology), row.parameters
    chunks = int(given.get("chunks", 1)) * topology.num_compute
    size = Fraction(int(given["size_bytes"]), 1000 * chunks)
    assert row.incumbent is not None
    return float(epoch_us(topology, size, str(given["epoch"])) * Fraction(row.incumbent))


def _solver(line: Mapping[str, str], row: Row) -> Iterator[Difference]:
    if line["printed_solver_s"] and row.generation_s is not None:
        early = "early stop: " if line["table"] == _EARLY else ""
        what, shown = f"{early}solver time, {_named(line)}", line["printed_solver_s"]
        yield Difference(line["item"], what, shown, row.generation_s, "s", "time")


def _named(line: Mapping[str, str]) -> str:
    size = int(line["size_bytes"])
    data = f"{size} bytes" if size < 1_000_000 else f"{size / 1e6:g} MB"
    return (
        f"{line['collective']}, {line['topology']}, {data}, {line['chunks_of_each']} chunks, "
        f"{line['epoch']}-link epochs"
    )


def _ours(rows: Rows, table: str, line: Mapping[str, str]) -> Row | None:
    """Return the row of the least time for what a line asks."""
    size, chunks = int(line["size_bytes"]), int(line["chunks_of_each"])
    key = line["topology"], line["collective"], line["epoch"], size, chunks
    name = table if line["collective"] == "allgather" else f"{table}-{line['collective']}"
    its = [row for row in rows.get(name, ()) if row.status is Status.OK and _key(row) == key]
    return min(its, key=lambda row: (row.incumbent, row.generation_s), default=None)


def _key(row: Row) -> _Key | None:
    given = row.parameters
    if row.method != "teccl" or row.incumbent is None:
        return None
    size, chunks = int(given["size_bytes"]), int(given.get("chunks", 1))
    return row.topology, row.collective, str(given["epoch"]), size, chunks
