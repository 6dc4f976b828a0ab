"""Plans by hand for port channels and packets: a few GPUs, a threadblock or two each.

GPU 0 and 1 are in one box, 2 and 3 in another where there are four. Every GPU has a channel to each
other one, and may reach all buffers of it: memory channels within a box, port channels between.
"""

from collections.abc import Callable, Sequence

from forestcoll.runtimes.mscclpp import (
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    RemoteBuffer,
    Span,
    SwitchGroup,
)
from tests.runtimes.mscclpp.interpreter.hand_plans import NOP, own

Rows = list[Operation]


class Net:
    """The channels and remote buffers of each GPU."""

    def __init__(self, gpus: int, box: int = 9) -> None:
        self.gpus, self.box = gpus, box

    def near(self, gpu: int) -> list[int]:
        """The others of its box."""
        return [one for one in range(self.gpus) if one != gpu and self.same(gpu, one)]

    def far(self, gpu: int) -> list[int]:
        return [one for one in range(self.gpus) if not self.same(gpu, one)]

    def same(self, one: int, other: int) -> bool:
        return one // self.box == other // self.box

    def channel(self, gpu: int, peer: int) -> int:
        return (self.near(gpu) if self.same(gpu, peer) else self.far(gpu)).index(peer)

    def at(self, gpu: int, peer: int, place: str, size: int = 1) -> Span:
        """A span of another GPU's buffer, such as "o3"."""
        number = 3 * self.channel(gpu, peer) + "ios".index(place[0])
        where = "remote" if self.same(gpu, peer) else "port"
        return Span(where, int(place[1:]), size, number)

    def plan(
        self,
        collective: str,
        blocks: Callable[[int], Sequence[Rows]],
        chunks: tuple[int, int, int],
        *,
        packets: bool = False,
        halves: bool = True,
    ) -> Plan:
        gpus = []
        for gpu in range(self.gpus):
            near, far = self.near(gpu), self.far(gpu)
            remote = [RemoteBuffer(one, name, ("memory",)) for one in near for name in "ios"]
            remote += [RemoteBuffer(one, name, ("port",)) for one in far for name in "ios"]
            many = 3 * len(near)
            made = [
                PlanThreadblock(
                    tuple(rows),
                    tuple(range(len(near))),
                    tuple(range(len(far))),
                    (0,),
                    tuple(range(many)),
                    tuple(range(many, len(remote))),
                )
                for rows in blocks(gpu)
            ]
            group = SwitchGroup("s", tuple(range(self.gpus)))
            gpus.append(
                PlanGpu(*chunks, tuple(made), tuple(near), tuple(far), (group,), tuple(remote))
            )
        protocol = "LL" if packets else "Simple"
        double = packets and halves
        return Plan("hand", collective, protocol, True, tuple(gpus), double_scratch=double)

    def tell(self, kind: str, gpu: int, *peers: int) -> Operation:
        channels = tuple(self.channel(gpu, one) for one in peers)
        where = "memory" if self.same(gpu, peers[0]) else "port"
        return Operation(kind, channel_type=where, channels=channels)

    def send(self, kind: str, gpu: int, *pairs: tuple[int, str, str]) -> Operation:
        """Send from a place here to a place there, for each (GPU, here, there)."""
        peers = [peer for peer, _, _ in pairs]
        over_port = not self.same(gpu, peers[0])
        return Operation(
            kind,
            tuple(own(here) for _, here, _ in pairs),
            tuple(self.at(gpu, peer, there) for peer, _, there in pairs),
            "port" if over_port else "memory",
            tuple(self.channel(gpu, one) for one in peers) if over_port else (),
        )


TWO_BOXES, PAIR = Net(4, 2), Net(2)


def port_gather(put: str = "pwsf") -> Plan:
    """Swap within boxes, then between them, then send on within boxes."""

    def rows(gpu: int) -> Sequence[Rows]:
        net, near, far = TWO_BOXES, gpu ^ 1, gpu ^ 2
        mine, theirs = f"o{gpu}", f"o{far}"
        return [
            [
                *(net.tell("rlxsignal", gpu, near), net.tell("rlxwait", gpu, near), NOP),
                *(net.send("put", gpu, (near, mine, mine)), NOP),
                *(net.tell("signal", gpu, far), net.tell("wait", gpu, far), NOP),
                *(net.send(put, gpu, (far, mine, mine)), net.tell("wait", gpu, far), NOP),
                *(net.send("put", gpu, (near, theirs, theirs)), NOP),
                *(net.tell("signal", gpu, near), net.tell("wait", gpu, near)),
            ]
        ]

    return TWO_BOXES.plan("allgather", rows, (1, 4, 0))


def port_signals() -> Plan:
    """Two puts on a channel, then a signal for both; the answer says that they are over."""

    def rows(gpu: int) -> Sequence[Rows]:
        net, far = Net(2, 1), gpu ^ 1
        base = 2 * gpu
        return [
            [
                *(net.tell("signal", gpu, far), net.tell("wait", gpu, far), NOP),
                net.send("put", gpu, *((far, f"o{base + n}", f"o{base + n}") for n in (0, 1))),
                *(NOP, net.tell("signal", gpu, far), net.tell("wait", gpu, far)),
                *(net.tell("signal", gpu, far), NOP, net.tell("wait", gpu, far)),
            ]
        ]

    return Net(2, 1).plan("allgather", rows, (2, 4, 0))


def port_scatter() -> Plan:
    """Add up in each box by reading, send between boxes into scratch, add again."""

    def rows(gpu: int) -> Sequence[Rows]:
        net, near, far = TWO_BOXES, gpu ^ 1, gpu ^ 2
        mine, theirs = f"i{gpu}", f"i{far}"
        pulls = [
            Operation("rre", (own(it), net.at(gpu, near, it)), (own(it),), "memory")
            for it in (theirs, mine)
        ]
        return [
            [
                *(net.tell("rlxsignal", gpu, near), net.tell("rlxwait", gpu, near), NOP),
                *(pulls[0], net.tell("signal", gpu, far), net.tell("wait", gpu, far), NOP),
                *(net.send("pwsf", gpu, (far, theirs, "s0")), pulls[1]),
                *(net.tell("wait", gpu, far), NOP),
                Operation("re", (own(mine), own("s0")), (own(mine),)),
                *(net.tell("rlxsignal", gpu, near), net.tell("rlxwait", gpu, near)),
            ]
        ]

    return TWO_BOXES.plan("reducescatter", rows, (4, 1, 1))


def packet_gather() -> Plan:
    def rows(gpu: int) -> Sequence[Rows]:
        far = gpu ^ 1
        return [
            [
                PAIR.send("ppkt", gpu, (far, f"o{gpu}", f"s{gpu}")),
                Operation("upkt", (own(f"s{far}"),), (own(f"o{far}"),)),
            ]
        ]

    return PAIR.plan("allgather", rows, (1, 2, 2), packets=True)


def packet_sum(copies: bool = False) -> Plan:
    """Each adds up its half and sends the sum back; GPU 1 may keep a copy of its packets."""

    def rows(gpu: int) -> Sequence[Rows]:
        far = gpu ^ 1
        keeps = copies and gpu == 1
        copied = (own("s2"),) if keeps else ()
        back = PAIR.at(gpu, far, f"s{gpu}")
        return [
            [PAIR.send("ppkt", gpu, (far, f"i{far}", f"s{far}"))],
            [
                Operation(
                    "recspkt" if keeps else "respkt",
                    (own(f"i{gpu}"), own(f"s{gpu}")),
                    (own(f"i{gpu}"), *copied, back),
                    "memory",
                )
            ],
            [Operation("upkt", (own(f"s{far}"),), (own(f"i{far}"),))],
        ]

    return PAIR.plan("allreduce", rows, (2, 2, 3), packets=True)


def forwarded_gather() -> Plan:
    """Packets of its own go to the box and to the other box, which sends them on."""

    def rows(gpu: int) -> Sequence[Rows]:
        net, near, far = TWO_BOXES, gpu ^ 1, gpu ^ 2
        mine, theirs = f"s{gpu}", f"s{far}"
        others = [one for one in range(4) if one != gpu]
        return [
            [
                Operation("cpkt", (own(f"o{gpu}"),), (own(mine),)),
                net.send("rppkt", gpu, (near, mine, mine)),
                net.send("rppkt", gpu, (far, mine, mine)),
                net.send("rppkt", gpu, (near, theirs, theirs)),
            ],
            [Operation("upkt", (own(f"s{one}"),), (own(f"o{one}"),)) for one in others],
        ]

    return TWO_BOXES.plan("allgather", rows, (1, 4, 4), packets=True)


def copied_scatter() -> Plan:
    """Sums of a box as packets between boxes, and a last sum."""

    def rows(gpu: int) -> Sequence[Rows]:
        net, near, far = TWO_BOXES, gpu ^ 1, gpu ^ 2
        return [
            [
                net.send("ppkt", gpu, (near, f"i{near}", "s0"), (near, f"i{near ^ 2}", "s1")),
                Operation(
                    "recpkt",
                    (own(f"i{far}"), own("s1")),
                    (own(f"i{far}"), own("s2")),
                ),
                net.send("rppkt", gpu, (far, "s2", "s3")),
                Operation("repkt", (own(f"i{gpu}"), own("s3"), own("s0")), (own(f"i{gpu}"),)),
            ]
        ]

    return TWO_BOXES.plan("reducescatter", rows, (4, 1, 4), packets=True)


def switch_packets() -> Plan:
    """The switch writes the packets of each to the scratch of both."""

    def rows(gpu: int) -> Sequence[Rows]:
        far = gpu ^ 1
        return [
            [
                Operation("cpkt", (own(f"o{gpu}"),), (own(f"s{gpu}"),)),
                Operation("gstorepkt", (own(f"s{gpu}"),), (Span("switch", gpu, 1, 0),), "switch"),
                Operation("upkt", (own(f"s{far}"),), (own(f"o{far}"),)),
            ]
        ]

    return PAIR.plan("allgather", rows, (1, 2, 2), packets=True)


def pulled_gather() -> Plan:
    """Each reads the other's part, at the same index."""

    def rows(gpu: int) -> Sequence[Rows]:
        far = gpu ^ 1
        there = PAIR.at(gpu, far, f"o{far}")
        return [
            [
                *(PAIR.tell("rlxsignal", gpu, far), PAIR.tell("rlxwait", gpu, far), NOP),
                *(Operation("get", (there,), (own(f"o{far}"),), "memory"), NOP),
                *(PAIR.tell("rlxsignal", gpu, far), PAIR.tell("rlxwait", gpu, far)),
            ]
        ]

    return PAIR.plan("allgather", rows, (1, 2, 0))


def single_scratch() -> Plan:
    """Packets without a second half: an answer says that they were read."""

    def rows(gpu: int) -> Sequence[Rows]:
        far = gpu ^ 1
        return [
            [
                *(PAIR.send("ppkt", gpu, (far, f"o{gpu}", f"s{gpu}")),),
                *(Operation("upkt", (own(f"s{far}"),), (own(f"o{far}"),)), NOP),
                *(PAIR.tell("rlxsignal", gpu, far), PAIR.tell("rlxwait", gpu, far)),
            ]
        ]

    return PAIR.plan("allgather", rows, (1, 2, 2), packets=True, halves=False)


STYLES: dict[str, Callable[[], Plan]] = {
    "port gather": port_gather,
    "port signals": port_signals,
    "port scatter": port_scatter,
    "packet gather": packet_gather,
    "packet sum": packet_sum,
    "packet sum with a copy": lambda: packet_sum(copies=True),
    "forwarded gather": forwarded_gather,
    "copied scatter": copied_scatter,
    "switch packets": switch_packets,
    "pulled gather": pulled_gather,
    "single scratch": single_scratch,
}
