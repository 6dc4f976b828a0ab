"""Dense networks as matrices."""

import pytest

from forestcoll.core.optimality import optimum
from forestcoll.draw import draw_topology
from forestcoll.draw.canvas import CROSSING, Line
from forestcoll.draw.matrix import as_square, is_dense, matrix_canvas
from forestcoll.problem.cuts import Cut
from forestcoll.topology import load_topology
from tests.draw.figures import texts


def squares(axes: object) -> dict[str, set[tuple[int, int]]]:
    """(sender, receiver) of the squares by colour."""
    return {
        line.get_color(): {(int(y), int(x)) for x, y in line.get_xydata()}
        for line in axes.lines  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize(
    ("spec", "dense"),
    [
        ("random_regular:nodes=64,degree=8", True),
        ("kautz:degree=2,length=3", False),
        ("dgx_a100:boxes=16", False),
        ("mi250:boxes=2", False),
    ],
)
def test_many_links_between_gpus_without_boxes_are_dense(spec: str, dense: bool) -> None:
    assert is_dense(load_topology(spec)) is dense


def test_each_link_of_a_dense_network_is_a_square() -> None:
    topology = load_topology("random_regular:nodes=64,degree=8")
    figure = draw_topology(topology)
    (found,) = squares(figure.axes[0]).values()
    assert found == {(link.tail, link.head) for link in topology.links}
    assert "1 GB/s each direction" in texts(figure)


def test_links_that_leave_a_cut_have_its_colour() -> None:
    topology = load_topology("kautz:degree=2,length=5")
    cut = Cut(topology, optimum(topology).cut)
    found = squares(draw_topology(topology, cut).axes[0])
    assert found[CROSSING] == {(link.tail, link.head) for link in cut.exit_links}
    assert sum(map(len, found.values())) == len(topology.links)


def test_a_line_without_a_head_is_two_squares_and_inner_rows_are_shaded() -> None:
    topology = load_topology("ring:nodes=4")
    line = Line(colour="#123456", width=1)
    canvas = matrix_canvas(topology, {(0, 1): line}, {2}, "#abcdef")
    assert squares(canvas.axes) == {"#123456": {(0, 1), (1, 0)}}
    (shaded,) = canvas.axes.patches
    assert (shaded.get_y(), shaded.get_height()) == (1.5, 1)


def test_rows_and_columns_are_numbered_by_twos_from_41_on() -> None:
    for nodes, step in [(40, 1), (41, 2), (128, 5)]:
        canvas = matrix_canvas(load_topology(f"ring:nodes={nodes}"), {}, (), "")
        labels = [label.get_text() for label in canvas.axes.get_xticklabels()]
        assert labels == [str(v) for v in range(0, nodes, step)]


def test_entries_of_lines_become_squares() -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    made = as_square(Line2D([], [], c="red", lw=3, label="fast"))
    assert isinstance(made, Line2D)
    assert (made.get_marker(), made.get_color(), made.get_label()) == ("s", "red", "fast")
    patch = Patch(label="inside")
    assert as_square(patch) is patch
