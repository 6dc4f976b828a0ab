"""Boxes of GPUs, and which of them send to other boxes and receive from them.

Problem: methods that exchange data box by box need the box of every GPU and its NICs.
Output:  arrays by rank and by box.
Cost:    that of ``nic_attachment``.
Source:  as ``nic_attachment``; a GPU without a NIC uses one of its box in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from baselines.networks.boxes import gpus_by_box
from baselines.networks.nic_attachment import find_nic_attachments
from baselines.networks.switch_paths import router_of
from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["BoxNics"]

Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class BoxNics:
    """Boxes, and their GPUs with NICs.

    Parameters
    ----------
    box, place : int32 arrays
        The box of each rank, and its number there, from 0 up.
    outs, ins : tuple of int32 arrays
        For each box the ranks that reach other boxes, and those that others reach, by place.
    sender, receiver : int32 arrays of shape (boxes, GPUs of the largest box)
        The rank at each place of a box if it has a NIC of that direction; else one of the box that
        has, in turn.
    bandwidth_gb_s : Fraction
        Of the links out of the narrowest box, or into it; 0 of one box alone.
    """

    box: Ranks
    place: Ranks
    outs: tuple[Ranks, ...] = field(repr=False)
    ins: tuple[Ranks, ...] = field(repr=False)
    sender: Ranks = field(repr=False)
    receiver: Ranks = field(repr=False)
    bandwidth_gb_s: Fraction

    @classmethod
    def of(cls, topology: Topology) -> BoxNics:
        """Find them.

        Raises
        ------
        UnsupportedError
            If there are GPUs outside boxes, or a box is cut off from the others.

        Examples
        --------
        >>> from forestcoll.topology import load_topology
        >>> found = BoxNics.of(load_topology("dgx_a100:boxes=2"))
        >>> found.box[7:9].tolist(), found.place[7:9].tolist(), len(found.outs[1])
        ([0, 1], [7, 0], 8)
        """
        if any(topology.nodes[gpu].box is None for gpu in topology.compute):
            raise UnsupportedError(f"unsupported: {topology.name} has GPUs outside boxes")
        boxes = gpus_by_box(topology)
        box, place = (np.zeros(topology.num_compute, dtype=np.int32) for _ in range(2))
        rank = [np.array([topology.rank_of[gpu] for gpu in row], dtype=np.int32) for row in boxes]
        for number, ranks in enumerate(rank):
            box[ranks], place[ranks] = number, np.arange(len(ranks))
        if len(boxes) == 1:
            alone = tuple(rank)
            return cls(box, place, alone, alone, np.stack(rank), np.stack(rank), Fraction(0))
        attached = find_nic_attachments(router_of(topology), boxes)
        outs = tuple(_ranks(topology, one.outs) for one in attached)
        ins = tuple(_ranks(topology, one.ins) for one in attached)
        for gpus, own, others in zip(boxes, outs, ins, strict=True):
            if not (len(own) and len(others)):
                name = topology.nodes[gpus[0]].name
                raise UnsupportedError(f"unsupported: the box of {name} has no NIC")
        sender, receiver = _by_place(rank, place, outs), _by_place(rank, place, ins)
        widths = [sum(way) for one in attached for way in (one.widths_in, one.widths_out)]
        return cls(box, place, outs, ins, sender, receiver, Fraction(min(widths)))


def _ranks(topology: Topology, gpus: tuple[int, ...]) -> Ranks:
    return np.array([topology.rank_of[gpu] for gpu in gpus], dtype=np.int32)


def _by_place(rank: list[Ranks], place: Ranks, side: tuple[Ranks, ...]) -> Ranks:
    most = max(map(len, rank))
    rows = []
    for own in side:
        row = own[np.arange(most) % len(own)]
        row[place[own]] = own
        rows.append(row)
    return np.stack(rows)
