"""Verdicts say what was checked, in numbers worked out by hand."""

from __future__ import annotations

from fractions import Fraction

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
