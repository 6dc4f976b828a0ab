"""Verdicts say what was checked, in numbers worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from forestcoll.schedule import Allreduce
from forestcoll.schedule.transform.reverse import turned
from forestcoll.schedule.verify.dispatch import verify
from tests.schedule.made.hand import leaves4


def test_verdict_states_what_was_checked() -> None:
    """Two leaves: 4 trees of 3 edges and height 2 over 8 logical links; 1/(N k) U = 1/4 s/GB."""
    verdict = verify(leaves4())
    assert verdict.collective == "allgather"
    assert (verdict.gpus, verdict.roots, verdict.k) == (4, 4, 1)
    assert (verdict.batches, verdict.trees, verdict.tree_edges) == (4, 4, 12)
    assert (verdict.logical_links, verdict.paths, verdict.height) == (8, 8, 2)
    assert verdict.deliveries == 12
    assert verdict.congestion == 1
    assert verdict.busiest_link == ("a", "x")
    assert verdict.time_s_per_gb == Fraction(1, 4)
    assert verdict.algbw_gb_s == 4


def test_the_verdict_of_an_allreduce_has_both_phases() -> None:
    """The same trees up and down: 1/4 s/GB each, on the same links, so 1/2 at once and in turn."""
    gather = leaves4()
    verdict = verify(Allreduce(turned(gather, gather.topology), gather))
    assert verdict.collective == "allreduce"
    assert (verdict.reduce.collective, verdict.gather.collective) == ("reduce-scatter", "allgather")
    assert verdict.reduce.optimal
    assert verdict.gather.optimal
    assert verdict.time_s_per_gb == verdict.in_turn_s_per_gb == Fraction(1, 2)
    assert verdict.algbw_gb_s == 2
    assert (verdict.bound_gb_s, verdict.model, verdict.optimal) == (None, None, False)
