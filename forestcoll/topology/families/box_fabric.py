"""Placeholder until the branch of the fabrics is merged."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.topology.builder import TopologyBuilder


def join_boxes(
    builder: TopologyBuilder, ports: Sequence[Sequence[tuple[str, Fraction]]], fabric: str
) -> None:
    """Join boxes by rails."""
    assert fabric == "rails"
    widest = max(map(len, ports))
    rails = [builder.switch(f"rail{i}", None, i) for i in range(widest)]
    for box in ports:
        for i, (node, width) in enumerate(box):
            builder.link(node, rails[i], width)
