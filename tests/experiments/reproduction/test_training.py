"""The model of training iterations: its two ends by hand, and beside what is printed."""

from dataclasses import replace

import pytest

from experiments.reproduction.coverage import Coverage
from experiments.reproduction.training import Saving, algbw_at, savings
from experiments.results.rows import Row
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


def test_large_models_save_about_the_printed_share(coverage: Coverage) -> None:
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


Point = tuple[str, int, str, int]


def figure_13(coverage: Coverage) -> dict[Point, tuple[float, float]]:
    """Return the share of computation with rings, and what ForestColl saves."""
    rows: dict[Point, dict[str, Row]] = {}
    for name in ("llama", "gemma"):
        for row in coverage.rows[f"forestcoll-figure13-{name}"]:
            given = row.parameters
            point = tuple(given[key] for key in ("model", "tokens", "utilisation", "bytes_each"))
            rows.setdefault(point, {})[row.method] = row
    return {
        point: (
            1 - its["ring"].visible_share,
            1 - its["forestcoll"].iteration_s / its["ring"].iteration_s,
        )
        for point, its in rows.items()
    }


def test_small_models_hide_their_communication(coverage: Coverage) -> None:
    """In print they compute at least 88 % of the time, and at most 5 % are saved."""
    found = figure_13(coverage)
    small = [
        found[point]
        for point in found
        if point[0] in ("llama-2-7b", "llama-3-8b", "gemma-2-2b") and point[1] == 8192
    ]
    assert len(small) == 12
    assert min(computing for computing, _ in small) > 0.96
    assert max(saved for _, saved in small) < 0.0125


def test_savings_of_large_models_follow_from_the_utilisation(coverage: Coverage) -> None:
    """In print 50 and 43 % are computation, and 20 % are saved."""
    found = figure_13(coverage)
    for model in ("llama-2-70b", "llama-3-119b"):
        for utilisation, computing, saved in (("0.4", 0.86, 0.12), ("0.6", 0.58, 0.36)):
            assert found[model, 1024, utilisation, 4] == pytest.approx(
                (computing, saved), abs=0.015
            )
            assert found[model, 1024, utilisation, 2][1] < 0.01
        assert all(found[point][0] > 0.5 for point in found if point[0] == model)
    assert min(found[point][0] for point in found if point[0] == "gemma-2-27b") > 0.95
