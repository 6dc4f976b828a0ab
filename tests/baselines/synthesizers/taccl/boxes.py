"""Small random networks of boxes, and sketches that fit them."""

import random
from dataclasses import replace
from fractions import Fraction

from baselines.synthesizers.taccl.sketch import Sketch
from forestcoll.topology import Topology, TopologyBuilder

Arc = tuple[str, str]

INSIDE = ("links", "a switch", "a switch and a link", "two switches")
BETWEEN = ("one switch", "a switch for each number", "links", "one NIC a box", "one link")
ANY_TO_ANY = ("one switch", "one NIC a box", "one link")


def random_boxes(chance: random.Random) -> tuple[Topology, Sketch]:
    """Draw one to three boxes of two to four GPUs, and a sketch that joins all of them.

    Where all GPUs of all boxes meet, boxes may have nothing of their own. In "one link" what leaves
    any GPU for another box takes the same link between two switches.
    """
    boxes, size = chance.randint(1, 3), chance.randint(2, 3)
    between = chance.choice(BETWEEN) if boxes > 1 else "nothing"
    inside = chance.choice(INSIDE + ("nothing",) * (between in ANY_TO_ANY))
    if inside == "two switches":
        size = 4
    if between == "one link":
        size = 2
    planes = 0 if inside == "links" else chance.randint(1, 2)
    sketch = Sketch(
        source="random",
        boxes=(boxes,),
        local="switch" if planes else "none",
        switches=(tuple(range(size)),) * planes,
    )
    if boxes > 1:
        sketch = _joined(sketch, chance, size, any_to_any=between in ANY_TO_ANY)
    arcs = _between(boxes, size, between)
    for box in range(boxes):
        arcs += _within(f"{box}.", size, inside)
    return _built(f"{boxes} boxes of {size}: {inside}, {between}", arcs, chance), sketch


def _both(arcs: list[Arc]) -> list[Arc]:
    return arcs + [(b, a) for a, b in arcs]


def _within(box: str, size: int, inside: str) -> list[Arc]:
    """What joins the GPUs of a box; of two switches each has half of them."""
    gpus = [f"{box}{i}" for i in range(size)]
    if inside == "links":
        return _both([(gpus[i], gpus[i + 1]) for i in range(size - 1)])
    if inside == "nothing":
        return []
    if inside == "two switches":
        joined = [(gpu, f"switch{box}{i % 2}") for i, gpu in enumerate(gpus)]
        return _both([*joined, (f"switch{box}0", f"switch{box}1")])
    link = [(gpus[0], gpus[1])] * (inside == "a switch and a link")
    return _both(link + [(gpu, f"switch{box}") for gpu in gpus])


def _between(boxes: int, size: int, between: str) -> list[Arc]:
    """What joins the boxes."""
    places = [(b, i) for b in range(boxes) for i in range(size)]
    if between == "one switch":
        return _both([(f"{b}.{i}", "net") for b, i in places])
    if between == "a switch for each number":
        return _both([(f"{b}.{i}", f"net{i}") for b, i in places])
    if between == "links":
        return _both([(f"{b}.{i}", f"{a}.{i}") for b, i in places for a in range(b)])
    if between == "one NIC a box":
        up = [(f"nic{b}", "net") for b in range(boxes)]
        return _both([*up, *((f"{b}.{i}", f"nic{b}") for b, i in places)])
    if between == "one link":
        there = [(f"{b}.{i}", "in") for b, i in places]
        return [*there, ("in", "out"), *(("out", gpu) for gpu, _ in there)]
    return []


def _joined(sketch: Sketch, chance: random.Random, size: int, *, any_to_any: bool) -> Sketch:
    """Let GPUs send to their like, or where all meet also to others."""
    pattern = chance.choice(["direct-map", "some", "fully-connected"][: 2 + any_to_any])
    if pattern != "some":
        return replace(sketch, pattern=pattern)
    senders = sorted(chance.sample(range(size), chance.randint(1, size)))
    count = chance.randint(1, size)
    receivers = {u: tuple(chance.sample(range(size), count)) for u in senders}
    return replace(sketch, connections=receivers if any_to_any else {u: (u,) for u in senders})


def _built(name: str, arcs: list[Arc], chance: random.Random) -> Topology:
    """Build what is joined; GPUs have a number and a point in front. No two arcs are alike."""
    builder = TopologyBuilder()
    for node in sorted({end for arc in arcs for end in arc}):
        if node[0].isdecimal():
            box, index = map(int, node.split("."))
            builder.gpu(node, box, index)
        else:
            builder.switch(node)
    for tail, head in arcs:
        builder.arc(tail, head, Fraction(chance.randint(2, 12), 2), chance.randint(0, 3))
    return builder.build(name)
