"""Figure 14's baselines, pipelined and by their own end."""

from dataclasses import replace

import pytest

from experiments.reproduction.coverage import Coverage
from experiments.reproduction.two_measures import both_measures
from experiments.results.rows import Status
from tests.experiments.samples import clusters_of_rows


def test_each_measure_takes_the_best_choice_and_the_end_a_clock_or_steps() -> None:
    """TACCL flows at 340 or 300 of 346.667 and ends at 200 or 250; MultiTree ends at 100."""
    row = replace(clusters_of_rows()[0], method="taccl", algbw_synchronous_gb_s=90.0)
    rows = [
        replace(row, algbw_gb_s=340.0, algbw_makespan_gb_s=200.0),
        replace(row, algbw_gb_s=300.0, algbw_makespan_gb_s=250.0),
        replace(row, status=Status.TIMEOUT, algbw_gb_s=None, algbw_makespan_gb_s=None),
        replace(row, method="multitree", algbw_gb_s=330.0, algbw_synchronous_gb_s=100.0),
        replace(row, method="ring"),
        replace(row, cluster="dgx_h100"),
    ]
    tree, taccl = both_measures(rows)
    assert (tree.method, taccl.method) == ("multitree", "taccl")
    assert (tree.pipelined, tree.at_end) == (330 / 346.667, 100 / 346.667)
    assert (taccl.pipelined, taccl.at_end) == (340 / 346.667, 250 / 346.667)


def test_on_two_a100_boxes_all_flow_within_1_1_percent_and_end_later(coverage: Coverage) -> None:
    """342.9 of 346.7 GB/s; ends at 252.6 (MultiTree's steps, TE-CCL) and 309.7 (TACCL).

    SyCCL's sketches fill both kinds of links, and end at 282.4.
    """
    found = [
        one
        for one in both_measures(coverage.rows["forestcoll-figure14"])
        if (one.cluster, one.gpus) == ("dgx_a100", 16)
    ]
    assert [one.method for one in found] == ["multitree", "syccl", "taccl", "teccl"]
    shares = [one.pipelined for one in found if one.method != "syccl"]
    assert shares == [pytest.approx(342.857 / 346.667, abs=1e-4)] * 3
    ends = [one.at_end * one.optimum_gb_s for one in found]
    assert ends == [pytest.approx(rate, abs=0.05) for rate in (252.6, 282.4, 309.7, 252.6)]
    assert found[1].pipelined == 1
