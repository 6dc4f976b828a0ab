"""Lines over sizes, letters for what is lost, and published marks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.plots.drawing import style
from experiments.plots.lines import lines, lines_by_parameter, lines_by_size
from experiments.results.rows import Status
from forestcoll.core.optimality import optimum
from forestcoll.errors import InvalidExperimentError
from forestcoll.topology import load_topology
from tests.experiments.plots.letters import letters
from tests.experiments.samples import clusters_of_rows as some_rows


def test_lines_hold_the_median_of_finished_points() -> None:
    """Of 1, 2 and 9 ms the median is 2; the method that timed out ends one size earlier."""
    rows = some_rows()
    rows += [replace(rows[0], repetition=i, generation_s=t) for i, t in ((1, 0.001), (2, 0.009))]
    rows[0] = replace(rows[0], generation_s=0.002)
    with style():
        (axes,) = lines(rows, "generation_s").axes
    drawn = {line.get_label(): line for line in axes.get_lines()}
    assert drawn["forestcoll"].get_ydata()[0] == 0.002
    assert list(drawn["forestcoll"].get_xdata()) == [16, 32, 64]
    assert list(drawn["ring"].get_xdata()) == [16, 32]


def test_a_point_without_a_result_is_a_letter_not_a_gap() -> None:
    """A timeout stands at its limit of 60 s where time is drawn, else above the panel."""
    rows = some_rows()
    rows[0] = replace(rows[0], status=Status.UNSUPPORTED)
    with style():
        (times,) = lines(rows, "generation_s").axes
        (algbw,) = lines(rows, "algbw_gb_s").axes
    assert letters(times)["T"] == [(64, 60)]
    assert letters(algbw)["T"][0] == (64, letters(algbw)["U"][0][1])
    assert letters(algbw)["U"][0][0] == letters(times)["U"][0][0] == 16
    assert "limit" in {line.get_label() for line in times.get_lines()}


def test_a_method_without_the_column_has_no_letters() -> None:
    """A ring has no clock: its timeout is no letter of a figure of finishes; forestcoll's is."""
    rows = [replace(row, algbw_at_finish_gb_s=300.0) for row in some_rows()[:3]]
    rows[2] = replace(rows[2], status=Status.OUT_OF_MEMORY, algbw_at_finish_gb_s=None)
    with style():
        (axes,) = lines([*rows, *some_rows()[3:]], "algbw_at_finish_gb_s").axes
    assert list(letters(axes)) == ["M"]


def test_methods_that_cannot_do_a_panel_leave_it_to_those_that_can() -> None:
    """One without any result is in the legend alone; one with a result elsewhere is a note."""
    rows = some_rows()
    done = replace(rows[0], method="bfb", cluster="mi250", topology="mi250:boxes=1")
    lost = [replace(row, status=Status.UNSUPPORTED) for row in rows[:3]]
    rows += [done, *(replace(row, method=name) for row in lost for name in ("bfb", "sccl"))]
    with style():
        first, second = lines(rows, "generation_s").axes
    assert list(letters(first)) == ["T"]
    assert [text.get_text() for text in first.texts] == ["unsupported: bfb"]
    assert not second.texts
    assert "sccl: unsupported" in first.get_legend_handles_labels()[1]


def test_a_point_that_died_early_stands_at_the_size_of_its_topology() -> None:
    """A crash before the topology was read leaves no size; another method's row has it."""
    rows = some_rows()
    rows[-1] = replace(rows[-1], status=Status.FAILED, gpus=None)
    with style():
        (axes,) = lines(rows, "algbw_gb_s").axes
    assert [x for x, _ in letters(axes)["F"]] == [64]


@pytest.mark.parametrize(
    ("column", "measure"),
    [
        ("algbw_gb_s", "theoretical algbw, flowing (GB/s)"),
        ("algbw_in_steps_gb_s", "theoretical algbw in steps (GB/s)"),
        ("algbw_at_finish_gb_s", "theoretical algbw at the finish (GB/s)"),
    ],
)
def test_a_figure_says_which_algbw_it_shows(column: str, measure: str) -> None:
    """On its axis; the optimum is a bound of each, so that it is drawn with all of them."""
    rows = [replace(row, **{column: 100.0}) for row in some_rows()]  # type: ignore[arg-type]
    with style():
        (axes,) = lines(rows, column).axes
    assert axes.get_ylabel() == measure
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert drawn["optimum"] == [346.667] * 3
    assert drawn["forestcoll"] == [100.0] * 3


def test_published_values_are_marks_at_the_sizes_shown() -> None:
    """Of A100 there are optima of 2, 3, 4, 8 boxes; they are derived: none between 16 and 32 GPUs.

    Generation times of the public code are measured, none of 1024 GPUs.
    """
    with style():
        (algbw,) = lines(some_rows(), "algbw_gb_s").axes
        (times,) = lines(some_rows(), "generation_s").axes
    marks = {c.get_label(): c.get_offsets().tolist() for c in algbw.collections}
    assert [x for x, _ in marks["optimum derived from the paper"]] == [16, 32, 64]
    labels = {c.get_label() for c in times.collections}
    assert labels == {"ForestColl, public code (2 cores)"}


def test_published_values_of_allgathers_are_not_marks_beside_allreduces() -> None:
    """Their optima are about twice those of allreduces."""
    both = [replace(row, collective="allreduce") for row in some_rows()]
    with style():
        figures = [lines(both, y) for y in ("algbw_gb_s", "generation_s")]
    assert not [c for figure in figures for axes in figure.axes for c in axes.collections]


def test_a_method_is_a_line_for_each_choice_of_its_other_parameters() -> None:
    """Along its parameter "unit"; a point without a result is told above the panel."""
    row = some_rows()[0]
    rows = [
        replace(row, parameters={"unit": unit, "kind": kind}, generation_s=float(unit))
        for kind in "ab"
        for unit in (4, 1, 2)
    ]
    rows[0] = replace(rows[0], status=Status.TIMEOUT)
    with style():
        (axes,) = lines_by_parameter(rows, "unit", "generation_s").axes
    drawn = {line.get_label(): list(line.get_xdata()) for line in axes.get_lines()}
    assert drawn == {f"{row.method} (kind=a)": [1, 2], f"{row.method} (kind=b)": [1, 2, 4]}
    assert axes.get_xlabel() == "unit"
    with pytest.raises(InvalidExperimentError, match="kind is 'a'; only a number"):
        lines_by_parameter(rows, "kind", "generation_s")


def test_a_line_runs_along_a_parameter_of_the_topologies() -> None:
    """Boxes; what else differs is in the panel's name, and a loss is a letter at its place."""
    rows = [
        *some_rows(),
        *(replace(row, topology=f"{row.topology},nics=2 without b0.gpu0") for row in some_rows()),
    ]
    with style():
        first, second = lines_by_parameter(rows, "boxes", "algbw_gb_s").axes
    assert first.get_title() == "dgx_a100"
    assert second.get_title().replace("\n", "") == "dgx_a100:nics=2 without b0.gpu0"
    for axes in (first, second):
        drawn = {line.get_label(): list(line.get_xdata()) for line in axes.get_lines()}
        assert drawn["forestcoll"] == [2, 4, 8]
        assert drawn["ring"] == [2, 4]
        assert drawn["optimum"] == [2, 4, 8]
        assert [x for x, _ in letters(axes)["T"]] == [8]
        assert axes.get_xlabel() == "boxes"


def test_a_line_runs_along_gpus_or_sizes_of_the_data() -> None:
    """As in the kinds that are for these."""
    with style():
        (axes,) = lines_by_parameter(some_rows(), "gpus", "generation_s").axes
        sized = [replace(some_rows()[0], size_bytes=n, time_flowing_s=n / 1e9) for n in (64, 128)]
        (by_size,) = lines_by_parameter(sized, "size_bytes", "time_flowing_s").axes
    assert {line.get_label(): list(line.get_xdata()) for line in axes.get_lines()}["ring"] == [
        16,
        32,
    ]
    assert axes.get_xlabel() == "GPUs"
    assert list(by_size.get_lines()[0].get_xdata()) == [64, 128]


def test_derived_marks_lie_on_the_line_of_the_optimum() -> None:
    """All clusters with published optima, at the sizes between and at which rows stand."""
    row = some_rows()[0]
    clusters = {"dgx_a100": "boxes", "dgx_h100": "boxes", "mi250": "boxes"}
    rows = []
    for cluster, name in clusters.items():
        for boxes in (1, 2, 4, 8, 16):
            topology = load_topology(f"{cluster}:{name}={boxes}")
            best = float(optimum(topology).algbw_gb_s)
            at = {"gpus": topology.num_compute, "optimum_gb_s": best, "algbw_gb_s": best / 2}
            rows.append(
                replace(row, cluster=cluster, topology=topology.name, ratio=0.5, **at)  # type: ignore[arg-type]
            )
    with style():
        figure = lines(rows, "algbw_gb_s")
    marks = 0
    for axes in figure.axes:
        line = next(line for line in axes.get_lines() if line.get_label() == "optimum")
        curve = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for found in axes.collections:
            for size, value in found.get_offsets().tolist():
                assert value == pytest.approx(curve[size], abs=5e-4)
                marks += 1
    assert marks > 8


def test_clusters_that_differ_much_have_ordinates_of_their_own() -> None:
    """Of 346 GB/s one cannot see 4 GB/s; of 200 one can see 100. All begin at 0."""
    rows = some_rows()
    slow = [replace(row, cluster="slow", algbw_gb_s=4.0, optimum_gb_s=4.0) for row in rows if row.k]
    half = [replace(row, cluster="half", algbw_gb_s=100.0) for row in rows if row.k]
    with style():
        apart, near = lines(rows + slow, "algbw_gb_s"), lines(rows + half, "algbw_gb_s")
    assert [axes.get_ylim()[0] for axes in apart.axes] == [0, 0]
    assert apart.axes[1].get_ylim()[1] == pytest.approx(4.2)
    assert near.axes[0].get_ylim() == near.axes[1].get_ylim()
    assert near.axes[0].get_ylim()[1] > 346.667


def test_a_method_that_never_finishes_is_in_the_legend() -> None:
    """With what became of it; one that finishes somewhere has its name alone."""
    rows = some_rows()
    rows += [
        replace(row, method="teccl", status=Status.TIMEOUT, algbw_gb_s=None) for row in rows[1:3]
    ]
    with style():
        (axes,) = lines(rows, "algbw_gb_s").axes
    labels = axes.get_legend_handles_labels()[1]
    assert {"forestcoll", "ring", "teccl: timeout from 32 GPUs on"} <= set(labels)


def test_simulated_rates_stand_under_their_bound() -> None:
    """1.25 times the time of the bound is 0.8 of its rate; measured values are marks."""
    row = replace(some_rows()[0], size_bytes=2**20, simulated_over_bound=1.25)
    rate = replace(row, algbw_simulated_gb_s=80.0, time_simulated_s=0.5)
    with style():
        (rates,) = lines_by_size([rate], "size_bytes", "algbw_simulated_gb_s").axes
        (times,) = lines_by_size([rate], "size_bytes", "time_simulated_s").axes
    bounds = [
        {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}["bound"]
        for axes in (rates, times)
    ]
    assert bounds == [[100.0], [0.4]]
    assert rates.get_ylim()[0] == 0
    marks = {c.get_label(): c.get_offsets().tolist() for c in rates.collections}
    assert marks["ForestColl, measured (ForestColl slides)"] == [[2**20, 13.1]]
    assert not times.collections
