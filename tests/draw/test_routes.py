"""Where links run: never behind a node."""

import numpy as np
import pytest

from forestcoll.draw.folding import fold
from forestcoll.draw.layouts.layout import lay_out
from forestcoll.draw.layouts.places import Layout, Place
from forestcoll.draw.routes import Route, clearance, routes
from forestcoll.topology import load_topology
from tests.baselines.once_each import every
from tests.draw.figures import SPECS

CLEAR = [*SPECS, "hypercube:dimension=6", "ndv2:chassis=2", "dgx1", "kautz:degree=2,length=2"]


@pytest.mark.parametrize("spec", every(2, CLEAR))
def test_no_link_is_drawn_behind_a_node(spec: str) -> None:
    """Neither behind the disc of a GPU nor behind the bar of a switch that it does not join."""
    topology = fold(load_topology(spec)).topology
    layout = lay_out(topology)
    pairs = [(link.tail, link.head) for link in topology.links if link.tail < link.head]
    found = routes(layout, pairs)
    assert set(found) == set(pairs)
    assert min(clearance(route, pair, layout.places) for pair, route in found.items()) > 0


def test_links_curve_around_nodes_and_are_straight_otherwise() -> None:
    """Three GPUs in a row: the ends are joined by a curve, neighbours by a line of two points."""
    layout = Layout({0: Place(0, 0), 1: Place(1, 0), 2: Place(2, 0)})
    found = routes(layout, [(0, 2), (0, 1)])
    assert found[0, 1].points == ((0, 0), (1, 0))
    assert len(found[0, 2].points) == 3
    assert clearance(found[0, 2], (0, 2), layout.places) > 0
    assert clearance(Route(((0, 0), (2, 0))), (0, 2), layout.places) == pytest.approx(
        -0.16, abs=0.04
    )


def test_links_of_unlike_speed_are_beside_each_other() -> None:
    """There and back, bent to different sides."""
    layout = Layout({0: Place(0, 0), 1: Place(2, 0)})
    found = routes(layout, [(0, 1), (1, 0)], [(0, 1), (1, 0)])
    assert found[0, 1].points[1][1] == -found[1, 0].points[1][1] != 0


def test_a_lane_is_taken_in_both_directions() -> None:
    """The corners in order, and the other way round; a bar is met at its edge."""
    layout = Layout({0: Place(0, 0), 1: Place(2, 2, 1.0)}, lanes={(0, 1): ((0.0, 1.0), (2.0, 1.0))})
    found = routes(layout, [(0, 1), (1, 0)])
    assert found[0, 1].points == ((0, 0), (0.0, 1.0), (2.0, 1.0), (2.0, 1.88))
    assert found[1, 0].points == found[0, 1].points[::-1]


def test_an_arrow_ends_before_the_disc_that_would_hide_its_head() -> None:
    """A fifth of an inch before, on a line and on a curve."""
    for points in (((0.0, 0.0), (2.0, 0.0)), ((0.0, 0.0), (1.0, 0.5), (2.0, 0.0))):
        last = Route(points).shortened(0.2).points[-1]
        assert np.hypot(last[0] - 2, last[1]) == pytest.approx(0.2, abs=0.01)
