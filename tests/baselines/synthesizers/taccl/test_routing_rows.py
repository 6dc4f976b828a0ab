"""The program's optimum against all routes there are."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest

from baselines.synthesizers.taccl.routing import Routing
from baselines.synthesizers.taccl.routing_rows import RoutingRows
from lp.solver.linear_program import Settings
from lp.solver.solve import solve
from tests.baselines.synthesizers.taccl.instances import routing_of

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
def test_symmetry_leaves_the_best_time_there_and_makes_fewer_columns(
    spec: str, collective: str
) -> None:
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
