"""Forests and their paths reversed."""

from dataclasses import replace

import numpy as np

from forestcoll import generate, load_topology
from forestcoll.schedule import verify
from forestcoll.schedule.factored import Links
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.transform.reverse import (
    reversed_links,
    reversed_paths,
    reversed_routes,
    transposed,
)
from tests.schedule.made.hand import leaves4, rails2, star3


def test_turning_routes_twice_gives_them_back() -> None:
    """Links, paths and hops, in their order."""
    routes = leaves4().routes
    again = reversed_routes(reversed_routes(routes))
    for name in ("tail", "head", "first_path", "multiplicity", "first_hop", "hop"):
        assert np.array_equal(getattr(again, name), getattr(routes, name))
    turned = reversed_routes(routes).paths()
    for (tail, head), paths in routes.paths().items():
        back = [replace(path, nodes=path.nodes[::-1]) for path in paths]
        assert list(turned[head, tail]) == back
    assert reversed_routes(Routes.from_paths({})).paths() == {}


def test_an_allgather_turned_round_sums_up_on_the_turned_network() -> None:
    """The star's chain a -> b -> c becomes c -> b -> a: parents as before, paths backwards."""
    forest = star3()
    back = transposed(forest, forest.topology.reversed())
    assert (back.collective, back.reduction) == ("reduce-scatter", True)
    assert (back.parent == forest.parent).all()
    assert {
        link: [path.nodes for path in paths] for link, paths in back.routes.paths().items()
    } == {
        (1, 0): [(1, 3, 0)],
        (2, 1): [(2, 3, 1)],
        (0, 2): [(0, 3, 2)],
    }
    verdict = verify(back)
    assert verdict.optimal
    assert verdict.time_s_per_gb == forest.time_s_per_gb
    factored = transposed(as_factored(forest), forest.topology.reversed())
    assert verify(factored) == verdict


def test_links_keep_their_loads() -> None:
    """Sorted by their new tails: of loads 0->1: 5, 0->2: 7, 2->1: 9."""
    tail, head = np.array([0, 0, 2]), np.array([1, 2, 1])
    links = reversed_links(Links(tail, head, np.array([5, 7, 9])))
    assert links.tail.tolist() == [1, 1, 2]
    assert links.head.tolist() == [0, 2, 0]
    assert links.load.tolist() == [5, 9, 7]


def test_paths_are_found_again_in_turned_routes() -> None:
    """Each path, with its multiplicity, at the place that is told."""
    for routes in (rails2().routes, leaves4().routes):
        place, reversed_links = reversed_paths(routes), reversed_routes(routes)
        assert sorted(place.tolist()) == list(range(len(routes.multiplicity)))
        for old, new in enumerate(place.tolist()):
            there = routes.hop[routes.first_hop[old] : routes.first_hop[old + 1]]
            back = reversed_links.hop[
                reversed_links.first_hop[new] : reversed_links.first_hop[new + 1]
            ]
            assert there.tolist() == back[::-1].tolist()
            assert routes.multiplicity[old] == reversed_links.multiplicity[new]


def test_routes_that_are_not_asked_for_are_not_turned() -> None:
    """Nor found."""
    forest = generate(load_topology("dgx_a100:boxes=2")).schedule
    back = transposed(forest, forest.topology)
    assert "hop" not in vars(forest.routes)
    assert len(back.routes.hop) == len(forest.routes.hop)
    assert "hop" in vars(forest.routes)


def test_prices_of_an_optimum_are_turned_with_the_forest() -> None:
    """A half-duplex ring looks the same turned round, so one phase is the other, prices too."""
    ring = load_topology("ring:nodes=4")
    for v in range(4):
        ring = ring.with_shared(f"wire {v}", f"gpu{v} - gpu{(v + 1) % 4}", 1)
    gather = generate(ring).schedule
    assert gather.optimum is not None
    assert gather.optimum.prices is not None
    back = transposed(gather, ring)
    assert verify(back).optimal
    assert verify(generate(ring, collective="allreduce").schedule).reduce.optimal
