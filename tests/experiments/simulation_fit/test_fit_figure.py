"""The figure of a fit."""

from __future__ import annotations

from experiments.simulation_fit.fit_figure import fit_figure
from tests.experiments.simulation_fit.test_fit_report import FOUND


def test_a_panel_for_each_collective_has_points_and_a_line() -> None:
    """Held back points are hollow; the line is what is simulated."""
    figure = fit_figure(FOUND)
    assert [panel.title for panel in figure.panels] == ["allgather", "reduce-scatter"]
    fitted, held = (panel.series for panel in figure.panels)
    assert [one.name for one in fitted] == ["ring (fitted)", ""]
    assert held[0].name == "ring (held back)"
    assert (fitted[0].style.fill, held[0].style.fill) == ("full", "none")
    assert held[0].style.marker == fitted[0].style.marker  # a method looks alike in all panels
    assert held[0].points[0].y == 2 * held[1].points[0].y
    assert fit_figure(FOUND, "reduce-scatter").panels == (figure.panels[1],)
