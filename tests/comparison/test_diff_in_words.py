"""What differs, for people and for machines."""

from fractions import Fraction

from forestcoll import generate
from forestcoll.comparison.diff_in_words import as_document, in_words
from forestcoll.comparison.schedule_diff import diff
from forestcoll.topology import load_topology

WHOLE = load_topology("dgx_a100:boxes=4")
FIRST, SECOND = generate(WHOLE).schedule, generate(WHOLE.without("b1.gpu3 - ib")).schedule


def test_tables_have_ten_lines_and_the_number_of_others() -> None:
    text = in_words(diff(FIRST, SECOND))
    many = len(diff(FIRST, SECOND).links.others)
    assert many > 10
    assert text["loads"][0] == f"the same on {len(WHOLE.links) - many} links, others on {many}"
    assert len(text["loads"]) == 1 + 1 + 10 + 1
    assert text["loads"][-1] == f"and {many - 10} links more"
    assert text["network"][0] == "2 differences"
    assert len(text["shared trees"]) <= 2 + 1 + 1 + 10 + 1


def test_a_figure_is_said_once_if_both_have_it() -> None:
    text = in_words(diff(FIRST, SECOND))
    assert text["algbw"] == "800/3 = 266.667 GB/s | 700/3 = 233.333 GB/s"
    assert text["k"] == "1 | 7"
    assert text["collective"] == "allgather"
    same = in_words(diff(FIRST, FIRST))
    assert same["algbw"] == "800/3 = 266.667 GB/s"
    assert same["network"] == ["the same"]
    assert same["pieces"] is None


def test_machines_get_every_link_and_gpu_exactly() -> None:
    found = diff(FIRST, SECOND)
    document = as_document(found)
    assert len(document["links"]["others"]) == len(found.links.others)
    assert document["links"]["others"][0]["first"] == found.links.others[0].first
    assert document["second"]["algbw_gb_s"] == Fraction(700, 3)
    trees = document["shared_trees"]
    assert sum(one["only_second"] for one in trees["by_gpu"]) == trees["only_second"]
    assert trees["data_on_the_same_trees"] == found.phases[0].changes.kept
