"""Simulations as Gantt charts."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from forestcoll import compile_program, generate
from forestcoll.draw import draw_timeline
from forestcoll.draw.canvas import INK
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.simulate import AlphaBeta, Simulator
from tests.experiments.figures.described import faults


def drawn(spec: str, chunks: int, collective: str = "allgather", **model: object) -> Figure:
    program = compile_program(generate(spec, collective=collective, root=None).schedule)
    found = Simulator(program).run(10**6, AlphaBeta(**model), chunks, timeline=True)  # type: ignore[arg-type]
    return draw_timeline(found, program)


def bars(figure: Figure) -> list[PolyCollection]:
    return [one for one in figure.axes[0].collections if isinstance(one, PolyCollection)]


def edges(one: PolyCollection) -> list[tuple[float, float]]:
    """Begin and end of each bar."""
    paths = [path.vertices[:, 0] for path in one.get_paths()]
    return [(float(x.min()), float(x.max())) for x in paths]


def test_a_one_way_ring_is_a_staircase() -> None:
    """Three hops of 1/4 MB in one chunk: 10 us of latency and 250 us of data, one after another."""
    figure = drawn("ring:nodes=4,bandwidth=1,bidirectional=false", 1)
    axes = figure.axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [f"gpu{i} -> gpu{i + 1}, data of gpu0" for i in range(3)]
    waits, sent, frames = bars(figure)[0::3], bars(figure)[1::3], bars(figure)[2::3]
    for hop in range(3):
        begin = 260 * hop
        assert edges(waits[hop])[0] == pytest.approx((begin, begin + 10))
        assert edges(sent[hop])[0] == pytest.approx((begin + 10, begin + 260))
        assert edges(frames[hop])[0] == pytest.approx((begin + 10, begin + 260))
    assert [text.get_text() for text in axes.texts if "x" in text.get_text()] == ["x 4"] * 3
    assert axes.get_xlabel() == "time, us, simulated"
    assert axes.get_xlim()[1] == pytest.approx(780)
    assert len(figure.axes) == 1  # one pipeline chunk needs no scale of colours


def test_pipeline_chunks_are_numbered_and_darker_one_by_one() -> None:
    figure = drawn("ring:nodes=4,bandwidth=1,bidirectional=false", 4)
    numbers = [text.get_text() for text in figure.axes[0].texts if "x" not in text.get_text()]
    assert numbers == ["1", "2", "3", "4"] * 3
    shades = np.array(bars(figure)[1].get_facecolor())[:, :3].sum(axis=1)
    assert (np.diff(shades) < 0).all()
    assert figure.axes[1].get_ylabel() == "pipeline chunk"
    assert not faults(figure, 4)


@pytest.mark.slow
def test_the_chain_that_ends_last_is_shown_of_many_rows() -> None:
    """At most 40 rows; what is left out is counted; its chain goes from 0 to the makespan."""
    figure = drawn("mi250:boxes=2", 3, "allreduce", gamma_s_per_gb="1/100", window=2)
    axes = figure.axes[0]
    assert len(axes.get_yticklabels()) == 40
    assert "; not shown: " in axes.get_xlabel()
    framed = [one for one in bars(figure) if to_hex([*one.get_edgecolor(), INK][0]) == INK]
    ends = [end for one in framed for _, end in edges(one)]
    assert max(ends) == pytest.approx(axes.get_xlim()[1])
    entries = [text.get_text() for text in figure.legends[0].get_texts()]
    assert entries[2:] == ["is added", "the chain that ends last"]
    assert not faults(figure, 4)


def test_a_simulation_without_a_timeline_is_refused() -> None:
    program = compile_program(generate("ring:nodes=4").schedule)
    with pytest.raises(InvalidParameterError, match="has no timeline to draw"):
        draw_timeline(Simulator(program).run(10**6), program)
