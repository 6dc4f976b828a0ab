"""Machines of which links are dead."""

from collections.abc import Collection
from dataclasses import replace

from forestcoll.topology import Topology, load_topology


def without(spec: str, *dead: str) -> Topology:
    """Load a topology and take links away.

    Parameters
    ----------
    spec : str
    dead : str
        "a - b" for both directions of a link, "a > b" for one.
    """
    topology = load_topology(spec)
    gone = {ends for text in dead for ends in _ends(text)}
    names = [node.name for node in topology.nodes]
    kept = tuple(e for e in topology.links if (names[e.tail], names[e.head]) not in gone)
    if len(topology.links) - len(kept) != len(gone):
        raise ValueError(f"{spec} has not all of the links {', '.join(dead)}")
    return replace(topology, name=f"{spec} without {', '.join(dead)}", links=kept)


def _ends(text: str) -> Collection[tuple[str, str]]:
    if " > " in text:
        tail, _, head = text.partition(" > ")
        return [(tail, head)]
    one, _, other = text.partition(" - ")
    return [(one, other), (other, one)]
