"""Ratios of figures 7 and 9 of the BFB paper: what comes out, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from baselines.topology_finder.finder import Question, bounds_of
from experiments.published import printed
from experiments.reproduction.coverage import Coverage
from experiments.reproduction.difference import Difference
from experiments.reproduction.printed_numbers.bfb_ratios import (
    all_to_all_rates,
    allreduce_ratio,
    differences,
    iterations,
)
from experiments.results.rows import Status
from experiments.training.iteration import iteration
from experiments.training.known_models import Compute, layers_of, model_named


@pytest.fixture(scope="module")
def found(coverage: Coverage) -> dict[str, Difference]:
    return {one.what: one for one in differences(coverage.rows)}


def test_every_printed_ratio_has_ours(found: dict[str, Difference]) -> None:
    assert len(found) == len(printed("bfb_ratios.csv")) == 18


@pytest.mark.parametrize(
    ("what", "ours"),
    [
        ("all-to-all, shifted-ring over the best, 256 GPUs", 8.04),
        ("all-to-all, torus over the best, 256 GPUs", 2.01),
        ("iteration, torus over the best, 256 GPUs", 1.5),
        ("all-to-all, shifted-ring over the best, 1024 GPUs", 25.3),
        ("all-to-all, torus over the best, 1024 GPUs", 3.2),
    ],
)
def test_ratios_of_figure_9_come_out(found: dict[str, Difference], what: str, ours: float) -> None:
    """All-to-alls hardly depend on the modelled times of layers."""
    assert found[what].ours == pytest.approx(ours, rel=0.03)
    assert abs(found[what].share) < 0.08


def test_shares_of_all_to_alls_fall_as_printed(found: dict[str, Difference]) -> None:
    shares = [
        found[f"share of all-to-alls, {name}, 1024 GPUs"]
        for name in ("shifted-ring", "torus", "bfb")
    ]
    for one in shares:
        assert one.ours == pytest.approx(float(one.printed), abs=0.08)


def test_ratios_of_figure_7_come_out_but_for_the_trees(found: dict[str, Difference]) -> None:
    """The double binary tree's 10 times contradicts table 4 (4.9 times)."""
    ring, torus, trees = (
        found[f"allreduce, {name} over the best, about 1000 GPUs"]
        for name in ("shifted-ring", "torus", "double-binary-tree")
    )
    assert ring.ours == pytest.approx(56, rel=0.06)
    assert torus.ours == pytest.approx(4, rel=0.06)
    assert trees.ours < 3
    for kind, ring_ratio, trees_ratio in (
        ("circulants", 8.1, 7.0),
        ("generalized Kautz graphs", 24.6, 21.2),
    ):
        for name, ours in (("shifted-ring", ring_ratio), ("double-binary-tree", trees_ratio)):
            one = found[f"all-to-all on {kind}, {name} over the best, about 1000 GPUs"]
            assert one.ours == pytest.approx(ours, rel=0.01), one


def test_two_shifted_rings_attain_the_bound_of_their_halves(coverage: Coverage) -> None:
    (row,) = (
        row
        for row in coverage.rows["bfb-figure7-all-to-all"]
        if row.topology == "circulant:nodes=961,offsets=1+3"
    )
    assert row.algbw_gb_s is not None
    rates = all_to_all_rates(coverage.rows["bfb-figure7-all-to-all"])
    assert row.algbw_gb_s / 961 == pytest.approx(rates["shifted-ring", 961], rel=1e-6)


def test_rows_that_failed_or_are_of_other_sizes_do_not_count(coverage: Coverage) -> None:
    rows = [replace(row, status=Status.TIMEOUT) for row in coverage.rows["bfb-figure9"]]
    assert iterations(rows) == {}
    assert list(differences({"bfb-figure9": rows})) == []
    assert all_to_all_rates(rows) == {}
    assert allreduce_ratio({("bfb", 100): 1.0, ("torus", 100): 2.0}, "torus") is None
    times = {("bfb", 900): 1.0, ("torus", 900): 2.0, ("bfb", 1000): 1.0, ("torus", 1000): 4.0}
    assert allreduce_ratio(times, "torus") == 3.0


@pytest.mark.parametrize(
    ("name", "nodes", "model", "tokens", "above"),
    [
        ("bfb-figure9", 256, "switch-base-256", 4096, 0.066),
        ("bfb-figure9-large", 1024, "switch-c-2048", 1024, 0.048),
    ],
)
def test_iterations_are_near_their_bound(
    coverage: Coverage, name: str, nodes: int, model: str, tokens: int, above: float
) -> None:
    """The least of any topology: Moore's bound, (N - 1) / N, and the all-to-all bound."""
    bounds = bounds_of(Question(nodes, 4))
    per_s = 12.5e9  # 100 Gb/s

    def least(collective: str, size: int) -> float:
        if collective == "all-to-all":
            return size * 4 / (nodes * float(bounds.all_to_all) * per_s)
        return 2 * (bounds.hops * 1e-5 + float(bounds.time) * size / per_s)

    layers = layers_of(model_named(model), Compute(tokens, 512, utilisation=0.4))
    bound = iteration(layers, "expert", least).timeline.seconds
    ours = iterations(coverage.rows[name])["bfb"].iteration_s
    assert ours is not None
    assert ours / bound - 1 == pytest.approx(above, abs=0.002)
