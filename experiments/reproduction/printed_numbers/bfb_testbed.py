"""Runtimes on the testbed of the BFB paper, by the cost model that the paper fitted.

Problem: compare what was measured on 5 to 12 servers with alpha, epsilon and 1/B as printed.
Input:   rows of ``bfb-figure6``.
Output:  differences: by how many percent one topology's time is below another's.
Source:  Zhao et al. (NSDI 2025), figure 6, section 8.3 and appendix A.2 (alpha 13.33 us a step,
         epsilon 21.60 us a run, 1/B 1.018e-4 us a byte). A time is epsilon + alpha T_L + T_B;
         ``experiments/bfb/figure6.yaml`` has these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from experiments.reproduction.difference import Difference
from experiments.results.rows import Row, Status
from forestcoll.problem.sizes import size_text

__all__ = ["best_times_s", "differences"]

Rows = Mapping[str, Sequence[Row]]
"""By the name of the experiment."""

_EXPERIMENT = "bfb-figure6"

_TREES = (8, 10, 12)
_TEXT = (
    (2**10, (12,), "bfb", "shifted-ring", "75"),
    (2**10, _TREES, "bfb", "double-binary-tree", "20"),
    (2**10, (12,), "shifted-bfb-ring", "shifted-ring", "40"),
    (2**20, (12,), "bfb", "shifted-ring", "50"),
    (2**20, _TREES, "bfb", "double-binary-tree", "45"),
    (2**20, (12,), "shifted-bfb-ring", "shifted-ring", "35"),
    (2**30, (12,), "bfb", "shifted-ring", "0"),
    (2**30, _TREES, "bfb", "double-binary-tree", "50"),
)
"""Section 8.3: bytes, servers, whose time is below whose, and by how many percent, about. That of
ShiftedRing is "matched" at 1 GB."""


def differences(rows: Rows) -> Iterator[Difference]:
    """Yield every percentage that is printed and that rows can be held against."""
    times = best_times_s(rows.get(_EXPERIMENT, ()))
    for size, servers, method, below, shown in _TEXT:
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
