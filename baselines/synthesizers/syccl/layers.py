"""Layers of a network of equal boxes, and the rotations that preserve them.

Problem: partition the GPUs into groups at several levels, alike for every GPU.
Input:   a topology whose GPUs are in boxes of one size.
Output:  the layers, each with the group of every place, and the N rotations.
Cost:    linear in nodes and links; N^2 for the table of rotations.
Source:  Cao et al., SyCCL (SIGCOMM 2025), by public descriptions: a layer is a dimension of the
         network (host switch, leaf, spine), and a group is a set of GPUs under one switch of it.

A *place* is box x G + number in the box, for boxes of G GPUs; sketches name places, and the root of
a sketch is place 0. A rotation shifts the boxes and the numbers in a box, each cyclically. The
rotations move place 0 to every other place, once each. The rails are the groups of equal numbers
even where one switch joins all NICs: they are then groups of that switch's traffic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from baselines.networks.boxes import gpus_by_box
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["Cluster", "Layer", "cluster_of"]

Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Layer:
    """A partition of the places into groups.

    Parameters
    ----------
    name : str
        "box", "rail" or "network".
    group : tuple of int
        Group of each place, from 0 up; the root is in group 0.
    members : tuple of tuples of int
        Places of each group, ascending.
    """

    name: str
    group: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, name: str, group: npt.NDArray[np.int64]) -> Layer:
        """Gather the members of each group."""
        count = int(group.max()) + 1
        members = tuple(tuple(np.flatnonzero(group == one).tolist()) for one in range(count))
        return cls(name, tuple(group.tolist()), members)

    @property
    def size(self) -> int:
        """GPUs of a group; all groups have as many."""
        return len(self.members[0])


@dataclass(frozen=True, slots=True)
class Cluster:
    """Equal boxes, by place.

    Parameters
    ----------
    topology : Topology
    boxes, gpus_per_box : int
    rank : int32 array
        The rank at each place.
    layers : tuple of Layer
        From the box outwards.
    """

    topology: Topology
    boxes: int
    gpus_per_box: int
    rank: Ranks
    layers: tuple[Layer, ...]

    @property
    def places(self) -> int:
        """Number of GPUs, N."""
        return self.boxes * self.gpus_per_box

    def rotations(self) -> Ranks:
        """Return the image of every place under every rotation, shape (N, N).

        Row r is the rotation that moves place 0 to place r.
        """
        box, number = np.divmod(np.arange(self.places), self.gpus_per_box)
        boxes = (box[:, None] + box[None, :]) % self.boxes
        numbers = (number[:, None] + number[None, :]) % self.gpus_per_box
        return np.asarray(boxes * self.gpus_per_box + numbers, dtype=np.int32)

    def shifts(self, tails: Sequence[int], heads: Sequence[int]) -> list[int]:
        """Return the class of each pair under the rotations: the image of its head from place 0."""
        size = self.gpus_per_box
        return [
            (head // size - tail // size) % self.boxes * size + (head - tail) % size
            for tail, head in zip(tails, heads, strict=True)
        ]


def cluster_of(topology: Topology, *, network: bool = False) -> Cluster:
    """Find the layers of a network.

    Parameters
    ----------
    network : bool
        Whether the layer of all GPUs is a layer too, where there are several boxes of several GPUs.

    Raises
    ------
    UnsupportedError
        If there are GPUs outside boxes, or boxes differ in size.
    """
    if any(topology.nodes[gpu].box is None for gpu in topology.compute):
        raise UnsupportedError(f"unsupported: {topology.name} has GPUs outside boxes")
    boxes = gpus_by_box(topology)
    sizes = sorted({len(box) for box in boxes})
    if len(sizes) > 1:
        raise UnsupportedError(
            f"unsupported: {topology.name} has boxes of {sizes[0]} and of {sizes[-1]} GPUs, which "
            f"no rotation maps to each other"
        )
    rank = np.array([topology.rank_of[gpu] for box in boxes for gpu in box], dtype=np.int32)
    box, number = np.divmod(np.arange(len(rank)), sizes[0])
    layers = []
    if sizes[0] > 1:
        layers.append(Layer.of("box", box))
    if len(boxes) > 1:
        layers.append(Layer.of("rail", number))
    if network and len(layers) == 2:
        layers.append(Layer.of("network", np.zeros(len(rank), dtype=np.int64)))
    return Cluster(topology, len(boxes), sizes[0], rank, tuple(layers))
