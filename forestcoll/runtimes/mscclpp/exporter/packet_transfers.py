"""Transfers in packets (LL), whose flags tell the receiver that they are there.

Problem: a signal behind each transfer costs the latency of a message once more, which is most of
         the time of a small one.
Input:   actions whose puts all go to scratch; the boxes of GPUs.
Output:  the same actions on packets; the pairs of GPUs that need a signal against a launch that
         runs ahead.
Cost:    linear in actions and dependencies.
Source:  ours. A reader of a packet waits for its flag, so what depends on a transfer needs no
         signal. A slot is used in every second launch, since scratch has two halves. So the sender
         must know at the end of a launch that the receiver has begun it, and thus ended the one
         before. It does if anything of the launch depends on the receiver; else the receiver sends
         a signal as its launch begins, for which the sender waits as its own ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from forestcoll.runtimes.mscclpp.exporter.data_actions import Action, Slot, in_order, set_levels
from forestcoll.runtimes.mscclpp.exporter.port_transfers import Boxes

__all__ = ["PacketTransfers", "in_packets"]


@dataclass(frozen=True, slots=True)
class PacketTransfers:
    """Actions on packets.

    Parameters
    ----------
    readers : dict
        Of each put to another GPU, a reader of its packets there.
    greeted : frozenset of (int, int)
        GPUs that wait at the end of a launch for a signal that another one's has begun.
    """

    actions: list[Action] = field(repr=False)
    boxes: Boxes
    readers: dict[Action, Action] = field(repr=False)
    greeted: frozenset[tuple[int, int]]

    @property
    def slots(self) -> set[Slot]:
        """The slots that hold packets."""
        return {one.target for one in self.actions if one.kind in ("ppkt", "rppkt", "cpkt")}


def in_packets(actions: Sequence[Action], boxes: Boxes) -> PacketTransfers:
    """Make actions work on packets, and set their levels again.

    A port channel moves packets that lie in scratch. So data for another box become packets in the
    sender's scratch first.
    """
    found = _with_readers(actions)
    found = [*_on_packets(found, boxes)]
    found.sort(key=lambda one: (one.target.chunk, one.target.first))  # a stable sort, by place
    set_levels(found)
    greeted = _greeted(found, boxes)
    readers = _readers(found)
    for one in found:
        # Flags order what is left out here; the levels still do so within a threadblock.
        one.needs = [need for need in one.needs if need.gpu == one.gpu]
    return PacketTransfers(found, boxes, readers, greeted)


def _with_readers(actions: Sequence[Action]) -> list[Action]:
    """Leave out puts whose data nobody reads."""
    read, left_out = set[Slot](), set[Action]()
    for one in reversed(in_order(actions)):
        if one.kind == "put" and one.target not in read:
            left_out.add(one)
        else:
            read.update(one.sources)
    return [one for one in actions if one not in left_out]


def _on_packets(actions: Sequence[Action], boxes: Boxes) -> Iterator[Action]:
    """Yield the actions on packets, and before them those that pack data for other boxes."""
    packets = {one.target for one in actions if one.kind == "put"}
    packed = dict[Slot, Action]()
    for one in actions:
        source = one.sources[0]
        if one.kind != "put":
            reads = "upkt" if source in packets else one.kind
            one.kind = "repkt" if one.kind == "re" else reads
        elif source in packets:
            one.kind = "rppkt"
        elif not boxes.are_apart(one.gpu, one.target.gpu):
            one.kind = "ppkt"
        else:
            if source not in packed:
                # Layers below 0, as those from 0 on are the sums of the GPU.
                own = replace(one.target, gpu=one.gpu, peer=one.gpu, layer=-1 - len(packed))
                packed[source] = Action("cpkt", one.gpu, [source], own, one.needs)
                yield packed[source]
            one.kind, one.sources = "rppkt", [packed[source].target]
            one.needs = [packed[source]]
        yield one


def _greeted(actions: Sequence[Action], boxes: Boxes) -> frozenset[tuple[int, int]]:
    """Return the GPUs that write to another one of which nothing that they do depends."""
    comes_of = dict[Action, int]()  # the GPUs of earlier actions, as bits
    known = dict.fromkeys((one.gpu for one in actions), 0)
    for one in in_order(actions):
        comes_of[one] = 1 << one.gpu
        for need in one.needs:
            comes_of[one] |= comes_of[need]
        known[one.gpu] |= comes_of[one]
    return frozenset(
        (gpu, other) for gpu, other in _awaited(actions, boxes) if not known[gpu] >> other & 1
    )


def _awaited(actions: Sequence[Action], boxes: Boxes) -> set[tuple[int, int]]:
    """Return each GPU with those whose last launch must be over before it writes again.

    A port channel that sends packets on reads them after the launch of its GPU, and at the latest
    before they are read at the other end.
    """
    found, writer = set[tuple[int, int]](), dict[Slot, int]()
    for one in actions:
        if one.target.gpu != one.gpu:
            found.add((one.gpu, one.target.gpu))
            writer[one.target] = one.gpu
    for one in actions:
        if one.kind == "rppkt" and boxes.are_apart(one.gpu, one.target.gpu):
            first = writer.get(one.sources[0], one.gpu)
            found.add((first, one.target.gpu))
    return {(gpu, other) for gpu, other in found if gpu != other}


def _readers(actions: Sequence[Action]) -> dict[Action, Action]:
    reader = dict[Slot, Action]()
    for one in actions:
        for slot in one.sources:
            reader.setdefault(slot, one)
    return {one: reader[one.target] for one in actions if one.target.gpu != one.gpu}
