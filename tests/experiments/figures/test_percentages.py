"""Percentages between choices, and searches by chunks, as the TE-CCL paper draws them."""

from dataclasses import replace

import pytest

from experiments.figures.percentages import differences, lines_by_chunks
from experiments.results.rows import Row, Status
from tests.experiments.figures.described import lines_of, published_of
from tests.experiments.samples import clusters_of_rows


def row(method: str, algbw: float, time: float, **parameters: str | int) -> Row:
    return replace(
        clusters_of_rows()[0], method=method, topology="dgx1", cluster="dgx1", gpus=8,
        algbw_makespan_gb_s=algbw, generation_s=time, parameters=parameters,
    )  # fmt: skip


def test_the_better_choice_of_a_method_counts() -> None:
    """100 (30 - 20) / 20 of rates, and 100 (4 - 1) / 4 of times: more is better in both."""
    rows = [
        row("teccl", 25, 1, epoch="fastest", size_bytes=1000),
        row("teccl", 30, 9, epoch="slowest", size_bytes=1000),
        row("taccl", 20, 4, size_bytes=1000),
    ]
    (rates,) = differences(rows, "size_bytes", "algbw_makespan_gb_s", "method", "taccl").panels
    assert lines_of(rates) == {"taccl: 0 %": [(1000, 0)], "teccl": [(1000, 50)]}
    assert rates.y.label == "theoretical algbw by makespan, above taccl (%)"
    (times,) = differences(rows, "size_bytes", "generation_s", "method", "taccl").panels
    assert lines_of(times)["teccl"] == [(1000, 75)]
    assert times.y.label == "generation time, below taccl (%)"


def test_values_of_a_parameter_differ_from_one_of_them() -> None:
    """Each other value has a line; a kind without the base is compared with the first one's."""
    rows = [
        row("teccl", 20, 1, buffer=0, size_bytes=1000),
        row("teccl", 19, 1, buffer=1, size_bytes=1000),
        row("teccl", 18, 1, buffer=1, buffering="kept", size_bytes=1000),
    ]
    (panel,) = differences(rows, "size_bytes", "algbw_makespan_gb_s", "buffer", "0").panels
    assert lines_of(panel) == {
        "buffer=0: 0 %": [(1000, 0)],
        "buffer=1": [(1000, -5)],
        "buffer=1, buffering=kept": [(1000, -10)],
    }
    assert panel.y.scale == "even"


@pytest.mark.parametrize(
    ("rate", "scale", "ends"), [(1000, "signed", None), (20.2, "even", (-10, 10))]
)
def test_the_axis_fits_large_and_small_differences(
    rate: float, scale: str, ends: tuple[float, float] | None
) -> None:
    """From 200 % on by decades; 1 % does not fill the panel."""
    rows = [row("teccl", rate, 1, size_bytes=1000), row("taccl", 20, 4, size_bytes=1000)]
    (panel,) = differences(rows, "size_bytes", "algbw_makespan_gb_s", "method", "taccl").panels
    assert (panel.y.scale, panel.y.ends) == (scale, ends)


def test_without_the_base_there_is_no_line() -> None:
    rows = [row("teccl", 20, 1, size_bytes=1000)]
    (panel,) = differences(rows, "size_bytes", "algbw_makespan_gb_s", "method", "taccl").panels
    assert list(lines_of(panel)) == ["taccl: 0 %"]


def test_transfer_times_stand_by_chunks_beside_printed_ones() -> None:
    """Table 3: 4 us for a chunk of 25 KB, SCCL 3.4: two steps of 0.7 us and 2 us of loads."""
    ours = row("teccl", 50, 0.01, chunks=1, size_bytes=200_000, epoch="slowest")
    steps = replace(
        row("sccl", 1, 0.009, chunks=1, steps=2, rounds=2), algbw_makespan_gb_s=None,
        algbw_synchronous_gb_s=100.0, steps=2,
    )  # fmt: skip
    rows = [replace(one, experiment="teccl-table3") for one in (ours, steps)]
    (panel,) = lines_by_chunks(rows, "algbw_makespan_gb_s").panels
    assert lines_of(panel) == {
        "teccl (epoch=slowest)": [(1, 4)],
        "sccl": [(1, pytest.approx(3.4))],
    }
    printed = published_of(panel)
    assert printed["TE-CCL, printed (slowest)"][0] == (1, 4)
    assert printed["SCCL, printed"] == [(1, 3.4), (2, 5.1), (3, 8)]
    assert panel.y.label == "transfer time (us)"


def test_searches_without_a_result_are_in_the_legend() -> None:
    lost = row("teccl", 1, 1, chunks=2, size_bytes=1000)
    lost = replace(lost, status=Status.TIMEOUT, algbw_makespan_gb_s=None, generation_s=None)
    figure = lines_by_chunks([row("sccl", 1, 1, chunks=1), lost], "generation_s")
    assert [entry.name for entry in figure.legend] == ["teccl: timeout at 8 GPUs"]
