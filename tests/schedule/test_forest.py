"""Forests, their paths and trees; paths that are found when they are asked for."""

import copy
import pickle
import threading
import time
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from forestcoll.core.assembly import expand
from forestcoll.errors import VerificationError
from forestcoll.generation import generate
from forestcoll.schedule import Routes
from forestcoll.schedule import forest as module
from forestcoll.schedule.forest import Path, Tree
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.topology import load_topology
from tests.schedule.made.hand import ring3, slow_ring3, star3
from tests.schedule.made.types import schedule


def test_routes_are_found_when_asked_for() -> None:
    """Generating, expanding and counting trees does not route; verify does, once."""
    forest = generate(load_topology("dgx_a100:boxes=2"), factored=True).schedule
    explicit = expand(forest)
    assert explicit.routes is forest.routes
    assert "hop" not in vars(forest.routes)
    verify(explicit)
    hop = forest.routes.hop
    assert explicit.routes.hop is hop
    with pytest.raises(AttributeError, match="routes have no attribute 'hops'"):
        _ = forest.routes.hops  # type: ignore[attr-defined]


def test_lazy_routes_equal_found_ones_both_ways_round() -> None:
    routes = ring3().routes
    assert Routes.later(lambda: routes) == routes
    assert routes == Routes.later(lambda: routes)
    assert Routes.later(lambda: routes) == Routes.later(lambda: routes)
    assert hash(Routes.later(lambda: routes)) == hash(routes)
    assert Routes.later(lambda: routes) != star3().routes
    assert star3().routes != Routes.later(lambda: routes)


def test_the_hash_of_a_forest_finds_no_routes() -> None:
    def find() -> Routes:
        raise AssertionError("asked for")

    forest = replace(ring3(), routes=Routes.later(find))
    assert hash(forest) == hash(ring3())
    assert hash(replace(schedule("factored forest"), routes=Routes.later(find)))


@pytest.mark.parametrize(
    "same", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
@pytest.mark.parametrize("found", [False, True])
def test_lazy_routes_are_copied_as_found_ones(same: Any, found: bool) -> None:
    routes = Routes.later(lambda: ring3().routes)
    assert not found or len(routes.tail)
    other = same(routes)
    assert type(other) is Routes
    assert other == routes == ring3().routes


class Slowly:
    """Finds routes in a moment in which other threads come to ask as well."""

    def __init__(self, faults: int = 0) -> None:
        self.calls, self.faults = 0, faults

    def __call__(self) -> Routes:
        self.calls += 1
        time.sleep(0.05)
        if self.calls <= self.faults:
            raise MemoryError("for now")
        return ring3().routes


def asked_at_once(routes: Routes, threads: int = 8) -> list[object]:
    """Ask in several threads, each for another array first; return what each of them got."""
    names = [field.name for field in fields(Routes)]
    together, results = threading.Barrier(threads), list[object]()

    def ask(name: str) -> None:
        together.wait()
        try:
            results.append((name, getattr(routes, name).tolist()))
        except Exception as error:  # given to the test, whichever it is
            results.append(error)

    asking = [threading.Thread(target=ask, args=(names[i % 6],)) for i in range(threads)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(timeout=10)
    return results


def test_threads_that_ask_at_once_have_the_routes_found_once() -> None:
    find = Slowly()
    results = asked_at_once(Routes.later(find))
    known = [(field.name, getattr(ring3().routes, field.name).tolist()) for field in fields(Routes)]
    assert len(results) == 8
    assert all(each in known for each in results), results
    assert find.calls == 1


def test_a_search_that_fails_is_tried_again_by_the_next() -> None:
    """The first thread gets the error; all others get the routes of the second search."""
    find = Slowly(faults=1)
    routes = Routes.later(find)
    results = asked_at_once(routes)
    assert sum(isinstance(each, MemoryError) for each in results) == 1
    assert sum(isinstance(each, tuple) for each in results) == 7
    assert find.calls == 2
    assert routes == ring3().routes


def test_a_search_that_asks_for_itself_ends() -> None:
    routes = Routes.later(lambda: routes)
    with pytest.raises(RecursionError):
        len(routes.tail)


# --- forests by hand ---------------------------------------------------------------------------


def test_depths_and_trees_of_chains_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Star: a -> b -> c, b -> c -> a, c -> a -> b; however many trees are looked at together."""
    for entries in (1, 2**18):
        monkeypatch.setattr("forestcoll.schedule.forest._ENTRIES", entries)
        forest = star3()
        assert forest.depths().tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
        assert forest.tree_depths().tolist() == [2, 2, 2]
        assert list(forest.trees()) == [
            Tree(0, 1, ((0, 1), (1, 2))),
            Tree(1, 1, ((1, 2), (2, 0))),
            Tree(2, 1, ((2, 0), (0, 1))),
        ]


def test_a_deep_chain_is_as_high_as_it_is_long() -> None:
    """GPU i under GPU i - 1: 1000 hops, found by doubling."""
    forest = ring3()
    deep = replace(forest, parent=np.arange(-1, 1000, dtype=np.int32)[None, :])
    assert deep.depths().tolist() == [list(range(1001))]
    assert deep.tree_depths().tolist() == [1000]


def test_batches_and_trees_are_counted() -> None:
    """Four batches of 1, 2, 1 and 2 trees; of none, none."""
    assert (slow_ring3().num_batches, slow_ring3().num_trees) == (4, 6)
    none = np.zeros(0, dtype=np.int32)
    empty = replace(ring3(), root=none, multiplicity=none, parent=np.zeros((0, 3), np.int32))
    assert (empty.num_trees, empty.tree_depths().tolist(), list(empty.trees())) == (0, [], [])


def test_routes_are_rows_sorted_by_link() -> None:
    """Two paths of 0 -> 2 and one of 0 -> 1, given the other way round."""
    given = {(0, 2): (Path((0, 5, 2), 3), Path((0, 2), 1)), (0, 1): (Path((0, 4, 6, 1), 2),)}
    routes = Routes.from_paths(given)
    assert (routes.tail.tolist(), routes.head.tolist()) == ([0, 0], [1, 2])
    assert routes.first_path.tolist() == [0, 1, 3]
    assert routes.multiplicity.tolist() == [2, 3, 1]
    assert routes.first_hop.tolist() == [0, 4, 7, 9]
    assert routes.hop.tolist() == [0, 4, 6, 1, 0, 5, 2, 0, 2]
    assert routes.paths() == given
    assert Routes.from_paths({}).paths() == {}


@pytest.mark.parametrize("copies", [1, 9])  # searched for; with more hops than pairs in a table
@pytest.mark.parametrize("together", [1, 3, 1000])
def test_hops_are_links_by_their_places(
    copies: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the links by tail and head, 0 > 1 is number 0, 1 > 2 number 3, and 2 > 0 number 4."""
    monkeypatch.setattr(module, "_TOGETHER", together)
    topology = ring3().topology
    paths = {(0, 1): (Path((0, 1), 1),) * copies, (1, 0): (Path((1, 2, 0), 1),) * copies}
    routes = Routes.from_paths(paths)
    assert routes.links_on(topology).tolist() == [0] * copies + [3, 4] * copies
    longer = replace(routes, hop=np.append(routes.hop, 1))  # by a node that is of no path
    assert longer.links_on(topology).tolist() == [0] * copies + [3, 4] * copies
    for place, foreign in (
        (1, 0), (1, -1), (1, -(2**31)), (1, 2**31 - 1),
        (1, 3), (2 * copies + 2, -1),  # the keys of 1 > 0 and of 2 > 1
    ):  # fmt: skip
        hop = routes.hop.copy()
        hop[place] = foreign
        with pytest.raises(VerificationError, match="a link that is not in the topology"):
            replace(routes, hop=hop).links_on(topology)


def test_keys_of_links_of_many_nodes_do_not_overflow() -> None:
    """50,000 nodes squared are more than 32 bits hold; there is no table of all pairs."""
    ends = np.array([0, 49_998], dtype=np.int32)
    topology: Any = SimpleNamespace(nodes=range(50_000), link_ends=(ends, ends + 1))
    routes = Routes.from_paths({(1, 0): (Path((49_998, 49_999), 1), Path((0, 1), 1))})
    assert routes.links_on(topology).tolist() == [1, 0]
    assert Routes.from_paths({}).links_on(topology).tolist() == []
