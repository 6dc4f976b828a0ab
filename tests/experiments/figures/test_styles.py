"""Each method looks the same in every figure, and like no other."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from baselines.registry import METHODS
from experiments.config.figure_options import parse_figure
from experiments.figures.styles import STYLES, mixed, palette_of, styles_of, variant
from experiments.reproduction.coverage import Coverage
from experiments.results.row_groups import swept
from tests.experiments.samples import clusters_of_rows


def test_every_method_has_a_style_and_no_two_share_colour_and_marker() -> None:
    """A new method is entered by hand: nothing else keeps its style as it is for ever."""
    assert set(STYLES) == {"forestcoll", *METHODS}
    assert len({(style.colour, style.marker) for style in STYLES.values()}) == len(STYLES)


def test_styles_are_independent_of_other_methods() -> None:
    """All methods in the other order, or one of one's own alone."""
    names = [*STYLES, "mine:fast"]
    assert styles_of(names) == styles_of(names[::-1])
    assert all(styles_of([name]) == {name: styles_of(names)[name]} for name in names)


def test_28_user_methods_are_distinct_from_each_other_and_from_ours() -> None:
    """Seven colours and four markers that no method of the toolkit has."""
    names = [*STYLES, *(f"mine:m{i}" for i in range(28))]
    styles = styles_of(names).values()
    assert len({(style.colour, style.marker) for style in styles}) == len(names)
    assert len(styles_of([*names, "mine:one more"])) == len(names) + 1


def test_choices_of_parameters_keep_the_marker_and_differ_otherwise() -> None:
    """Twelve of a method; the first has the method's own colour and line."""
    style = styles_of(["taccl"])["taccl"]
    variants = [variant(style, number) for number in range(12)]
    assert variants[0] == style
    assert {one.marker for one in variants} == {style.marker}
    for one, other in itertools.combinations(variants, 2):
        assert one != other


def test_each_method_with_its_parameters_has_a_style_of_its_own() -> None:
    """Choices of parameters have the method's marker, in another shade or filling."""
    rows = clusters_of_rows()
    rows.append(replace(rows[-1], parameters={"rings": 2}))
    palette = palette_of(rows)
    assert list(palette) == ["forestcoll", "ring", "ring (rings=2)"]
    assert len({(style.colour, style.fill) for style in palette.values()}) == 3
    assert palette["ring"].marker == palette["ring (rings=2)"].marker != "o"


def test_a_method_looks_the_same_without_the_others() -> None:
    """Colour, marker, line and the place above or below others."""
    rows = clusters_of_rows()
    alone = palette_of([row for row in rows if row.method == "ring"])["ring"]
    assert palette_of(rows)["ring"] == alone


def test_a_choice_of_parameters_looks_the_same_in_any_order_and_alone() -> None:
    """Four choices of TACCL's parameters: forwards, backwards, and each by itself."""
    row = replace(clusters_of_rows()[0], method="taccl")
    rows = [
        replace(row, parameters={"chunks": chunks, "symmetry": symmetry})
        for chunks in (1, 2)
        for symmetry in (False, True)
    ]
    palette = palette_of(rows)
    assert len(set(palette.values())) == 4
    assert palette_of(rows[::-1]) == palette
    assert {name: style for one in rows for name, style in palette_of([one]).items()} == palette


@pytest.mark.slow
def test_choices_look_the_same_in_all_figures_of_the_repository() -> None:
    """In no figure of several choices do two share a number, so none gives way to another."""
    coverage = Coverage(Path(__file__).parents[3])
    for name, its in coverage.rows.items():
        rows = list({row.series: row for row in its}.values())
        for words in coverage.parsed(name).experiment.figures:
            figure = parse_figure(words)
            if figure.kind == "lines-by-parameter":
                swept_rows = [swept(row, figure.options["x"]) for row in rows]
                shown = [row for row, value in swept_rows if value is not None]
            elif figure.kind in SHOWING_ALL:
                shown = rows
            else:  # choices are merged, or have no colours
                continue
            together = palette_of(shown)
            assert all(palette_of([row])[row.series] == together[row.series] for row in shown), name


SHOWING_ALL = (
    "generation-time", "theoretical-algbw", "algbw-synchronous", "lines", "lines-by-size", "bars",
    "best-networks", "time-against-algbw",
)  # fmt: skip


def test_a_colour_is_moved_towards_grey() -> None:
    """Half the way from (0, 100, 200) to 255 and to 0."""
    assert mixed("#0064c8", 255, 0.5) == "#80b2e4"
    assert mixed("#0064c8", 0, 0.5) == "#003264"
