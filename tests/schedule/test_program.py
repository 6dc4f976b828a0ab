"""Schedules of every kind as programs, proved by way of steps and carried out one by one."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import forestcoll
from forestcoll import Program, generate, generate_factored, generate_multicast, group, lower
from forestcoll.errors import (
    InvalidParameterError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.schedule import (
    Allreduce,
    Chunks,
    FlowSchedule,
    Forest,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    cost,
    in_turn,
    lockstep,
    stepwise,
    time_reversed,
    verify,
)
from forestcoll.schedule.allreduce import AnySchedule
from forestcoll.schedule.clock import timed
from forestcoll.schedule.sends import TimedSend
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.baselines.claims import CLAIMS, examples, make
from tests.random_topologies import random_topology
from tests.schedule.literals import LITERALS
from tests.schedule.run_program import delivers
from tests.schedule.test_literals import reduce_over, two_switches
from tests.schedule.types import TYPES, schedule

Any = AnySchedule | StepSchedule | FlowSchedule

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")


def check(schedule: Any, pieces: int = 1) -> Program:
    """Lower a schedule; the steps of its program are right, and load the links as it does."""
    program = lower(schedule, pieces)
    steps = stepwise(program)
    verdict = verify(steps)
    assert verdict.collective == schedule.collective
    if program.num_transfers:
        assert verdict.time_s_per_gb == cost(schedule).time_s_per_gb == cost(steps).time_s_per_gb
    return program


def rows(program: Program) -> list[tuple[int, ...]]:
    """Chunk, first unit, amount, ends, and what each transfer needs."""
    columns = (program.chunk, program.first, program.amount, program.tail, program.head)
    table = zip(*(column.tolist() for column in columns), strict=True)
    return [(*row, *program.needs(t).tolist()) for t, row in enumerate(table)]


def line(gpus: int) -> Topology:
    return load_topology(f"torus:dims={gpus},wrap=false")


def by_hand(
    topology: Topology, collective: str, chunks: Chunks, sends: Sequence[Send]
) -> StepSchedule:
    """Transfers over the links between their ends."""
    ends = topology.ends
    pairs = {(send.tail, send.head) for send in sends}
    routes = Routes.from_paths({(a, b): (Path((ends[a], ends[b]), 1),) for a, b in pairs})
    return StepSchedule(topology, "by hand", collective, chunks, Sends.of(sends), routes)


# --- by hand -----------------------------------------------------------------------------------


def test_pieces_follow_one_another() -> None:
    """A broadcast along three GPUs in three windows: each hop waits for its own window only."""
    sends = [Send(0, 0, 0, 1), Send(1, 0, 1, 2)]
    program = check(by_hand(line(3), "broadcast", Chunks.equal([0], 1), sends), pieces=3)
    assert rows(program) == [
        (0, 0, 1, 0, 1),
        (0, 1, 1, 0, 1),
        (0, 2, 1, 0, 1),
        (0, 0, 1, 1, 2, 0),
        (0, 1, 1, 1, 2, 1),
        (0, 2, 1, 1, 2, 2),
    ]
    assert program.size(5) == Fraction(1, 3)
    assert program.paths.nodes(int(program.path[5])) == (1, 2)
    with pytest.raises(InvalidParameterError, match="cut into 0 pieces"):
        lower(by_hand(line(3), "broadcast", Chunks.equal([0], 1), sends), pieces=0)


def test_a_ring_of_three_passes_on_what_has_come() -> None:
    """One way round: every shard is sent twice, the second time after the first."""
    ring = load_topology("ring:nodes=3,bidirectional=false")
    program = check(generate(ring))
    assert rows(program) == [
        (0, 0, 1, 0, 1),
        (1, 0, 1, 1, 2),
        (2, 0, 1, 2, 0),
        (0, 0, 1, 1, 2, 0),
        (1, 0, 1, 2, 0, 1),
        (2, 0, 1, 0, 1, 2),
    ]
    assert not program.reduce.any()
    assert program.starts is None
    assert (program.message == -1).all()


def test_what_comes_in_is_in_one_sum_of_an_adding_switch() -> None:
    """In the first to leave; the second has what came in later, though both overlap in time."""
    rows_ = [
        TimedSend(0, 10, 0, 0, 4, True),
        TimedSend(5, 10, 0, 3, 4, True),
        TimedSend(3, 12, 0, 4, 1, True),
        TimedSend(6, 11, 0, 4, 5, True),
        TimedSend(6, 11, 0, 5, 2, True),
        TimedSend(12, 14, 0, 1, 2, True),
    ]
    made = reduce_over(two_switches(), rows_, root=2)
    assert delivers(check(made))
    steps = [
        Send(0, 0, 0, 4, True),
        Send(0, 0, 4, 1, True),
        Send(1, 0, 2, 4, True),
        Send(1, 0, 4, 3, True),
        Send(2, 0, 3, 1, True),
    ]
    assert delivers(check(reduce_over(two_switches(), steps, root=1)))


def plain_switch(marks: tuple[dict[str, bool], ...], gpus: int = 3) -> Topology:
    """GPUs and switches with these marks, all joined."""
    builder = TopologyBuilder()
    names = [builder.gpu(f"g{i}") for i in range(gpus)]
    names += [builder.switch(f"w{i}", **mark) for i, mark in enumerate(marks)]
    for i, near in enumerate(names):
        for far in names[i + 1 :]:
            builder.link(near, far, 1)
    return builder.build("all joined")


def test_a_sum_that_a_plain_switch_divides_is_not_lowered() -> None:
    """Of what came in with two transfers, the one that leaves has a part and the other the rest."""
    rows_ = [
        Send(0, 0, 1, 0, True, 0, 1),
        Send(0, 0, 1, 3, True, 1, 1),
        Send(0, 0, 2, 3, True, 0, 2),
        Send(0, 0, 3, 0, True, 0, 2),
        Send(0, 0, 3, 0, True, 1, 1),
    ]
    chunks = Chunks.equal([0], whole=2, size=2)
    made = by_hand(plain_switch(({},)), "reduce", chunks, rows_)
    verify(made)
    with pytest.raises(UnsupportedError, match="cut the transfers where their ways part"):
        lower(made)


def test_switches_that_swap_within_a_moment_are_not_lowered() -> None:
    """One copies what the other may send once, and sends it back in the same step."""
    marks: tuple[dict[str, bool], ...] = ({"multicast": True}, {"stores": True})
    rows_ = [Send(0, 0, 0, 4), Send(1, 0, 4, 3), Send(1, 0, 3, 4), Send(2, 0, 3, 1)]
    made = by_hand(
        plain_switch(marks), "broadcast", Chunks.equal([0], 1), [*rows_, Send(2, 0, 4, 2)]
    )
    verify(made)
    with pytest.raises(UnsupportedError, match="within one moment"):
        lower(made)


def test_a_copying_switch_needs_one_copy_of_what_it_sends_on() -> None:
    """It gets the chunk twice, and what leaves it is either."""
    rows_ = [Send(0, 0, 0, 3), Send(0, 0, 3, 1), Send(1, 0, 1, 3), Send(1, 0, 3, 2)]
    net = plain_switch(({"multicast": True},))
    program = check(by_hand(net, "broadcast", Chunks.equal([0], 1), rows_))
    assert delivers(program)
    assert len(program.need) == 3


def test_more_needs_than_can_be_held_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of d transfers out of a root needs each of d into it; the square must have an end."""
    made = make("direct", "allreduce", "complete:nodes=5")
    many = len(lower(made).need)
    monkeypatch.setattr("forestcoll.schedule.transform.needs._MOST", many)
    lower(made)
    monkeypatch.setattr("forestcoll.schedule.transform.needs._MOST", many - 1)
    with pytest.raises(UnsupportedError, match=f"each other more than {many - 1} times"):
        lower(made)


def test_a_root_sends_out_what_it_has_summed_up_of_the_same_units() -> None:
    """Halves of a sum come in to a in two trees, thirds of it go out in three.

    In units of a sixth: b sends c + b of the first three on, c that of the last three. Each third
    waits for the halves that it lies in: the one from 2 to 4 for both.
    """
    net = load_topology("complete:nodes=3")
    a, b, c = range(3)
    inward = [
        Send(0, 0, c, b, reduce=True),
        Send(0, 1, b, c, reduce=True),
        Send(1, 0, b, a, reduce=True),
        Send(1, 1, c, a, reduce=True),
    ]
    reduce = forest_of(by_hand(net, "reduce", Chunks.equal([a, a], 2), inward))
    outward = [Send(0, third, a, gpu) for third in range(3) for gpu in (b, c)]
    gather = forest_of(by_hand(net, "broadcast", Chunks.equal([a, a, a], 3), outward))
    program = check(Allreduce(reduce, gather))
    assert delivers(program)
    assert program.chunks.whole == 6
    assert program.reduce.tolist() == [True] * 4 + [False] * 6
    assert sorted(rows(program)[:4]) == sorted(
        [(0, 3, 3, b, c), (0, 0, 3, c, b), (0, 0, 3, b, a, 1), (0, 3, 3, c, a, 0)]
    )
    assert sorted(row[1:3] + row[4:] for row in rows(program)[4:]) == [
        (0, 2, b, 2),
        (0, 2, c, 2),
        (2, 2, b, 2, 3),
        (2, 2, c, 2, 3),
        (4, 2, b, 3),
        (4, 2, c, 3),
    ]


def forest_of(steps: StepSchedule) -> Forest:
    """The trees of a schedule of one root, a chunk each."""
    gpus = steps.topology.num_compute
    parent = np.full((len(steps.chunks), gpus), -1, dtype=np.int32)
    sends = steps.sends
    near, far = (sends.head, sends.tail) if steps.reduction else (sends.tail, sends.head)
    parent[sends.chunk, far] = near
    edges = Counter(zip(sends.tail.tolist(), sends.head.tolist(), strict=True))
    paths = {edge: (Path(edge, trees),) for edge, trees in edges.items()}
    bandwidth = steps.topology.links[0].bandwidth_gb_s
    return Forest(
        topology=steps.topology,
        method="by hand",
        k=len(steps.chunks),
        congestion=max(edges.values()) / bandwidth,
        root=steps.chunks.root,
        multiplicity=np.ones(len(steps.chunks), dtype=np.int64),
        parent=parent,
        routes=Routes.from_paths(paths),
        weights=tuple(int(gpu == steps.chunks.root[0]) for gpu in range(gpus)),
        reduction=steps.reduction,
    )


def test_whole_trees_fill_paths_in_order() -> None:
    """Of two trees over a link and two paths each takes one; of three, the second takes both."""
    net = load_topology("fat_tree:leaves=2,hosts=1,spines=2")
    forest = generate(net)
    program = check(forest)
    for tail in range(2):
        mine = program.tail == tail
        nodes = [program.paths.nodes(path) for path in program.path[mine].tolist()]
        assert len(set(nodes)) == len(nodes) == 2
        assert program.amount[mine].tolist() == [program.chunks.size[tail] // 2] * 2


def test_a_transfer_is_cut_in_proportion_to_its_paths() -> None:
    """One unit over two paths of 1 : 2 is three units, a and two of them."""
    net = load_topology("fat_tree:leaves=2,hosts=1,spines=2")
    (gpu, far), (leaf, other, one, two) = net.compute, net.switches
    ways = [(gpu, leaf, spine, other, far) for spine in (one, two)]
    routes = Routes.from_paths({(0, 1): (Path(ways[0], 1), Path(ways[1], 2))})
    sends = Sends.of([Send(0, 0, 0, 1)])
    schedule = StepSchedule(net, "by hand", "broadcast", Chunks.equal([0], 1), sends, routes)
    program = check(schedule)
    assert rows(program) == [(0, 0, 1, 0, 1), (0, 1, 2, 0, 1)]
    assert [program.paths.nodes(path) for path in program.path.tolist()] == ways
    assert program.chunks.whole == 3


def test_two_gpus_that_swap_their_sums_do_not_need_each_other() -> None:
    """Recursive doubling of four: the second swap needs the first one's two sums, no more."""
    net = load_topology("complete:nodes=4")
    sends = [Send(s, 0, v, v ^ (1 << s), reduce=True) for s in range(2) for v in range(4)]
    program = check(by_hand(net, "allreduce", Chunks.equal([-1], 1), sends))
    assert delivers(program)
    assert [len(program.needs(t)) for t in range(8)] == [0] * 4 + [1] * 4


def test_what_is_added_later_is_not_in_a_sum_that_has_left() -> None:
    """GPU 0 sends its own part to 1 late, and gets 2's before, but for its own use only."""
    net = load_topology("complete:nodes=3")
    a, b, c = range(3)
    sends = [
        Send(0, 0, c, b, reduce=True),
        Send(1, 0, b, c, reduce=True),
        Send(1, 0, b, a, reduce=True),
        Send(1, 0, a, b, reduce=True),
        Send(1, 0, a, c, reduce=True),
    ]
    # c would count itself twice: only a and b have what is due, so check by the slow way.
    program = lower(by_hand(net, "allreduce", Chunks.equal([-1], 1), sends))
    assert [program.needs(t).tolist() for t in range(5)] == [[], [], [], [0], [0]]
    steps = stepwise(program).sends
    assert steps.step.tolist() == [0, 0, 1, 1, 1]
    assert (steps.tail[0], steps.head[0]) == (a, c)


def test_a_clock_says_when_to_start_and_what_goes_together() -> None:
    """Messages hold together window by window; what is not in one is alone."""
    net = load_topology("complete:nodes=2")
    sends, clock = timed(
        [
            TimedSend(1, 3, 0, 0, 1, first=0, amount=2, message=4),
            TimedSend(1, 3, 0, 0, 1, first=2, amount=2, message=4),
            TimedSend(0, 2, 1, 1, 0, first=0, amount=4),
        ],
        4000,
    )
    base = by_hand(
        net, "allgather", Chunks.equal([0, 1], 8, 4), [Send(0, 0, 0, 1), Send(0, 1, 1, 0)]
    )
    schedule = replace(base, sends=sends, clock=clock)
    program = lower(schedule)
    assert program.starts is not None
    assert (program.starts.size_bytes, program.starts.tick_us) == (4000, 1)
    assert program.starts.tick.tolist() == [0, 1, 1]
    assert program.message.tolist() == [-1, 0, 0]
    quarters = lower(schedule, pieces=4)
    assert len(set(quarters.message.tolist()) - {-1}) == 4
    assert (quarters.message == -1).sum() == 4


def test_flows_need_nothing() -> None:
    """Two GPUs of a ring of three, each over both ways round."""
    ring = load_topology("ring:nodes=3")
    paths = {
        (a, b): (Path((a, b), 2), Path((a, 3 - a - b, b), 1))
        for a in range(3)
        for b in range(3)
        if a != b
    }
    program = check(FlowSchedule(ring, "by hand", 3, Routes.from_paths(paths)))
    assert delivers(program)
    assert len(program.need) == 0
    assert program.first.tolist() == [0, 2] * 6
    check(FlowSchedule(ring, "by hand", 3, Routes.from_paths(paths)), pieces=2)


# --- switches ----------------------------------------------------------------------------------


def star(**marks: bool) -> Topology:
    """Three GPUs around a switch, which is end 3."""
    builder = TopologyBuilder()
    gpus = [builder.gpu(name) for name in "abc"]
    switch = builder.switch("w", **marks)
    for gpu in gpus:
        builder.link(gpu, switch, 1)
    return builder.build("star")


@pytest.mark.parametrize("later", [0, 1])
def test_a_switch_sends_on_what_it_gets_as_it_comes_in_or_next(later: int) -> None:
    """To both others, which needs the one transfer to the switch, also in the same step."""
    sends = [Send(0, 0, 0, 3), Send(later, 0, 3, 1), Send(later, 0, 3, 2)]
    net = star(multicast=True)
    program = check(by_hand(net, "broadcast", Chunks.equal([0], 1), sends), pieces=2)
    assert [program.needs(t).tolist() for t in range(6)] == [[], [], [0], [1], [0], [1]]
    assert delivers(program)


def test_a_switch_that_cannot_copy_gives_away_what_came_in_first() -> None:
    """The first copy to leave is the first that came in, though both are there."""
    sends = [Send(0, 0, 0, 3), Send(1, 0, 0, 3), Send(2, 0, 3, 1), Send(3, 0, 3, 2)]
    program = lower(by_hand(star(stores=True), "broadcast", Chunks.equal([0], 1), sends))
    assert [program.needs(t).tolist() for t in range(4)] == [[], [], [0], [1]]
    assert delivers(program)
    verify(stepwise(program))


@pytest.mark.parametrize("later", [0, 1])
def test_a_switch_adds_what_comes_in_at_once(later: int) -> None:
    """The sum of b and c needs both, in each of two windows."""
    sends = [
        Send(0, 0, 1, 3, reduce=True),
        Send(0, 0, 2, 3, reduce=True),
        Send(later, 0, 3, 0, reduce=True),
    ]
    net = star(multicast=True)
    program = check(by_hand(net, "reduce", Chunks.equal([0], 1), sends), pieces=2)
    assert [program.needs(t).tolist() for t in range(6)] == [[], [], [], [], [0, 2], [1, 3]]
    assert delivers(program)


def test_what_a_switch_passes_on_later_does_not_come_in_earlier() -> None:
    """A sum that the switch adds waits for its last part: b's own part with c's, which is d + c."""
    builder = TopologyBuilder()
    gpus = [builder.gpu(name) for name in "abcd"]
    switch = builder.switch("w", multicast=True)
    for gpu in gpus:
        builder.link(gpu, switch, 1)
    builder.link(gpus[2], gpus[3], 1)
    sends = [
        Send(0, 0, 3, 2, reduce=True),
        Send(1, 0, 1, 4, reduce=True),
        Send(1, 0, 2, 4, reduce=True),
        Send(2, 0, 4, 0, reduce=True),
    ]
    schedule = by_hand(builder.build("star"), "reduce", Chunks.equal([0], 1), sends)
    program = check(schedule)
    assert delivers(program)
    assert stepwise(program).sends.step.tolist() == [0, 1, 1, 2]


# --- every kind --------------------------------------------------------------------------------


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("kind", ["directed", "bidirectional"])
@pytest.mark.parametrize("seed", range(10))
def test_programs_of_forests_deliver(seed: int, kind: str, collective: str) -> None:
    """In any number of pieces, explicit, factored and in steps."""
    topology = random_topology(seed, kind)
    forest = generate(topology, collective=collective)
    pieces = 1 + seed % 3
    assert delivers(check(forest, pieces))
    check(lockstep(forest), pieces)
    check(generate_factored(topology, collective=collective), pieces)


@pytest.mark.parametrize("collective", [*COLLECTIVES, "broadcast", "reduce"])
@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "mi250:boxes=1"])
def test_programs_of_machines_deliver(spec: str, collective: str) -> None:
    """With a root where there is one; the slow way where there is little to do."""
    root = {} if collective in COLLECTIVES else {"root": 3}
    forest = generate(load_topology(spec), collective=collective, **root)
    for pieces in (1, 2, 3):
        program = check(forest, pieces)
    assert program.num_transfers > 2000 or delivers(program)


@pytest.mark.parametrize("collective", [*COLLECTIVES, "broadcast", "reduce"])
@pytest.mark.parametrize("spec", ["dgx_h100:boxes=1", "dgx_h100:boxes=2,sharp=true"])
def test_programs_of_copying_switches_deliver(spec: str, collective: str) -> None:
    """Switches get and send as GPUs do."""
    root = {} if collective in COLLECTIVES else {"root": 3}
    forest = generate_multicast(load_topology(spec), collective=collective, **root).schedule
    for pieces in (1, 2, 3):
        program = check(forest, pieces)
        assert (program.tail >= program.topology.num_compute).any()
    assert delivers(check(forest))


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_programs_of_groups_pass_through_relays(collective: str) -> None:
    """Three GPUs of a ring of six: what they send passes through the others."""
    ring = load_topology("ring:nodes=6")
    members = group(ring, [ring.nodes[v].name for v in (0, 1, 3)])
    assert delivers(check(generate(members, collective=collective), 2))


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_single_gpu_does_nothing(collective: str) -> None:
    """It has all there is."""
    builder = TopologyBuilder()
    builder.gpu("alone")
    schedule = generate(builder.build("alone"), collective=collective)
    for pieces in (1, 2):
        program = check(schedule, pieces)
        assert program.num_transfers == 0
        assert delivers(program)


@pytest.mark.parametrize(
    ("method", "collective"),
    [(method, collective) for method, claims in CLAIMS.items() for collective in claims],
)
def test_programs_of_all_methods_deliver(method: str, collective: str) -> None:
    """Trees and steps, clocks too."""
    for pieces, name in enumerate(examples(method, collective), 1):
        schedule = make(method, collective, name)
        program = check(schedule, pieces)
        clock = schedule.clock if isinstance(schedule, StepSchedule) else None
        assert (program.starts is None) == (clock is None)
        assert program.num_transfers > 3000 or delivers(program)


@pytest.mark.parametrize("pieces", [1, 2, 3])
@pytest.mark.parametrize("name", TYPES)
def test_programs_of_all_types_deliver(name: str, pieces: int) -> None:
    """A new type needs a way to become a program."""
    assert delivers(check(schedule(name), pieces))


@pytest.mark.parametrize("pieces", [1, 2, 3])
@pytest.mark.parametrize("name", LITERALS)
def test_programs_of_peers_schedules_deliver(name: str, pieces: int) -> None:
    """Intervals, named paths, switches that copy, store, pass on or add, clocks with delays."""
    assert delivers(check(LITERALS[name].make(), pieces))


@pytest.mark.parametrize(
    "name", [name for name in LITERALS if LITERALS[name].make().collective != "allreduce"]
)
def test_peers_schedules_turned_round_in_time_deliver(name: str) -> None:
    """What was copied is added, in switches too; and both in turn are an allreduce."""
    there = LITERALS[name].make()
    back = time_reversed(there, there.topology.reversed())
    for pieces in (1, 2):
        assert delivers(lower(back, pieces))
    if there.reduction:
        verify(in_turn(there, time_reversed(there, there.topology)))
        return
    both = in_turn(time_reversed(there, there.topology), there)
    assert delivers(lower(both))


# --- faults ------------------------------------------------------------------------------------


def dropped(program: Program, transfer: int) -> Program:
    """The same program, in which a transfer does not wait."""
    first, end = program.first_need[transfer : transfer + 2].tolist()
    before = program.first_need.copy()
    before[transfer + 1 :] -= end - first
    return replace(program, first_need=before, need=np.delete(program.need, np.s_[first:end]))


def refused(program: Program) -> bool:
    try:
        verify(stepwise(program))
    except VerificationError:
        return True
    return False


SMALL: dict[str, Callable[[], AnySchedule]] = {
    "allgather": lambda: generate(load_topology("ring:nodes=4")),
    "reduce-scatter": lambda: generate(
        load_topology("torus:dims=2x3"), collective="reduce-scatter"
    ),
    "allreduce": lambda: generate(random_topology(6, "directed"), collective="allreduce"),
    "copying": lambda: generate_multicast(load_topology("dgx_h100:boxes=1")).schedule,
    "adding": lambda: (
        generate_multicast(load_topology("dgx_h100:boxes=1"), collective="reduce-scatter").schedule
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_transfer_that_does_not_wait_is_found(name: str) -> None:
    """Whichever it is: carried out, and, if no switch may send it as it comes in, by its steps."""
    program = lower(SMALL[name](), pieces=2)
    waiting = np.flatnonzero(np.diff(program.first_need))
    assert len(waiting)
    for transfer in waiting[:: max(1, len(waiting) // 20)].tolist():
        hasty = dropped(program, transfer)
        assert not delivers(hasty)
        assert refused(hasty) or program.tail[transfer] >= program.topology.num_compute


@pytest.mark.parametrize("name", SMALL)
def test_a_transfer_of_other_units_is_found(name: str) -> None:
    """Each moved by a unit, one way or the other."""
    program = lower(SMALL[name](), pieces=2)
    for transfer in range(0, program.num_transfers, max(1, program.num_transfers // 20)):
        first = program.first.copy()
        end = first[transfer] + program.amount[transfer]
        size = program.chunks.size[program.chunk[transfer]]
        if program.amount[transfer] == size:
            continue
        first[transfer] += 1 if end < size else -1
        other = replace(program, first=first)
        assert refused(other)
        assert not delivers(other)


def test_a_program_must_be_in_order() -> None:
    """A transfer that needs itself never starts."""
    program = lower(generate(load_topology("ring:nodes=3,bidirectional=false")))
    need = program.need.copy()
    need[0] = 3
    with pytest.raises(VerificationError, match="does not come before it"):
        stepwise(replace(program, need=need))


def test_trees_without_paths_are_refused() -> None:
    """A forest that is not right cannot be followed."""
    forest = generate(load_topology("ring:nodes=4"))
    more = replace(forest.routes, multiplicity=forest.routes.multiplicity + 1)
    with pytest.raises(VerificationError, match="not as many paths as trees"):
        lower(replace(forest, routes=more))


def test_transfers_without_a_path_are_refused() -> None:
    """They are charged to no other link."""
    schedule = lockstep(generate(load_topology("ring:nodes=4")))
    for head in (schedule.sends.head * 0 + 2, schedule.sends.tail):
        with pytest.raises(VerificationError, match="have no path for one of its transfers"):
            lower(replace(schedule, sends=replace(schedule.sends, head=head)))


def test_numbers_beyond_64_bits_are_refused() -> None:
    """Pieces of what is as fine as numbers go; phases that share no data."""
    fine = Chunks.equal([0], 2**62 + 1, 2**62 + 1)
    schedule = by_hand(line(2), "broadcast", fine, [Send(0, 0, 0, 1)])
    check(schedule)
    with pytest.raises(UnsupportedError, match="more than 64-bit numbers count"):
        lower(schedule, pieces=2)
    net = line(3)
    reduce = generate(net, collective="reduce", root=0)
    gather = generate(net, collective="broadcast", root=1)
    with pytest.raises(UnsupportedError, match="different weights"):
        lower(Allreduce(reduce, gather))


@pytest.mark.parametrize("found", [None, 3, Forest, Allreduce(None, None)])
def test_what_is_no_schedule_is_refused_by_its_type(found: object) -> None:
    with pytest.raises(UnsupportedError, match=r"^unsupported: lower takes a schedule, not "):
        lower(found)


def test_programs_compare_by_what_they_say() -> None:
    """The same schedule makes the same program; in pieces it is another one."""
    ring = generate(load_topology("ring:nodes=3"))
    assert lower(ring) == lower(generate_factored(load_topology("ring:nodes=3")))
    assert len({lower(ring), lower(ring), lower(ring, 2)}) == 2
    assert forestcoll.lower is lower
