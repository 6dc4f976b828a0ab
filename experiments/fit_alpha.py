"""Fit of the hop latency to NCCL's measured ring, and the simulation errors that remain.

The fit minimises the mean absolute error on two DGX A100 (``published/forestcoll_measured.csv``),
with the best number of pipeline chunks at each size. ``python -m experiments.fit_alpha
results/forestcoll-figure11-*`` prints alpha and the errors, simulated over measured algbw less one,
also of the given rows, which are outside the fit.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from baselines.registry import METHODS
from experiments.measures.docs import piped
from experiments.published import Mark, marks
from experiments.results.rows import Row, Status, read_rows
from forestcoll.compilation import compile_program
from forestcoll.problem.sizes import size_text
from forestcoll.schedule.simulate import AlphaBeta, Simulator, best_chunk_count
from forestcoll.topology import load_topology

__all__ = [
    "Compared", "best_simulated", "compared", "fitted_alpha_us", "fitted_on", "mean_error", "table",
]  # fmt: skip

MEASURE = "algbw_simulated_gb_s"
FITTED = "ring"
"""The only method in the fit of alpha."""

TOPOLOGY = "dgx_a100:boxes=2"
COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")

_LEAST_US, _MOST_US = 0.5, 200.0
_GRID = 12


@dataclass(frozen=True, slots=True)
class Compared:
    """A measured and a simulated value, in GB/s."""

    collective: str
    method: str
    label: str
    size_bytes: int
    measured_gb_s: float
    simulated_gb_s: float

    @property
    def error(self) -> float:
        """Relative error of the simulated value."""
        return self.simulated_gb_s / self.measured_gb_s - 1


def mean_error(found: Sequence[Compared]) -> float:
    """Return the mean absolute error."""
    return fmean(abs(one.error) for one in found)


def fitted_on(alpha_us: float) -> list[Compared]:
    """Compare the simulated ring with the measured one, for an alpha in us."""
    model = AlphaBeta(alpha_us=f"{alpha_us:.3f}")
    return [
        _beside(mark, collective, best_chunk_count(simulator, size, model).algbw_gb_s)
        for collective, simulator in _rings().items()
        for mark in _measured(collective)
        if mark.method == FITTED and (size := mark.size_bytes)
    ]


def fitted_alpha_us() -> float:
    """Return the alpha of the least mean error, to 0.1 us.

    The best number of pipeline chunks makes the error jagged, so a grid search replaces descent:
    equal ratios over the plausible range, finer ratios around the best, then steps of 0.1 us.
    """
    low, high = _LEAST_US, _MOST_US
    for _ in range(2):
        step = (high / low) ** (1 / _GRID)
        best = _best(low * step**i for i in range(_GRID + 1))
        low, high = max(_LEAST_US, best / step), min(_MOST_US, best * step)
    return _best(tenths / 10 for tenths in range(math.ceil(10 * low), math.floor(10 * high) + 1))


def _best(alphas: Iterable[float]) -> float:
    return min(alphas, key=lambda alpha: mean_error(fitted_on(alpha)))


def compared(rows: Iterable[Row]) -> list[Compared]:
    """Compare simulated rows with measurements."""
    best = best_simulated(rows)
    return [
        _beside(mark, collective, best[collective, mark.method, mark.size_bytes])
        for collective in COLLECTIVES
        for mark in _measured(collective)
        if mark.size_bytes and (collective, mark.method, mark.size_bytes) in best
    ]


def best_simulated(rows: Iterable[Row]) -> dict[tuple[str, str, int], float]:
    """Return the algbw in GB/s by collective, method and size, on the two boxes.

    For several parameter choices of a method, each size takes the best one.
    """
    best: dict[tuple[str, str, int], float] = {}
    ended = (row for row in rows if row.status is Status.OK)
    for row in (one for whole in ended for one in whole.by_size()):
        if row.topology == TOPOLOGY and row.size_bytes and row.algbw_simulated_gb_s:
            key = (row.collective, row.method, row.size_bytes)
            best[key] = max(best.get(key, -math.inf), row.algbw_simulated_gb_s)
    return best


def table(found: Iterable[Compared]) -> list[str]:
    """Return lines of Markdown: a row for each method and collective, an error for each size."""
    groups: dict[tuple[str, str], list[Compared]] = {}
    for one in found:
        groups.setdefault((one.collective, one.method), []).append(one)
    sizes = list(dict.fromkeys(one.size_bytes for its in groups.values() for one in its))
    heads = ["collective", "method", *map(size_text, sizes), "mean of the absolute errors"]
    lines = [piped(heads), piped(["---", "---", *["---:"] * (len(sizes) + 1)])]
    for (collective, method), its in groups.items():
        at = {one.size_bytes: one for one in its}
        cells = [_cell(at[size]) if size in at else "" for size in sizes]
        lines.append(piped([collective, f"`{method}`", *cells, f"{mean_error(its):.0%}"]))
    return lines


def _cell(one: Compared) -> str:
    return f"{one.simulated_gb_s:.3g} / {one.measured_gb_s:.3g} ({one.error:+.0%})"


def _beside(mark: Mark, collective: str, simulated_gb_s: float) -> Compared:
    size = mark.size_bytes or 0
    return Compared(collective, mark.method, mark.label, size, mark.value, simulated_gb_s)


def _measured(collective: str) -> list[Mark]:
    return marks(MEASURE, {collective})


def _rings() -> Mapping[str, Simulator]:
    if not _made:
        topology = load_topology(TOPOLOGY)
        for collective in COLLECTIVES:
            _made[collective] = Simulator(
                compile_program(METHODS[FITTED].run(topology, collective))
            )
    return _made


_made: dict[str, Simulator] = {}


def main(folders: Sequence[str]) -> None:
    """Print the alpha, the errors of the fitted ring, and the errors of the given rows."""
    alpha = fitted_alpha_us()
    ring = fitted_on(alpha)
    text = [f"alpha fitted on NCCL's ring: {alpha} us, mean error {mean_error(ring):.1%}", ""]
    text += table(ring)
    rows = [row for folder in folders for row in read_rows(Path(folder) / "rows.jsonl")]
    if others := compared(rows):
        assumed = dict.fromkeys(row.simulated or "" for row in rows)
        text += ["", f"simulated / measured GB/s, as the rows have it: {'; '.join(assumed)}", ""]
        text += table(others)
    sys.stdout.write("\n".join(text) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
