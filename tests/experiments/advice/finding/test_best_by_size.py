"""The best network of each size: figure 15 of the BFB paper on a sample."""

import csv
from pathlib import Path

import pytest

from baselines.topology_finder.finder import Question, find
from baselines.topology_finder.workload import read_workload
from experiments.advice.finding.best_by_size import (
    FABRIC,
    best_by_size,
    best_figure,
    kind_of,
    write_best,
)
from forestcoll.problem.sizes import read_size

SAMPLE = range(300, 400, 7)


@pytest.mark.slow
def test_small_data_prefer_kautz_graphs_and_large_data_circulants(tmp_path: Path) -> None:
    best = best_by_size(SAMPLE, 4, ("1MB", "100MB"))
    counts = write_best(best, tmp_path / "figure")
    assert counts["1MB"].most_common(1)[0][0] == "generalized Kautz"
    assert counts["100MB"].most_common(1)[0][0] == "circulant"
    with (tmp_path / "figure.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(best) == 2 * len(SAMPLE)
    for row in rows:
        assert float(row["bound_us"]) <= float(row["time_us"]) <= float(row["both_ways_us"])
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_times_are_those_of_the_cost_model() -> None:
    """12 GPUs: C(12,{2,3}) takes 2 hops and T_B 11/12 twice."""
    (best,) = best_by_size([12], 4, ["1MB"])
    assert best.one.name == "C(12,{2,3})"
    expected = 4 * 10e-6 + 2 * 11 / 12 * read_size("1MB") / 12.5e9
    assert abs(float(best.seconds) - expected) < 1e-12
    assert best.seconds == best.least_seconds == best.bidirectional_seconds


def test_the_best_with_links_both_ways_has_them() -> None:
    (best,) = best_by_size([300], 4, ["1MB"])
    assert not best.one.bidirectional
    workload = read_workload(["1MB"])
    times = [workload.seconds(one, "allreduce", FABRIC) for one in find(Question(300, 4, True))]
    assert best.bidirectional_seconds == min(times) > best.seconds


def test_every_mark_is_in_the_picture() -> None:
    best = best_by_size(SAMPLE, 4, ["1MB"])
    (panel,) = best_figure(best).panels
    marked = [point.text for series in panel.series for point in series.points if point.text]
    assert sorted(marked) == sorted(each.one.name for each in best)


def test_an_expansion_names_the_kind() -> None:
    kinds = {each.one.name: kind_of(each.one) for each in best_by_size([64, 128], 4, ["1GB"])}
    assert kinds == {"C(64,{6,7})": "circulant", "C(128,{8,9})": "circulant"}
