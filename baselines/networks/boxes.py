"""The GPUs of a network by box and number, whatever the order of its nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forestcoll.topology.model import Topology

__all__ = ["Ranks", "by_number", "gpus_by_box"]

Ranks = npt.NDArray[np.int32]


def gpus_by_box(topology: Topology) -> list[list[int]]:
    """GPUs by box, in the order of their numbers; a GPU without a box is a box of its own."""
    boxes: dict[tuple[int, int], list[int]] = {}
    boxed = any(topology.nodes[gpu].box is not None for gpu in topology.compute)
    for gpu in topology.compute:
        box = topology.nodes[gpu].box
        key = (0, box) if box is not None else (1, gpu if boxed else 0)
        boxes.setdefault(key, []).append(gpu)
    return [
        sorted(boxes[key], key=lambda gpu: (topology.nodes[gpu].index or 0, gpu))
        for key in sorted(boxes)
    ]


def by_number(topology: Topology) -> Ranks:
    """Return the ranks in the order of boxes and numbers, independent of the order of nodes."""
    gpus = [gpu for box in gpus_by_box(topology) for gpu in box]
    return np.array([topology.rank_of[gpu] for gpu in gpus], dtype=np.int32)
