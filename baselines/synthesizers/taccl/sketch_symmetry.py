"""Variables that the symmetry of a sketch makes equal.

Output:  the class of every (chunk, link), and of every (chunk, GPU).
Source:  Shah et al., TACCL (NSDI 2023), section 3.3, and the rule of its public code: under
         [offset, size], transfers over links within a block of that size equal those one offset
         further, and so do the arrival times of chunks.

One variable stands for a class, where the public code has equations: fewer columns and rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from baselines.synthesizers.taccl.exchange import Exchange
from baselines.synthesizers.taccl.logical_network import LogicalLink, LogicalNetwork
from baselines.synthesizers.taccl.sketch import Sketch
from forestcoll.errors import InvalidParameterError

__all__ = ["Classes", "classes_of"]

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes by chunk and link, and by chunk and GPU, each numbered from 0.

    Parameters
    ----------
    sent : int array, C x links
    start : int array, C x GPUs
    """

    sent: _Ints
    start: _Ints


def classes_of(network: LogicalNetwork, exchange: Exchange, sketch: Sketch) -> Classes:
    """Find the classes.

    Raises
    ------
    InvalidParameterError
        If an offset does not fit the network, or maps a link to none or to one of another cost.
    """
    chunks, links = len(exchange), len(network.links)
    sent: list[tuple[_Ints, _Ints]] = []
    start: list[tuple[_Ints, _Ints]] = []
    for offset, stated in sketch.symmetry:
        size = stated or network.gpus
        if not stated and offset % size == 0:
            continue  # of a sketch for several numbers of boxes
        named = f"{sketch.source}: symmetry_offsets has [{offset}, {stated or 'all'}]"
        if network.gpus % size or offset >= size:
            raise InvalidParameterError(
                f"{named}, but {network.topology.name} has {network.gpus} GPUs; the size must "
                f"divide them and be more than the offset"
            )
        places = np.arange(network.gpus)
        rotated = (places % size + offset) % size + places // size * size
        images = _images(network, rotated, size, named)
        chunk = _chunks(exchange, rotated)
        within = np.flatnonzero(images >= 0)
        every = np.arange(chunks)[:, None]
        sent.append(
            ((every * links + within).ravel(), (chunk[:, None] * links + images[within]).ravel())
        )
        gpus = network.gpus
        # Arrivals are equated at all GPUs, also where links between blocks are not.
        start.append(((every * gpus + places).ravel(), (chunk[:, None] * gpus + rotated).ravel()))
    return Classes(
        sent=_joined(sent, chunks * links).reshape(chunks, links),
        start=_joined(start, chunks * network.gpus).reshape(chunks, network.gpus),
    )


def _images(network: LogicalNetwork, rotated: _Ints, size: int, named: str) -> _Ints:
    """Return the image of each link within a block, -1 for other links."""
    number = {(link.tail, link.head, link.plane): i for i, link in enumerate(network.links)}
    images = np.full(len(network.links), -1, dtype=np.int64)
    for i, link in enumerate(network.links):
        if link.tail // size != link.head // size:
            continue
        tail, head = int(rotated[link.tail]), int(rotated[link.head])
        image = number.get((tail, head, link.plane))
        like = None if image is None else network.links[image]
        if like is None or (like.latency_us, like.busy_us) != (link.latency_us, link.busy_us):
            names = [network.name(place) for place in (link.tail, link.head, tail, head)]
            there = "none" if like is None else f"one of {_cost(like)}"
            raise InvalidParameterError(
                f"{named}, which takes the link {names[0]} -> {names[1]}, of {_cost(link)}, to "
                f"{names[2]} -> {names[3]}, where there is {there}; give an offset that the "
                f"network has"
            )
        assert image is not None
        images[i] = image
    return images


def _cost(link: LogicalLink) -> str:
    return f"{link.latency_us} + {link.busy_us} us a chunk"


def _chunks(exchange: Exchange, rotated: _Ints) -> _Ints:
    """Return the image of each chunk: the chunk of the same part between the images of its ends."""
    return np.array(
        [
            exchange.number(
                int(rotated[source]),
                int(rotated[target]) if target >= 0 else -1,
                chunk % exchange.parts,
            )
            for chunk, (source, target) in enumerate(
                zip(exchange.source, exchange.target, strict=True)
            )
        ],
        dtype=np.int64,
    )


def _joined(pairs: list[tuple[_Ints, _Ints]], size: int) -> _Ints:
    """Number the connected classes in the order of their first members."""
    if not pairs:
        return np.arange(size)
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    rows, columns = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
    # Equations of several offsets chain, so classes are connected components.
    graph = sp.coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(size, size))
    label = connected_components(graph, directed=False)[1]
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse], dtype=np.int64)
