"""Each method looks the same in every figure, and like no other."""

import itertools
from dataclasses import replace

from baselines.registry import METHODS
from experiments.figures.styles import STYLES, mixed, palette_of, styles_of, variant
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
    """Choices of parameters have the method's marker, in a shade of its colour."""
    rows = clusters_of_rows()
    rows.append(replace(rows[-1], parameters={"rings": 2}))
    palette = palette_of(rows)
    assert list(palette) == ["forestcoll", "ring", "ring (rings=2)"]
    assert len({style.colour for style in palette.values()}) == 3
    assert palette["ring"].marker == palette["ring (rings=2)"].marker != "o"


def test_a_method_looks_the_same_without_the_others() -> None:
    """Colour, marker and line; the size of the marker says which lies on top."""
    rows = clusters_of_rows()
    alone = palette_of([row for row in rows if row.method == "ring"])["ring"]
    both = palette_of(rows)["ring"]
    assert replace(both, size=alone.size, order=alone.order) == alone
    assert both.size > alone.size


def test_a_colour_is_moved_towards_grey() -> None:
    """Half the way from (0, 100, 200) to 255 and to 0."""
    assert mixed("#0064c8", 255, 0.5) == "#80b2e4"
    assert mixed("#0064c8", 0, 0.5) == "#003264"
