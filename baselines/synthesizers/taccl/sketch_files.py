"""Sketches by name, from a file, or derived from the network.

Source:  Shah et al., TACCL (NSDI 2023), section 6. The sketches for DGX-2 and NDv2 are rewritten
         from there; the others, and the derivation, are ours.

Rules of "auto": a box whose GPUs are not joined by links has its switch as a hyper-edge. A GPU
sends to the GPU of the same number in other boxes if all boxes have such paths; otherwise senders
and receivers are paired in order. Offsets that map all links to links of equal cost are the
symmetry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from baselines.networks.switch_paths import Router
from baselines.synthesizers.taccl.logical_network import LogicalNetwork, equal_boxes
from baselines.synthesizers.taccl.sketch import NO_CONNECTIONS, Connections, Sketch, sketch_of
from forestcoll.bounded_read import read_text_at_most
from forestcoll.errors import InvalidParameterError, UnsupportedError, did_you_mean
from forestcoll.topology.model import Topology
from forestcoll.topology.reading.documents import parse_json, parse_yaml

__all__ = ["AUTO", "SHIPPED", "drawn", "find_sketch"]

AUTO = "auto"

_Costs = Mapping[tuple[int, int, int], tuple[Fraction, Fraction]]
"""Latency and time of a chunk, by tail, head and plane."""

_FOLDER = Path(__file__).parent / "sketches"

SHIPPED = tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))
"""Names of the shipped sketches."""

_MOST_BYTES = 1_000_000  # those of the public code have a few thousand

_SUFFIXES = (".yaml", ".yml", ".json")


def find_sketch(word: str, topology: Topology) -> Sketch:
    """Return the sketch of a name, a file or "auto".

    Raises
    ------
    InvalidParameterError
        If the name is unknown, or the file cannot be read or is no sketch.
    """
    if word == AUTO:
        return drawn(topology)
    if word in SHIPPED:
        return _read(_FOLDER / f"{word}.yaml")
    path = Path(word)
    if path.suffix.lower() in _SUFFIXES:
        return _read(path)
    hint = did_you_mean(word, [AUTO, *SHIPPED], f"they are {AUTO}, {', '.join(SHIPPED)}")
    raise InvalidParameterError(
        f"sketch is {word!r}, neither a file ({', '.join(_SUFFIXES)}) nor a sketch of ours; {hint}"
    )


def _read(path: Path) -> Sketch:
    text = read_text_at_most(path, _MOST_BYTES, InvalidParameterError)
    parse = parse_json if path.suffix.lower() == ".json" else parse_yaml
    return sketch_of(parse(text, str(path), InvalidParameterError))


def drawn(topology: Topology) -> Sketch:
    """Derive a sketch from a network.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> sketch = drawn(load_topology("dgx_a100:boxes=2"))
    >>> sketch.local, sketch.pattern, sketch.symmetry
    ('switch', 'direct-map', ((1, 8), (8, 0)))
    """
    boxes = equal_boxes(topology)
    router = Router(topology)
    switches = _switches(topology, router, boxes)
    connections = _connections(topology, router, boxes) if len(boxes) > 1 else NO_CONNECTIONS
    direct = len(boxes) > 1 and connections == {i: (i,) for i in range(len(boxes[0]))}
    sketch = Sketch(
        source=f"the sketch drawn of {topology.name}",
        boxes=(len(boxes),),
        local="switch" if switches else "none",
        switches=switches,
        connections=NO_CONNECTIONS if direct else connections,
        pattern="direct-map" if direct else "",
    )
    return replace(sketch, symmetry=tuple(_symmetries(topology, sketch, len(boxes[0]))))


def _switches(
    topology: Topology, router: Router, boxes: list[list[int]]
) -> tuple[tuple[int, ...], ...]:
    """Return one switch a box if links do not join all GPUs of each box but switches do.

    Raises
    ------
    UnsupportedError
        If neither do.
    """
    ends = [(link.tail, link.head) for link in topology.links]
    if all(_reached(ends, box[0], box, back=back) for box in boxes for back in (False, True)):
        return ()
    if not all(router.hops(u, v) for box in boxes for u in box for v in box if u != v):
        raise UnsupportedError(
            f"unsupported: {topology.name}: neither do links join all GPUs of a box nor switches "
            f"any two of them, so taccl draws no sketch of it; write one"
        )
    return (tuple(range(len(boxes[0]))),)


def _reached(ends: list[tuple[int, int]], first: int, box: list[int], *, back: bool) -> bool:
    inside = set(box)
    seen, todo = {first}, [first]
    for gpu in todo:  # grows on the way
        for tail, head in ends:
            if back:
                tail, head = head, tail
            if tail == gpu and head in inside and head not in seen:
                seen.add(head)
                todo.append(head)
    return seen == inside


def _connections(topology: Topology, router: Router, boxes: list[list[int]]) -> Connections:
    """Connect GPUs of equal number if all boxes have such paths, else pair GPUs that have a path.

    Raises
    ------
    UnsupportedError
        If no pair has a path.
    """

    def joined(sender: int, receiver: int) -> bool:
        return all(
            one is other or router.hops(one[sender], other[receiver])
            for one in boxes
            for other in boxes
        )

    numbers = range(len(boxes[0]))
    likes = {i: (i,) for i in numbers if joined(i, i)}
    if likes:
        return MappingProxyType(likes)
    pairs: dict[int, tuple[int, ...]] = {}
    for i in numbers:
        taken = {receiver for (receiver,) in pairs.values()}
        receivers = [j for j in numbers if j not in taken and joined(i, j)]
        if receivers:
            pairs[i] = (receivers[0],)
    if not pairs:
        raise UnsupportedError(
            f"unsupported: {topology.name}: no GPU of a box reaches the same GPU of all others by "
            f"switches, so taccl draws no sketch of it; write one"
        )
    return MappingProxyType(pairs)


def _symmetries(topology: Topology, sketch: Sketch, size: int) -> Iterator[tuple[int, int]]:
    """Yield offsets that map all links to links of equal cost.

    The least within a box, the least within blocks of that size, and so on; then from box to box.
    """
    network = LogicalNetwork.of(topology, sketch, Fraction(1), exact=True)
    cost = {(u.tail, u.head, u.plane): (u.latency_us, u.busy_us) for u in network.links}
    block = size
    while block > 1:
        offsets = [offset for offset in range(1, block) if block % offset == 0]
        fits = [o for o in offsets if _is_symmetry(network.gpus, cost, o, block)]
        if fits:
            yield fits[0], block
        block = fits[0] if fits else offsets[-1]
    if network.boxes > 1 and _is_symmetry(network.gpus, cost, size, network.gpus):
        yield size, 0


def _is_symmetry(gpus: int, cost: _Costs, offset: int, block: int) -> bool:
    def rotated(place: int) -> int:
        return (place % block + offset) % block + place // block * block

    image = [rotated(place) for place in range(gpus)]
    return all(
        cost.get((image[tail], image[head], plane)) == each
        for (tail, head, plane), each in cost.items()
    )
