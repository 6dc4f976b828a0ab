"""Time of all-to-alls over their cuts' bound on random matrices of many kinds.

    python -m benchmarks.lp.bench_random_demands --csv results/all_to_all/random.csv

Matrices are uniform, by Zipf's law, with a hot row or column, of two blocks, or a tenth full, on
DGX H100 of 1 to 8 boxes in turn. The bound is that of the cuts of GPUs and boxes; it is not always
attained (one matrix in a thousand here). ``verify`` proves every schedule.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean

import numpy as np
import numpy.typing as npt

from benchmarks.lp.bench_alltoall_skew import Row, compared, write
from benchmarks.machine import machine
from forestcoll.all_to_all.best_flow import AllToAllPlanner
from forestcoll.problem.demand import Demand

_Draw = np.random.Generator
_Amounts = npt.NDArray[np.int64]

MOST = 10**6
MOST_BOXES = 8


def _uniform(draw: _Draw, gpus: int) -> _Amounts:
    return draw.integers(0, MOST, (gpus, gpus))


def _zipf(draw: _Draw, gpus: int) -> _Amounts:
    share = (MOST / np.arange(1, gpus + 1) ** 1.5).astype(np.int64)
    return np.stack([draw.permutation(share) for _ in range(gpus)])


def _hot_row(draw: _Draw, gpus: int) -> _Amounts:
    amounts = _uniform(draw, gpus)
    amounts[draw.integers(gpus)] *= 1000
    return amounts


def _hot_column(draw: _Draw, gpus: int) -> _Amounts:
    return np.ascontiguousarray(_hot_row(draw, gpus).T)


def _blocks(draw: _Draw, gpus: int) -> _Amounts:
    half = draw.random(gpus) < 1 / 2
    alike: npt.NDArray[np.bool_] = np.equal.outer(half, half)
    return _uniform(draw, gpus) * alike


def _sparse(draw: _Draw, gpus: int) -> _Amounts:
    return _uniform(draw, gpus) * (draw.random((gpus, gpus)) < 1 / 10)


KINDS: Mapping[str, Callable[[_Draw, int], _Amounts]] = {
    "uniform": _uniform,
    "zipf": _zipf,
    "hot row": _hot_row,
    "hot column": _hot_column,
    "blocks": _blocks,
    "sparse": _sparse,
}


def measured(count: int) -> list[Row]:
    """Return mean and worst ratio for each kind and method."""
    planners = [AllToAllPlanner(f"dgx_h100:boxes={n}") for n in range(1, MOST_BOXES + 1)]
    ratios: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for number in range(count):
        planner = planners[number % MOST_BOXES]
        kind = [*KINDS][number // MOST_BOXES % len(KINDS)]
        amounts = KINDS[kind](np.random.default_rng(number), planner.topology.num_compute)
        amounts[0, 1] += 1  # somebody sends something
        for row in compared(planner.topology, planner, Demand.of_matrix(amounts, kind)):
            for measure in ("pipelined", "synchronous"):
                if row[f"{measure}_us"]:
                    ratio = float(row[f"{measure}_us"]) / float(row["bound_us"])
                    ratios[kind, row["method"], measure].append(ratio)
    return [
        {
            "kind": kind, "method": method, "measure": measure, "matrices": len(found),
            "mean": f"{fmean(found):.4f}", "worst": f"{max(found):.4f}",
        }
        for (kind, method, measure), found in sorted(ratios.items())
    ]  # fmt: skip


def main() -> None:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lp.bench_random_demands")
    parser.add_argument("--count", type=int, default=1000, help="number of matrices")
    parser.add_argument("--csv", type=Path, metavar="FILE")
    given = parser.parse_args()
    rows = measured(given.count)
    print(machine())
    for row in rows:
        print(*row.values(), sep="  ")
    if given.csv:
        write(rows, given.csv)


if __name__ == "__main__":
    main()
