"""Schedules of baselines, written down by hand from their papers, row by row.

Each is a literal that needs what no other does: BFB cuts every shard anew at each receiver, TE-CCL
goes in epochs through switches, TACCL sends chunks together as one message. ``LITERALS`` has them
all, with what they take; whoever changes the vocabulary must still be able to say them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.schedule import (
    Chunks,
    Clock,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    TimedSend,
    timed,
)
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.hand_networks import network_of


@dataclass(frozen=True)
class Literal:
    """A schedule by hand, and what its source says of it.

    Parameters
    ----------
    make : callable
    steps : int
    time_s_per_gb, synchronous_s_per_gb : Fraction
    finish_us : Fraction, optional
    """

    make: Callable[[], StepSchedule]
    steps: int
    time_s_per_gb: Fraction
    synchronous_s_per_gb: Fraction
    finish_us: Fraction | None = None


def routes_of(topology: Topology, links: Iterable[tuple[int, int]]) -> Routes:
    """The links between ends themselves."""
    ends = topology.ends
    return Routes.from_paths({(t, h): (Path((ends[t], ends[h]), 1),) for t, h in set(links)})


def _by_hand(
    topology: Topology, collective: str, chunks: Chunks, sends: Sends, clock: Clock | None = None
) -> StepSchedule:
    links = zip(sends.tail.tolist(), sends.head.tolist(), strict=True)
    return StepSchedule(
        topology, "by hand", collective, chunks, sends, routes_of(topology, links), clock
    )


# --- BFB ---------------------------------------------------------------------------------------


def complete_bipartite() -> StepSchedule:
    """BFB on K(2,2), links of 1 GB/s (Zhao et al., figure 1): halves meet at the far side."""
    a, b, c, d = range(4)
    sends = [
        Send(0, a, a, c, amount=2),
        Send(0, a, a, d, amount=2),
        Send(1, a, c, b, first=0, amount=1),
        Send(1, a, d, b, first=1, amount=1),
        Send(0, b, b, c, amount=2),
        Send(0, b, b, d, amount=2),
        Send(1, b, c, a, first=0, amount=1),
        Send(1, b, d, a, first=1, amount=1),
        Send(0, c, c, a, amount=2),
        Send(0, c, c, b, amount=2),
        Send(1, c, a, d, first=0, amount=1),
        Send(1, c, b, d, first=1, amount=1),
        Send(0, d, d, a, amount=2),
        Send(0, d, d, b, amount=2),
        Send(1, d, a, c, first=0, amount=1),
        Send(1, d, b, c, first=1, amount=1),
    ]
    chunks = Chunks.equal([a, b, c, d], whole=8, size=2)
    return _by_hand(
        network_of("a b c d", "a b - c d", "K(2,2)"), "allgather", chunks, Sends.of(sends)
    )


def ring_of_five() -> StepSchedule:
    """BFB on a ring of 5 both ways, links of 1 GB/s: two steps, all links busy in both."""
    sends = []
    for root in range(5):
        for way in (1, -1):
            near, far = (root + way) % 5, (root + 2 * way) % 5
            sends += [Send(0, root, root, near), Send(1, root, near, far)]
    ring = load_topology("ring:nodes=5,bandwidth=1")
    return _by_hand(ring, "allgather", Chunks.equal(range(5), whole=5), Sends.of(sends))


# --- TE-CCL ------------------------------------------------------------------------------------


def star(gpus: int, latency_us: Fraction = Fraction(0), **marks: bool) -> Topology:
    """GPUs 0, 1, ... around one switch, whose number as an end is that of the GPUs; 1 GB/s."""
    builder = TopologyBuilder()
    names = [builder.gpu(f"gpu{i}") for i in range(gpus)]
    builder.switch("switch", **marks)
    for name in names:
        builder.link(name, "switch", 1, latency_us)
    return builder.build("star")


def teccl_star(
    rows: list[tuple[int, int, int, int, int]],
    *,
    gpus: int = 3,
    epochs: int = 1,
    latency_us: Fraction = Fraction(0),
    **marks: bool,
) -> StepSchedule:
    """An allgather in epochs of 1 us, chunks of 1000 bytes: (epoch, chunk, tail, head, delay).

    A transfer keeps its link busy for ``epochs`` epochs and arrives ``delay`` later.
    """
    sends, clock = timed(
        [
            TimedSend(epoch, epoch + epochs + delay, chunk, tail, head, left=epoch + epochs)
            for epoch, chunk, tail, head, delay in rows
        ],
        size_bytes=gpus * 1000 * epochs,
    )
    chunks = Chunks.equal(range(gpus), whole=gpus)
    return _by_hand(star(gpus, latency_us, **marks), "allgather", chunks, sends, clock)


def through_a_multicast_switch() -> StepSchedule:
    """T11: what comes in in an epoch leaves in the next, to as many as want it. Four epochs.

    A GPU can take one chunk an epoch, and what the switch gets it sends to both others at once.
    """
    return teccl_star(
        [
            (0, 0, 0, 3, 0),
            (1, 0, 3, 1, 0),
            (1, 0, 3, 2, 0),
            (1, 1, 1, 3, 0),
            (2, 1, 3, 0, 0),
            (2, 1, 3, 2, 0),
            (2, 2, 2, 3, 0),
            (3, 2, 3, 0, 0),
            (3, 2, 3, 1, 0),
        ],
        multicast=True,
    )


def crossing_in_one_epoch() -> StepSchedule:
    """The same where crossing a switch takes one transmission: it passes on what is coming in."""
    return teccl_star(
        [
            (0, 0, 0, 3, 0),
            (0, 0, 3, 1, 0),
            (0, 0, 3, 2, 0),
            (1, 1, 1, 3, 0),
            (1, 1, 3, 0, 0),
            (1, 1, 3, 2, 0),
            (2, 2, 2, 3, 0),
            (2, 2, 3, 0, 0),
            (2, 2, 3, 1, 0),
        ],
        multicast=True,
    )


def through_a_plain_switch() -> StepSchedule:
    """T14: what arrives leaves, once. Everyone sends its chunk twice, all links busy; 3 epochs."""
    return teccl_star(
        [
            (0, 0, 0, 3, 0),
            (0, 1, 1, 3, 0),
            (0, 2, 2, 3, 0),
            (1, 0, 3, 1, 0),
            (1, 1, 3, 2, 0),
            (1, 2, 3, 0, 0),
            (1, 0, 0, 3, 0),
            (1, 1, 1, 3, 0),
            (1, 2, 2, 3, 0),
            (2, 0, 3, 2, 0),
            (2, 1, 3, 0, 0),
            (2, 2, 3, 1, 0),
        ]
    )


def through_a_storing_switch() -> StepSchedule:
    """A switch with a buffer keeps the first chunk until the second one has been sent on."""
    return teccl_star(
        [
            (0, 0, 0, 3, 0),
            (0, 1, 1, 3, 0),
            (1, 1, 3, 0, 0),
            (1, 1, 3, 2, 0),
            (1, 2, 2, 3, 0),
            (2, 0, 3, 1, 0),
            (3, 0, 3, 2, 0),
            (2, 2, 3, 0, 0),
            (3, 2, 3, 1, 0),
        ],
        multicast=True,
        stores=True,
    )


def links_with_delay() -> StepSchedule:
    """T8 with alpha = 0.5 us: an epoch more to arrive, and meanwhile the link takes the next chunk.

    T35 besides: a chunk takes two epochs of the fastest link, so kappa = 2.
    """
    return teccl_star(
        [
            (0, 0, 0, 2, 1),
            (3, 0, 2, 1, 1),
            (0, 1, 1, 2, 1),
            (3, 1, 2, 0, 1),
        ],
        gpus=2,
        epochs=2,
        latency_us=Fraction(1, 2),
    )


def back_to_back() -> StepSchedule:
    """A broadcast of two chunks over one link with alpha = one epoch: the second does not wait."""
    line = network_of("a b", "a - b: 1 1", "line")
    rows = [TimedSend(k, k + 2, k, 0, 1, left=k + 1) for k in range(2)]
    sends, clock = timed(rows, size_bytes=2000)
    return _by_hand(line, "broadcast", Chunks.equal([0, 0], whole=2), sends, clock)


# --- TACCL -------------------------------------------------------------------------------------


def two_boxes() -> Topology:
    """GPUs 0, 1 in one box and 2, 3 in another, 1 and 2 joined; alpha and 1 kB: 1+2, 5+10 us."""
    return network_of(
        "gpu0@0 gpu1@0 gpu2@1 gpu3@1",
        "gpu0 - gpu1: 1/2 1, gpu1 - gpu2: 1/10 5, gpu2 - gpu3: 1/2 1",
        "two boxes",
    )


def sent_together() -> StepSchedule:
    """TACCL's contiguity: two chunks cross the slow link as one message, alpha paid once: 25 us.

    One after the other they would take 30. What comes in together is then sent on one by one.
    """
    rows = [
        TimedSend(0, 3, 0, 0, 1),
        TimedSend(0, 3, 1, 1, 0),
        TimedSend(0, 3, 2, 2, 3),
        TimedSend(0, 3, 3, 3, 2),
        TimedSend(3, 28, 0, 1, 2, message=0),
        TimedSend(3, 28, 1, 1, 2, message=0),
        TimedSend(3, 28, 2, 2, 1, message=1),
        TimedSend(3, 28, 3, 2, 1, message=1),
        TimedSend(28, 31, 0, 2, 3),
        TimedSend(31, 34, 1, 2, 3),
        TimedSend(28, 31, 3, 1, 0),
        TimedSend(31, 34, 2, 1, 0),
    ]
    sends, clock = timed(rows, size_bytes=4000)
    return _by_hand(two_boxes(), "allgather", Chunks.equal(range(4), whole=4), sends, clock)


# --- what else must be sayable -----------------------------------------------------------------


def doubling_with_a_clock() -> StepSchedule:
    """Recursive doubling in time: every rank sends its sum twice, the second time with more."""
    rows = [
        TimedSend(1000 * bit, 1000 * (bit + 1), 0, v, v ^ (1 << bit), reduce=True)
        for bit in range(2)
        for v in range(4)
    ]
    sends, clock = timed(rows, size_bytes=10**6)
    complete = load_topology("complete:nodes=4,bandwidth=1")
    return _by_hand(complete, "allreduce", Chunks.equal([-1], whole=1), sends, clock)


def rooted_unit_by_unit() -> StepSchedule:
    """An allreduce of one chunk between two GPUs: each sums up a half of it and sends it back."""
    sends = [
        Send(0, 0, 0, 1, reduce=True, first=0, amount=1),
        Send(0, 0, 1, 0, reduce=True, first=1, amount=1),
        Send(1, 0, 1, 0, first=0, amount=1),
        Send(1, 0, 0, 1, first=1, amount=1),
    ]
    pair = load_topology("complete:nodes=2,bandwidth=1")
    return _by_hand(pair, "allreduce", Chunks.equal([-1], whole=2, size=2), Sends.of(sends))


def adding_in_the_switch() -> StepSchedule:
    """A reduce through a switch that reduces: three GPUs send at once, one sum comes out."""
    sends = [
        *(Send(0, 0, v, 3, reduce=True) for v in (1, 2)),
        Send(1, 0, 3, 0, reduce=True),
    ]
    made = Sends.of(sends)
    return _by_hand(star(3, multicast=True), "reduce", Chunks.equal([0], whole=1), made)


def paths_by_name() -> StepSchedule:
    """Two leaves and two spines: one half of a broadcast takes each spine, and one both."""
    net = load_topology("fat_tree:leaves=2,hosts=1,spines=2,bandwidth=1")
    gpu, far = net.compute
    leaf, other, *spines = net.switches
    ways = tuple(Path((gpu, leaf, spine, other, far), 1) for spine in spines)
    sends = [
        Send(0, 0, 0, 1, first=0, amount=1, path=0),
        Send(1, 0, 0, 1, first=1, amount=1, path=1),
        Send(2, 0, 0, 1, first=2, amount=2),
    ]
    return StepSchedule(
        topology=net,
        method="by hand",
        collective="broadcast",
        chunks=Chunks.equal([0], whole=4, size=4),
        sends=Sends.of(sends),
        routes=Routes.from_paths({(0, 1): ways}),
    )


LITERALS = {
    "BFB on K(2,2)": Literal(complete_bipartite, 2, Fraction(3, 8), Fraction(3, 8)),
    "BFB on a ring of 5": Literal(ring_of_five, 2, Fraction(2, 5), Fraction(2, 5)),
    "TE-CCL, multicast switch": Literal(
        through_a_multicast_switch, 4, Fraction(2, 3), Fraction(4, 3), Fraction(4)
    ),
    "TE-CCL, multicast switch in one epoch": Literal(
        crossing_in_one_epoch, 3, Fraction(2, 3), Fraction(1), Fraction(3)
    ),
    "TE-CCL, plain switch": Literal(
        through_a_plain_switch, 3, Fraction(2, 3), Fraction(1), Fraction(3)
    ),
    "TE-CCL, storing switch": Literal(
        through_a_storing_switch, 4, Fraction(2, 3), Fraction(4, 3), Fraction(4)
    ),
    "TE-CCL, delays": Literal(links_with_delay, 2, Fraction(1, 2), Fraction(1), Fraction(6)),
    "TE-CCL, back to back": Literal(back_to_back, 2, Fraction(1), Fraction(1), Fraction(3)),
    "TACCL, contiguous": Literal(sent_together, 4, Fraction(5), Fraction(13, 2), Fraction(34)),
    "recursive doubling in time": Literal(
        doubling_with_a_clock, 2, Fraction(1), Fraction(2), Fraction(2000)
    ),
    "an allreduce rooted unit by unit": Literal(rooted_unit_by_unit, 2, Fraction(1), Fraction(1)),
    "adding in the switch": Literal(adding_in_the_switch, 2, Fraction(1), Fraction(2)),
    "paths by name": Literal(paths_by_name, 3, Fraction(1), Fraction(3, 2)),
}


def marked(schedule: StepSchedule, **marks: bool) -> StepSchedule:
    """The same transfers through switches with other marks."""
    topology = schedule.topology
    nodes = tuple(replace(n, **marks) if n.is_switch else n for n in topology.nodes)
    return replace(schedule, topology=Topology(topology.name, nodes, topology.links))


def reduce_over(net: Topology, rows: list[TimedSend] | list[Send], root: int) -> StepSchedule:
    """A reduce of one chunk over links between ends."""
    clock = None
    if isinstance(rows[0], TimedSend):
        sends, clock = timed([row for row in rows if isinstance(row, TimedSend)], 1)
    else:
        sends = Sends.of(row for row in rows if isinstance(row, Send))
    links = zip(sends.tail.tolist(), sends.head.tolist(), strict=True)
    return StepSchedule(
        topology=net,
        method="by hand",
        collective="reduce",
        chunks=Chunks.equal([root], whole=1),
        sends=sends,
        routes=routes_of(net, links),
        clock=clock,
    )


def two_switches() -> Topology:
    """Four GPUs at two reducing switches, ends 4 and 5, all joined to both."""
    return network_of(
        "g0..3 [w*] [x*]", "g0..3 - w, g0..3 w - x, g0 - g1..3, g1 - g2 g3, g2 - g3", "two switches"
    )
