"""The best messages against all ways to cut the rows of links between boxes."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from baselines.synthesizers.taccl import contiguity
from baselines.synthesizers.taccl.contiguity import MOST_TOGETHER, best_messages
from baselines.synthesizers.taccl.exact_times import Message, sequences, singly, timetable
from baselines.synthesizers.taccl.ordering import ordered
from baselines.synthesizers.taccl.routing import Routing
from forestcoll.errors import (
    ForestCollError,
    InfeasibleError,
    InvalidParameterError,
    SolverError,
)
from forestcoll.solver.linear_program import Program, Settings, Solution
from forestcoll.topology import load_topology
from tests.baselines.synthesizers.taccl.instances import random_routes, routing_of, two_boxes

SETTINGS = Settings(seconds=60)


def cuts(row: list) -> list[list[Message]]:
    """Every way to cut a row into messages that are not too long."""
    found = []
    for marks in product([False, True], repeat=max(len(row) - 1, 0)):
        parts = [[row[0]]]
        for one, cut in zip(row[1:], marks, strict=True):
            if cut:
                parts.append([one])
            else:
                parts[-1].append(one)
        if max(map(len, parts)) <= MOST_TOGETHER:
            found.append([tuple(part) for part in parts])
    return found


def best_of_all(routing: Routing, order) -> Fraction:
    """The least finish of all messages that keep ports free of others in between."""
    network = routing.network
    rows = sequences(network, order)
    links, ports = rows[: len(network.links)], rows[len(network.links) :]
    many = [row for link, row in zip(network.links, links, strict=True) if link.remote and row]
    single = [
        (one,)
        for link, row in zip(network.links, links, strict=True)
        if not link.remote
        for one in row
    ]

    def unbroken(message: Message) -> bool:
        for port in ports:
            places = [port.index(one) for one in message if one in port]
            if places and places[-1] - places[0] >= len(places):
                return False
        return True

    finishes = []
    for choice in product(*map(cuts, many)):
        messages = [message for row in choice for message in row]
        if all(map(unbroken, messages)):
            found = timetable(network, order, [*messages, *single])
            if found is not None:
                finishes.append(found.finish_us)
    return min(finishes)


@pytest.mark.parametrize("latency", [Fraction(1, 10), 3, 40])
@pytest.mark.parametrize("gpus", [3, 4])
@pytest.mark.each_value_once
def test_the_best_messages_are_found(gpus: int, latency: int) -> None:
    routing = routing_of(two_boxes(latency, gpus), size_bytes=400_000)
    for seed in range(3):
        order = ordered(routing, random_routes(routing, seed), "earliest")
        found = best_messages(routing.network, order, SETTINGS)
        best = best_of_all(routing, order)
        assert float(found.times.finish_us) == pytest.approx(float(best), rel=1e-7)
        assert found.bound_us == pytest.approx(float(best), rel=1e-6)


def test_messages_have_a_port_for_themselves() -> None:
    """Three boxes: a GPU sends to one of the others at a time, and nothing between two chunks."""
    spec = "rail_optimized:boxes=3,gpus_per_box=2"
    topology = load_topology(spec)
    links = [replace(link, latency_us=Fraction(5)) for link in topology.links]
    routing = routing_of(replace(topology, links=tuple(links)), size_bytes=400_000, chunks=2)
    for seed in range(2):
        order = ordered(routing, random_routes(routing, seed), "earliest")
        found = best_messages(routing.network, order, SETTINGS)
        rows = sequences(routing.network, order)[len(routing.network.links) :]
        for message in found.times.messages:
            for port in rows:
                places = [port.index(one) for one in message if one in port]
                assert not places or places[-1] - places[0] == len(places) - 1


def test_latencies_bring_chunks_together() -> None:
    routing = routing_of("ndv2:chassis=2,between=direct,nic_latency=40", size_bytes=400_000)
    order = ordered(routing, random_routes(routing, 0), "earliest")
    found = best_messages(routing.network, order, SETTINGS).times
    assert max(map(len, found.messages)) > 1


def test_without_latencies_every_chunk_goes_alone() -> None:
    routing = routing_of("ndv2:chassis=2,nic_latency=0")
    order = ordered(routing, random_routes(routing, 0), "earliest")
    found = best_messages(routing.network, order, SETTINGS)
    assert {len(message) for message in found.times.messages} == {1}
    assert found.bound_us == float(found.times.finish_us)


def test_at_the_time_limit_chunks_are_sent_singly() -> None:
    routing = routing_of("ndv2:chassis=2,nic_latency=40", size_bytes=400_000)
    order = ordered(routing, random_routes(routing, 0), "earliest")
    found = best_messages(routing.network, order, Settings(seconds=1e-6))
    assert {len(message) for message in found.times.messages} == {1}
    assert found.bound_us < float(found.times.finish_us)


@pytest.mark.parametrize("error", [SolverError, InvalidParameterError, InfeasibleError])
def test_after_a_solver_error_chunks_are_sent_singly(
    error: type[ForestCollError], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In floats, of costs that are far apart; that is always possible."""

    def refuse(program: Program, settings: Settings) -> Solution:
        raise error("the matrix holds 1e-13, which HiGHS takes for zero")

    monkeypatch.setattr(contiguity, "solve", refuse)
    routing = routing_of(two_boxes(latency=3))
    order = ordered(routing, random_routes(routing, 1), "earliest")
    found = best_messages(routing.network, order, SETTINGS)
    assert found.times == timetable(routing.network, order, singly(order))
    assert found.bound_us == 0
