"""The picture of a front."""

from __future__ import annotations

from fractions import Fraction

from baselines.topology_finder.workload import Fabric, read_workload
from experiments.advice.finding.front_entries import answer, demand_of
from experiments.advice.finding.front_figure import front_figure


def test_every_network_has_a_mark_and_the_best_one_its_own() -> None:
    demand = demand_of(["1MB"], "allreduce", read_workload)
    found = answer(64, [2, 4], demand, lambda _: Fabric(Fraction(1, 10**5), Fraction(10**10)))
    figure = front_figure(found)
    assert [panel.title for panel in figure.panels] == [
        "64 GPUs of degree 2",
        "64 GPUs of degree 4",
    ]
    marks = [
        (series.name, series.points[0])
        for panel in figure.panels
        for series in panel.series
        if series.style.marker
    ]
    assert len(marks) == len(found.entries)
    (best,) = (point for name, point in marks if name == "fastest for the workload")
    assert best.text == found.entries[0].one.name
    assert {point.text for _, point in marks} == {entry.one.name for entry in found.entries}


def test_the_bounds_are_left_of_and_below_all_marks() -> None:
    demand = demand_of(["1MB"], "allreduce", read_workload)
    found = answer(36, [4], demand, lambda _: Fabric(Fraction(1, 10**5), Fraction(10**10)))
    (panel,) = front_figure(found).panels
    (corner,) = {
        (line.points[0].x, line.points[0].y) for line in panel.series if line.style.role == "bound"
    }
    for series in panel.series:
        assert all(point.x >= corner[0] and point.y >= corner[1] for point in series.points)
