"""The words that name a network between boxes."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology
from forestcoll.topology.families.fabric.fabric_text import FABRICS, FabricText, parse_fabric

WORDS = [
    "single",
    "single:planes=2",
    "rails:spines=4,sharp=true",
    "leaf-spine:leaves=4,spines=2,uplinks=8,uplink_bandwidth=12.5,oversubscription=2",
    "clos:pods=2,leaves=4,spines=2,cores=4,core_oversubscription=7",
    "dragonfly:groups=3,routers=2,globals=1,global_bandwidth=100",
    "dragonfly-plus:groups=3,leaves=2,spines=2,planes=2",
    "hyperx:dims=4x4",
    "slim-fly:q=5,link_bandwidth=25",
    "torus:dims=2x3x4,wrap=true,true,false",
]


@pytest.mark.parametrize("words", WORDS)
def test_words_read_and_written_are_the_same(words):
    """Also in parentheses, which a specification needs where there are commas."""
    kind = FabricText()
    assert str(parse_fabric(words)) == kind.read(words) == kind.read(f"({words})") == words
    assert kind.read(kind.show(words)) == words
    assert kind.show(words).startswith("(") == ("," in words)


def test_every_kind_is_tried_above():
    assert {parse_fabric(words).kind for words in WORDS} == set(FABRICS)


def test_one_network_has_one_text():
    """Options in one order, numbers in one form, defaults left out."""
    text = "(leaf-spine: sharp=false, spines=2 ,leaves=4,planes=1,oversubscription=1.50)"
    assert FabricText().read(text) == "leaf-spine:leaves=4,spines=2,oversubscription=1.5"
    assert parse_fabric(text).options["oversubscription"] == Fraction(3, 2)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("railz", "did you mean rails"),
        ("fish", "the kinds are single, rails"),
        ("planes=2", "such as single:planes=2"),
        ("leaf-spine:leaves=4", "needs spines; write leaf-spine:leaves=...,spines=..."),
        ("rails:spine=4", "did you mean spines"),
        ("rails:4", "'4' is not option=value"),
        ("rails:spines=0", "spines is '0'; it must be a whole number from 1"),
        ("rails:spines=2,spines=2", "spines is given twice"),
        ("single:sharp=yes", "sharp is 'yes'; it must be true or false"),
    ],
)
def test_bad_words_are_refused_in_one_line(words, says):
    with pytest.raises(InvalidTopologyError) as caught:
        load_topology(f"dgx_h100:boxes=8,fabric=({words})")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_without_parentheses_are_refused_with_the_right_form():
    with pytest.raises(InvalidTopologyError, match=r"fabric=\(leaf-spine:leaves=4,spines=2\)"):
        load_topology("dgx_h100:boxes=8,fabric=leaf-spine:leaves=4,spines=2")


@pytest.mark.parametrize(
    "spec",
    [
        "dgx_h100:boxes=8,fabric=rails:spines=4",
        "dgx_h100:boxes=8,fabric=(torus:dims=2x2x2,wrap=true,true,false)",
        "nvl72:racks=4,gpus_per_rack=4,fabric=(leaf-spine:leaves=2,spines=2,sharp=true)",
    ],
)
def test_a_specification_with_a_fabric_round_trips(spec):
    """Its own name makes the same network; of both ways to write it, one is the name."""
    topology = load_topology(spec)
    assert topology.name == spec
    assert load_topology(topology.name) == topology


def test_a_default_fabric_is_no_part_of_the_name():
    assert load_topology("dgx_a100:boxes=2,fabric=single").name == "dgx_a100:boxes=2"


def test_other_values_than_text_are_refused():
    with pytest.raises(ValueError, match=r"^$"):
        FabricText().read(4)
