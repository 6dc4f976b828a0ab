"""Text, data and picture of a measured run beside what its network can give."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.advice.expected import Expected, busbw_factor, expected
from experiments.advice.measured.hypotheses import AS_IT_IS, Explained, explain
from experiments.advice.measured.measured_shares import MOST_SIMULATED, MeasuredShare, shares
from experiments.advice.measured.nccl_tests_output import MeasuredRun, read_nccl_tests
from forestcoll.problem.sizes import size_text
from forestcoll.schedule.simulate import AlphaBeta
from forestcoll.topology import Topology
from forestcoll.topology.numbers import exact_text

if TYPE_CHECKING:
    from experiments.figures.figure import Figure

__all__ = ["MeasuredReport", "compare", "document", "figure", "lines"]

_SHOWN = 8
"""Explanations that the text lists."""


@dataclass(frozen=True, slots=True)
class MeasuredReport:
    """A measured run beside what is possible, and what could explain the gap.

    ``explained`` has the hypotheses whose rate is not below the measurement, the nearest first;
    ``slower`` those that allow the measurement by their bound, but not by NCCL's algorithm;
    ``ruled_out`` those whose bound it exceeds; ``undecided`` those without a rate, mostly for lack
    of time.
    """

    run: MeasuredRun
    expected: Expected
    method: str
    rows: tuple[MeasuredShare, ...]
    explained: tuple[Explained, ...]
    slower: tuple[Explained, ...]
    ruled_out: tuple[Explained, ...]
    undecided: tuple[Explained, ...]

    @property
    def is_above_the_bound(self) -> bool:
        """Whether the run is faster than its network allows, so the network is another one."""
        return any(row.of_bound > 1 for row in self.rows)


def compare(
    path: Path,
    topology: Topology,
    collective: str,
    root: str | int | None,
    model: AlphaBeta,
    seconds: float,
) -> MeasuredReport:
    """Read a run and compare it with its network.

    Parameters
    ----------
    path : Path
        Output of nccl-tests or rccl-tests.
    topology : Topology
        The network of the run, of its GPUs only.
    seconds : float
        A third each for the rates, the simulations and the hypotheses.

    Raises
    ------
    ForestCollError
        If the file is not right or of another collective or network, or as :func:`expected`.
    """
    run = read_nccl_tests(path)
    run.expect(collective, topology.num_compute, str(path))
    found = expected(topology, collective, root=root, seconds=seconds / 3)
    method, rows = shares(run, found, root, model, seconds / 3)
    measured = run.fastest.algbw_gb_s
    tried = explain(topology, collective, root, seconds / 3)
    out = tuple(one for one in tried if one.is_ruled_out(measured))
    left = [one for one in tried if one not in out and one.rate_gb_s]
    left.sort(key=lambda one: one.rate_gb_s or 0)
    slower = tuple(one for one in left if float(one.rate_gb_s or 0) < measured)
    explained = tuple(left[len(slower) :])
    undecided = tuple(one for one in tried if one not in out and not one.rate_gb_s)
    return MeasuredReport(run, found, method, tuple(rows), explained, slower, out, undecided)


def lines(report: MeasuredReport) -> list[str]:
    """Return the report as text."""
    found, run = report.expected, report.run
    factor = float(busbw_factor(found.collective, found.topology.num_compute))
    fastest = run.fastest
    said = [
        f"{found.topology.name}, {found.collective} of {found.topology.num_compute} GPUs, measured "
        f"by nccl-tests; GB/s are 1e9 bytes/s",
        "",
        f"{'size':>10} {'us':>12} {'algbw':>9} {'busbw':>9} {'bound':>8} "
        f"{report.method.removeprefix('NCCL ') or 'NCCL':>12} {'simulated':>10}",
    ]
    for row in report.rows:
        algbw = row.size.algbw_gb_s
        said.append(
            f"{size_text(row.size.size_bytes):>10} {row.size.time_us:>12.2f} {algbw:>9.2f} "
            f"{algbw * factor:>9.2f} {_percent(row.of_bound):>8} {_percent(row.of_nccl):>12} "
            f"{_percent(row.of_simulated):>10}"
        )
    of = f"of {report.method} without and with latencies" if report.method else "of NCCL"
    said += [f"  (the last three: what share of the bound, and {of}, the run reaches)", ""]
    if found.topology.num_compute > MOST_SIMULATED:
        said.insert(-1, f"  (networks of over {MOST_SIMULATED} GPUs are not simulated)")
    elif report.method and any(row.of_simulated is None for row in report.rows):
        said.insert(-1, "  (simulations without a share took too long; see --time-limit)")
    said.append(
        f"Fastest: {fastest.algbw_gb_s * factor:.5g} GB/s of busbw at "
        f"{size_text(fastest.size_bytes)}"
    )
    if report.is_above_the_bound:
        said.append(
            "It is above the bound: the network has wider links than described here, or the run "
            "had other GPUs."
        )
    if report.explained:
        said += ["", "What would explain it: the run could be this one, with this share reached"]
    for one in report.explained[:_SHOWN]:
        rate = float(one.rate_gb_s or 0)
        said.append(
            f"  {_as_if(one.words)} {one.method:15} {_busbw(rate * factor):>9} "
            f"{_percent(fastest.algbw_gb_s / rate):>7}"
        )
    if report.slower or report.ruled_out:
        said += ["", "What would not: the run is faster"]
    slow = [(one.words, one.method, float(one.rate_gb_s or 0)) for one in report.slower]
    slow += [(words, "any", bound) for words, bound in _bounds(report.ruled_out).items()]
    said += [
        f"  {_as_if(words)} {method:15} {_busbw(gb_s * factor):>9}" for words, method, gb_s in slow
    ]
    if report.undecided:
        said += ["", "Undecided: no rate of NCCL's algorithms, or no time for it; see --time-limit"]
    said += [f"  {_as_if(one.words)} {one.reason}".rstrip() for one in report.undecided]
    return said


def _as_if(words: str) -> str:
    """Return the words of a hypothesis as the first column of a row."""
    return f"{words if words == AS_IT_IS else f'as if {words}':52.52}"


def _bounds(explained: tuple[Explained, ...]) -> dict[str, float]:
    """Return a bound for each network; several algorithms share it."""
    return {one.words: float(one.bound_gb_s or 0) for one in explained}


def _busbw(gb_s: float) -> str:
    return f"{gb_s:.5g}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def document(report: MeasuredReport) -> dict[str, Any]:
    """Return the report as plain data for JSON."""
    found = report.expected

    def hypothesis(one: Explained) -> dict[str, Any]:
        return {
            "as_if": one.words,
            "bound_algbw_gb_s": None if one.bound_gb_s is None else exact_text(one.bound_gb_s),
            "method": one.method or None,
            "algbw_gb_s": None if one.rate_gb_s is None else exact_text(one.rate_gb_s),
            "reason": one.reason or None,
        }

    return {
        "topology": found.topology.name,
        "collective": found.collective,
        "gpus": found.topology.num_compute,
        "method": report.method or None,
        "sizes": [
            {
                "size_bytes": row.size.size_bytes,
                "time_us": row.size.time_us,
                "algbw_gb_s": row.size.algbw_gb_s,
                "share_of_the_bound": row.of_bound,
                "share_of_the_method": row.of_nccl,
                "share_of_the_simulation": row.of_simulated,
            }
            for row in report.rows
        ],
        "above_the_bound": report.is_above_the_bound,
        "explained_by": [hypothesis(one) for one in report.explained],
        "slower": [hypothesis(one) for one in report.slower],
        "ruled_out": [hypothesis(one) for one in report.ruled_out],
        "undecided": [hypothesis(one) for one in report.undecided],
    }


def figure(report: MeasuredReport) -> Figure:
    """Describe busbw over size: measured marks, and lines of the bound, NCCL and simulation."""
    from experiments.figures.figure import Axis, Figure, Panel, Point, Series, Style

    found = report.expected
    factor = float(busbw_factor(found.collective, found.topology.num_compute))

    def series(name: str, style: Style, share: str | None) -> Series:
        points = []
        for row in report.rows:
            part = 1.0 if share is None else getattr(row, share)
            if part:
                points.append(Point(row.size.size_bytes, row.size.algbw_gb_s * factor / part))
        return Series(name, style, tuple(points))

    all_series = [
        series("bound", Style("#555555", "bound", line="--"), "of_bound"),
        series("measured", Style("#0072B2", "method", marker="o"), None),
    ]
    if report.method:
        simulated = f"{report.method}, simulated"
        all_series += [
            series(report.method, Style("#D55E00", "bound", line=":"), "of_nccl"),
            series(simulated, Style("#009E73", "method", marker="^"), "of_simulated"),
        ]
    places = tuple(float(row.size.size_bytes) for row in report.rows)
    kept = tuple(one for one in all_series if one.points)
    panel = Panel("", Axis("size", "bytes", places=places), Axis("busbw in GB/s"), kept)
    return Figure((panel,), size=(5.2, 3.2))
