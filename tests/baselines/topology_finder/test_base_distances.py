"""Sums of distances of base networks, against searches from every GPU and linear programs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from baselines.topology_finder.all_to_all import all_to_all_rate
from baselines.topology_finder.base_distances import distances_of, has_closed_form
from baselines.topology_finder.base_networks import Base, bases
from forestcoll.all_to_all.linear_optimum import all_to_all_rate as by_a_program
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import load_topology

SIZES = (*range(2, 20), 26, 32, 35, 64, 81)
SMALL = [base for nodes in SIZES for degree in (1, 2, 3, 4, 6, 8) for base in bases(nodes, degree)]


@pytest.mark.first_rows(6)
@pytest.mark.parametrize("nodes", SIZES)
def test_sums_are_those_of_a_search_from_every_gpu(nodes: int) -> None:
    """Links of 1 GB/s are one each, so parallel ones count."""
    for base in (one for one in SMALL if one.nodes == nodes):
        topology = load_topology(base.spec)
        tail, head = (
            np.array([getattr(link, end) for link in topology.links]) for end in ("tail", "head")
        )
        width = np.array([int(link.bandwidth_gb_s) for link in topology.links])
        graph = csr_array((np.ones(len(tail)), (tail, head)), shape=(nodes, nodes))
        hops = shortest_path(graph, unweighted=True).astype(int)
        found = distances_of(base)
        assert found.total == hops.sum(), base.name
        assert found.back == (hops[head, tail] * width).sum(), base.name
        assert found.bound == Fraction(int(width.sum()), found.total), base.name
        assert found.rate in (None, found.bound)


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("nodes", [7, 10, 12, 13, 16])
def test_a_known_rate_is_the_optimum_and_others_are_below_the_bound(nodes: int) -> None:
    for base in (one for one in SMALL if one.nodes == nodes and one.degree in (2, 3, 4)):
        found = distances_of(base)
        best = by_a_program(load_topology(base.spec), settings=Settings(seconds=60)).rate_gb_s
        assert best <= float(found.bound) * (1 + 1e-6), base.name
        if found.rate is not None:
            assert best == pytest.approx(float(found.rate), rel=1e-6), base.name


def test_the_rate_is_known_if_equal_use_of_shortest_paths_meets_the_bound() -> None:
    """But for graphs of words, of which two of four nodes meet it."""
    unknown = {
        base.name
        for base in SMALL
        if distances_of(base).rate is None
        and (rate := all_to_all_rate(load_topology(base.spec), Fraction(1)))
        and rate.attained >= float(rate.bound) * (1 - 1e-9)
    }
    assert unknown == {"Pi_{2,4}", "DBJ(2,2)"}


def of(nodes: int, degree: int, name: str) -> Base:
    return next(one for one in bases(nodes, degree) if one.name == name)


def test_some_choice_of_paths_may_be_even_although_equal_use_is_not() -> None:
    """C(8,{2,3}): the rate is the bound, but not by counts."""
    base = next(
        one
        for one in SMALL
        if one.name.startswith("C(")
        and (rate := all_to_all_rate(load_topology(one.spec), Fraction(1)))
        and distances_of(one).rate is not None
        and rate.attained < float(rate.bound) * (1 - 1e-6)
    )
    best = by_a_program(load_topology(base.spec), settings=Settings(seconds=60)).rate_gb_s
    assert best == pytest.approx(float(distances_of(base).bound), rel=1e-6)


def test_closed_forms_are_those_of_rings_and_complete_networks() -> None:
    assert {one.name for one in bases(5, 4) if has_closed_form(one)} == {
        "K_5", "UniRing(4,5)", "BiRing(4,5)",
    }  # fmt: skip
    ring = distances_of(of(6, 2, "BiRing(2,6)"))
    assert (ring.total, ring.back, ring.bound) == (54, 12, Fraction(12, 54))


def test_large_networks_take_no_search() -> None:
    """2000 nodes: the mean distance is between that of a tree and the diameter."""
    for name, hops in (("Pi_{4,2000}", 6), ("C(2000,{32,33})", 32)):
        found = distances_of(of(2000, 4, name))
        assert 0.6 * hops < found.total / (2000 * 1999) < hops


def test_a_network_of_parallel_links_has_a_rate_for_each() -> None:
    """C(8,{2,3,2,3}) has twice the rate of C(8,{2,3})."""
    one, two = (
        distances_of(of(8, d, name)) for d, name in ((4, "C(8,{2,3})"), (8, "C(8,{2,3,2,3})"))
    )
    assert two == replace(
        one, back=2 * one.back, bound=2 * one.bound, rate=one.rate and 2 * one.rate
    )
