"""Breadth-first broadcasts as a method: valid, in as few steps as the diameter, balanced."""

import random
from fractions import Fraction

import pytest

from baselines import METHODS
from baselines.direct_connect.bfb.bfb import generate
from forestcoll import generate as forestcoll
from forestcoll.errors import (
    CapacityOverflowError,
    DisconnectedError,
    InvalidParameterError,
    UnsupportedError,
)
from forestcoll.problem.limits import Limits
from forestcoll.schedule import cost, verify
from forestcoll.schedule.cost_model import synchronous
from forestcoll.topology import TopologyBuilder, load_topology
from tests.baselines.direct_connect.bfb.networks import hops, random_network
from tests.hand_networks import network_of

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("seed", range(25))
@pytest.mark.each_value_once
def test_schedules_of_random_networks_are_proved(seed: int, collective: str) -> None:
    """In as many steps as hops; no faster, pipelined, than our optimum."""
    topology = random_network(seed)
    made = generate(topology, collective)
    verify(made)
    diameter = int(hops(topology).max())
    assert made.num_steps == diameter * (2 if collective == "allreduce" else 1)
    if collective != "allreduce":
        best = forestcoll(topology, collective=collective).schedule
        assert cost(made).time_s_per_gb >= best.time_s_per_gb


def test_the_worked_example_of_the_paper() -> None:
    """K(2,2), figure 1: two steps, 3/4 M / B; links of 1 GB/s, so B is 2."""
    made = generate(load_topology("complete_bipartite:degree=2"))
    assert (made.num_steps, 2 * synchronous(made).time_s_per_gb) == (2, Fraction(3, 4))


@pytest.mark.parametrize(
    ("spec", "degree", "steps", "time"),
    [
        ("generalized_kautz:degree=4,nodes=64", 4, 3, Fraction(21, 16)),  # 1.312 in table 7
        ("de_bruijn:degree=4,length=4", 4, 4, Fraction(85, 64)),  # 1.328
        ("torus:dims=3x5", 4, 3, Fraction(14, 15)),
        ("circulant:nodes=12,offsets=2+3", 4, 2, Fraction(11, 12)),
        ("hypercube:dimension=6", 6, 6, Fraction(63, 64)),
    ],
)
def test_published_times(spec: str, degree: int, steps: int, time: Fraction) -> None:
    made = generate(load_topology(spec))
    assert (made.num_steps, degree * synchronous(made).time_s_per_gb) == (steps, time)


def test_the_two_directions_of_an_unsymmetric_graph_differ() -> None:
    """The reduce-scatter of this generalized Kautz graph takes longer than its allgather."""
    topology = load_topology("generalized_kautz:degree=4,nodes=200")
    times = [4 * synchronous(generate(topology, c)).time_s_per_gb for c in COLLECTIVES]
    assert [round(float(time), 3) for time in times] == [1.273, 1.7, 2.973]


@pytest.mark.parametrize("pieces", [1, 2, 3, 7])
def test_whole_pieces_cost_no_more_than_rounding(pieces: int) -> None:
    """Theorem 20: at most d (d^D - 1) / ((d - 1) P N) above the best, times M / B."""
    topology, degree = load_topology("hypercube:dimension=3"), 3
    best, made = generate(topology), generate(topology, pieces=pieces)
    verify(made)
    assert made.chunks.size.tolist() == [pieces] * 8
    late = degree * (synchronous(made).time_s_per_gb - synchronous(best).time_s_per_gb)
    assert 0 <= late <= Fraction(degree * (degree**3 - 1), (degree - 1) * pieces * 8)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_one_gpu_for_all_that_are_like_it_takes_as_long(collective: str) -> None:
    topology = load_topology("torus:dims=4x5")
    alone, alike = (generate(topology, collective, symmetry=s) for s in (False, True))
    verify(alike)
    assert synchronous(alone).time_s_per_gb == synchronous(alike).time_s_per_gb


def test_threads_change_nothing() -> None:
    topology = load_topology("circulant:nodes=300,offsets=7+11")
    assert generate(topology, limits=Limits(threads=2)) == generate(topology)


def test_numbers_beyond_64_bits_are_refused() -> None:
    """A ring and chords whose bandwidths have nothing in common; a latency of 10^18 us."""
    rng, builder, size = random.Random(0), TopologyBuilder(), 40
    for i in range(size):
        builder.gpu(f"gpu{i}", index=i)
    pairs = {(i, (i + 1) % size) for i in range(size)}
    pairs |= {tuple(sorted(rng.sample(range(size), 2))) for _ in range(size // 2)}
    for one, other in sorted(pairs):
        for tail, head in ((one, other), (other, one)):
            builder.arc(f"gpu{tail}", f"gpu{head}", f"10.{rng.randrange(1000):03d}")
    odd = builder.build("odd")
    with pytest.raises(CapacityOverflowError, match="round the bandwidths"):
        generate(odd)
    verify(generate(odd, pieces=2))
    builder.link("gpu0", "gpu5", 1, 10**18)
    with pytest.raises(CapacityOverflowError, match="round the latencies"):
        generate(builder.build("slow"), num_bytes=1)


def test_unsupported_requests_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="has switches"):
        generate(load_topology("dgx_a100:boxes=1"))
    with pytest.raises(UnsupportedError, match="a collective needs two"):
        generate(network_of("a", "", "one"))
    with pytest.raises(InvalidParameterError, match="pieces is -1"):
        generate(load_topology("ring:nodes=4"), pieces=-1)
    with pytest.raises(InvalidParameterError, match="-5 bytes"):
        generate(load_topology("ring:nodes=4"), num_bytes=-5)
    with pytest.raises(DisconnectedError, match="cannot be reached"):
        generate(network_of("a b", "a > b", "one way"))
    assert METHODS["bfb"].collectives == COLLECTIVES
