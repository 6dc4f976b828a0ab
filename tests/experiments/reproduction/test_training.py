"""The model of training iterations: its two ends by hand, and beside what is printed."""

from dataclasses import replace

import pytest

from experiments.reproduction.coverage import Coverage
from experiments.reproduction.training import Saving, algbw_at, savings
from tests.experiments.samples import clusters_of_rows


def test_the_least_and_the_most_by_hand() -> None:
    """Half of the time computes; collectives take 3/4: an eighth to a quarter is saved."""
    one = Saving("x", 1e9, 0.5, 0.75, "0.20", "exactly")
    assert (one.least, one.most) == (0.125, 0.25)
    assert replace(one, compute_share=0.9).most == pytest.approx(0.1)  # no more than was visible
    assert replace(one, ratio=1.0).least == replace(one, ratio=1.0).most == 0


def test_rates_lie_on_lines_between_sizes() -> None:
    """Of several choices the best counts; beyond the sizes that there are the last one."""
    sizes = {
        str(size): {"algbw_simulated_gb_s": rate} for size, rate in ((1024, 10.0), (4096, 20.0))
    }
    row = replace(clusters_of_rows()[0], sizes=sizes)
    slow = replace(row, sizes={"1024": {"algbw_simulated_gb_s": 9.0}})
    for size, rate in ((512, 10), (1024, 10), (2048, 15), (4096, 20), (1e9, 20)):
        assert algbw_at([slow, row], "forestcoll", size) == pytest.approx(rate)


def test_large_models_save_about_what_is_printed(coverage: Coverage) -> None:
    """14, 20 and 20 % are within the ranges; of small ones at most 5 %, the least is 3 to 4 %."""
    found = {one.model: one for one in savings(coverage.rows)}
    assert len(found) == 6
    for one in found.values():
        assert 0 < one.least <= one.most < 1
        if one.printed_is == "exactly":
            assert one.least <= float(one.printed) <= one.most, one
        else:
            assert one.least <= float(one.printed), one
    assert savings({}) == []
