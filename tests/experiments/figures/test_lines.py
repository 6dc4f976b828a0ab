"""Lines over sizes, failure marks for what is lost, and published values."""

from dataclasses import replace

import pytest

from experiments.config.figure_options import parse_figure
from experiments.figures.lines import best_networks, lines, lines_by_parameter, lines_by_size
from experiments.results.rows import Row, Status
from forestcoll.core.optimality import optimum
from forestcoll.errors import InvalidExperimentError
from forestcoll.topology import load_topology
from tests.experiments.figures.described import lines_of, marks_of, published_of
from tests.experiments.samples import clusters_of_rows as some_rows


def test_lines_hold_the_median_of_finished_points() -> None:
    """Of 1, 2 and 9 ms the median is 2; the method that timed out ends one size earlier."""
    rows = some_rows()
    rows += [replace(rows[0], repetition=i, generation_s=t) for i, t in ((1, 0.001), (2, 0.009))]
    rows[0] = replace(rows[0], generation_s=0.002)
    (panel,) = lines(rows, "generation_s").panels
    drawn = lines_of(panel)
    assert drawn["forestcoll"][0] == (16, 0.002)
    assert [x for x, _ in drawn["forestcoll"]] == [16, 32, 64]
    assert [x for x, _ in drawn["ring"]] == [16, 32]


def test_a_point_without_a_result_is_a_mark_not_a_gap() -> None:
    """A timeout stands at its limit of 60 s where time is drawn, else above the panel."""
    rows = some_rows()
    rows[0] = replace(rows[0], status=Status.UNSUPPORTED)
    (times,) = lines(rows, "generation_s").panels
    (algbw,) = lines(rows, "algbw_gb_s").panels
    assert marks_of(times) == {"U": [(16, None)], "T": [(64, 60)]}
    assert marks_of(algbw) == {"U": [(16, None)], "T": [(64, None)]}
    assert {y for _, y in lines_of(times)["limit"]} == {60}


def test_a_method_without_the_column_has_no_failure_marks() -> None:
    """A ring has no clock: its timeout is no mark in a figure of finishes; forestcoll's is."""
    rows = [replace(row, algbw_makespan_gb_s=300.0) for row in some_rows()[:3]]
    rows[2] = replace(rows[2], status=Status.OUT_OF_MEMORY, algbw_makespan_gb_s=None)
    (panel,) = lines([*rows, *some_rows()[3:]], "algbw_makespan_gb_s").panels
    assert list(marks_of(panel)) == ["M"]


def test_methods_that_cannot_do_a_panel_leave_it_to_those_that_can() -> None:
    """One that supports nothing is left out; one with a result elsewhere is a note."""
    rows = some_rows()
    done = replace(rows[0], method="bfb", cluster="mi250", topology="mi250:boxes=1")
    lost = [replace(row, status=Status.UNSUPPORTED) for row in rows[:3]]
    rows += [done, *(replace(row, method=name) for row in lost for name in ("bfb", "sccl"))]
    figure = lines(rows, "generation_s")
    first, second = figure.panels
    assert list(marks_of(first)) == ["T"]
    assert [note.text for note in first.notes] == ["unsupported: bfb"]
    assert not second.notes
    assert not figure.legend


def test_a_point_that_died_early_stands_at_the_size_of_its_topology() -> None:
    """A crash before the topology was read leaves no size; another method's row has it."""
    rows = some_rows()
    rows[-1] = replace(rows[-1], status=Status.FAILED, gpus=None)
    (panel,) = lines(rows, "algbw_gb_s").panels
    assert [x for x, _ in marks_of(panel)["F"]] == [64]


@pytest.mark.parametrize(
    ("column", "measure"),
    [
        ("algbw_gb_s", "theoretical algbw, pipelined (GB/s)"),
        ("algbw_synchronous_gb_s", "algbw in synchronous steps (GB/s)"),
        ("algbw_makespan_gb_s", "theoretical algbw by makespan (GB/s)"),
    ],
)
def test_a_figure_says_which_algbw_it_shows(column: str, measure: str) -> None:
    """On its axis; the optimum is a bound of each, so that it is drawn with all of them."""
    rows = [replace(row, **{column: 100.0}) for row in some_rows()]  # type: ignore[arg-type]
    (panel,) = lines(rows, column).panels
    assert panel.y.label == measure
    drawn = {name: [y for _, y in points] for name, points in lines_of(panel).items()}
    assert drawn["optimum"] == [346.667] * 3
    assert drawn["forestcoll"] == [100.0] * 3


def test_published_values_are_marks_at_the_sizes_shown() -> None:
    """Of A100 there are optima of 2, 3, 4, 8 boxes; they are derived: none between 16 and 32 GPUs.

    Generation times of the public code are measured, none of 1024 GPUs.
    """
    (algbw,) = lines(some_rows(), "algbw_gb_s").panels
    (times,) = lines(some_rows(), "generation_s").panels
    assert [x for x, _ in published_of(algbw)["optimum derived from the paper"]] == [16, 32, 64]
    assert list(published_of(times)) == ["ForestColl, public code (2 cores)"]


def test_published_values_of_allgathers_are_not_marks_beside_allreduces() -> None:
    """Their optima are about twice those of allreduces."""
    both = [replace(row, collective="allreduce") for row in some_rows()]
    figures = [lines(both, y) for y in ("algbw_gb_s", "generation_s")]
    assert not any(published_of(panel) for figure in figures for panel in figure.panels)


def test_a_method_is_a_line_for_each_choice_of_its_other_parameters() -> None:
    """Along its parameter "unit"; a point without a result is named above the panel."""
    row = some_rows()[0]
    rows = [
        replace(row, parameters={"unit": unit, "kind": kind}, generation_s=float(unit))
        for kind in "ab"
        for unit in (4, 1, 2)
    ]
    rows[0] = replace(rows[0], status=Status.TIMEOUT)
    (panel,) = lines_by_parameter(rows, "unit", "generation_s").panels
    drawn = {name: [x for x, _ in points] for name, points in lines_of(panel).items()}
    assert drawn == {f"{row.method} (kind=a)": [1, 2], f"{row.method} (kind=b)": [1, 2, 4]}
    assert panel.x.label == "unit"
    with pytest.raises(InvalidExperimentError, match="kind is 'a'; only a number"):
        lines_by_parameter(rows, "kind", "generation_s")


def test_a_line_runs_along_a_parameter_of_the_topologies() -> None:
    """Boxes; what else differs is in the panel's name, and a loss is a letter at its place."""
    rows = [
        *some_rows(),
        *(replace(row, topology=f"{row.topology},nics=2 without b0.gpu0") for row in some_rows()),
    ]
    first, second = lines_by_parameter(rows, "boxes", "algbw_gb_s").panels
    assert first.title == "dgx_a100"
    assert second.title == "dgx_a100:nics=2 without b0.gpu0"
    for panel in (first, second):
        drawn = {name: [x for x, _ in points] for name, points in lines_of(panel).items()}
        assert drawn["forestcoll"] == [2, 4, 8]
        assert drawn["ring"] == [2, 4]
        assert drawn["optimum"] == [2, 4, 8]
        assert [x for x, _ in marks_of(panel)["T"]] == [8]
        assert panel.x.label == "boxes"


def test_a_line_runs_along_gpus_or_sizes_of_the_data() -> None:
    """As in the kinds that are for these."""
    (panel,) = lines_by_parameter(some_rows(), "gpus", "generation_s").panels
    sized = [replace(some_rows()[0], size_bytes=n, time_pipelined_s=n / 1e9) for n in (64, 128)]
    (by_size,) = lines_by_parameter(sized, "size_bytes", "time_pipelined_s").panels
    assert [x for x, _ in lines_of(panel)["ring"]] == [16, 32]
    assert panel.x.label == "GPUs"
    assert [x for x, _ in lines_of(by_size)["forestcoll"]] == [64, 128]


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
    figure = lines(rows, "algbw_gb_s")
    marks = 0
    for panel in figure.panels:
        curve = dict(lines_of(panel)["optimum"])
        for found in published_of(panel).values():
            for size, value in found:
                assert value == pytest.approx(curve[size], abs=5e-4)
                marks += 1
    assert marks > 8


def test_clusters_that_differ_much_have_ordinates_of_their_own() -> None:
    """Of 346 GB/s one cannot see 4 GB/s; of 200 one can see 100. All begin at 0."""
    rows = some_rows()
    slow = [replace(row, cluster="slow", algbw_gb_s=4.0, optimum_gb_s=4.0) for row in rows if row.k]
    half = [replace(row, cluster="half", algbw_gb_s=100.0) for row in rows if row.k]
    apart, near = lines(rows + slow, "algbw_gb_s"), lines(rows + half, "algbw_gb_s")
    assert all(panel.y.from_zero for panel in (*apart.panels, *near.panels))
    assert not apart.shares_ordinate
    assert near.shares_ordinate


def test_a_method_that_never_finishes_is_in_the_legend() -> None:
    """With what became of it; one that finishes somewhere has its name alone."""
    rows = some_rows()
    rows += [
        replace(row, method="teccl", status=Status.TIMEOUT, algbw_gb_s=None) for row in rows[1:3]
    ]
    figure = lines(rows, "algbw_gb_s")
    assert {"forestcoll", "ring"} <= lines_of(figure.panels[0]).keys()
    assert [entry.name for entry in figure.legend] == ["teccl: timeout from 32 GPUs on"]


def test_simulated_rates_stand_under_their_bound() -> None:
    """1.25 times the time of the bound is 0.8 of its rate; measured values are marks."""
    row = replace(some_rows()[0], size_bytes=2**20, simulated_over_bound=1.25)
    rate = replace(row, algbw_simulated_gb_s=80.0, time_simulated_s=0.5)
    (rates,) = lines_by_size([rate], "size_bytes", "algbw_simulated_gb_s").panels
    (times,) = lines_by_size([rate], "size_bytes", "time_simulated_s").panels
    bounds = [lines_of(panel)["bound"] for panel in (rates, times)]
    assert bounds == [[(2**20, 100.0)], [(2**20, 0.4)]]
    assert rates.y.from_zero
    assert published_of(rates)["ForestColl, measured (ForestColl slides)"] == [(2**20, 13.1)]
    assert not published_of(times)


def timed() -> list[Row]:
    """A ring of 8 and of 16 GPUs, and a torus of 16 that is faster there; two sizes of the data."""
    row = some_rows()[0]
    networks = [("ring:nodes=8", 8, 3.0), ("ring:nodes=16", 16, 5.0), ("torus:dims=4x4", 16, 4.0)]
    return [
        replace(
            row, topology=name, cluster=name, gpus=gpus, simulated="alpha 1 us",
            sizes={
                "1024": {"time_simulated_s": seconds / 1000, "algbw_simulated_gb_s": 1 / seconds},
                "1048576": {"time_simulated_s": seconds, "algbw_simulated_gb_s": 1000 / seconds},
            },
        )
        for name, gpus, seconds in networks
    ]  # fmt: skip


def test_a_line_takes_the_best_network_of_each_size() -> None:
    """Times: 3 and min(5, 4); rates: 1/3 and max(1/5, 1/4); a panel for 1KB and one for 1MB.

    Times are in milliseconds. A method that can do nothing has no size, and no panel.
    """
    kind = parse_figure("best-networks")
    assert kind.sized
    assert kind.simulated
    lost = replace(timed()[0], method="ring", status=Status.UNSUPPORTED, sizes={})
    rows = [one for row in (*timed(), lost) for one in row.by_size()]
    small, large = best_networks(rows, **kind.options).panels
    rates, _ = best_networks(rows, "size_bytes", "algbw_simulated_gb_s").panels
    assert [panel.title for panel in (small, large)] == ["1KB", "1MB"]
    assert lines_of(small)["forestcoll"] == [(8, 3.0), (16, 4.0)]
    assert lines_of(large)["forestcoll"] == [(8, 3000.0), (16, 4000.0)]
    assert lines_of(rates)["forestcoll"] == [(8, 1 / 3), (16, 1 / 4)]
    assert small.y.label == "simulated time (ms)"
