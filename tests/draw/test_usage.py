"""The use of links over time."""

import pytest

from forestcoll import compile_program, generate, load_topology
from forestcoll.draw import draw_usage
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.simulate import AlphaBeta, Simulator


def test_links_that_are_used_alike_are_one_row() -> None:
    """Of two boxes there are two kinds, 32 links each; the time is that of the simulation."""
    topology = load_topology("dgx_a100:boxes=2")
    found = Simulator(compile_program(generate(topology).schedule)).run(
        10**9, pipeline_chunks=4, bins=50
    )
    figure = draw_usage(found, topology)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "b0.gpu0 -> b0.nvswitch  and 31 like it",
        "b0.gpu0 -> ib  and 31 like it",
    ]
    assert axes.get_xlim()[1] == pytest.approx(found.time_s * 1e3)
    assert axes.get_xlabel() == "time, ms, simulated"
    (image,) = axes.images
    data = image.get_array()
    assert data is not None
    assert data.shape[0] == 2
    assert 0.9 < data.max() <= 1 + 1e-6
    (title,) = [text.get_text() for text in figure.texts]
    assert (
        title == "dgx_a100:boxes=2, 1000000000 in 4 pipeline chunks: simulated, alpha 10 us, fair"
    )


def test_the_busiest_of_many_links_are_shown() -> None:
    """How many are left out is said below."""
    topology = load_topology("mi250:boxes=2")
    found = Simulator(compile_program(generate(topology).schedule)).run(
        10**6, AlphaBeta(alpha_us=1), bins=200
    )
    axes = draw_usage(found, topology).axes[0]
    assert len(axes.get_yticklabels()) == 40
    shown = "not shown: "
    assert shown in axes.get_xlabel()
    assert axes.get_xlabel().startswith("time, us, simulated")


def test_without_a_usage_there_is_no_picture() -> None:
    topology = load_topology("ring:nodes=3")
    found = Simulator(compile_program(generate(topology).schedule)).run(10**6)
    with pytest.raises(InvalidParameterError, match="no use of links to draw"):
        draw_usage(found, topology)
