"""TACOS: times against the public code's, rules against a literal version, schedules verified."""

import itertools
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from baselines import METHODS
from baselines.networks.unwinding import PATTERNS
from baselines.synthesizers.tacos import tacos
from baselines.synthesizers.tacos.matching import Trial, run_trial
from forestcoll.core.optimality import optimum
from forestcoll.errors import (
    CapacityOverflowError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.limits import Limits
from forestcoll.schedule import StepSchedule, cost, makespan_s_per_gb, verify
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from tests.random_topologies import KINDS, random_topology

State = tuple[frozenset[int], ...]
"""What each GPU has."""

COLLECTIVES = METHODS["tacos"].collectives


def delayed(topology: Topology, *latencies: Fraction) -> Topology:
    """Give the links these latencies in turn, in us."""
    links = zip(topology.links, itertools.cycle(latencies), strict=False)
    return Topology(
        topology.name, topology.nodes, tuple(replace(link, latency_us=us) for link, us in links)
    )


def mixed(spec: str) -> Topology:
    """A network with latencies of 0, 1/3 and 2/3 us."""
    return delayed(load_topology(spec), *(Fraction(i, 3) for i in range(3)))


def wired(gpus: int, *links: tuple[int, int, str]) -> Topology:
    """GPUs joined by one-way links of so many GB/s."""
    nodes = tuple(Node(f"gpu{i}", NodeKind.COMPUTE) for i in range(gpus))
    return Topology("wired", nodes, tuple(Link(a, b, Fraction(bw)) for a, b, bw in links))


def finish(topology: Topology, collective: str = "allgather", **parameters: object) -> Fraction:
    made = tacos.generate(topology, collective, **parameters)  # type: ignore[arg-type]
    assert made.clock is not None
    return made.clock.finish_us


@pytest.mark.parametrize(
    ("dims", "reference_us"),
    [
        ("3x3,wrap=false", 11114),
        ("4x4,wrap=false", 10004),
        ("5x5,wrap=false", 9606),
        ("4x4", 5002),
        ("8x8", 5321),
        ("3x3x3,wrap=false", 6671),
    ],
)
def test_times_of_the_public_code(dims: str, reference_us: int) -> None:
    """At most 1 % above its best of five, measured on a build of it (astra-sim/tacos, C++).

    Links of 50 GiB/s and 0.5 us, 1 GiB gathered, one chunk a GPU; here seeds 0 to 4.
    """
    mesh = load_topology(f"torus:bandwidth=53.6870912,dims={dims}")
    made = tacos.generate(delayed(mesh, Fraction(1, 2)), seed=0, trials=5)
    verify(made)
    assert made.clock is not None
    assert made.clock.finish_us <= Fraction(101, 100) * reference_us


def test_a_ring_of_three_is_done_in_one_step() -> None:
    """Each GPU gets both other chunks at once: 1/2 us and 1 kB at 2 GB/s, exactly."""
    ring = delayed(load_topology("ring:nodes=3,bandwidth=2"), Fraction(1, 2))
    made = tacos.generate(ring, size_bytes=3000)
    assert made.clock is not None
    assert (made.clock.finish_us, made.num_steps, len(made.sends)) == (1, 1, 6)


def fewest_steps(topology: Topology) -> int:
    """Try everything: what each GPU can have after each step, links all alike."""
    gpus = topology.num_compute
    sources = [[link.tail for link in topology.links if link.head == v] for v in range(gpus)]
    states = {tuple(frozenset([v]) for v in range(gpus))}
    for step in itertools.count():
        if tuple(frozenset(range(gpus)) for _ in range(gpus)) in states:
            return step
        states = {
            after
            for state in states
            for after in itertools.product(
                *(
                    {
                        state[v].union(got)
                        for got in itertools.product(*(state[u] for u in sources[v]))
                    }
                    for v in range(gpus)
                )
            )
        }
    raise AssertionError


@pytest.mark.parametrize(
    "spec",
    [
        "ring:nodes=3",
        "ring:nodes=4",
        "ring:nodes=5",
        "ring:nodes=4,bidirectional=false",
        "torus:dims=4,wrap=false",
        "complete:nodes=4",
    ],
)
def test_tiny_networks_are_solved(spec: str) -> None:
    """No schedule has fewer steps."""
    net = load_topology(spec)
    assert finish(net, size_bytes=net.num_compute * 1000) == fewest_steps(net)


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(
    "spec",
    [
        "torus:dims=2x3x4",
        "hypercube:dimension=3",
        "ring:nodes=7,bidirectional=false",
        "mi250:boxes=1",
        "mi250:boxes=2,gpus_per_box=8",
        "dgx_a100:boxes=2",
        "paper_example",
        "fat_tree:leaves=2,hosts=4,spines=3,oversubscription=2",
        "rail_optimized:boxes=2,gpus_per_box=4",
    ],
)
@pytest.mark.each_value_once
def test_schedules_verify_and_are_no_faster_than_the_optimum(spec: str, collective: str) -> None:
    """Latencies differ from link to link; an allreduce takes two phases."""
    net = mixed(spec)
    made = tacos.generate(net, collective, chunks=2, trials=1)
    verdict, finish = verify(made), makespan_s_per_gb(made)
    assert verdict.time_s_per_gb == cost(made).time_s_per_gb
    assert finish is not None
    assert verdict.makespan_s_per_gb == finish
    phases = 2 if collective == "allreduce" else 1
    assert finish >= phases * optimum(net).time_s_per_gb
    assert verdict.time_s_per_gb >= optimum(net).time_s_per_gb
    needed = phases * net.num_compute * (net.num_compute - 1) * 2
    assert len(made.sends) == needed  # nothing is sent twice


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_unwound_switches(pattern: str, collective: str) -> None:
    """The schedule names physical paths, whose latencies add up."""
    net = mixed("dgx_a100:boxes=2")
    made = tacos.generate(net, collective, unwinding=pattern, trials=1)
    verify(made)
    assert any(net.nodes[v].is_switch for v in made.routes.hop)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.each_value_once
def test_random_networks(seed: int, kind: str) -> None:
    """Whatever can be unwound verifies, in both directions of time."""
    net = random_topology(seed, kind)
    net = delayed(net, *(Fraction(i % 5, 7) for i in range(11)))
    for pattern, collective in itertools.product(PATTERNS, ("allgather", "allreduce")):
        with suppress(UnsupportedError):
            verify(tacos.generate(net, collective, size_bytes=9999, unwinding=pattern, trials=2))


def test_an_allreduce_is_a_reduce_scatter_and_then_an_allgather() -> None:
    """Each phase is the best of its trials."""
    net = mixed("torus:dims=3x3,wrap=false")
    parts = [finish(net, collective) for collective in ("reduce-scatter", "allgather")]
    assert finish(net, "allreduce") == sum(parts)


def test_a_reduction_runs_against_a_one_way_ring() -> None:
    """The sums go the way the links go, N - 1 hops."""
    ring = load_topology("ring:nodes=4,bidirectional=false")
    made = tacos.generate(ring, "reduce-scatter", size_bytes=4000)
    assert set(zip(made.sends.tail, made.sends.head, strict=True)) == {
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 0),
    }
    assert made.clock is not None
    assert made.clock.finish_us == 3


def test_the_way_round_by_fast_links() -> None:
    """1 kB takes 1 us on links of 1 GB/s, 10 us from 0 to 2 directly: 0 -> 1 -> 2 is there first.

    The slow link carries the chunk all the same, for nothing, and that is left out.
    """
    fast = [(0, 1), (1, 0), (1, 2), (2, 1)]
    slow = [(0, 2, "1/10"), (2, 0, "1/10")]
    net = wired(3, *((a, b, "1") for a, b in fast), *slow)
    made = tacos.generate(net, size_bytes=3000)
    verify(made)
    assert made.clock is not None
    assert made.clock.finish_us == 2
    assert set(zip(made.sends.tail, made.sends.head, strict=True)) == set(fast)


def test_more_chunks_follow_one_another() -> None:
    """Along a one-way line and back at once: halves arrive sooner than wholes."""
    line = load_topology("torus:dims=6,wrap=false")
    assert finish(line, chunks=8) <= finish(line, chunks=1)


def test_seeds() -> None:
    """The same seed makes the same schedule, others make others, and trials count up from it."""
    net = mixed("torus:dims=3x3,wrap=false")

    def made(**parameters: int) -> StepSchedule:
        return tacos.generate(net, **parameters)  # type: ignore[arg-type]

    def same(one: StepSchedule, other: StepSchedule) -> bool:
        sends, clocks = (one.sends, other.sends), (one.clock, other.clock)
        assert clocks[0] is not None
        assert clocks[1] is not None
        return all(
            np.array_equal(a, b)
            for a, b in (
                (sends[0].chunk, sends[1].chunk),
                (sends[0].tail, sends[1].tail),
                (sends[0].head, sends[1].head),
                (clocks[0].start, clocks[1].start),
            )
        )

    alone = [made(seed=seed, trials=1) for seed in range(3, 7)]
    assert same(alone[0], made(seed=3, trials=1))
    assert not same(alone[0], alone[1])
    times = [one.clock.finish_us for one in alone if one.clock is not None]
    assert same(made(seed=3, trials=4), alone[times.index(min(times))])


def test_ticks_that_would_not_fit_are_rounded_up() -> None:
    """Bandwidths of large primes have no common tick in 64 bits; times grow by a millionth."""
    primes = (10**9 + 7, 10**9 + 9, 10**9 + 21, 10**9 + 33)
    links = [(v, (v + 1) % 4, f"{p}/1000000000") for v, p in enumerate(primes)]
    made = tacos.generate(wired(4, *links), size_bytes=4000)
    verify(made)
    assert made.clock is not None
    assert Fraction(3 * 10**9, primes[-1]) < made.clock.finish_us < 3 * (1 + Fraction(1, 10**6))


def test_shares_that_would_not_fit_are_rounded() -> None:
    """Two ways of bandwidths of large primes are not used beyond what they have, but nearly so."""
    nodes = [Node(name, NodeKind.COMPUTE) for name in "ab"]
    nodes += [Node(name, NodeKind.SWITCH) for name in "uvw"]
    ways = {2: "1.0000000000037", 3: "2.0000000000007", 4: "1e-15"}  # the last is left out
    ends = [(gpu, switch) for switch in ways for gpu in (0, 1)]
    links = [
        Link(*pair, Fraction(ways[max(pair)]))
        for gpu, switch in ends
        for pair in ((gpu, switch), (switch, gpu))
    ]
    made = tacos.generate(Topology("two ways", tuple(nodes), tuple(links)), size_bytes=6000)
    verify(made)
    assert made.clock is not None
    assert len(made.routes.multiplicity) == 4
    assert 1 - Fraction(1, 10**6) < made.clock.finish_us < 1 + Fraction(1, 10**6)


def test_links_that_are_too_far_apart_are_refused() -> None:
    """1e-20 and 1e20 GB/s."""
    net = wired(2, (0, 1, "1e20"), (1, 0, "1e-20"))
    with pytest.raises(CapacityOverflowError, match="too far apart"):
        tacos.generate(net)


def test_no_time_at_all() -> None:
    """Nothing is there by then; nine GPUs cannot be done before the bound that is named."""
    net = mixed("torus:dims=3x3,wrap=false")
    with pytest.raises(TimeLimitError, match="0 s are too few for one trial") as info:
        tacos.generate(net, limits=Limits(seconds=0))
    assert info.value.bound is not None
    assert 0 < Fraction(str(info.value.bound)) <= finish(net, trials=1)


def test_time_that_is_up_after_two_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of them is returned."""
    net = mixed("torus:dims=3x3,wrap=false")
    expected = tacos.generate(net, trials=2, seed=1)
    made = []

    def until_the_second(*given: Any, **options: Any) -> Trial:
        if len(made) == 2:
            raise TimeoutError
        made.append(run_trial(*given, **options))
        return made[-1]

    monkeypatch.setattr(tacos, "run_trial", until_the_second)
    assert tacos.generate(net, trials=50, seed=1, limits=Limits(seconds=999)) == expected


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"chunks": 0}, "chunks is 0; it must be a whole number >= 1"),
        ({"trials": 0}, "trials is 0"),
        ({"size_bytes": 0}, "size_bytes is 0"),
        ({"seed": -1}, "seed is -1; it must be a whole number >= 0"),
        ({"matching": "best"}, "matching is 'best'; it must be one of maximum, greedy"),
        ({"unwinding": "star"}, "unwinding is 'star'; it must be one of ring"),
    ],
)
def test_parameters_out_of_range(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        METHODS["tacos"].run(load_topology("ring:nodes=3"), parameters=parameters)


@pytest.mark.parametrize(
    ("topology", "collective", "message"),
    [
        (wired(1), "allgather", "wired has 1 GPUs; a collective needs two"),
        (wired(2), "allgather", "no links lead from gpu. to gpu."),
        (wired(2, (0, 1, "1")), "allgather", "no links lead from gpu1 to gpu0"),
        (wired(2, (0, 1, "1")), "reduce-scatter", "no links lead from gpu1 to gpu0"),
        (wired(2, (0, 1, "1")), "broadcast", "tacos has no broadcast"),
    ],
)
def test_unsupported_networks_and_collectives_raise_typed_errors(
    topology: Topology, collective: str, message: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"^unsupported: .*{message}"):
        tacos.generate(topology, collective)
