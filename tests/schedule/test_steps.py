"""Step schedules: what verify accepts, what it refuses, and what they cost."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines import METHODS
from forestcoll import generate
from forestcoll.errors import VerificationError
from forestcoll.schedule import (
    Allreduce,
    Chunks,
    Clock,
    Forest,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    cost,
    finish_s_per_gb,
    in_steps,
    lockstep,
    verify,
)
from forestcoll.schedule.cost import step_loads
from forestcoll.topology import Topology, load_topology
from tests.random_topologies import random_topology
from tests.schedule.mutations_of.steps import CLOCK_MUTATIONS, STEP_MUTATIONS


def over(topology: Topology, pairs: set[tuple[int, int]]) -> Routes:
    """Direct links between GPUs that come first among the nodes."""
    assert topology.compute == tuple(range(topology.num_compute))
    return Routes.from_paths({pair: (Path(pair, 1),) for pair in pairs})


def schedule(
    topology: Topology, collective: str, chunks: Chunks, sends: list[Send]
) -> StepSchedule:
    pairs = {(send.tail, send.head) for send in sends}
    return StepSchedule(
        topology, "by hand", collective, chunks, Sends.of(sends), over(topology, pairs)
    )


def doubling(gpus: int = 4) -> StepSchedule:
    """Recursive doubling: everyone swaps all it has with a partner further and further off."""
    sends, distance = [], 1
    while distance < gpus:
        step = distance.bit_length() - 1
        sends += [Send(step, 0, v, v ^ distance, reduce=True) for v in range(gpus)]
        distance *= 2
    complete = load_topology(f"complete:nodes={gpus}")
    return schedule(complete, "allreduce", Chunks.equal([-1], whole=1), sends)


def rotation(gpus: int = 3) -> StepSchedule:
    """An all-to-all of direct transfers, one to each GPU in each step."""
    pairs = [(a, (a + s) % gpus) for s in range(1, gpus) for a in range(gpus)]
    chunks = Chunks(
        size=np.ones(len(pairs), dtype=np.int64),
        whole=gpus,
        root=np.array([a for a, _ in pairs], dtype=np.int32),
        target=np.array([b for _, b in pairs], dtype=np.int32),
    )
    sends = [Send(c // gpus, c, a, b) for c, (a, b) in enumerate(pairs)]
    return schedule(load_topology(f"complete:nodes={gpus}"), "all-to-all", chunks, sends)


def ring_of(collective: str, spec: str = "mi250:boxes=2,gpus_per_box=8") -> StepSchedule:
    made = METHODS["ring"].run(load_topology(spec), collective)
    assert not isinstance(made, StepSchedule)
    return lockstep(made)


def relay(tick_us: Fraction = Fraction(1)) -> StepSchedule:
    """A broadcast of 3 kB along a line of 3 GPUs, links of 1 GB/s: 3 us each."""
    line = load_topology("torus:dims=3,wrap=false")
    made = schedule(
        line, "broadcast", Chunks.equal([0], whole=1), [Send(0, 0, 0, 1), Send(1, 0, 1, 2)]
    )
    start = np.array([0, 3], dtype=np.int64)
    return replace(made, clock=Clock(3000, tick_us, start, start + 3))


SCHEDULES: dict[str, Callable[[], StepSchedule]] = {
    "recursive doubling": doubling,
    "all-to-all": rotation,
    "ring allgather": lambda: ring_of("allgather"),
    "ring reduce-scatter": lambda: ring_of("reduce-scatter"),
    "ring allreduce": lambda: ring_of("allreduce"),
    "timed broadcast": relay,
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_correct_schedule_is_proved(name: str) -> None:
    """Cost and verify agree on all times, and so does adding up link by link."""
    made = SCHEDULES[name]()
    verdict, stepwise = verify(made), in_steps(made)
    assert verdict.collective == made.collective
    assert verdict.steps == stepwise.steps == made.num_steps
    assert verdict.time_s_per_gb == cost(made).time_s_per_gb == busiest(link_times(made))
    assert verdict.in_steps_s_per_gb == stepwise.time_s_per_gb == slowest_links(made)
    assert verdict.finish_s_per_gb == finish_s_per_gb(made)


@pytest.mark.parametrize("mutation", STEP_MUTATIONS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_spoiled_schedule_is_refused(name: str, mutation: str) -> None:
    """Whatever is changed, the first fault is named."""
    mutate, message = STEP_MUTATIONS[mutation]
    with pytest.raises(VerificationError, match=message):
        verify(mutate(SCHEDULES[name]()))


@pytest.mark.parametrize("mutation", CLOCK_MUTATIONS)
def test_a_spoiled_clock_is_refused(mutation: str) -> None:
    """Data cannot be sent before it is there, nor faster than the link is."""
    mutate, message = CLOCK_MUTATIONS[mutation]
    with pytest.raises(VerificationError, match=message):
        verify(mutate(relay()))


def link_times(made: StepSchedule) -> list[dict[tuple[int, int], Fraction]]:
    """Of each step, how long each link is busy for a gigabyte, path by path."""
    topology, paths = made.topology, made.routes.paths()
    times: list[dict[tuple[int, int], Fraction]] = [{} for _ in range(made.num_steps)]
    for send, step in enumerate(made.sends.step):
        size = Fraction(int(made.intervals.amount[send]), made.chunks.whole)
        ways = paths[int(made.sends.tail[send]), int(made.sends.head[send])]
        if (path := int(made.sends.paths[send])) >= 0:
            ways = ([way for some in paths.values() for way in some][path],)
        for way in ways:
            part = size * way.multiplicity / sum(other.multiplicity for other in ways)
            for hop in zip(way.nodes, way.nodes[1:], strict=False):
                time = part / topology.link_between[hop].bandwidth_gb_s
                times[step][hop] = times[step].get(hop, Fraction(0)) + time
    return times


def slowest_links(made: StepSchedule) -> Fraction:
    """The sum over the steps of the slowest link."""
    return sum((max(times.values()) for times in link_times(made)), Fraction(0))


def busiest(times: list[dict[tuple[int, int], Fraction]]) -> Fraction:
    """What the link takes that is busy for longest in all steps together."""
    total: dict[tuple[int, int], Fraction] = {}
    for step in times:
        for hop, time in step.items():
            total[hop] = total.get(hop, Fraction(0)) + time
    return max(total.values())


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("kind", ["directed", "bidirectional"])
@pytest.mark.parametrize("seed", range(8))
def test_lockstep_of_a_forest_delivers_and_is_no_faster(
    seed: int, kind: str, collective: str
) -> None:
    """Hop by hop the same data crosses the same links, but the steps wait for each other."""
    forest = generate(random_topology(seed, kind), collective=collective)
    phases = forest.phases if isinstance(forest, Allreduce) else (forest,)
    steps = lockstep(forest)
    verdict = verify(steps)
    assert verdict.steps == sum(int(phase.heights().max()) for phase in phases)
    assert verdict.in_steps_s_per_gb == slowest_links(steps) >= cost(forest).time_s_per_gb
    if isinstance(forest, Forest):
        assert verdict.time_s_per_gb == cost(forest).time_s_per_gb
        assert verdict.in_steps_s_per_gb == in_steps(forest).time_s_per_gb


def test_rings_lose_nothing_in_lockstep() -> None:
    """Every link of a ring is busy in every step; T_L = N - 1 steps (BFB section 6)."""
    forest = METHODS["ring"].run(load_topology("ring:nodes=7"))
    assert isinstance(forest, Forest)
    steps = lockstep(forest)
    assert in_steps(steps).time_s_per_gb == forest.time_s_per_gb
    assert steps.num_steps == 6


def test_recursive_doubling_by_hand() -> None:
    """Four GPUs, all links 1 GB/s: two steps of the whole buffer, each over links of its own."""
    assert in_steps(doubling()).time_s_per_gb == 2
    assert cost(doubling()).time_s_per_gb == 1


def test_a_contribution_counted_twice_is_named() -> None:
    """0 adds 1's part, and then 1's part comes again with 2's."""
    complete = load_topology("complete:nodes=3")
    sends = [Send(0, 0, 1, 0, True), Send(0, 0, 1, 2, True), Send(1, 0, 2, 0, True)]
    made = schedule(complete, "reduce", Chunks.equal([0], whole=1), sends)
    with pytest.raises(VerificationError, match="contribution of gpu1 is counted twice"):
        verify(made)


def test_two_replacements_at_once_are_refused() -> None:
    """Which of two copies would stay is not said."""
    sums = [Send(0, 0, 1, 0, True), Send(1, 0, 2, 0, True)]
    copies = [Send(2, 0, 0, 1), Send(2, 0, 0, 2), Send(2, 0, 2, 1)]
    complete = load_topology("complete:nodes=3")
    made = schedule(complete, "allreduce", Chunks.equal([-1], whole=1), sums + copies)
    with pytest.raises(VerificationError, match="has that already or gets it twice"):
        verify(made)
    wiped = [Send(2, 0, 0, 1), Send(2, 0, 2, 1), Send(3, 0, 2, 0)]
    made = schedule(complete, "reduce", Chunks.equal([0], whole=1), sums + wiped)
    with pytest.raises(VerificationError, match="replaces the same chunk"):
        verify(made)


def test_the_order_of_arrivals_within_a_step_must_not_matter() -> None:
    """A copy and a sum for one chunk in one step: the copy might wipe the sum out."""
    sends = [Send(0, 0, 2, 0, True), Send(1, 0, 0, 2), Send(1, 0, 1, 2, True)]
    complete = load_topology("complete:nodes=3")
    made = schedule(complete, "reduce", Chunks.equal([2], whole=1), sends)
    with pytest.raises(VerificationError, match="replaces the same chunk"):
        verify(made)


def test_what_is_sent_was_there_before_the_step() -> None:
    """Passing on in the step in which it arrives is too early."""
    sends = [Send(0, 0, 0, 1), Send(0, 0, 1, 2)]
    line = load_topology("torus:dims=3,wrap=false")
    made = schedule(line, "broadcast", Chunks.equal([0], whole=1), sends)
    with pytest.raises(VerificationError, match="does not have the chunk when the step begins"):
        verify(made)


def test_a_transfer_is_divided_over_its_paths() -> None:
    """Two paths of multiplicities 1 and 3 carry a quarter and three quarters."""
    net = load_topology("fat_tree:leaves=2,hosts=1,spines=2")
    gpu, far = net.compute
    leaf, other, *spines = net.switches
    ways = tuple(
        Path((gpu, leaf, spine, other, far), count)
        for spine, count in zip(spines, (1, 3), strict=True)
    )
    made = StepSchedule(
        net,
        "by hand",
        "broadcast",
        Chunks.equal([0], whole=1),
        Sends.of([Send(0, 0, 0, 1)]),
        Routes.from_paths({(0, 1): ways}),
    )
    verify(made)
    found = cost(made)
    load = {
        (link.tail, link.head): Fraction(n, found.whole)
        for link, n in zip(net.links, found.loads, strict=True)
    }
    assert load[leaf, spines[0]] == Fraction(1, 4)
    assert load[spines[1], other] == Fraction(3, 4)


def test_a_gpu_on_a_path_forwards_in_the_same_step() -> None:
    """Along a line of three, one step keeps both links busy; who forwards does not get the data."""
    line = load_topology("torus:dims=3,wrap=false")
    made = StepSchedule(
        line,
        "by hand",
        "broadcast",
        Chunks.equal([0], whole=1),
        Sends.of([Send(0, 0, 0, 1), Send(0, 0, 0, 2)]),
        Routes.from_paths({(0, 1): (Path((0, 1), 1),), (0, 2): (Path((0, 1, 2), 1),)}),
    )
    verdict = verify(made)
    assert (verdict.steps, verdict.time_s_per_gb, verdict.in_steps_s_per_gb) == (1, 2, 2)
    far = replace(made, sends=Sends.of([Send(0, 0, 0, 2)]))
    far = replace(far, routes=Routes.from_paths({(0, 2): (Path((0, 1, 2), 1),)}))
    with pytest.raises(VerificationError, match="chunk 0 never gets to gpu1"):
        verify(far)


def test_huge_sizes_are_added_up_exactly() -> None:
    """Where 64 bits are too few, Python's whole numbers take over."""
    made = doubling()
    size = 2**62
    huge = replace(made, chunks=Chunks.equal([-1], whole=size, size=size))
    assert verify(huge).time_s_per_gb == cost(huge).time_s_per_gb == 1
    assert verify(huge).in_steps_s_per_gb == in_steps(huge).time_s_per_gb == 2


def test_a_clock_counts_in_exact_time() -> None:
    """Two hops of 3 us for 3 kB: 2 s per GB; a clock that is 1 % fast is refused."""
    assert verify(relay()).finish_s_per_gb == finish_s_per_gb(relay()) == 2
    assert verify(relay()).time_s_per_gb == cost(relay()).time_s_per_gb == 1
    with pytest.raises(VerificationError, match=r"carries 100/99 GB/s"):
        verify(relay(Fraction(99, 100)))


def test_the_order_of_transfers_does_not_matter() -> None:
    """They are sorted when they are gathered."""
    made = doubling(8)
    rows = [
        Send(*map(int, row), reduce=True)
        for row in zip(
            made.sends.step, made.sends.chunk, made.sends.tail, made.sends.head, strict=True
        )
    ]
    random.Random(0).shuffle(rows)
    again = Sends.of(rows)
    assert np.array_equal(again.tail, made.sends.tail)
    assert np.array_equal(again.step, made.sends.step)


@pytest.mark.parametrize(("cells", "edges"), [(1, 1), (30, 10), (10**6, 10**6)])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_hops_are_counted_as_lockstep_writes_them(
    collective: str, cells: int, edges: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the blocks in which trees are looked at, the steps are those of ``lockstep``."""
    monkeypatch.setattr(step_loads, "_CELLS", cells)
    monkeypatch.setattr(step_loads, "_EDGES", edges)
    forest = METHODS["ring"].run(load_topology("mi250:boxes=2,gpus_per_box=8"), collective)
    written = lockstep(forest)
    assert in_steps(forest) == in_steps(written)
    assert in_steps(forest).time_s_per_gb == slowest_links(written)
    assert in_steps(forest).steps == 15
