"""Graphs of the BFB paper: names, bounds, and lines of what grows."""

from dataclasses import replace

import pytest

from experiments.figures.graphs import (
    bars_by_topology,
    by_graph,
    short_name,
    steps_against_time,
)
from experiments.results.rows import Row
from tests.experiments.figures.described import lines_of
from tests.experiments.samples import clusters_of_rows

HAMMING = "line_graph:of=(hamming:dimensions=2,letters=3),times=2"


def row(topology: str, gpus: int, steps: int, time: float, method: str = "bfb") -> Row:
    """Return a row of a graph of degree 4 with links of 1 GB/s: T_B is 4 over the rate."""
    return replace(
        clusters_of_rows()[0], topology=topology, cluster=topology.partition(":")[0], gpus=gpus,
        method=method, steps=steps, bandwidth_runtime=time, algbw_synchronous_gb_s=4 / time,
        algbw_gb_s=4 / time, optimum_gb_s=4 * gpus / (gpus - 1),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("topology", "name"),
    [
        ("complete_bipartite:degree=4", "K4,4"),
        ("circulant:nodes=7,offsets=2+3", "C(7,{2,3})"),
        (HAMMING, "L2(H(2,3))"),
        ("line_graph:of=(complete:nodes=5)", "L(K5)"),
        (
            "cartesian_product:of=(ring:nodes=8)(ring:nodes=4,bidirectional=false)"
            "(ring:nodes=4,bidirectional=false)",
            "BiR(8) x UniR(4)^2",
        ),
        ("line_graph:of=(cartesian_power:of=(diamond),exponent=2)", "L((Diamond)^2)"),
        ("stand_ins/a.yaml", "stand_ins/a.yaml"),
    ],
)
def test_graphs_have_the_names_of_papers(topology: str, name: str) -> None:
    assert short_name(topology) == name


def test_steps_stand_against_time_with_both_bounds() -> None:
    """1024 GPUs of degree 4: Moore's bound is 5 steps, T_B is at least 1023 / 1024."""
    rows = [
        row("generalized_kautz:degree=4,nodes=1024", 1024, 5, 1.332),
        row(HAMMING, 1024, 8, 1.004),
        row(HAMMING, 1024, 9, 1.5, "bfb-expansion"),
    ]
    (panel,) = steps_against_time(rows, "bandwidth_runtime", "steps").panels
    found = lines_of(panel)
    assert found["bfb"] == [(1.332, 5), (1.004, 8)]
    assert found["Moore's bound on T_L"] == [(1023 / 1024, 5)]
    assert found["least T_B"] == [(1023 / 1024, 5), (1023 / 1024, 9)]
    labels = [p.label for one in panel.series for p in one.points if p.label]
    assert labels == ["GK(4,1024)", "L2(H(2,3))"]
    assert not any(one.style.line for one in panel.series if one.style.role == "method")


def test_each_size_has_a_panel_unless_each_graph_has_its_own() -> None:
    two = [row(HAMMING, 64, 3, 1.0), row("complete:nodes=64", 64, 1, 1.0)]
    other = row("complete:nodes=5", 5, 1, 0.8)
    figure = steps_against_time([*two, other], "bandwidth_runtime", "steps")
    assert [panel.title for panel in figure.panels] == ["5 GPUs", "64 GPUs"]
    (panel,) = steps_against_time([two[0], other], "bandwidth_runtime", "steps").panels
    assert panel.title == "5 to 64 GPUs"
    assert set(lines_of(panel)) == {"bfb"}


def test_line_graphs_belong_to_their_base_and_time_is_over_its_optimum() -> None:
    """T_B* is (N - 1) / N: 9 GPUs reach it, 36 are 1.5 % above."""
    base = row("hamming:dimensions=2,letters=3", 9, 2, 8 / 9)
    grown = row(HAMMING, 36, 4, 1.015 * 35 / 36)
    (panel,) = by_graph([base, grown], "bandwidth_runtime").panels
    found = lines_of(panel)
    assert found["H(2,3)"] == [(9, pytest.approx(1.0)), (36, pytest.approx(1.015))]
    assert found["optimum"] == [(9, 1.0), (36, 1.0)]
    assert panel.x.scale == "doubling"
    (steps,) = by_graph([base, grown, replace(grown, method="bfb-expansion")], "steps").panels
    assert lines_of(steps) == {"H(2,3), bfb": [(9, 2), (36, 4)], "H(2,3), bfb-expansion": [(36, 4)]}


def test_many_sizes_are_dots() -> None:
    rows = [row(f"ring:nodes={n}", n, n // 2, 1.0) for n in range(3, 20)]
    (panel,) = by_graph(rows, "steps").panels
    assert {one.style.line for one in panel.series} == {""}


def test_the_dots_of_four_graphs_differ_without_colour() -> None:
    """A round dot and three strokes, each of which matplotlib draws with an edge of its colour."""
    rows = [
        row(f"generalized_kautz:degree={d},nodes={n}", n, n // 2, 1.0)
        for d in (2, 4, 8, 16)
        for n in range(17, 40)
    ]
    (panel,) = by_graph(rows, "steps").panels
    assert [one.style.marker for one in panel.series] == ["o", "x", "|", "_"]


def test_each_topology_is_a_bar_with_its_optimum() -> None:
    rows = [row(HAMMING, 36, 4, 1.25), row("complete:nodes=5", 5, 1, 0.8)]
    (panel,) = bars_by_topology(rows, "algbw_gb_s").panels
    assert panel.y.names == ("L2(H(2,3))", "K5")
    assert [(bar.place, bar.length) for bar in panel.bars] == [(0, 3.2), (1, 5.0)]
    (best,) = panel.series
    assert [(point.x, point.y) for point in best.points] == [
        (pytest.approx(4 * 36 / 35), 0),
        (5, 1),
    ]
