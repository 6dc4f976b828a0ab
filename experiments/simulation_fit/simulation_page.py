"""Tables and figure of docs/simulation.md: the fit to the slides, printed leads, priorities.

``python -m experiments.simulation_fit.simulation_page`` computes them in some minutes, stores the
rows below results/simulation-fit, and writes the tables into the page.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.figures.matplotlib_renderer import save
from experiments.measures.docs import piped, with_tables
from experiments.simulation_fit.fit_figure import fit_figure
from experiments.simulation_fit.fit_report import residual_facts
from experiments.simulation_fit.fitting import SimulationFit, fit_simulation
from experiments.simulation_fit.leads import Lead, leads
from experiments.simulation_fit.mirrored import Mirrored, mirrored
from experiments.simulation_fit.slides import HELD_BACK, NETWORKS, slide_measurements
from forestcoll.problem.sizes import size_text
from forestcoll.schedule.simulate import Priority

__all__ = ["fit_table", "leads_table", "mirrored_table", "residuals_table", "write_results"]

_ROOT = Path(__file__).parents[2]
PAGE = _ROOT / "docs" / "simulation.md"
RESULTS = _ROOT / "results" / "simulation-fit"
COMMAND = "python -m experiments.simulation_fit.simulation_page"


def fit_table(fits: Mapping[str, SimulationFit]) -> list[str]:
    """Return the settings and errors of a fit on each network."""
    lines = [
        piped(["NVLink of a GPU", "fitted settings", "error, fitted", "error, held back"]),
        piped(["---", "---", "---:", "---:"]),
    ]
    for name, found in fits.items():
        errors = [found.error(held_back=held) or 0 for held in (False, True)]
        lines.append(piped([name, found.settings.words, *(f"{error:.1%}" for error in errors)]))
    return lines


def residuals_table(found: SimulationFit) -> list[str]:
    """Return simulated over measured algbw, less one, for each curve and size."""
    sizes = sorted({one.measured.size_bytes for one in found.residuals})
    lines = [
        piped(["curve", "", *map(size_text, sizes)]),
        piped(["---", "---", *["---:"] * len(sizes)]),
    ]
    curves = dict.fromkeys(one.measured.curve for one in found.residuals)
    for curve in curves:
        its = [one for one in found.residuals if one.measured.curve == curve]
        at = {one.measured.size_bytes: f"{one.error:+.0%}" for one in its}
        role = "held back" if its[0].held_back else "fitted"
        lines.append(piped([curve.name, role, *(at.get(size, "") for size in sizes)]))
    return lines


def leads_table(found: Sequence[Lead]) -> list[str]:
    """Return every printed lead beside the simulated ones."""
    heads = ["network", "collective", "over", "printed", "as fitted", "all settings", "nearest"]
    lines = [piped([*heads, "explained"]), piped([*["---"] * 3, *["---:"] * 3, "---", "---"])]
    for one in found:
        ratios = one.found.values()
        lines.append(
            piped(
                [
                    f"`{one.topology}`",
                    one.collective,
                    ", ".join(f"`{name}`" for name in one.methods),
                    f"{one.printed:.2f}",
                    f"{one.found['as fitted']:.2f}",
                    f"{min(ratios):.2f} to {max(ratios):.2f}",
                    f"{one.nearest}: {one.found[one.nearest]:.2f}",
                    "yes" if one.is_explained else "no",
                ]
            )
        )
    return lines


def mirrored_table(found: Sequence[Mirrored]) -> list[str]:
    """Return how much longer reduce-scatters take than allgathers, at worst over the sizes."""
    heads = ["network", "reduce-scatter, equal", "critical paths first", "allreduce, gain"]
    lines = [piped(heads), piped(["---", *["---:"] * 3])]
    for network in dict.fromkeys(one.topology for one in found):
        here = [one for one in found if one.topology == network]
        worst = [max(one.over(priority) for one in here) - 1 for priority in Priority]
        gains = [
            1 - one.allreduce_s[Priority.CRITICAL_PATH] / one.allreduce_s[Priority.EQUAL]
            for one in here
        ]
        lines.append(
            piped(
                [
                    f"`{network}`",
                    *(f"{share:+.1%}" for share in worst),
                    f"{min(gains):+.1%} to {max(gains):+.1%}",
                ]
            )
        )
    return lines


def write_results(
    fits: Mapping[str, SimulationFit],
    ratios: Sequence[Lead],
    mirrors: Sequence[Mirrored],
    folder: Path,
) -> None:
    """Store the rows behind the tables, and the figures of the best fit."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"nvlink": name, **row}
        for name, fit in fits.items()
        for row in residual_facts(fit.residuals)
    ]
    _write(folder / "residuals.csv", rows)
    _write(
        folder / "leads.csv",
        [
            {
                "topology": one.topology,
                "collective": one.collective,
                "methods": " ".join(one.methods),
                "size_bytes": one.size_bytes,
                "printed": one.printed,
                "settings": name,
                "simulated": ratio,
            }
            for one in ratios
            for name, ratio in one.found.items()
        ],
    )
    _write(
        folder / "priorities.csv",
        [
            {
                "topology": one.topology,
                "size_bytes": one.size_bytes,
                "priority": str(priority),
                "allgather_us": one.allgather_s[priority] * 1e6,
                "reduce_scatter_us": one.reduce_scatter_s[priority] * 1e6,
                "allreduce_us": one.allreduce_s[priority] * 1e6,
            }
            for one in mirrors
            for priority in Priority
        ],
    )
    best = _best(fits)
    for collective in dict.fromkeys(one.measured.curve.collective for one in best.residuals):
        for ending in ("png", "pdf"):
            save(fit_figure(best, collective), folder / f"{collective}.{ending}")


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            shown = {key: f"{x:.6g}" if isinstance(x, float) else x for key, x in row.items()}
            writer.writerow(shown)


def _best(fits: Mapping[str, SimulationFit]) -> SimulationFit:
    return min(fits.values(), key=lambda fit: fit.error(held_back=False) or 0)


def _told(what: str, done: int, total: int) -> None:
    sys.stderr.write(f"{what}: {done} of {total}\n")


def main() -> None:
    """Compute everything, store it, and write the tables into the page."""
    fits = {
        name: fit_simulation(
            slide_measurements(topology),
            HELD_BACK,
            progress=lambda done, total: _told("settings", done, total),
        )
        for name, topology in NETWORKS.items()
    }
    fitted = next(iter(fits.values())).settings
    ratios = leads(fitted, lambda done, total: _told("leads", done, total))
    mirrors = mirrored(progress=lambda done, total: _told("networks", done, total))
    write_results(fits, ratios, mirrors, RESULTS)
    tables = {
        "fit": fit_table(fits),
        "residuals": residuals_table(_best(fits)),
        "leads": leads_table(ratios),
        "priorities": mirrored_table(mirrors),
    }
    texts = {name: "\n".join(lines) for name, lines in tables.items()}
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), texts, COMMAND), encoding="utf-8")


if __name__ == "__main__":
    main()
