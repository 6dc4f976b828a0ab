"""Links that are slow for a time: the text, the limits, and schedules that keep to them."""

import itertools
from collections import defaultdict
from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.instance.commodities import Demand, demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork, epoch_us
from baselines.synthesizers.teccl.instance.slowdowns import Slowdown, limits_of, slowdowns_of
from baselines.synthesizers.teccl.milp.epoch_program import write
from baselines.synthesizers.teccl.milp.solvers import Effort, Outcome, solve
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import StepSchedule, verify
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of

HALF = Fraction(1, 2)


def ends_of(topology: Topology, slow: Slowdown) -> set[tuple[str, str]]:
    names = [node.name for node in topology.nodes]
    return {(names[topology.links[i].tail], names[topology.links[i].head]) for i in slow.links}


def test_slowdowns_are_read_from_text() -> None:
    ring = load_topology("ring:nodes=4")
    both, one, many = slowdowns_of(
        "gpu0 - gpu1 x 1/2 from 3 to 5; gpu1 -> gpu2 x 0.25 from 0 to 0 ;"
        "* -> gpu0 x 0 from 1 to 2;",
        ring,
    )
    assert ends_of(ring, both) == {("gpu0", "gpu1"), ("gpu1", "gpu0")}
    assert (both.factor, both.first_epoch, both.last_epoch) == (HALF, 3, 5)
    assert (ends_of(ring, one), one.factor) == ({("gpu1", "gpu2")}, Fraction(1, 4))
    assert ends_of(ring, many) == {("gpu1", "gpu0"), ("gpu3", "gpu0")}
    assert slowdowns_of("", ring) == slowdowns_of(" ; ", ring) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gpu0 - gpu1", "'gpu0 - gpu1' is not of the form 'a - b x 1/2 from 3 to 5'"),
        ("gpu0 - gpu1 x 1/2 from 3", "is not of the form"),
        ("gpu0 - gpu1 x half from 3 to 5", "the factor of gpu0 - gpu1 is 'half', which is not"),
        ("gpu0 - gpu2 x 1/2 from 3 to 5", "has no link gpu0 - gpu2; its nodes are gpu0, gpu1"),
        ("gpu0 - gpu1 x 2 from 3 to 5", "has 2 of its bandwidth; it must be from 0 to 1"),
        ("gpu0 - gpu1 x 1/2 from 5 to 3", "from 5 to 3; epochs must go up"),
        ("gpu0 - gpu1 x 1/2 from 5 to 99999", "from 0 to at most 10000"),
    ],
)
def test_unreadable_slowdowns_are_reported(text: str, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        generate(load_topology("ring:nodes=4"), slow=text)


def test_limits_are_those_of_the_epochs_for_which_a_chunk_is_busy() -> None:
    """Of 5/2 chunks an epoch; of 3/5, so that a chunk takes two; the slowest counts."""
    slow = Slowdown(frozenset({7}), 3, 4, HALF)
    slower = Slowdown(frozenset({7}), 4, 4, Fraction(0))
    assert limits_of(7, [slow, slower], Fraction(5, 2), 1) == ((3, 1), (4, 0))
    assert limits_of(7, [slow], Fraction(3, 5), 2) == ((2, 0), (3, 0), (4, 0))
    mild = Slowdown(frozenset({7}), 3, 3, Fraction(3, 4))
    assert limits_of(7, [mild], Fraction(3, 5), 2) == ()  # 3/5 and 9/20 are a chunk
    assert limits_of(6, [slow], Fraction(5, 2), 1) == ()


def fewest_by_trying(topology: Topology, demand: Demand, taken: dict[tuple[int, int], int]) -> int:
    """Breadth first, links of two chunks an epoch, or what is taken by link and epoch."""
    place = {node: rank for rank, node in enumerate(topology.compute)}
    links = [(place[link.tail], place[link.head]) for link in topology.links]
    wanted = {(chunk, rank) for chunk, ranks in enumerate(demand.wants) for rank in ranks}
    states = {frozenset(enumerate(demand.roots))}
    for epoch in itertools.count():
        if any(wanted <= state for state in states):
            return epoch
        following = set()
        for state in states:
            choices = []
            for i, (a, b) in enumerate(links):
                there = [c for c, at in state if at == a and (c, b) not in state]
                choices.append(
                    list(itertools.combinations(there, min(len(there), taken.get((i, epoch), 2))))
                )
            for sent in itertools.product(*choices):
                got = {(c, b) for some, (_, b) in zip(sent, links, strict=True) for c in some}
                following.add(state | got)
        states = {state for state in following if not any(state < other for other in following)}
    raise AssertionError


@pytest.mark.parametrize(
    "slow",
    [
        "gpu0 - gpu1 x 1/2 from 0 to 1",
        "gpu0 -> gpu1 x 0 from 0 to 1",
        "* - gpu2 x 1/2 from 1 to 1; gpu0 -> gpu1 x 0 from 0 to 0",
        "* -> * x 0 from 0 to 1",
        "* -> * x 1 from 0 to 9",
    ],
)
@pytest.mark.parametrize("spec", ["ring:nodes=3,bidirectional=false", "ring:nodes=3"])
def test_the_fewest_epochs_are_those_of_all_schedules(spec: str, slow: str) -> None:
    topology = load_topology(spec)
    demand = demand_of(3, "allgather", 2, 6000)
    epoch = 2 * demand.chunk_kb / topology.links[0].bandwidth_gb_s
    slowdowns = slowdowns_of(slow, topology)
    network = EpochNetwork.of(topology, demand.chunk_kb, epoch, slowdowns=slowdowns)
    taken = {
        (link, k): int(2 * each.factor)
        for each in reversed(slowdowns)
        for link in each.links
        for k in range(each.first_epoch, each.last_epoch + 1)
    }
    fewest = fewest_by_trying(topology, demand, taken)
    for epochs, outcome in ((fewest - 1, Outcome.INFEASIBLE), (fewest, Outcome.FOUND)):
        for solver in ("cp-sat", "highs"):
            assert solve(write(network, demand, epochs), solver, Effort()).outcome is outcome


def check_kept(schedule: StepSchedule, epoch: Fraction, slowdowns: tuple[Slowdown, ...]) -> None:
    """In every epoch a link has room for all chunks that need it, in the time that each takes."""
    clock, topology = schedule.clock, schedule.topology
    assert clock is not None
    assert clock.left is not None
    place = {node: end for end, node in enumerate(topology.ends)}
    number = {(place[x.tail], place[x.head]): i for i, x in enumerate(topology.links)}
    chunk_kb = Fraction(clock.size_bytes, 1000 * schedule.chunks.whole)
    begins: dict[int, list[int]] = defaultdict(list)
    rows = zip(
        schedule.sends.tail.tolist(),
        schedule.sends.head.tolist(),
        clock.start.tolist(),
        strict=True,
    )
    for a, b, start in rows:
        begin = start * clock.tick_us / epoch
        assert begin.denominator == 1
        begins[number[a, b]].append(int(begin))
    for link, at in begins.items():
        full = topology.links[link].bandwidth_gb_s * epoch / chunk_kb

        def room(k: int, link: int = link, full: Fraction = full) -> Fraction:
            parts = [
                s.factor
                for s in slowdowns
                if link in s.links and s.first_epoch <= k <= s.last_epoch
            ]
            return full * min(parts, default=Fraction(1))

        if full >= 1:
            assert all(at.count(k) <= room(k) for k in at)
        else:
            busy = -(-full.denominator // full.numerator)
            at.sort()
            assert all(later - k >= busy for k, later in itertools.pairwise(at))
            assert all(sum(room(k + i) for i in range(busy)) >= 1 for k in at)


@pytest.mark.parametrize(
    ("spec", "slow"),
    [
        ("dgx1:nvlink_latency=0", "*gpu0 - * x 1/2 from 0 to 3"),
        ("dgx1", "* -> *gpu3 x 0 from 1 to 2; *gpu0 -> * x 1/2 from 0 to 9"),
        ("torus:dims=3x3", "* - * x 0 from 1 to 1"),
    ],
)
def test_reduced_bandwidths_are_kept_and_never_faster(spec: str, slow: str) -> None:
    """Links of an epoch a chunk and of two or more; the check of the full bandwidth passes too."""
    topology = load_topology(spec)
    asked = {"size_bytes": topology.num_compute * 25_000, "crossing": "stored"}
    quick = generate(topology, **asked)  # type: ignore[arg-type]
    late = generate(topology, slow=slow, **asked)  # type: ignore[arg-type]
    verify(late)
    epoch = epoch_us(topology, Fraction(25), "fastest")
    check_kept(late, epoch, slowdowns_of(slow, topology))
    assert quick.clock is not None
    assert late.clock is not None
    assert late.clock.finish_us >= quick.clock.finish_us


def test_hyper_edges_are_slow_with_their_links() -> None:
    topology = network_of("a b c d [s]", "a b c d - s", "star")
    finish = []
    for slow in ("", "gpu0 -> * x 0 from 0 to 2"):
        schedule = generate(
            topology,
            slow=slow.replace("gpu0", topology.nodes[0].name),
            switches="hyper-edges",
            crossing="rounded",
        )
        verify(schedule)
        assert schedule.clock is not None
        finish.append(schedule.clock.finish_us)
    assert finish[0] < finish[1]


def test_reductions_have_no_slow_links() -> None:
    with pytest.raises(UnsupportedError, match="slow is for what is copied, not for allreduce"):
        generate(load_topology("ring:nodes=3"), "allreduce", slow="gpu0 - gpu1 x 0 from 0 to 1")
