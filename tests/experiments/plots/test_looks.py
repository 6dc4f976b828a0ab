"""Each method looks the same in every figure, and like no other."""

from __future__ import annotations

import itertools

from baselines.registry import METHODS
from experiments.plots.looks import LOOKS, looks_of, variant


def test_every_method_has_a_look_and_no_two_share_colour_and_marker() -> None:
    """A new method is entered by hand: nothing else keeps its look as it is for ever."""
    assert set(LOOKS) == {"forestcoll", *METHODS}
    assert len({(look["color"], look["marker"]) for look in LOOKS.values()}) == len(LOOKS)


def test_a_look_does_not_depend_on_what_else_is_drawn() -> None:
    """All methods in the other order, or one of one's own alone."""
    names = [*LOOKS, "mine:fast"]
    assert looks_of(names) == looks_of(names[::-1])
    assert all(looks_of([name]) == {name: looks_of(names)[name]} for name in names)


def test_28_methods_of_one_s_own_are_told_apart_from_each_other_and_from_ours() -> None:
    """Seven colours and four markers that no method of the toolkit has."""
    names = [*LOOKS, *(f"mine:m{i}" for i in range(28))]
    looks = looks_of(names).values()
    assert len({(look["color"], look["marker"]) for look in looks}) == len(names)
    assert len(looks_of([*names, "mine:one more"])) == len(names) + 1


def test_choices_of_parameters_keep_the_marker_and_differ_otherwise() -> None:
    """Twelve of a method; the first has the method's own colour and line."""
    look = looks_of(["taccl"])["taccl"]
    looks = [variant(look, number) for number in range(12)]
    assert looks[0] == {**look, "fillstyle": "full"}
    assert {one["marker"] for one in looks} == {look["marker"]}
    for one, other in itertools.combinations(looks, 2):
        assert one != other
