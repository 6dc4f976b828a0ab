"""The picture of times over the least possible time."""

import pytest

from experiments.own.times_figure import TimeRow, times_figure


def row(size: int, bound: float, *times: float, collective: str = "allgather") -> TimeRow:
    return TimeRow("ring:nodes=4", collective, size, bound, times[0], "slots", *times[1:], 0.1)


@pytest.mark.parametrize(
    ("times", "best", "method"),
    [
        ((5, 6, 7), 5, "planned: slots"),
        ((6, 5, 7), 5, "forest over time, simulated"),
        ((7, 6, 5), 5, "optimal forest, simulated"),
    ],
)
def test_the_best_of_three(times: tuple[float, float, float], best: float, method: str) -> None:
    one = row(1024, 4, *times)
    assert (one.best_us, one.of_bound, one.method) == (best, 1.25, method)


def test_a_panel_a_collective_and_a_cell_a_row() -> None:
    """25 % above the bound, 200 % in the colour of 40 %."""
    rows = [row(1024, 4, 5, 6, 7), row(4096, 4, 12, 13, 14), row(1024, 4, 4, 4, 4, collective="x")]
    figure = times_figure(rows, ["allgather", "x"])
    assert [panel.title for panel in figure.panels] == ["allgather", "x"]
    cells = figure.panels[0].cells
    assert [(cell.column, cell.row, cell.value, cell.words) for cell in cells] == [
        (0, 0, 25.0, "25"),
        (1, 0, 40.0, "200"),
    ]
    assert figure.panels[0].x.names == ("1KB", "")
