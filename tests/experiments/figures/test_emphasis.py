"""Legends of at most twelve entries: the best in front, the rest dim."""

from dataclasses import replace

from experiments.figures.emphasis import MOST_ENTRIES, limited
from experiments.figures.figure import INK, Axis, Failure, Figure, Panel, Point, Series, Style
from experiments.figures.styles import STYLES
from experiments.results.rows import Status
from tests.experiments.figures.described import lines_of, marks_of

LESS, MORE = Axis(better="less"), Axis(better="more")


def series(name: str, *heights: float) -> Series:
    style = STYLES.get(name.partition(" (")[0], STYLES["ring"])
    return Series(name, style, tuple(Point(x, y) for x, y in enumerate(heights, start=1)))


def sweep(count: int) -> list[Series]:
    """Choices of TACCL's chunks; the first is the best at 1, the last at 2."""
    return [series(f"taccl (chunks={i})", 1 + i, 10 - i) for i in range(count)]


def names(figure: Figure) -> list[str]:
    return [one.name for panel in figure.panels for one in panel.series if one.name]


def test_a_short_legend_is_left_alone() -> None:
    figure = Figure((Panel("", Axis(), LESS, tuple(sweep(MOST_ENTRIES))),))
    assert limited(figure) is figure


def test_the_best_choices_of_a_sweep_are_one_line() -> None:
    """At 1 the first of 13 is the least, at 2 the last; the choices themselves are dim."""
    figure = limited(Figure((Panel("", Axis(), LESS, (*sweep(13), series("ring", 5, 5))),)))
    (panel,) = figure.panels
    assert names(figure) == ["taccl, best of 13", "ring"]
    assert lines_of(panel)["taccl, best of 13"] == [(1, 1), (2, -2)]
    assert [one.opacity < 1 for one in panel.series] == [True] * 13 + [False] * 2
    more = limited(Figure((Panel("", Axis(), MORE, tuple(sweep(13))),)))
    assert lines_of(more.panels[0])["taccl, best of 13"] == [(1, 13), (2, 10)]


def test_a_sweep_has_a_mark_where_all_its_choices_end() -> None:
    """Beyond 2, where some had results: at 3, not at 1."""
    lost = [
        Failure(x, None, Status.TIMEOUT, f"taccl (chunks={i})", STYLES["taccl"])
        for i, x in enumerate((1, 3, 4))
    ]
    panel = Panel("", Axis(), LESS, tuple(sweep(13)), failures=tuple(lost))
    assert marks_of(limited(Figure((panel,))).panels[0]) == {"T": [(3, None)]}


def test_of_too_many_methods_the_best_keep_their_entries() -> None:
    """Of 20, the 11 quickest, and one entry for 9 others, whose failures are not marked."""
    methods = [series(f"m{i:02}", i, i) for i in range(20)]
    lost = Failure(3, None, Status.TIMEOUT, "m19", STYLES["ring"])
    bound = Series("optimum", Style(INK, "bound"), (Point(1, 0),))
    panel = Panel("", Axis(), LESS, (bound, *methods), failures=(lost,))
    figure = limited(Figure((panel,)))
    assert names(figure) == ["optimum", *(f"m{i:02}" for i in range(10)), "10 other methods"]
    assert len(names(figure)) == MOST_ENTRIES
    assert not figure.panels[0].failures


def test_what_only_the_page_shows_is_no_entry() -> None:
    hidden = [replace(one, page_only=True) for one in sweep(5)]
    figure = Figure((Panel("", Axis(), LESS, (*hidden, *(series(f"m{i}", i) for i in range(9)))),))
    assert limited(figure) is figure
