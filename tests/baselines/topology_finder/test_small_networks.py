"""All small networks of a kind, against each other, and against the finder's fronts."""

from __future__ import annotations

import csv
import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from baselines.direct_connect.bfb.bfb import generate
from baselines.topology_finder import small_networks
from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import search
from baselines.topology_finder.finder import divisors, front
from baselines.topology_finder.small_networks import (
    Cost,
    Small,
    best_of,
    cayley_digraphs,
    network_of_links,
    regular_digraphs,
)
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule import verify
from forestcoll.schedule.cost_model import synchronous
from forestcoll.topology.spec import load_topology

TABLE = BaseTable()
STORED = Path(__file__).parents[3] / "results" / "bfb" / "small-networks.csv"


def costs_of(nodes: int, degree: int) -> list[Cost]:
    found = search(divisors(nodes), degree, TABLE.times_of).get((nodes, degree), [])
    return [(one.hops + one.reverse_hops, one.time + one.reverse_time) for one in front(found)]


def measures(found: list[Small]) -> list[Cost]:
    return [(one.hops, one.time) for one in found]


def stored(kind: str, nodes: int, degree: int) -> list[Cost]:
    with STORED.open(newline="", encoding="utf-8") as file:
        return [
            (int(row["t_l"]), Fraction(row["t_b"]))
            for row in csv.DictReader(file)
            if (row["kind"], row["nodes"], row["degree"]) == (kind, str(nodes), str(degree))
        ]


def check_schedules(one: Small, nodes: int, degree: int) -> None:
    topology = network_of_links(nodes, one.links)
    takes = []
    for collective in ("allgather", "reduce-scatter"):
        made = generate(topology, collective)
        verify(made)
        takes.append(synchronous(made))
    assert sum(each.steps for each in takes) == one.hops
    assert sum(each.time_s_per_gb for each in takes) * degree == one.time


def test_networks_that_beat_the_front_have_the_time_of_their_schedules() -> None:
    """Seven GPUs of degree 3: offsets 1, 2, 4 give the Paley digraph, of two hops."""
    for found in (cayley_digraphs(7, 3, []), regular_digraphs(6, 2, [])):
        for one in found:
            nodes = 1 + max(max(link) for link in one.links)
            check_schedules(one, nodes, len(one.links) // nodes)
    (one,) = cayley_digraphs(7, 3, [])
    assert one.name == "one-way circulant, {1,2,3}"
    assert (one.hops, one.time) == (4, Fraction(12, 7))


@pytest.mark.parametrize(("nodes", "degree"), [(4, 2), (5, 2), (6, 2), (7, 2), (5, 3), (6, 3)])
def test_regular_digraphs_are_at_least_as_good_as_cayley_digraphs(nodes: int, degree: int) -> None:
    """They contain all of them."""
    regular, cayley = (every(nodes, degree, []) for every in (regular_digraphs, cayley_digraphs))
    for one in cayley:
        assert any(other.hops <= one.hops and other.time <= one.time for other in regular)


def test_all_regular_digraphs_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two arcs out of and into each of 5 nodes: as many as by brute force over all digraphs."""
    seen: set[frozenset[tuple[int, int]]] = set()

    def note(chosen: list, row: int) -> tuple[tuple[int, int], ...]:
        found = links(chosen, row)
        seen.add(frozenset(found))
        return found

    links = small_networks._links
    monkeypatch.setattr(small_networks, "_links", note)
    monkeypatch.setattr(small_networks, "_beaten", lambda *_: True)
    regular_digraphs(5, 2, [])
    kinds: list[nx.DiGraph] = []
    for one in map(nx.DiGraph, seen):
        if not any(nx.is_isomorphic(one, other) for other in kinds):
            kinds.append(one)
    assert len(kinds) == len(brute_force(5))


def brute_force(nodes: int) -> list[nx.DiGraph]:
    """Choose the two successors of each node; keep what is 2-regular and strongly connected."""
    kinds: list[nx.DiGraph] = []
    pairs = [
        list(itertools.combinations([v for v in range(nodes) if v != u], 2)) for u in range(nodes)
    ]
    for heads in itertools.product(*pairs):
        one = nx.DiGraph((u, v) for u, chosen in enumerate(heads) for v in chosen)
        regular = all(into == 2 for _, into in one.in_degree())
        if (
            regular
            and nx.is_strongly_connected(one)
            and not any(nx.is_isomorphic(one, other) for other in kinds)
        ):
            kinds.append(one)
    return kinds


def and_slowly(quick: list[tuple[int, int]], more: list[tuple[int, int]]) -> list[Any]:
    """Sizes of every run, and others of full runs only."""
    return [*quick, *(pytest.param(*sizes, marks=pytest.mark.slow) for sizes in more)]


@pytest.mark.parametrize(
    ("nodes", "degree"),
    and_slowly(
        [(n, d) for d in (2, 3, 4) for n in range(d + 1, 15)],
        [(n, d) for d in (2, 3, 4) for n in range(15, 24)],
    ),
)
def test_cayley_digraphs_that_beat_the_front_are_stored(nodes: int, degree: int) -> None:
    found = cayley_digraphs(nodes, degree, costs_of(nodes, degree))
    assert measures(found) == stored("Cayley", nodes, degree)


@pytest.mark.parametrize(
    ("nodes", "degree"),
    and_slowly([(5, 2), (6, 2), (7, 2), (8, 2), (5, 3), (6, 3)], [(9, 2), (10, 2), (7, 3)]),
)
def test_regular_digraphs_that_beat_the_front_are_stored(nodes: int, degree: int) -> None:
    found = regular_digraphs(nodes, degree, costs_of(nodes, degree))
    assert measures(found) == stored("regular", nodes, degree)


def test_no_one_way_circulant_beats_the_front() -> None:
    with STORED.open(newline="", encoding="utf-8") as file:
        assert not any("circulant" in row["network"] for row in csv.DictReader(file))


def test_nothing_within_the_constructions_beats_the_front() -> None:
    """Each stored network is not a candidate of its size, and its schedules take what is stored."""
    with STORED.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if int(row["nodes"]) <= 14]
    assert rows
    for row in rows:
        nodes, degree = int(row["nodes"]), int(row["degree"])
        links = tuple(
            (int(tail), int(head))
            for tail, head in (link.split(">") for link in row["links"].split())
        )
        check_schedules(
            Small(row["network"], links, int(row["t_l"]), Fraction(row["t_b"])), nodes, degree
        )
        for one in search(divisors(nodes), degree, TABLE.times_of)[nodes, degree]:
            topology = load_topology(one.spec)
            other = nx.DiGraph((link.tail, link.head) for link in topology.links)
            assert not nx.is_isomorphic(nx.DiGraph(links), other), (row["network"], one.name)


def test_the_best_are_those_that_no_other_one_beats() -> None:
    some = [
        Small(str(n), (), hops, Fraction(time))
        for n, (hops, time) in enumerate([(4, 3), (4, 2), (6, 2), (6, 1), (8, 1)])
    ]
    assert [one.name for one in best_of(some)] == ["1", "3"]


@pytest.mark.parametrize(("nodes", "degree"), [(11, 2), (8, 4), (8, 1)])
def test_sizes_beyond_enumeration_are_refused(nodes: int, degree: int) -> None:
    with pytest.raises(InvalidParameterError, match="at most 10 nodes of degree 2 or 3"):
        regular_digraphs(nodes, degree, [])
