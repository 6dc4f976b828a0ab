"""What no file is above: optima, and bounds that hold of anybody's schedule."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import pytest

from baselines.registry import METHODS
from forestcoll import cost, generate, optimum
from forestcoll.all_to_all.linear_optimum import all_to_all_rate
from forestcoll.errors import ForestCollError
from forestcoll.problem.limits import Limits
from forestcoll.runtimes.scoring.file_bounds import (
    MOST_NODES,
    FileBound,
    bound_of,
    bound_of_schedule,
    measured,
    narrowest_sets,
)
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import Topology, load_topology
from tests.baselines.claims import CLAIMS, examples, make
from tests.baselines.once_each import others_slow
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology
from tests.schedule.made.flows import ring, unequal

CLAIMED = [
    (method, collective, name)
    for method, claims in CLAIMS.items()
    for collective in claims
    for name in examples(method, collective)
]


def test_the_bound_of_one_phase_is_the_optimum() -> None:
    """Of a broadcast from GPU 1, too, whose bound the weights ask for."""
    topology = load_topology("dgx_a100:boxes=2").scaled("b0.gpu1 - *", "1/2")
    weights = [int(rank == 1) for rank in range(16)]
    for collective, given in (
        ("allgather", None),
        ("reduce-scatter", None),
        ("broadcast", weights),
    ):
        reduction = collective == "reduce-scatter"
        best = optimum(topology, weights=given, reduction=reduction)
        found = bound_of(topology, collective, given)
        assert found.optimal
        assert found.algbw_gb_s == best.algbw_gb_s == best.bottleneck.algbw_gb_s
        assert found.by == best.bottleneck.in_words()


def test_a_single_gpu_has_none() -> None:
    for collective in ("allgather", "allreduce", "all-to-all"):
        assert bound_of(network_of("alone", "", "alone"), collective) is None


def test_the_price_of_an_unbalanced_switch_bounds_files() -> None:
    """GPU a sends 1 GB/s to switch s, which sends 2 to b and 2 to c; b and c send 9 to a.

    s sends on what it receives, once, and b and c have no other link: a broadcast from a has
    1/2 GB/s. Were s marked as copying, all data must leave a: 1 GB/s, attained by no schedule in
    which it forwards.
    """
    topology = network_of("a b c [s]", "a > s, s > b c: 2, b c > a: 9", "fan")
    found = bound_of(topology, "broadcast", [1, 0, 0])
    assert (found.algbw_gb_s, found.optimal) == (Fraction(1, 2), True)
    assert found.algbw_gb_s == optimum(topology, weights=[1, 0, 0]).algbw_gb_s
    copies = tuple(replace(node, multicast=node.is_switch) for node in topology.nodes)
    found = bound_of(replace(topology, nodes=copies), "broadcast", [1, 0, 0])
    assert (found.algbw_gb_s, found.optimal) == (1, False)
    assert bound_of(topology, "allreduce").algbw_gb_s <= 1
    assert bound_of(topology, "allgather").algbw_gb_s == Fraction(3, 4)


def test_an_allreduce_is_bounded_by_the_least_of_parts_and_cuts() -> None:
    """A ring of 4 by GPUs: 8 GB/s by 6 hops. A leaf at 1 GB/s on it: 1 GB/s, all must get there."""
    ring = bound_of(load_topology("ring:nodes=4"), "allreduce")
    assert ring.algbw_gb_s == Fraction(4, 3)
    assert ring.by == "every piece must go 6 times from one to another of GPUs"
    assert not ring.optimal
    leaf = network_of("a b c d", "a - b c: 9, b - c: 9, a - d", "leaf")
    assert bound_of(leaf, "allreduce").algbw_gb_s == 1


def test_a_cut_that_is_around_no_part_bounds_allreduces_too() -> None:
    """Two rings of 3 GPUs at 9 GB/s, joined by a link of 1 GB/s: that alone."""
    rings = "a - b c: 9, b - c: 9, d - e f: 9, e - f: 9, a - d"
    found = bound_of(network_of("a b c d e f", rings, "two rings"), "allreduce")
    assert found.algbw_gb_s == 1
    assert found.model == "any schedule; switches may multicast and reduce"
    assert "must" in found.by


def knowing_all(calls: tuple[tuple[int, int], ...], people: int) -> bool:
    """Whether calls one way, one after the other, inform all of all."""
    known = [{one} for one in range(people)]
    for tail, head in calls:
        known[head] |= known[tail]
    return all(len(one) == people for one in known)


@pytest.mark.parametrize("people", [2, 3])
def test_telling_all_takes_two_less_than_twice_as_many_calls(people: int) -> None:
    """What the bound by parts rests on: 2 (m - 1) calls do, and no fewer, by all there are."""

    def sequences(length: int) -> Iterator[tuple[tuple[int, int], ...]]:
        pairs = [(a, b) for a, b in product(range(people), repeat=2) if a != b]
        yield from product(pairs, repeat=length)

    least = 2 * (people - 1)
    assert any(knowing_all(calls, people) for calls in sequences(least))
    assert not any(knowing_all(calls, people) for calls in sequences(least - 1))


def schedules(topology: Topology, collective: str) -> Iterator[Fraction]:
    for known, method in METHODS.items():
        if collective in method.collectives and known != "sccl":
            try:
                yield cost(method.run(topology, collective, limits=Limits(seconds=0.5))).algbw_gb_s
            except ForestCollError:
                continue


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("seed", range(6))
def test_no_method_beats_the_allreduce_bound_of_forwarding_switches(seed: int) -> None:
    """Recursive doubling, whose pieces are summed up at no single GPU, is among them."""
    topology = random_topology(seed, "bidirectional")
    found = bound_of(topology, "allreduce")
    rates = list(schedules(topology, "allreduce"))
    assert rates
    assert max(rates) <= found.algbw_gb_s


@pytest.mark.parametrize("name", ["dgx_a100:boxes=2", "dgx1", "ring:nodes=6", "mi250:boxes=1"])
def test_the_bound_of_an_all_to_all_is_its_optimum_on_these(name: str) -> None:
    """As the linear program finds it, to its tolerance."""
    topology = load_topology(name)
    rate = all_to_all_rate(topology, settings=Settings(seconds=20)).rate_gb_s
    found = bound_of(topology, "all-to-all")
    assert float(found.algbw_gb_s) == pytest.approx(topology.num_compute * rate, rel=1e-6)
    assert not found.optimal, "the program's rate is a float, so it is not claimed"


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_of_an_all_to_all_is_never_below_the_program(seed: int) -> None:
    topology = random_topology(seed, KINDS[seed % len(KINDS)])
    rate = all_to_all_rate(topology, settings=Settings(seconds=20)).rate_gb_s
    found = bound_of(topology, "all-to-all")
    assert float(found.algbw_gb_s) >= topology.num_compute * rate * (1 - 1e-6)


def out_of(topology: Topology, nodes: tuple[int, ...]) -> Fraction:
    wide = (e.bandwidth_gb_s for e in topology.links if e.tail in nodes and e.head not in nodes)
    return sum(wide, start=Fraction(0))


@pytest.mark.parametrize("seed", range(8))
def test_none_with_as_many_gpus_is_narrower(seed: int) -> None:
    topology = random_topology(seed, KINDS[seed % len(KINDS)])
    every = range(len(topology.nodes))
    least: dict[int, Fraction] = {}
    for nodes in chain.from_iterable(combinations(every, size) for size in every):
        gpus = sum(not topology.nodes[node].is_switch for node in nodes)
        least[gpus] = min(least.get(gpus, out_of(topology, nodes)), out_of(topology, nodes))
    found = narrowest_sets(topology)
    assert [out_of(topology, nodes) for nodes in found] == [
        least[gpus] for gpus in range(1, topology.num_compute)
    ]


def test_a_larger_network_has_too_many() -> None:
    assert narrowest_sets(load_topology(f"ring:nodes={MOST_NODES}"))
    assert narrowest_sets(load_topology(f"ring:nodes={MOST_NODES + 1}")) == []


BOUND = FileBound(Fraction(4), True, "by hand", "any")


def test_the_first_of_the_busiest_links_decides() -> None:
    """Links 0 and 2 of a ring of 3 carry 1/2 of the data at 1 GB/s: 2 GB/s, half of the bound."""
    ring = load_topology("ring:nodes=3")
    loads = [Fraction(0)] * len(ring.links)
    loads[2] = loads[4] = Fraction(1, 2)
    found = measured(ring, loads, BOUND)
    link = ring.links[2]
    assert found.algbw_gb_s == 2
    assert found.share == Fraction(1, 2)
    assert found.busiest_link == (ring.nodes[link.tail].name, ring.nodes[link.head].name)


def test_empty_files_have_no_rate_and_no_share() -> None:
    ring = load_topology("ring:nodes=3")
    found = measured(ring, [Fraction(0)] * len(ring.links), BOUND)
    assert (found.algbw_gb_s, found.busiest_link, found.share) == (None, None, None)


def test_a_schedule_has_the_bound_of_its_root_or_weights() -> None:
    """Of a chain g0 - g1 - g2, whose second link has 1 GB/s and the first 2.

    From g1 all data take the narrow link; those of g2 too, if no other GPU has any.
    """
    chain = network_of("g0 g1 g2", "g0 - g1: 2, g1 - g2: 1", "chain")
    steps = METHODS["sccl"].run(chain, "broadcast", {"root": 1})
    weighted = generate(chain, weights=[0, 0, 1]).schedule
    for schedule in (steps, weighted):
        bound = bound_of_schedule(schedule)
        assert bound is not None
        assert (bound.algbw_gb_s, bound.optimal, cost(schedule).algbw_gb_s) == (1, True, 1)


@pytest.mark.parametrize(("method", "collective", "name"), others_slow(CLAIMED))
def test_no_schedule_of_any_method_is_above_its_bound(
    method: str, collective: str, name: str
) -> None:
    """In-network ones included: switches of four H100 boxes let NVLS beat all that forward."""
    schedule = make(method, collective, name)
    bound = bound_of_schedule(schedule)
    rate = cost(schedule).algbw_gb_s
    assert bound is not None
    assert rate is not None
    assert rate <= bound.algbw_gb_s


@pytest.mark.parametrize("seed", range(24))
def test_forests_of_few_trees_are_not_above_their_bound(seed: int) -> None:
    """With weights, from a root, in reductions; with as many trees as it takes they attain it."""
    topology = random_topology(seed, KINDS[seed % 3])
    ways: list[dict[str, Any]] = [
        {"weights": [1 + (seed + rank) % 3 for rank in range(topology.num_compute)]},
        {"collective": "broadcast", "root": 0},
        {"collective": "reduce-scatter"},
    ]
    asked = ways[0 if seed % 3 == 2 else seed // 3 % 3]
    few = generate(topology, k=1, **asked).schedule
    best = generate(topology, **asked).schedule
    bound = bound_of_schedule(few)
    assert bound is not None
    assert bound == bound_of_schedule(best)
    rates = cost(few).algbw_gb_s, cost(best).algbw_gb_s
    assert rates[0] <= rates[1] == bound.algbw_gb_s  # type: ignore[operator]


def test_a_demand_has_no_bound_without_a_program() -> None:
    assert bound_of_schedule(unequal()) is None
    found = bound_of_schedule(ring())
    assert found is not None
    assert found.algbw_gb_s == bound_of(ring().topology, "all-to-all").algbw_gb_s
