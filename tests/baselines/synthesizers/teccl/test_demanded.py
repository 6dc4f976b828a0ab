"""Any demand in all three programs: the fewest epochs of all schedules, and the bytes as given."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from baselines.interface.forwarding_gpus import forwarding_gpus
from baselines.interface.search import Search
from baselines.synthesizers.teccl.instance.commodities import divided
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
    TimeLimitError,
    VerificationError,
)
from forestcoll.problem.demand import Demand
from forestcoll.schedule import StepSchedule, verify
from forestcoll.topology import Topology, load_topology
from tests.baselines.synthesizers.teccl.random_demands import (
    BYTES,
    random_demand,
    random_network,
)
from tests.hand_networks import network_of
from tests.random_topologies import seeds


def fewest_by_trying(topology: Topology, demand: Demand) -> int:
    """Breadth first over all that GPUs may have, and what is on its way for an epoch more.

    A link sends as many chunks as it can that its receiver lacks: more is never worse.
    """
    place = {node: rank for rank, node in enumerate(topology.compute)}
    links = [
        (place[link.tail], place[link.head], int(link.bandwidth_gb_s), int(link.latency_us))
        for link in topology.links
    ]
    chunks = [
        (chunk.source, chunk.targets)
        for chunk in map(demand.chunk, range(demand.num_chunks))
        for _ in range(-(-chunk.size // BYTES))
    ]
    wanted = {(c, rank) for c, (_, ranks) in enumerate(chunks) for rank in ranks}
    states = {(frozenset((c, s) for c, (s, _) in enumerate(chunks)), frozenset[Any]())}
    for epochs in itertools.count():
        if any(wanted <= held for held, _ in states):
            return epochs
        states = {after for state in states for after in _one_epoch(state, links, len(chunks))}
    raise AssertionError


def _one_epoch(state: Any, links: list[tuple[int, int, int, int]], chunks: int) -> Iterator[Any]:
    held, coming = state
    found = {(frozenset[Any](), frozenset[Any]())}
    for a, b, capacity, latency in links:
        lacking = [c for c in range(chunks) if (c, a) in held and (c, b) not in held | coming]
        more = [
            frozenset((c, b) for c in some)
            for some in itertools.combinations(lacking, min(capacity, len(lacking)))
        ]
        found = {
            (soon | sent, late) if not latency else (soon, late | sent)
            for soon, late in found
            for sent in more
        }
    for soon, late in found:
        yield held | coming | soon, late - soon


def made_for(topology: Topology, demand: Demand, **asked: Any) -> tuple[StepSchedule, Search]:
    """Make a schedule, prove it, and return it with what was last reported."""
    reported: list[Search] = []
    made = generate(
        topology, demand=demand, crossing="stored", epoch="slowest", report=reported.append, **asked
    )
    verify(made)
    assert made.demand == demand
    return made, reported[-1]


@pytest.mark.first_rows(4)
@pytest.mark.parametrize("seed", seeds(50, 16))
def test_the_fewest_epochs_are_those_of_all_schedules(seed: int) -> None:
    """Half of the demands are unicast; rounds take no fewer epochs, parts of chunks no more."""
    draw = random.Random(seed)
    topology = random_network(draw)
    demand = random_demand(draw, topology.num_compute, unicast=seed % 2 == 0)
    fewest = fewest_by_trying(topology, demand)
    asked: dict[str, Any] = {"chunk_bytes": BYTES}
    milp, reported = made_for(topology, demand, milp=True, **asked)
    assert reported.incumbent == reported.bound == fewest
    assert milp.clock is not None
    assert milp.clock.finish_us == fewest
    rounds, reported = made_for(topology, demand, milp=True, round_epochs=3, **asked)
    assert reported.incumbent is not None
    assert reported.incumbent >= fewest
    assert rounds.demand == milp.demand
    if demand.is_unicast:
        flow, reported = made_for(topology, demand, **asked)
        assert reported.incumbent is not None
        assert reported.incumbent <= fewest
        assert flow.clock is not None
        assert flow.clock.finish_us <= fewest * 1.001


def test_every_chunk_arrives_in_bytes() -> None:
    """No transfer carries more than there is, though the program counts whole chunks."""
    demand = Demand.of_chunks(4, [(0, 7, [1, 2]), (1, 10, [0]), (3, 1, [0, 1, 2])])
    made, _ = made_for(load_topology("ring:nodes=4"), demand, chunk_bytes=4)
    assert made.chunks.size.tolist() == [7, 10, 1]
    assert made.chunks.whole == 18
    assert set(made.intervals.amount.tolist()) == {4, 3, 2, 1}
    assert len(divided(demand, 4).parts) == 2 + 3 + 1


def test_the_rest_of_a_chunk_is_reported() -> None:
    reported: list[Search] = []
    demand = Demand.of_chunks(3, [(0, 10, [1, 2]), (1, 3, [0])])
    generate(load_topology("ring:nodes=3"), demand=demand, chunks=2, report=reported.append)
    first = reported[0]
    assert (first.incumbent, first.bound, first.unit) == (15, 13, "bytes")
    assert first.status == "feasible"


def test_another_chunk_than_the_demand_s_is_found_by_verify() -> None:
    demand = Demand.of_chunks(3, [(0, 10, [1, 2]), (1, 3, [0])])
    made, _ = made_for(load_topology("ring:nodes=3"), demand)
    other = Demand.of_chunks(3, [(0, 9, [1, 2]), (1, 4, [0])])
    object.__setattr__(made, "demand", other)
    with pytest.raises(VerificationError, match="the units of chunk 0"):
        verify(made)


def test_parts_of_few_bytes_are_divided() -> None:
    """Three bytes for the GPU opposite take both ways, one and a half bytes each."""
    ring = load_topology("ring:nodes=4")
    demand = Demand.of_matrix([[0, 0, 3, 0], [0] * 4, [0] * 4, [0] * 4])
    flow, reported = made_for(ring, demand, chunks=2)
    whole, _ = made_for(ring, demand, milp=True)
    assert reported.incumbent == 2
    assert flow.chunks.size.tolist() == [flow.chunks.whole]
    assert 2 * flow.intervals.amount.max() <= 2 * flow.chunks.whole / 3 * 2
    assert forwarding_gpus(flow) == ("gpu1", "gpu3")
    assert len(forwarding_gpus(whole)) == 1


def test_huge_and_tiny_amounts_beside_each_other() -> None:
    """Ten terabytes and one byte: the byte arrives, too."""
    demand = Demand.of_matrix([[0, 10**13, 0], [0, 0, 1], [1, 0, 0]])
    made, _ = made_for(load_topology("ring:nodes=3"), demand)
    assert made.chunks.size.tolist()[1:] == [made.chunks.size[1]] * 2


def test_several_chunks_of_a_pair_share_its_paths() -> None:
    demand = Demand.of_chunks(4, [(0, 5, [2]), (0, 3, [2]), (0, 1, [2]), (1, 9, [3])])
    made, reported = made_for(load_topology("ring:nodes=4"), demand)
    assert reported.incumbent == reported.bound
    assert made.chunks.root.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"collective": "allgather"}, "leave out the collective allgather"),
        ({"size_bytes": 5}, "size_bytes is given with a demand"),
        ({"root": 0}, "root is given with a demand"),
        ({"chunks": 2, "chunk_bytes": 7}, "chunk_bytes is for a demand, in place of chunks"),
        ({"chunk_bytes": 1, "milp": True}, "100002 chunks of 1 bytes; at most 100000"),
        ({"round_epochs": 2}, "give milp=true"),
        ({"buffer": 2}, "give milp=true"),
        ({"demand": "zipfy"}, "there is no demand 'zipfy'; did you mean 'zipf'?"),
        ({"demand": Demand.of_matrix([[0, 1], [1, 0]])}, "is of 2 GPUs; ring:nodes=3 has 3"),
        ({"demand": [[0, 1], [1, 0]]}, "demand is a list; give a Demand or text"),
    ],
)
def test_parameters_that_contradict_a_demand_are_refused(asked: dict[str, Any], words: str) -> None:
    demand = Demand.of_matrix([[0, 100_000, 1], [1, 0, 0], [0, 0, 0]])
    with pytest.raises(InvalidParameterError) as caught:
        generate(load_topology("ring:nodes=3"), **({"demand": demand} | asked))
    assert words in str(caught.value)


def test_chunk_bytes_without_a_demand_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="chunk_bytes is for a demand"):
        generate(load_topology("ring:nodes=3"), chunk_bytes=5)


def test_a_demand_that_no_path_serves() -> None:
    topology = network_of("a b", "a > b", "one way")
    served, not_served = Demand.of_matrix([[0, 5], [0, 0]]), Demand.of_matrix([[0, 0], [5, 0]])
    verify(generate(topology, demand=served))
    for milp in (False, True):
        with pytest.raises(DisconnectedError, match="no path leads from b to a"):
            generate(topology, demand=not_served, milp=milp)


def test_epochs_that_no_memory_holds_end_the_search() -> None:
    demand = Demand.of_matrix([[0, 10**13, 0], [0, 0, 1], [1, 0, 0]])
    with pytest.raises(TimeLimitError, match="larger chunks take fewer epochs"):
        generate(load_topology("ring:nodes=3"), demand=demand, chunk_bytes=1)
