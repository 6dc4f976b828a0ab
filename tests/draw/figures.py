"""Networks to draw, and what to look for on a picture."""

from __future__ import annotations

import matplotlib.colors as mcolors
from matplotlib.figure import Figure

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
]


def patches(figure: Figure, kind: type, colour: str | None = None) -> list:
    return [
        patch
        for patch in figure.axes[0].patches
        if isinstance(patch, kind)
        and (colour is None or mcolors.same_color(patch.get_edgecolor(), colour))
    ]


def texts(figure: Figure) -> list[str]:
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    written = [text.get_text() for text in [*figure.texts, *figure.axes[0].texts]]
    return legends + written
