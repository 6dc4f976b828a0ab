"""Facts for people and for machines: aligned lines with units, and exact numbers in JSON."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll.cli.facts import as_json, as_text, bound_facts
from forestcoll.errors import VerificationError
from forestcoll.in_network.pruning import Traffic
from forestcoll.problem.cuts import Cut
from forestcoll.runtimes.scoring.file_bounds import FileBound
from forestcoll.topology import load_topology
from forestcoll.topology.describe import link_classes

RING = load_topology("ring:nodes=4")
CUT = Cut(RING, (0, 1, 2))


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("algbw_gb_s", Fraction(800, 3), "algbw  800/3 = 266.667 GB/s"),
        ("algbw_gb_s", Fraction(8), "algbw  8 GB/s"),
        ("time_s_per_gb", Fraction(1, 8), "time  1/8 = 0.125 s/GB"),
        ("inverse_rate", Fraction(1, 2), "1/x*  1/2 = 0.5 s/GB"),
        ("congestion", Fraction(1), "congestion  1 tree per GB/s"),
        ("congestion", Fraction(2), "congestion  2 trees per GB/s"),
        ("verified", True, "verified  yes"),
        ("optimal", False, "optimal  no"),
        ("least_gpu_ingress_gb_s", 25, "least GPU ingress  25 GB/s"),
        ("spent_s", 0.0123, "spent  12.30 ms"),
        ("spent_s", 12.345, "spent  12.3 s"),
        ("busiest_link", ("a", "b"), "busiest link  a -> b"),
        ("boxes", [], "boxes  none"),
        ("stages_s", {"packing": 0.5, "routing": 2.0}, "stages  packing 500.00 ms, routing 2 s"),
        ("reduce", {"k": 1, "depth": None}, "reduce  k 1"),
        ("all", {"one": {"k": 1, "algbw_gb_s": Fraction(3)}}, "all  one (k 1, algbw 3 GB/s)"),
    ],
)
def test_a_fact_is_a_line_with_its_unit(key: str, value: Any, line: str) -> None:
    """By the ending of its key; what is not known is left out."""
    assert as_text({key: value}) == line


def test_labels_are_aligned_and_lists_go_on_below() -> None:
    """Two blanks behind the longest label; a cut in words, then its links."""
    lines = as_text({"k": 3, "bottleneck_cut": CUT, "nothing": None}).splitlines()
    assert lines[0] == "k               3"
    assert lines[1] == "bottleneck cut  " + CUT.in_words()
    assert lines[2:] == [" " * 16 + str(each) for each in CUT.exit_classes()]


def test_machines_get_exact_numbers_and_plain_data() -> None:
    """Beside their decimals; paths as text, cuts and traffic as objects."""
    (kind, *_) = link_classes(RING, RING.links)
    traffic = Traffic(kind, Fraction(7), Fraction(1))
    made = json.loads(
        as_json({"rate": Fraction(1, 3), "file": Path("a/b"), "cut": CUT, "saved": [traffic]})
    )
    assert made["rate"] == {"exact": "1/3", "value": 1 / 3}
    assert made["file"] == "a/b"
    assert made["cut"]["nodes"] == ["gpu0", "gpu1", "gpu2"]
    assert (made["cut"]["gpus"], made["cut"]["ratio"]["exact"]) == (3, "3/2")
    assert made["saved"][0]["factor"]["exact"] == "1/7"


def test_names_are_written_as_they_are() -> None:
    assert "é" in as_json({"name": "é"})


def test_a_list_of_two_lines_is_no_link() -> None:
    """A pair of names is a link, a list of two texts two lines."""
    assert as_text({"notes": ["one", "two"]}) == "notes  one\n       two"
    assert as_text({"link": ("a", "b")}) == "link  a -> b"


def test_a_rate_above_its_bound_is_a_bug() -> None:
    """And nothing is claimed of a rate below a bound that none may attain."""
    bound = FileBound(Fraction(2), optimal=False, by="a cut", model="any schedule")
    with pytest.raises(VerificationError, match="makes 3 GB/s, but a cut proves that none makes"):
        bound_facts(bound, Fraction(3))
    assert bound_facts(bound, Fraction(2))["optimal"] is True
    assert bound_facts(bound, Fraction(1))["optimal"] is None
    assert bound_facts(replace(bound, optimal=True), Fraction(1))["optimal"] is False
    assert bound_facts(None, Fraction(1)) == {"optimal": None}
    assert bound_facts(bound, None) == {"optimal": True}
