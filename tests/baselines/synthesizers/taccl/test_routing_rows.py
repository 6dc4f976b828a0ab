"""The program's optimum against all routes there are."""

import random
import time
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from baselines.synthesizers.taccl.exchange import exchange_of
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.routing import Routing
from baselines.synthesizers.taccl.routing_rows import RoutingRows
from baselines.synthesizers.taccl.sketch import Sketch
from forestcoll.errors import InfeasibleError, TimeLimitError
from forestcoll.solver.linear_program import Settings, Solution
from forestcoll.solver.solve import solve
from tests.baselines.synthesizers.taccl.instances import (
    arcs_of,
    plain,
    random_routes,
    routing_of,
)
from tests.random_topologies import rounds

HORIZON = 60.0


def trees(routing: Routing, chunk: int) -> list[frozenset[int]]:
    """Every set of links that brings a chunk once to each GPU that wants it."""
    links = routing.network.links
    allowed = [i for i in range(len(links)) if routing.allowed[chunk, i]]
    source, wanted = routing.exchange.source[chunk], set(routing.exchange.destinations(chunk))
    found = set()
    for count in range(1, routing.network.gpus):
        for some in combinations(allowed, count):
            heads = [links[i].head for i in some]
            reached = {source}
            while more := {links[i].head for i in some if links[i].tail in reached} - reached:
                reached |= more
            if len(set(heads)) == count and set(heads) <= reached and wanted <= reached:
                found.add(routing._needed(chunk, list(some)))
    return sorted(found, key=sorted)


def crosses(routing: Routing, chunk: int, links: frozenset[int]) -> bool:
    """Whether the chunk goes straight from its box to each other one where it is wanted."""
    network, home = routing.network, routing.network.box(routing.exchange.source[chunk])
    taken = {
        network.box(network.links[i].head)
        for i in links
        if network.box(network.links[i].tail) == home
    }
    return {network.box(v) for v in routing.exchange.destinations(chunk)} <= taken | {home}


def best_of_all(routing: Routing) -> Fraction:
    """The least objective of all routes."""
    ways = [
        [links for links in trees(routing, chunk) if crosses(routing, chunk, links)]
        for chunk in range(len(routing.exchange))
    ]
    return min(routing.objective_us(routes) for routes in product(*ways))


TINY = [
    ("complete:nodes=3", {}),
    ("ring:nodes=4", {}),
    ("ring:nodes=4", {"local": "minmax"}),
    ("ring:nodes=4", {"local": "maxmin"}),
    ("ring:nodes=5,bidirectional=false", {}),
    ("rail_optimized:boxes=2,gpus_per_box=2", {}),
    ("rail_optimized:boxes=2,gpus_per_box=2", {"unique": "uc-max"}),
]


@pytest.mark.parametrize(("spec", "changes"), TINY)
@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
def test_the_optimum_is_that_of_all_routes(spec: str, changes: dict, collective: str) -> None:
    routing = routing_of(spec, collective, symmetry=(), **changes)
    count = 1
    for chunk in range(len(routing.exchange)):
        count *= len(trees(routing, chunk))
    if count > 20_000:
        pytest.skip("too many routes to try them all")
    rows = RoutingRows(routing)
    found = solve(rows.least(HORIZON), Settings(seconds=60))
    routes = rows.routes(found.x)
    best = best_of_all(routing)
    assert float(routing.objective_us(routes)) == pytest.approx(float(best), rel=1e-6)
    assert found.objective * float(routing.unit_us) == pytest.approx(float(best), rel=1e-6)


@pytest.mark.parametrize(
    ("spec", "collective"),
    [
        ("ring:nodes=6", "allgather"),
        ("torus:dims=3x3", "allgather"),
        ("dgx_a100:boxes=1", "all-to-all"),
        ("rail_optimized:boxes=3,gpus_per_box=2", "allgather"),
    ],
)
def test_symmetry_keeps_the_optimum_with_fewer_columns(spec: str, collective: str) -> None:
    routing = routing_of(spec, collective)
    free = routing_of(spec, collective, symmetry=())
    rows, loose = RoutingRows(routing), RoutingRows(free)
    assert rows.size < loose.size / 2
    found, bound = (
        solve(one.least(HORIZON), Settings(seconds=60, gap=1e-3)) for one in (rows, loose)
    )
    assert found.objective >= bound.bound * (1 - 1e-9)
    routes = rows.routes(found.x)
    assert free.time_us(routes) == routing.time_us(routes)


def test_a_sender_s_own_chunk_is_first() -> None:
    """Over the one link out of the box nothing of others is there before two have gone."""
    asked = {
        "pattern": "",
        "connections": {0: (0,)},
        "sources": {0: (0, 1)},
        "symmetry": (),
    }
    free = routing_of("rail_optimized:boxes=2,gpus_per_box=2", **asked)
    held = routing_of("rail_optimized:boxes=2,gpus_per_box=2", own_first=True, **asked)
    times = []
    for routing in (free, held):
        rows = RoutingRows(routing)
        times.append(solve(rows.least(HORIZON), Settings(seconds=60)).objective)
    remote, local = (
        next(float(c) for c, u in zip(free.cost, free.network.links, strict=True) if u.remote == r)
        for r in (True, False)
    )
    unit = float(free.unit_us)
    assert times[0] < times[1]
    assert times[1] == pytest.approx((2 * remote + local) / unit + 0.02, rel=1e-6)


def test_routes_by_lot_are_of_the_time_that_is_asked_for_and_differ() -> None:
    routing = routing_of("torus:dims=3x3", symmetry=())
    rows = RoutingRows(routing)
    most = float(routing.least_us / routing.unit_us)
    found = {
        rows.routes(solve(rows.by_lot(most, seed), Settings(seconds=60, gap=0.05)).x)
        for seed in range(3)
    }
    assert len(found) == 3
    assert {routing.time_us(routes) for routes in found} == {routing.least_us}


UNLIKE = [
    *((0, 1, 10), (1, 0, 10), (2, 3, 10), (3, 2, 10), (4, 5, 10), (5, 4, 10), (0, 2, 30)),
    *((0, 3, 5), (0, 4, 2), (0, 5, 2), (1, 2, 30), (1, 3, 2), (1, 4, 2), (2, 4, 10), (2, 5, 2)),
    *((3, 0, 2), (3, 4, 2), (3, 5, 5), (4, 1, 5), (5, 1, 2), (5, 2, 1), (5, 3, 30)),
]
"""Pairs of GPUs that are alike, joined by links that are not."""


def random_pairs(chance: random.Random) -> list[tuple[int, ...]]:
    """Arcs of four GPUs: of two pairs that are alike, and between them at random."""
    between = [(u, v) for u in range(4) for v in range(4) if u // 2 != v // 2]
    some = [(u, v, chance.choice([1, 2, 5])) for u, v in between if chance.random() < 0.8]
    return [(0, 1, 10), (1, 0, 10), (2, 3, 10), (3, 2, 10), *some]


def proved(routing: Routing) -> tuple[RoutingRows, Solution] | None:
    """The optimum of a program that has one within the longest horizon."""
    rows = RoutingRows(routing)
    try:
        return rows, solve(rows.least(rows.longest), Settings(seconds=60))
    except InfeasibleError:
        return None


def test_symmetric_chunks_arrive_at_once_in_program_and_routes() -> None:
    """Of the links between pairs no two are alike, so that one start waits for another."""
    routing = plain(arcs_of(UNLIKE, 6), symmetry=((1, 2),), chunk_kb=3)
    rows, found = proved(routing)
    objective = routing.objective_us(rows.routes(found.x)) / routing.unit_us
    assert float(objective) == pytest.approx(found.bound, rel=1e-7)
    again = solve(rows.by_lot(float(objective) * (1 + 1e-7), 1), Settings(seconds=60, gap=0.05))
    assert routing.time_us(rows.routes(again.x)) <= objective * routing.unit_us


@pytest.mark.first_rows(1)
@pytest.mark.parametrize("collective", ["allgather", "all-to-all"])
def test_no_routes_beat_the_proved_bound_under_any_symmetry(collective: str) -> None:
    chance = random.Random(4)
    reported = 0
    for _ in range(rounds(40)):
        topology = arcs_of(random_pairs(chance), 4)
        routing = plain(topology, collective, symmetry=((1, 2),))
        if not np.isfinite(routing.soonest).all() and collective == "allgather":
            continue
        for local in ("none", "minmax", "maxmin"):
            asked = plain(topology, collective, symmetry=((1, 2),), local=local)
            if (both := proved(asked)) is not None:
                rows, found = both
                objective = asked.objective_us(rows.routes(found.x)) / asked.unit_us
                assert float(objective) == pytest.approx(found.bound, rel=1e-7)
                reported += 1
    assert reported > 10


def test_a_chunk_goes_nowhere_in_vain() -> None:
    """For the sake of the idlest link it would: routes are what a solution takes, all of it."""
    routing = routing_of("torus:dims=2x3", "all-to-all", symmetry=(), local="maxmin")
    rows = RoutingRows(routing)
    values = solve(rows.least(HORIZON), Settings(seconds=60, gap=0.05)).x
    taken = sum(map(len, rows.routes(values)))
    assert taken == (values[routing.classes.sent] > 0.5).sum()


def test_in_a_reduce_scatter_no_own_chunks_go_first() -> None:
    """Where any may take out anything; GPU 1 alone is to send, of both GPUs of its box."""
    pairs = [(0, 1, 20), (1, 0, 20), (2, 3, 20), (3, 2, 20)]
    pairs += [(u, v, 4) for u in range(4) for v in range(4) if u // 2 != v // 2]
    sketch = Sketch("s", (2,), pattern="fully-connected", sources={1: (0, 1)}, own_first=True)
    network = LogicalNetwork.of(arcs_of(pairs, 4, boxes=2), sketch, Fraction(1))
    routing = Routing(network, exchange_of("allgather", 4, 1), sketch.reversed())
    rows, found = proved(routing)
    objective = routing.objective_us(rows.routes(found.x)) / routing.unit_us
    assert float(objective) == pytest.approx(found.bound, rel=1e-7)


def test_rows_are_written_until_the_time_is_up() -> None:
    with pytest.raises(TimeLimitError, match="the time is up before all rows"):
        RoutingRows(routing_of("dgx_a100:boxes=1"), until=time.monotonic() - 1)


@pytest.mark.parametrize("changes", [{}, {"own_first": True, "sources": {0: (0, 1)}}])
def test_routes_of_chance_take_no_longer_than_the_longest_horizon(changes: dict) -> None:
    routing = routing_of(
        "rail_optimized:boxes=2,gpus_per_box=2",
        symmetry=(),
        pattern="",
        connections={0: (0,)},
        **changes,
    )
    longest = RoutingRows(routing).longest
    for seed in range(20):
        assert routing.time_us(random_routes(routing, seed)) / routing.unit_us <= longest
