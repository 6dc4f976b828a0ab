"""Pictures of cuts over time."""

from collections import Counter

import matplotlib.colors as mcolors
import pytest
from matplotlib.patches import Circle, FancyArrowPatch

from forestcoll import time_bound
from forestcoll.draw import draw_time_bound
from forestcoll.draw.canvas import CROSSING
from tests.draw.figures import arrows, patches, texts
from tests.hand_networks import network_of


def test_nodes_turn_from_dark_to_light() -> None:
    """Two A100 boxes, 4 MB: the GPUs of box 1 at 0, of box 0 at 18.75 us, GPU 0 at 28.75 us."""
    figure = draw_time_bound(time_bound("dgx_a100:boxes=2", size=4_000_000))
    fills = Counter(mcolors.to_hex(disc.get_facecolor()) for disc in patches(figure, Circle))
    grey = {fill: sum(mcolors.to_rgb(fill)) for fill in fills}
    assert [fills[fill] for fill in sorted(fills, key=grey.__getitem__)] == [8, 7, 1]
    assert mcolors.to_hex("white") in fills
    written = "\n".join(texts(figure))
    for words in (
        "from 0 us: 8 nodes",
        "from 10 us: 1 node",
        "from 18.75 us: 8 nodes",
        "from 28.75 us: 2 nodes",
        "9 links across, for 8.75 to 10 us",
        "at least 28.75 us",
        "2000000 bytes of GPUs 0-7 of box 1 must reach GPU 0 of box 0",
    ):
        assert words in written
    assert len(patches(figure, FancyArrowPatch, CROSSING)) == 9


def test_a_reduction_is_drawn_with_its_own_links() -> None:
    """Times before the end; arrows point where the data go: out of the GPU that sends last."""
    bound = time_bound("dgx_a100:boxes=2", "reduce-scatter", 4_000_000)
    figure = draw_time_bound(bound)
    assert any("us before the end: 8 nodes" in text for text in texts(figure))
    assert len(patches(figure, FancyArrowPatch, CROSSING)) == len(bound.crossing) == 9


def test_equal_boxes_are_folded_if_their_labels_are() -> None:
    figure = draw_time_bound(time_bound("dgx_a100:boxes=16", size=4_000_000))
    assert "boxes 1-15 (x 15)" in texts(figure)


def test_many_labels_have_a_short_legend() -> None:
    """The first and the last three of a path of 9."""
    path = network_of("g0..8", ", ".join(f"g{i} - g{i + 1}" for i in range(8)))
    figure = draw_time_bound(time_bound(path, size=100))
    legend = [text for text in texts(figure) if text.startswith("from ")]
    assert len(legend) == 6
    assert legend[0] == "from 0 us: 1 node"


@pytest.mark.parametrize("collective", ["broadcast", "allreduce"])
def test_a_rate_after_a_delay_is_said_in_words(collective: str) -> None:
    """Of trees with the widest cut, of sums without."""
    fan = network_of("r a b c [s]", "r > s: 1 1, s > a b c: 1 1")
    given = {"root": "r"} if collective == "broadcast" else {}
    network = fan if given else "torus:dims=3x3"
    size = 10_000 if given else 10**9
    figure = draw_time_bound(time_bound(network, collective, size, 2, **given))
    assert any("links carry nothing of use" in text for text in texts(figure))
    assert bool(arrows(figure)) == bool(given)


def test_of_gossip_one_set_is_drawn_with_its_links() -> None:
    """64 KB on two A100 boxes: 8 GPUs and an NVSwitch, and their 8 links to the network."""
    bound = time_bound("dgx_a100:boxes=2", "allreduce", "64KB")
    figure = draw_time_bound(bound)
    assert any("must go 2 times between 2 sets" in text for text in texts(figure))
    fills = Counter(mcolors.to_hex(disc.get_facecolor()) for disc in patches(figure, Circle))
    assert 8 in fills.values()
    assert patches(figure, FancyArrowPatch, CROSSING)


def test_of_passes_one_set_is_drawn_with_its_links() -> None:
    """Three GPUs on a switch that multicasts: the first one, and its link both ways."""
    three = network_of("a b c [s*]", "a b c - s: 1")
    figure = draw_time_bound(time_bound(three, "allreduce", 10_000, one_pass=False))
    written = "\n".join(texts(figure))
    assert "at least 23.3333 us if no switch reduces and multicasts in one pass" in written
    assert "must leave each of 3 sets of GPUs" in written
    fills = Counter(mcolors.to_hex(disc.get_facecolor()) for disc in patches(figure, Circle))
    assert sorted(fills.values()) == [1, 2]
    assert len(patches(figure, FancyArrowPatch, CROSSING)) == 2
