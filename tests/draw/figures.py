"""Networks to draw, and what to look for on a picture."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import matplotlib.colors as mcolors
from matplotlib.figure import Figure
from matplotlib.patches import ArrowStyle, FancyArrowPatch

from forestcoll.topology import Topology, load_topology

SPECS = [
    "dgx_a100:boxes=1",
    "dgx_a100:boxes=4",
    "dgx_a100:boxes=2,ib_switches=2,nics=nodes",
    "mi250:boxes=2",
    "mi250:boxes=3,gpus_per_box=8",
    "paper_example",
    "ring:nodes=8",
    "torus:dims=4x4",
    "torus:dims=3x3x3",
    "hypercube:dimension=4",
    "complete:nodes=5",
    "fat_tree:leaves=4,hosts=4,spines=2",
    "rail_optimized:boxes=3,spines=2",
    "rail_optimized:boxes=16,spines=4",
    "fat_tree:leaves=8,hosts=16,spines=4",
    "fat_tree:leaves=3,hosts=40,spines=2",
    "mi250:boxes=1",
    "torus:dims=8x8",
    "torus:dims=4x5x4",
    "hypercube:dimension=5",
    "dgx2:chassis=2",
    "dgx_a100:boxes=16",
    "nvl72:racks=1",
]


def damaged(spec: str, harm: Mapping[str, Fraction | None]) -> Topology:
    """A network with some links, "tail head", slower or gone."""
    topology = load_topology(spec)
    links = []
    for link in topology.links:
        name = f"{topology.nodes[link.tail].name} {topology.nodes[link.head].name}"
        left = harm.get(name, link.bandwidth_gb_s)
        links += [] if left is None else [replace(link, bandwidth_gb_s=left)]
    return replace(topology, links=tuple(links))


def patches(figure: Figure, kind: type, colour: str | None = None) -> list:
    return [
        patch
        for patch in figure.axes[0].patches
        if isinstance(patch, kind)
        and (colour is None or mcolors.same_color(patch.get_edgecolor(), colour))
    ]


def arrows(figure: Figure) -> list:
    """The links with a head."""
    return [
        line
        for line in patches(figure, FancyArrowPatch)
        if isinstance(line.get_arrowstyle(), ArrowStyle.CurveFilledB)
    ]


def texts(figure: Figure) -> list[str]:
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    written = [text.get_text() for text in [*figure.texts, *figure.axes[0].texts]]
    return legends + written
