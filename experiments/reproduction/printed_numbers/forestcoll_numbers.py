"""Printed numbers of the ForestColl paper and slides, compared with the stored rows.

Tables 1 and 3, figures 2, 10 to 12 and 14; slides on cuts and measured algbw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median

from experiments.fit_alpha import COLLECTIVES, best_simulated, compared
from experiments.published import printed
from experiments.reproduction.difference import Difference, Rows
from experiments.reproduction.training import savings
from experiments.results.rows import Row, Status
from experiments.speedups import Speedup, speedups
from forestcoll.problem.sizes import size_text

__all__ = ["differences"]

_RINGS_CROSS = "15/8"
"""Figure 2, of two boxes of eight: 15 shards come into each box where 8 would do."""


_STAGES = {
    "optimality_s": ("optimality",),
    "switch_removal_s": ("tight sets", "switch removal"),
    "tree_packing_s": ("tree packing", "routing"),
}
"""Columns of table 3, and what ours do in their place."""


def differences(rows: Rows) -> Iterator[Difference]:
    """Yield every printed number for which there are rows."""
    yield from _traffic(rows)
    yield from _optima(rows)
    yield from _fixed_k(rows)
    yield from _generation(rows)
    yield from _measured(rows)
    yield from _averages(rows)
    for one in speedups(rows):
        yield from _speedup(one)
    for saving in savings(rows):
        if saving.printed_is == "exactly":
            what = f"time saved by ForestColl, {saving.model}, at least"
            yield Difference("EF12", what, saving.printed, saving.least, "", "simulated")


def _ok(rows: Sequence[Row], method: str) -> list[Row]:
    return [row for row in rows if row.status is Status.OK and row.method == method]


def _traffic(rows: Rows) -> Iterator[Difference]:
    for row in _ok(rows.get("forestcoll-figure2", ()), "ring"):
        if row.box_traffic is not None:
            what = "ring, traffic into boxes"
            yield Difference("EF3", what, _RINGS_CROSS, row.box_traffic, kind="derived")


def _optima(rows: Rows) -> Iterator[Difference]:
    """Optimal rates: of a row of whichever experiment has the network."""
    ours = {
        (row.cluster, row.gpus): row.optimum_gb_s
        for its in rows.values()
        for row in its
        if row.collective == "allgather" and row.optimum_gb_s
    }
    for line in printed("forestcoll_optima.csv"):
        found = ours.get((line["cluster"], int(line["gpus"])))
        if found is not None:
            what = f"optimal allgather, {line['cluster']}, {line['gpus']} GPUs"
            kind = "derived" if line["derived"] == "yes" else "theory"
            yield Difference(line["item"], what, line["algbw_gb_s"], found, "GB/s", kind)


def _fixed_k(rows: Rows) -> Iterator[Difference]:
    ours = {row.k: row for row in _ok(rows.get("forestcoll-table1", ()), "forestcoll")}
    for line in printed("forestcoll_fixed_k.csv"):
        row = ours.get(int(line["trees_per_gpu"]))
        if row is not None and row.algbw_gb_s is not None:
            what = f"allgather, {line['topology']}, k = {row.k}"
            shown = line["printed_algbw_gb_s"]
            yield Difference(line["item"], what, shown, row.algbw_gb_s, "GB/s")


def _generation(rows: Rows) -> Iterator[Difference]:
    """Generation times at the sizes of table 3: ours of the best algorithms that we have."""
    for line in printed("forestcoll_generation.csv"):
        its = [
            row
            for row in _ok(rows.get("forestcoll-table3", ()), "forestcoll")
            if (row.cluster, row.gpus) == (line["cluster"], int(line["gpus"]))
        ]
        if line["item"] != "EF16" or not its:
            continue
        where = f"{line['cluster']}, {line['gpus']} GPUs"
        total = median(row.generation_s or 0.0 for row in its)
        what = f"generation time, {where}"
        yield Difference("EF16", what, line["generation_s"], total, "s", "time")
        for stage, ours in _STAGES.items():
            taken = median(sum(row.stages_s[name] for name in ours) for row in its)
            what = f"{' and '.join(ours)}, {where}"
            yield Difference("EF16", what, line[stage], taken, "s", "time")


def _measured(rows: Rows) -> Iterator[Difference]:
    for name in rows:
        if name.startswith("forestcoll-figure11"):
            for one in compared(rows[name]):
                what = f"{one.collective}, {one.method}, {size_text(one.size_bytes)}"
                shown = f"{one.measured_gb_s:g}"
                yield Difference("ES6", what, shown, one.simulated_gb_s, "GB/s", "simulated")


def _averages(rows: Rows) -> Iterator[Difference]:
    """The slides' averages over the sizes: algbw, and how many times ForestColl's is another's."""
    for collective in COLLECTIVES:
        its = rows.get(f"forestcoll-figure11-{collective}", ())
        of: dict[str, dict[int, float]] = {}
        for (_, method, size), algbw in best_simulated(its).items():
            of.setdefault(method, {})[size] = algbw
        by_nccl = [of[method] for method in ("ring", "nccl-tree") if method in of]
        if "ring" in of:
            of["nccl-best"] = {size: max(one[size] for one in by_nccl) for size in of["ring"]}
        for line in printed("forestcoll_measured.csv"):
            method, shown = line["method"], line["average_measured_gb_s"]
            if line["collectives"] != collective or not shown or method not in of:
                continue
            what, sizes = f"{collective}, {method}, average of all sizes", sorted(of[method])
            average = fmean(of[method][size] for size in sizes)
            yield Difference("ES6", what, shown, average, "GB/s", "simulated")
            if ratio := line["average_ratio"]:
                what = f"{collective}, forestcoll over {method}, average of all sizes"
                times = fmean(of["forestcoll"][size] / of[method][size] for size in sizes)
                yield Difference("ES6", what, ratio, times, "times", "simulated")


def _speedup(one: Speedup) -> Iterator[Difference]:
    what = f"{one.collective}, {one.topology}: {one.ours} over {one.methods.replace(' ', ', ')}"
    if one.printed and one.simulated is not None and one.at_bytes is not None:
        at = f"{what} at {size_text(one.at_bytes)}"
        yield Difference(one.item, at, one.printed, one.simulated, "times", "simulated")
    if one.printed_average and one.simulated_average is not None and one.average_over is not None:
        over = f"{what}, average of {'..'.join(map(size_text, one.average_over))}"
        shown, mean = one.printed_average, one.simulated_average
        yield Difference(one.item, over, shown, mean, "times", "simulated")
