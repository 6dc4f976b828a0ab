"""A fit of the simulator as facts and as text: settings, then a residual for each measurement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.simulation_fit.fitting import Residual, SimulationFit
from experiments.simulation_fit.settings import PARAMETERS
from forestcoll.problem.sizes import size_text

__all__ = ["fit_facts", "fit_lines", "residual_facts"]


def fit_facts(found: SimulationFit) -> dict[str, Any]:
    """Return everything that a fit found, for machines."""
    settings = found.settings
    return {
        "measurements": len(found.residuals),
        "fitted": sum(not one.held_back for one in found.residuals),
        **{name: float(settings.text_of(name)) for name in PARAMETERS},
        "window": settings.window,
        "chunk_bytes": settings.chunk_bytes,
        "fitted_error": found.error(held_back=False),
        "held_back_error": found.error(held_back=True),
        "tried": found.tried,
        "of": found.all,
        "residuals": residual_facts(found.residuals),
    }


def residual_facts(residuals: Sequence[Residual]) -> list[dict[str, Any]]:
    """Return a row for each measurement."""
    return [
        {
            "topology": one.measured.curve.topology,
            "collective": one.measured.curve.collective,
            "method": one.measured.curve.method,
            "size_bytes": one.measured.size_bytes,
            "measured_gb_s": one.measured.algbw_gb_s,
            "simulated_gb_s": one.measured.size_bytes / 1e9 / one.simulated_s,
            "residual": one.error,
            "held_back": one.held_back,
        }
        for one in residuals
    ]


def fit_lines(found: SimulationFit) -> list[str]:
    """Return the report for people."""
    held = found.error(held_back=True)
    many = sum(not one.held_back for one in found.residuals)
    lines = [
        f"{many} measurements fitted, {len(found.residuals) - many} held back",
        f"settings: {found.settings.words}",
        f"error (root mean square): {found.error(held_back=False) or 0:.1%} fitted"
        + ("" if held is None else f", {held:.1%} held back"),
    ]
    if found.tried < found.all:
        lines.append(f"the time limit left {found.all - found.tried} windows and sizes untried")
    lines += [
        "",
        f"{'curve':>26} {'size':>7} {'measured GB/s':>14} {'simulated':>10}  residual",
    ]
    for one in found.residuals:
        measured = one.measured
        simulated = measured.size_bytes / 1e9 / one.simulated_s
        lines.append(
            f"{measured.curve.name:>26} {size_text(measured.size_bytes):>7} "
            f"{measured.algbw_gb_s:>14.4g} {simulated:>10.4g}  {one.error:+.1%}"
            + (" held back" if one.held_back else "")
        )
    return lines
