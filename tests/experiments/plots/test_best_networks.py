"""Each method on its best network of each size."""

from __future__ import annotations

from dataclasses import replace

from experiments.config.figure_options import parse_figure
from experiments.plots.best_networks import best_networks
from experiments.plots.drawing import style
from experiments.results.rows import Row, Status
from tests.experiments.samples import clusters_of_rows


def timed() -> list[Row]:
    """A ring of 8 and of 16 GPUs, and a torus of 16 that is faster there; two sizes of the data."""
    row = clusters_of_rows()[0]
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

    A method that can do nothing has no size, and no panel.
    """
    figure = parse_figure("best-networks")
    assert figure.sized
    assert figure.simulated
    lost = replace(timed()[0], method="ring", status=Status.UNSUPPORTED, sizes={})
    rows = [one for row in (*timed(), lost) for one in row.by_size()]
    with style():
        small, large = best_networks(rows, **figure.options).axes
        rates, _ = best_networks(rows, "size_bytes", "algbw_simulated_gb_s").axes
    assert [axes.get_title() for axes in (small, large)] == ["1KB", "1MB"]
    assert list(small.get_lines()[0].get_xdata()) == [8, 16]
    assert list(small.get_lines()[0].get_ydata()) == [0.003, 0.004]
    assert list(large.get_lines()[0].get_ydata()) == [3.0, 4.0]
    assert list(rates.get_lines()[0].get_ydata()) == [1 / 3, 1 / 4]
    assert small.get_ylabel() == "simulated time (ms)"
    assert small.yaxis.get_major_formatter()(0.004, 0) == "4"
