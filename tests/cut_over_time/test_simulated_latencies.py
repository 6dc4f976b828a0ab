"""Latencies where simulations pay them, by hand, and that no bound becomes larger."""

import random
from fractions import Fraction

import pytest

from forestcoll import generate, time_bound
from forestcoll.compilation import compile_program
from forestcoll.cut_over_time.simulated_latencies import simulated_latencies
from forestcoll.schedule.simulate import AlphaBeta, Simulator
from forestcoll.topology import Topology, group, load_topology
from tests.fuzz import contest
from tests.fuzz.over_time import time_bounds as fuzz
from tests.hand_networks import network_of
from tests.random_topologies import seeds


def latencies(network: Topology, alpha: int) -> dict[str, Fraction]:
    names = [node.name for node in network.nodes]
    made = simulated_latencies(network, Fraction(alpha))
    return {f"{names[e.tail]} {names[e.head]}": e.latency_us for e in made.links}


def test_the_first_link_pays_for_the_shortest_path_over_it():
    """A -> s costs 1 and alpha 2, s -> b 10, s -> c 4: the path to c counts; c -> s: 2 + 0 + 1."""
    network = network_of("a b c [s]", "a - s: 1 1, s > b: 1 10, s > c: 1 4, c > s: 1")
    assert latencies(network, 2) == {"a s": 7, "c s": 3, "s a": 0, "s b": 0, "s c": 0}


def test_gpus_that_forward_are_parts_of_paths():
    """A -> b -> c with b outside the group: alpha twice, both on the first link."""
    relayed = group(network_of("a b c", "a - b: 1 1, b - c: 1 2"), ["a", "c"], idle="forward")
    found = latencies(relayed, 10)
    assert (found["a b"], found["b c"], found["c b"], found["b a"]) == (23, 0, 23, 0)
    assert not any(node.is_gpu and node.is_switch for node in made_of(relayed).nodes)


def made_of(network: Topology) -> Topology:
    return simulated_latencies(network, Fraction(10))


def test_a_link_that_leads_to_no_gpu_has_its_own():
    network = network_of("a b [s] [t]", "a b - s: 1 1, a > t: 1 5")
    assert latencies(network, 2)["a t"] == 7


def test_a_simulation_may_end_before_the_bound_of_the_model():
    """30 KB from a to b: b is 10 us behind s, c is at s, and c -> b has half of the bandwidth.

    a -> s of 1 GB/s feeds both. In the model, what enters it in the last 10 us is too late for b
    but over c: T + (T - 10) = 60 us of half bandwidth, T = 35. A simulated transfer waits 10 us
    first, while the other uses a -> s.
    """
    links = "a > s: 1, s > b: 1 10, s > c: 1, c > b: 1/2, b > c: 10, b > a: 1, c > a: 1"
    network = network_of("a b c [s]", links)
    made = generate(network, collective="broadcast", root="a", k=3).schedule
    took = Simulator(compile_program(made)).run(30_000, AlphaBeta(alpha_us=0), 1).time_s * 1e6
    assert took == pytest.approx(32)
    assert time_bound(network, "broadcast", 30_000, 0, root="a").time_us == 35
    there = simulated_latencies(network, Fraction(0))
    assert time_bound(there, "broadcast", 30_000, 0, root="a").time_us == 30


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "mi250:boxes=1", "torus:dims=3x3"])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "all-to-all"])
@pytest.mark.each_value_once
def test_where_paths_take_equally_long_the_bound_is_the_same(spec: str, collective: str):
    network = load_topology(spec)
    there = simulated_latencies(network, Fraction(10))
    for size in (1000, 10**6, 10**9):
        due = time_bound(network, collective, size, 10).time_us
        assert time_bound(there, collective, size, 0).time_us == due


@pytest.mark.parametrize("seed", seeds(14, 5))
def test_no_bound_becomes_larger(seed: int):
    chance = random.Random(seed)
    kind = list(contest.KINDS)[seed % len(contest.KINDS)]
    network = fuzz.late(contest.KINDS[kind](chance), chance)
    if network.num_compute < 2:
        return
    there = simulated_latencies(network, Fraction(3))
    for collective in ("allgather", "reduce-scatter", "allreduce"):
        due = time_bound(network, collective, 20_000, 3).time_us
        assert time_bound(there, collective, 20_000, 0).time_us <= due
