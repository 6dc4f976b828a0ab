"""Printed ratios of the BFB paper's figures 7 and 9, beside those of the stored rows.

Zhao et al. (NSDI 2025), sections 8.3 and 8.4: how many times as long a baseline takes as the best
topology. Ratios of figure 7 are means over the sizes from 900 to 1000 GPUs that have rows.
All-to-alls of the baselines are bounded by the links between two halves; two shifted rings of
strides 1 and 3 attain that. Figure 9 was
simulated with measured times of layers; ours are modelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from experiments.published import printed
from experiments.reproduction.difference import Difference, Rows
from experiments.reproduction.printed_numbers.bfb_bounds import (
    BASELINES,
    halves_rate,
    trees_allreduce_us,
)
from experiments.results.rows import Row, Status

__all__ = ["all_to_all_rates", "allreduce_ratio", "differences", "iterations"]

_SIZE = str(2**20)
_NEAR = range(900, 1001)
"""Sizes of the text: "near N = 1000", and "from N = 900 to 1000"."""

_TRAINED = {"256": "bfb-figure9", "1024": "bfb-figure9-large"}
_KINDS = {
    "generalized_kautz:": "generalized Kautz graphs",
    "torus:": "torus",
    "circulant:": "circulants",
}


def differences(rows: Rows) -> Iterator[Difference]:
    """Yield every printed ratio for which there are rows."""
    times = _times_s(rows.get("bfb-figure7", ()))
    rates = all_to_all_rates(rows.get("bfb-figure7-all-to-all", ()))
    trained = {gpus: iterations(rows.get(name, ())) for gpus, name in _TRAINED.items()}
    for line in printed("bfb_ratios.csv"):
        if line["what"] == "allreduce":
            ours = allreduce_ratio(times, line["over"])
        elif line["item"] == "EB10":
            ours = _rate_ratio(rates, line["what"].removeprefix("all-to-all on "), line["over"])
        else:
            ours = _of_iterations(trained[line["gpus"]], line["what"], line["over"])
        if ours is not None:
            unit = "" if line["what"].startswith("share") else "times"
            yield Difference(line["item"], _what(line), line["printed"], ours, unit, "simulated")


def _what(line: Mapping[str, str]) -> str:
    where = f"{'about ' if line['item'] == 'EB10' else ''}{line['gpus']} GPUs"
    if line["what"].startswith("share"):
        return f"{line['what']}, {line['over']}, {where}"
    return f"{line['what']}, {line['over']} over the best, {where}"


def _done(rows: Sequence[Row]) -> Iterator[Row]:
    return (row for row in rows if row.status is Status.OK and row.gpus)


def _times_s(rows: Sequence[Row]) -> dict[tuple[str, int], float]:
    """Return the seconds of 1 MiB by method and GPUs; of the trees by the formula."""
    found: dict[tuple[str, int], float] = {}
    for row in _done(rows):
        key = row.method, row.gpus or 0
        if _SIZE in row.sizes:
            time_s = row.sizes[_SIZE]["time_simulated_s"]
            found[key] = min(found.get(key, time_s), time_s)
            found["double-binary-tree", key[1]] = trees_allreduce_us(key[1]) / 1e6
    return found


def allreduce_ratio(times: Mapping[tuple[str, int], float], over: str) -> float | None:
    """Return the mean ratio of times over the sizes near 1000; None without any."""
    ratios = [
        times[over, nodes] / times["bfb", nodes]
        for nodes in _NEAR
        if (over, nodes) in times and ("bfb", nodes) in times
    ]
    return fmean(ratios) if ratios else None


def all_to_all_rates(rows: Sequence[Row]) -> dict[tuple[str, int], float]:
    """Return the rate of a pair in links of 1 GB/s, by kind of network and GPUs."""
    found: dict[tuple[str, int], float] = {}
    for row in _done(rows):
        nodes = row.gpus or 0
        kind = next((name for start, name in _KINDS.items() if row.topology.startswith(start)), "")
        if kind and ",offsets=1+" not in row.topology and row.algbw_gb_s is not None:
            found[kind, nodes] = row.algbw_gb_s / nodes
            for name, pairs in BASELINES.items():
                rate = halves_rate(nodes, pairs(nodes))
                found[name.replace(" ", "-"), nodes] = float(rate)
    return found


def _rate_ratio(rates: Mapping[tuple[str, int], float], kind: str, over: str) -> float | None:
    ratios = [
        rates[kind, nodes] / rates[over, nodes]
        for nodes in _NEAR
        if (kind, nodes) in rates and (over, nodes) in rates
    ]
    return fmean(ratios) if ratios else None


def iterations(rows: Sequence[Row]) -> dict[str, Row]:
    """Return the rows of the baselines by method, and as "bfb" the shortest iteration of all."""
    done = [row for row in _done(rows) if row.iteration_s is not None]
    found = {row.method: row for row in done if row.method != "bfb"}
    if done:
        found["bfb"] = min(done, key=lambda row: row.iteration_s or 0.0)
    return found


def _of_iterations(trained: Mapping[str, Row], what: str, over: str) -> float | None:
    if over not in trained:
        return None
    theirs, best = trained[over], trained["bfb"]
    if what == "iteration":
        return (theirs.iteration_s or 0.0) / (best.iteration_s or 1.0)
    visible = theirs.visible_all_to_all_s or 0.0
    if what == "all-to-all":
        return visible / (best.visible_all_to_all_s or 1.0)
    return visible / (theirs.iteration_s or 1.0)
