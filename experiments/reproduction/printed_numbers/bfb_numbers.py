"""Printed numbers of the BFB paper, compared with the stored rows.

Zhao et al. (NSDI 2025): tables 4 to 8, and figure 6 by the cost model that the paper fitted to its
testbed (section 8.3, appendix A.2), epsilon + alpha T_L + T_B.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from experiments.published import printed
from experiments.reproduction.difference import Difference, Rows, may_be_stopped
from experiments.reproduction.printed_numbers import bfb_bounds
from experiments.results.rows import Row, Status
from forestcoll.problem.sizes import size_text

__all__ = ["best_times_s", "differences", "on_the_testbed"]

_ITEMS = {"4": "EB7", "5": "EB8", "7": "EB20", "8": "EB22"}
"""Item of each table."""

_ALL_TO_ALLS = {
    "4": ("bfb-table4-all-to-all",),
    "7": ("bfb-table7-all-to-all", "bfb-table4-all-to-all"),
}
"""Experiments with the last column of a table; networks of 1024 GPUs are in both tables."""


def differences(rows: Rows) -> Iterator[Difference]:
    """Yield every printed number for which there are rows."""
    for line in printed("bfb_topologies.csv"):
        key = line["topology"], line["method"], line["collective"]
        its = _of(rows, (f"bfb-table{line['table']}",), line["topology"])
        for row in (r for r in its if (r.topology, r.method, r.collective) == key):
            yield from _schedule(line, row)
        for row in (r for r in its if r.method == "bfb"):
            yield from _graph(line, row)
        for row in _of(rows, _ALL_TO_ALLS.get(line["table"], ()), line["topology"]):
            yield from _all_to_all(line, row)
    yield from bfb_bounds.differences()
    yield from _generation(rows)
    yield from on_the_testbed(rows)


def _of(rows: Rows, names: Sequence[str], topology: str) -> list[Row]:
    its = [row for name in names for row in _done(rows.get(name, ()))]
    return [row for row in its if row.topology == topology]


def _done(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.status is Status.OK]


def _schedule(line: Mapping[str, str], row: Row) -> Iterator[Difference]:
    """T_L in hops, T_B in M / B, and the time that an allreduce takes by both."""
    if row.steps is None or row.bandwidth_runtime is None:
        return
    item, what = _ITEMS[line["table"]], f"{line['method']}, {line['topology']}"
    if line["printed_steps"]:
        yield Difference(item, f"T_L, {what}", line["printed_steps"], row.steps, "hops")
        shown, ours = line["printed_bandwidth_runtime"], row.bandwidth_runtime
        kind = "derived" if "/" in shown else "theory"  # a tick for "optimal" is printed
        yield Difference(item, f"T_B, {what}", shown, ours, "M/B", kind)
    if line["printed_allreduce_us"]:
        ours = bfb_bounds.allreduce_us(row.steps, row.bandwidth_runtime)
        yield Difference(item, f"allreduce, {what}", line["printed_allreduce_us"], ours, "us")


def _graph(line: Mapping[str, str], row: Row) -> Iterator[Difference]:
    """Facts of the network alone; breadth-first schedules have as many steps as its diameter."""
    item, nodes = _ITEMS[line["table"]], row.gpus
    if line["printed_diameter"] and row.steps is not None:
        shown = line["printed_diameter"]
        yield Difference(item, f"diameter, {line['topology']}", shown, row.steps, "hops")
    if line["printed_least_steps"] and nodes is not None:
        for column, fewest in bfb_bounds.FEWEST.items():
            what = f"{column.replace('_', ' ')}, {line['topology']}"
            yield Difference(item, what, line[f"printed_{column}"], fewest(nodes), "hops")


def _all_to_all(line: Mapping[str, str], row: Row) -> Iterator[Difference]:
    """The rate of a pair in links, where ours have 1 GB/s, and the time of 1 MB a node."""
    if row.algbw_gb_s is None or row.gpus is None:
        return
    item, rate = _ITEMS[line["table"]], row.algbw_gb_s / row.gpus
    if line["printed_rate"]:
        what = f"all-to-all rate, {line['topology']}"
        yield Difference(item, what, line["printed_rate"], rate, "links")
    if line["printed_all_to_all_us"]:
        what, time_us = f"all-to-all, {line['topology']}", bfb_bounds.all_to_all_us(row.gpus, rate)
        yield Difference(item, what, line["printed_all_to_all_us"], time_us, "us")


def _generation(rows: Rows) -> Iterator[Difference]:
    """Generation times; those above a limit have no number, those below the clock's a bound."""
    for line in printed("bfb_generation.csv"):
        if line["printed_generation_s"].startswith(">"):
            continue
        experiment = "bfb-table6" if line["method"] == "bfb" else "bfb-figure10"
        for row in _done(rows.get(experiment, ())):
            given = dict(row.parameters)
            chunks = str(given.pop("chunks", ""))
            asked = {"symmetry": False} if line["symmetric"] == "no" else {}
            same = (row.topology, row.method, chunks) == (
                line["topology"], line["method"], line["chunks_of_each"],
            )  # fmt: skip
            same = same and {"symmetry": True, **given} == {"symmetry": True, **asked}
            if same and row.generation_s and not may_be_stopped(row):
                of = f", {chunks} chunks" if chunks else ""
                of += " without symmetry" if asked else ""
                what = f"generation time, {line['method']}{of}, {line['topology']}"
                shown = line["printed_generation_s"]
                yield Difference("EB14", what, shown, row.generation_s, "s", "time")


_TREE_SERVERS = (8, 10, 12)
_SAVED_PERCENT = (
    (2**10, (12,), "bfb", "shifted-ring", "75"),
    (2**10, _TREE_SERVERS, "bfb", "double-binary-tree", "20"),
    (2**10, (12,), "shifted-bfb-ring", "shifted-ring", "40"),
    (2**20, (12,), "bfb", "shifted-ring", "50"),
    (2**20, _TREE_SERVERS, "bfb", "double-binary-tree", "45"),
    (2**20, (12,), "shifted-bfb-ring", "shifted-ring", "35"),
    (2**30, (12,), "bfb", "shifted-ring", "0"),
    (2**30, _TREE_SERVERS, "bfb", "double-binary-tree", "50"),
)
"""Section 8.3: bytes, servers, whose time is below whose, and by how many percent, about. That of
ShiftedRing is "matched" at 1 GB."""


def on_the_testbed(rows: Rows) -> Iterator[Difference]:
    """Compare times on the testbed by the paper's cost model: epsilon + alpha T_L + T_B."""
    times = best_times_s(rows.get("bfb-figure6", ()))
    for size, servers, method, below, shown in _SAVED_PERCENT:
        for nodes in servers:
            ours, theirs = (times.get((one, nodes, size)) for one in (method, below))
            if ours is not None and theirs is not None:
                what = f"time of {method} below that of {below}"
                what += f", allreduce of {size_text(size)}, {nodes} servers"
                saved = 100 * (1 - ours / theirs)
                yield Difference("EB9", what, shown, saved, "%", "simulated")


def best_times_s(rows: Sequence[Row]) -> dict[tuple[str, int, int], float]:
    """Return seconds by method, GPUs and size, each method on its best network of so many GPUs."""
    best: dict[tuple[str, int, int], float] = {}
    for row in rows:
        for size, values in row.sizes.items() if row.status is Status.OK and row.gpus else ():
            key, time_s = (row.method, row.gpus or 0, int(size)), values["time_simulated_s"]
            best[key] = min(best.get(key, time_s), time_s)
    return best
