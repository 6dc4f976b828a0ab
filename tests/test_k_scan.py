"""Every k up to a limit: the published row, dominance by definition, the command line."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll import generate, verify
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.k_scan import BestK, Choice, best_k
from forestcoll.topology import group, load_topology
from tests.command_line import assert_refused, document, invoke
from tests.random_topologies import rounds
from tests.strategies import topologies


@pytest.mark.slow
def test_two_mi250_boxes_take_nine_of_nine():
    """Table 1's scan: 351.22 GB/s at k = 9, the most up to there; trees and depth are true."""
    tried = best_k(load_topology("mi250:boxes=2"), 9)
    assert [choice.k for choice in tried.choices] == list(range(1, 10))
    assert tried.fastest.k == 9
    assert tried.fastest.algbw_gb_s == Fraction(14400, 41)
    assert not any(choice.optimal for choice in tried.choices)
    for choice in tried.choices[:3]:
        forest = generate(load_topology("mi250:boxes=2"), k=choice.k).schedule
        assert (choice.trees, choice.depth) == (forest.num_batches, forest.tree_depths().max())
        assert choice.algbw_gb_s == verify(forest).algbw_gb_s
    assert tried == best_k(load_topology("mi250:boxes=2"), 9)


def test_the_fewest_trees_win_among_equal_rates():
    """Four A100 boxes: every k attains the optimum, and k = 1 dominates them all."""
    tried = best_k(load_topology("dgx_a100:boxes=4"), 4)
    assert {choice.algbw_gb_s for choice in tried.choices} == {Fraction(800, 3)}
    assert all(choice.optimal for choice in tried.choices)
    assert tried.fastest.k == 1
    assert [choice.k for choice in tried.pareto] == [1]


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.integers(1, 3)] * 3), min_size=1, max_size=8))
def test_pareto_by_definition(rows):
    """A choice is left out exactly when another is as good in all four and better in one."""
    choices = tuple(
        Choice(k, Fraction(rate), trees, depth, False)
        for k, (rate, trees, depth) in enumerate(rows, start=1)
    )

    def goods(choice):
        return (-choice.k, choice.algbw_gb_s, -choice.trees, -choice.depth)

    def beaten(choice):
        return any(
            goods(other) != goods(choice)
            and all(x >= y for x, y in zip(goods(other), goods(choice), strict=True))
            for other in choices
        )

    assert BestK(choices).pareto == tuple(one for one in choices if not beaten(one))
    fastest = BestK(choices).fastest
    assert all(goods(one)[1::-1] <= goods(fastest)[1::-1] for one in choices)


@settings(max_examples=rounds(30), deadline=None)
@given(topologies(kinds=["bidirectional"]))
def test_an_allreduce_counts_both_of_its_forests(topology):
    """With links of equal bandwidth both ways it takes twice the time of an allgather, in turn."""
    both, one = best_k(topology, 2, collective="allreduce"), best_k(topology, 2)
    for double, single in zip(both.choices, one.choices, strict=True):
        assert double.algbw_gb_s >= single.algbw_gb_s / 2
        assert double.trees >= single.trees
        made = generate(topology, collective="allreduce", k=double.k).schedule
        assert made.sequential_s_per_gb == 2 / single.algbw_gb_s
        assert double.optimal == verify(made).optimal


@pytest.mark.parametrize("limit", [0, -1, True, 2.5])
def test_a_wrong_limit_is_refused(limit):
    """It must be a whole number from 1 up."""
    with pytest.raises(InvalidParameterError, match=r"the largest k is .* from 1 to \d+$"):
        best_k(load_topology("ring:nodes=3"), limit)


def test_a_single_gpu_has_nothing_to_choose():
    """Its schedule is empty for every k."""
    alone = group(load_topology("ring:nodes=3"), ["gpu1"])
    assert verify(generate(alone, k=3).schedule).k == 3
    with pytest.raises(UnsupportedError, match="empty, whatever the k"):
        best_k(alone, 3)


def test_command_line_generates_with_k(tmp_path):
    """The forest written has so many trees and does not claim what it does not attain."""
    path = tmp_path / "k3.json"
    report = document("generate", "mi250:boxes=2", "--k", 3, "--output", path)
    assert (report["k"], report["algbw_gb_s"]["exact"], report["optimal"]) == (3, "2400/7", False)
    assert document("verify", path)["k"] == 3


@pytest.mark.parametrize("more", [(), ("--factored",)])
def test_command_line_picks_the_best_k(tmp_path, more):
    """It reports all it tried, and writes the fastest."""
    path = tmp_path / "best.npz"
    report = document("generate", "mi250:boxes=2", "--best-k", 5, "--output", path, *more)
    assert [row["k"] for row in report["tried"]] == [1, 2, 3, 4, 5]
    assert report["k"] == 5
    text = invoke("generate", "mi250:boxes=2", "--best-k", 2, "--output", path, *more).output
    assert "k 1, algbw 320 GB/s, trees 32, depth " in text
    assert document("verify", path)["k"] == 2


def test_command_line_reports_the_best_with_k():
    """With the cut that limits it, and how many trees that lacks below."""
    report = document("optimum", "mi250:boxes=2", "--k", 3)
    assert report["algbw_gb_s"]["exact"] == "2400/7"
    assert report["exact"] is True
    assert report["trees_lacking_below"] == 3
    assert report["limiting_cut"]["gpus"] == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--k", 0), "k is 0; it must be a whole number from 1 to"),
        (("--best-k", -2), "the largest k is -2; it must be a whole number from 1 to"),
        (("--k", 2, "--best-k", 3), "--k and --best-k exclude each other"),
        (("--k", 2, "--method", "paper"), "for another k take the method forestcoll"),
    ],
)
def test_command_line_refuses_in_one_line(tmp_path, options, message):
    """Exit code 2 and no file."""
    path = tmp_path / "never.json"
    assert_refused(message, "generate", "ring:nodes=3", "--output", path, *options)
    assert not path.exists()
