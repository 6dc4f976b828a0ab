"""What a described panel holds, for tests to look at."""

from experiments.figures.figure import FAILURES, Panel

Places = list[tuple[float, float]]


def lines_of(panel: Panel) -> dict[str, Places]:
    """The points of each series that is not of published values, by its name in the legend."""
    return {
        series.name: [(point.x, point.y) for point in series.points]
        for series in panel.series
        if series.style.role != "published" and not series.page_only
    }


def published_of(panel: Panel) -> dict[str, Places]:
    """The points of published values, by their label."""
    return {
        series.name: [(point.x, point.y) for point in series.points]
        for series in panel.series
        if series.style.role == "published"
    }


def marks_of(panel: Panel) -> dict[str, list[tuple[float | None, float | None]]]:
    """Where each failure mark stands on paper, by its letter."""
    found: dict[str, list[tuple[float | None, float | None]]] = {}
    for one in panel.failures:
        if not one.page_only:
            found.setdefault(FAILURES[one.status][0], []).append((one.x, one.y))
    return found
