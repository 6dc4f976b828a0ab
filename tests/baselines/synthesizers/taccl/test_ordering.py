"""Orders against the same rule by sorting all candidates anew each time."""

import heapq
from types import SimpleNamespace

import pytest

from baselines.synthesizers.taccl import ordering
from baselines.synthesizers.taccl.ordering import HEURISTICS, Transfer, heuristic_of, ordered
from baselines.synthesizers.taccl.routing import ChunkRoutes, Routing
from tests.baselines.synthesizers.taccl.instances import SPECS, arcs_of, random_routes, routing_of


def plainly(routing: Routing, routes: ChunkRoutes, heuristic: str) -> list[Transfer]:
    """Place what sorts first of all that can be placed, again and again."""
    network, cost = routing.network, routing.ticks
    backwards = heuristic == "last-hops"
    links = network.links
    size, gpus = network.size, network.gpus
    start = [routing.starts(chunk, some) for chunk, some in enumerate(routes)]

    def children(transfer: Transfer) -> list[Transfer]:
        return [
            Transfer(transfer.chunk, i)
            for i in routes[transfer.chunk]
            if links[i].tail == links[transfer.link].head
        ]

    def left(transfer: Transfer) -> int:
        return cost[transfer.link] + max(map(left, children(transfer)), default=0)

    def parents(transfer: Transfer) -> list[Transfer]:
        return [
            Transfer(transfer.chunk, i)
            for i in routes[transfer.chunk]
            if links[i].head == links[transfer.link].tail
        ]

    def shares(one: int, other: int) -> bool:
        return one == other or any(one in p.links and other in p.links for p in network.ports)

    done: dict[Transfer, int] = {}

    def time(transfer: Transfer) -> int:
        before = children(transfer) if backwards else parents(transfer)
        waits = [done[each] for each in before]
        waits += [end for each, end in done.items() if shares(each.link, transfer.link)]
        return max(waits, default=0)

    def key(transfer: Transfer) -> tuple:
        link, when = links[transfer.link], time(transfer)
        ends = (
            (link.tail - link.head) % gpus,
            link.head % size,
            link.tail % size,
            link.head // size,
            transfer,
        )
        if heuristic == "farthest":
            return (-left(transfer), when, *ends)
        if heuristic == "last-hops":
            return (left(transfer), -start[transfer.chunk][link.tail], when, *ends)
        home = routing.exchange.source[transfer.chunk] // size
        own = link.tail // size == link.head // size == home
        return (when, not own, -left(transfer), *ends)

    todo = {Transfer(chunk, i) for chunk, some in enumerate(routes) for i in some}
    order = []
    while todo:
        before = children if backwards else parents
        first = min((t for t in todo if all(each in done for each in before(t))), key=key)
        done[first] = time(first) + cost[first.link]
        order.append(first)
        todo.remove(first)
    if backwards:
        order.reverse()
    if heuristic != "earliest":
        order.sort(key=lambda t: start[t.chunk][links[t.link].tail])
    return order


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize(
    "spec", ["ring:nodes=5", "paper_example", "rail_optimized:boxes=3,gpus_per_box=2"]
)
@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
@pytest.mark.each_value_once
def test_the_order_equals_repeated_sorting(spec: str, heuristic: str, collective: str) -> None:
    routing = routing_of(spec, collective)
    for seed in range(2):
        routes = random_routes(routing, seed)
        assert list(ordered(routing, routes, heuristic)) == plainly(routing, routes, heuristic)


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.each_value_once
def test_each_transfer_follows_the_arrival_of_its_chunk(spec: str, heuristic: str) -> None:
    routing = routing_of(spec, chunks=2)
    routes = random_routes(routing, 7)
    order = ordered(routing, routes, heuristic)
    assert len(set(order)) == len(order) == sum(map(len, routes))
    there = {(chunk, source) for chunk, source in enumerate(routing.exchange.source)}
    for chunk, i in order:
        link = routing.network.links[i]
        assert (chunk, link.tail) in there
        there.add((chunk, link.head))


@pytest.mark.parametrize(
    ("spec", "heuristic"),
    [
        ("dgx1", "last-hops"),
        ("mi250:boxes=2", "earliest"),
        ("dgx_a100:boxes=1", "farthest"),
        ("dgx_a100:boxes=3", "farthest"),
        ("rail_optimized:boxes=3,gpus_per_box=2", "farthest"),
        ("ndv2:chassis=3", "earliest"),
    ],
)
def test_the_public_code_s_choice_is_by_the_kind_of_network(spec: str, heuristic: str) -> None:
    assert heuristic_of(routing_of(spec).network) == heuristic


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_waiting_transfers_keep_their_rank(heuristic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 chunks of each of 4 GPUs in a row up to 300 wait for a link, and few are first."""
    arcs = [(u, v) for u in range(4) for v in range(4) if abs(u - v) == 1]
    routing = routing_of(arcs_of(arcs, 4), chunks=100)
    routes = random_routes(routing, 1)
    pushed = []

    def push(heap: list, item: object) -> None:
        pushed.append(item)
        heapq.heappush(heap, item)

    monkeypatch.setattr(
        ordering,
        "heapq",
        SimpleNamespace(heappush=push, heappop=heapq.heappop, heapify=heapq.heapify),
    )
    assert len(ordered(routing, routes, heuristic)) == 1200
    assert len(pushed) < 6 * 1200
