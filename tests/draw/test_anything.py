"""``forestcoll.draw``: whatever the toolkit returns has a picture."""

import networkx as nx
import pytest
from matplotlib.figure import Figure

import forestcoll
import forestcoll.draw
from baselines.registry import METHODS
from forestcoll.draw import canvas
from forestcoll.draw.anything import draw
from forestcoll.errors import InvalidParameterError, UnsupportedError

BOXES = "dgx_a100:boxes=2"
TOPOLOGY = forestcoll.load_topology(BOXES)
FOREST = forestcoll.generate(BOXES).schedule
PAIR = nx.DiGraph([("a", "b", {"bandwidth_gb_s": 1}), ("b", "a", {"bandwidth_gb_s": 1})])

TITLES = {
    "network": (BOXES, BOXES),
    "topology": (TOPOLOGY, BOXES),
    "graph": (PAIR, "graph"),
    "optimum": (forestcoll.optimum(BOXES), BOXES),
    "fixed k": (forestcoll.optimum("ring:nodes=4", k=1), "ring:nodes=4"),
    "allreduce bound": (forestcoll.optimum(BOXES, collective="allreduce"), BOXES),
    "time bound": (forestcoll.time_bound("ring:nodes=4", "allgather", 2**20), "ring:nodes=4"),
    "cut": (forestcoll.optimum(BOXES).bottleneck, BOXES),
    "tight cut": (forestcoll.tightest_cuts(BOXES)[0], BOXES),
    "tight cuts": (forestcoll.tightest_cuts(BOXES), BOXES),
    "compared cut": (forestcoll.compare_cut(TOPOLOGY, "b0.*"), BOXES),
    "result": (forestcoll.generate(BOXES), f"{BOXES}, tree 0: "),
    "forest": (FOREST, f"{BOXES}, tree 0: "),
    "factored": (forestcoll.generate(BOXES, factored=True).schedule, f"{BOXES}, tree 0: "),
    "allreduce": (forestcoll.generate(BOXES, collective="allreduce"), f"{BOXES}, tree 0: "),
    "replanned": (forestcoll.replan(FOREST, TOPOLOGY.without("b0.gpu3 - ib")), f"{BOXES} without"),
    "steps": (METHODS["bruck"].run(TOPOLOGY), f"{BOXES}, 64MB in 1 pipeline chunk"),
    "program": (forestcoll.compile_program(FOREST), f"{BOXES}, 64MB in 1 pipeline chunk"),
    "outcomes": (forestcoll.failures(BOXES), f"{BOXES}, allgather"),
    "upgrades": (forestcoll.upgrades("dgx_a100:boxes=4"), "dgx_a100:boxes=4, allgather"),
    "outcome": (forestcoll.failures(BOXES)[-1], f"{BOXES} without"),
    "stopped": (forestcoll.failures(BOXES)[0], f"{BOXES} without ib"),
    "depths": (forestcoll.rate_by_depth(BOXES), f"{BOXES}, allgather: rate by depth"),
    "k": (forestcoll.best_k("ring:nodes=4", 2), "rate by k"),
}


def title(figure: Figure) -> str:
    written = [*figure.texts, *([figure._suptitle] if figure._suptitle else [])]
    return " ".join(text.get_text() for text in written) + figure.axes[0].get_title()


@pytest.mark.parametrize("name", TITLES)
def test_an_object_is_drawn_with_what_it_is(name: str) -> None:
    shown, expected = TITLES[name]
    figure = forestcoll.draw(shown)
    assert isinstance(figure, Figure)
    assert expected in title(figure)


def test_the_package_stays_a_package() -> None:
    """``import forestcoll.draw`` gives what ``forestcoll.draw`` is, and both can be called."""
    assert forestcoll.draw.draw_topology(BOXES).axes
    assert forestcoll.draw.__name__ == "forestcoll.draw"


def test_a_number_chooses_the_tree_or_the_cut() -> None:
    assert "tree 3" in title(draw(FOREST, 3))
    second = forestcoll.tightest_cuts("dgx_a100:boxes=4")
    assert draw(second, number=1).texts[1].get_text() == draw(second[1]).texts[1].get_text()


def test_a_simulation_is_drawn_on_its_network() -> None:
    run = forestcoll.simulate(FOREST, "1MB", bins=20)
    assert title(draw(run, BOXES)) == title(draw(run, FOREST))
    assert "1MB" in title(draw(run, BOXES))


def test_a_simulation_with_its_timeline_is_a_gantt_chart() -> None:
    """Drawn of the schedule, or of the program that was simulated."""
    run = forestcoll.simulate(FOREST, "1MB", timeline=True)
    charts = [draw(run, of) for of in (FOREST, forestcoll.compile_program(FOREST))]
    assert title(charts[0]) == title(charts[1])
    assert "b0.gpu0" in charts[0].axes[0].get_yticklabels()[0].get_text()


def test_what_has_no_picture_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="no drawing of Cost"):
        draw(forestcoll.cost(FOREST))


def test_an_object_with_a_figure_draws_itself() -> None:
    """As comparisons of baselines do, which this package does not know."""

    class Own:
        def figure(self) -> Figure:
            return Figure((1, 1))

    assert draw(Own()).get_size_inches().tolist() == [1, 1]


def test_a_picture_shows_without_a_backend_and_the_same_each_time() -> None:
    shown = [draw(TOPOLOGY)._repr_mimebundle_() for _ in range(2)]  # type: ignore[attr-defined]
    assert shown[0] == shown[1]
    assert shown[0]["image/svg+xml"].startswith("<svg")


def test_ipython_shows_one_image(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inline backend of matplotlib would add a PNG to it."""
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    draw(TOPOLOGY)._ipython_display_()  # type: ignore[attr-defined]
    assert [sorted(one) for one in shown] == [["image/svg+xml", "text/plain"]]


def test_a_wide_picture_shrinks_to_the_page_of_a_notebook() -> None:
    wide, narrow = (draw(one)._repr_mimebundle_()["image/svg+xml"] for one in (BOXES, PAIR))  # type: ignore[attr-defined]
    assert 'width="620pt"' in wide
    assert 'width="620pt"' not in narrow


@pytest.mark.slow
def test_a_very_large_picture_is_a_png(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas, "_MOST_SVG", 1000)
    shown = draw(BOXES)._repr_mimebundle_()  # type: ignore[attr-defined]
    assert shown["image/png"].startswith(b"\x89PNG")
    assert "image/svg+xml" not in shown


def test_arguments_that_its_drawing_has_not_are_refused() -> None:
    optimum = forestcoll.optimum("ring:nodes=4")
    with pytest.raises(InvalidParameterError, match=r"drawing of Optimum: too many .*save_figure"):
        draw(optimum, "cut.png")
    with pytest.raises(InvalidParameterError, match="unexpected keyword argument 'title'"):
        draw(optimum, title="mine")
    with pytest.raises(InvalidParameterError, match="cut of a network is 3; it must be a Cut"):
        draw("ring:nodes=4", 3)
    run = forestcoll.simulate(forestcoll.generate("ring:nodes=4"), "1MB", bins=4)
    with pytest.raises(InvalidParameterError, match=r"draw\(simulation, schedule\)"):
        draw(run)
