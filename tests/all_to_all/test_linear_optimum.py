"""The all-to-all optimum: published rates, by hand, and proved on random networks."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.all_to_all import linear_optimum
from forestcoll.all_to_all.closed_forms import degree_bound
from forestcoll.all_to_all.concurrent_flow import approximate_flow
from forestcoll.all_to_all.flow_problem import flow_problem
from forestcoll.all_to_all.grids.dimension_order import dimension_ordered
from forestcoll.all_to_all.grids.halfway_cut import halfway_cut
from forestcoll.all_to_all.linear_optimum import all_to_all_rate, build, extract, grid_rate
from forestcoll.all_to_all.path_schedule import schedule_of
from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
    SolverError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.schedule import cost, verify
from forestcoll.solver.linear_program import Program, Settings, Solution
from forestcoll.solver.solve import solve
from forestcoll.topology import Topology, line_graph, load_topology
from forestcoll.topology.symmetry.automorphism import find_orbits, no_symmetry
from tests.all_to_all.rates import (
    BIPARTITE,
    SETTINGS,
    SYMMETRIC,
    delivered,
    exact_rate,
    line,
    optimum,
    uni,
)
from tests.hand_networks import network_of
from tests.random_topologies import random_topology, seeds


@pytest.mark.parametrize(
    ("make", "published"),
    [
        (lambda: line_graph(load_topology(BIPARTITE)), "5.71e-02"),
        (lambda: load_topology("generalized_kautz:degree=4,nodes=64"), "2.17e-02"),
        (lambda: line_graph(load_topology(BIPARTITE), 2), "9.89e-03"),
    ],
    ids=["L(K_4,4)", "Pi_4,64", "L^2(K_4,4)"],
)
def test_rates_of_table_7(make, published) -> None:
    assert f"{optimum(make()).rate_gb_s:.2e}" == published


def test_one_way_ring_by_hand() -> None:
    """Each of n links carries n (n - 1) / 2 pairs."""
    assert exact_rate(uni(6)) == Fraction(1, 15)


def test_two_boxes_by_hand() -> None:
    """8 NICs of 25 GB/s out of a box for 8 x 8 pairs."""
    assert exact_rate(load_topology("dgx_a100:boxes=2")) == Fraction(25 * 8, 64)


def test_different_links_by_hand() -> None:
    """A line of three: both links carry two pairs each way, 6 and 2 GB/s wide."""
    found = optimum(line((6, 2)))
    assert found.rate_gb_s == pytest.approx(1)
    assert verify(schedule_of(found)).time_s_per_gb == Fraction(1, 3)


def test_different_amounts_by_hand() -> None:
    """GPU 0 has 4 for GPU 2, GPU 2 has 1 for GPU 0: 4 f <= 2 GB/s."""
    amounts = np.zeros((3, 3))
    amounts[0, 2], amounts[2, 0] = 4, 1
    found = optimum(line((6, 2)), amount=amounts)
    assert found.rate_gb_s == pytest.approx(0.5)
    assert len(found.sources) == 3
    with pytest.raises(UnsupportedError, match="amounts of the pairs differ"):
        schedule_of(found)


@pytest.mark.parametrize("spec", SYMMETRIC)
def test_one_source_of_each_orbit_is_exact(spec: str) -> None:
    """As if all sources were there; and the schedule attains it for all of them."""
    topology = load_topology(spec)
    orbits = find_orbits(topology)
    few, all_of_them = optimum(topology), optimum(topology, orbits=no_symmetry(topology))
    assert len(few.sources) < len(all_of_them.sources) == topology.num_compute
    assert len(few.sources) == len(set(orbits.node[list(topology.compute)].tolist()))
    assert few.rate_gb_s == pytest.approx(all_of_them.rate_gb_s, rel=1e-7)
    for found in (few, all_of_them):
        verdict = verify(schedule_of(found))
        assert float(1 / verdict.congestion) == pytest.approx(found.rate_gb_s, rel=1e-4)


SHORT = "torus:dims=4x4,wrap=false"


@pytest.mark.parametrize(
    ("topology", "enough"),
    [
        (load_topology(SHORT).without("gpu0.0 - gpu0.1"), True),
        (network_of("a b c", "a - b: 4, b - c: 4, a - c: 3"), False),
    ],
    ids=["mesh", "triangle"],
)
def test_shortest_paths_are_an_answer_only_where_their_prices_prove_it(
    topology: Topology, enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the triangle some of what a and c exchange must go by b, which takes longer."""
    whole = optimum(topology)
    stated = build(flow_problem(topology), find_orbits(topology))
    short = linear_optimum._over_shortest_paths(stated, SETTINGS, time.perf_counter() + 20)
    assert short is not None
    assert (short.gap < 1e-7) == enough
    assert short.rate_gb_s <= whole.bound_gb_s * (1 + 1e-9)
    assert short.bound_gb_s >= whole.rate_gb_s * (1 - 1e-9)
    monkeypatch.setattr(linear_optimum, "_MANY_COLUMNS", 0)
    assert optimum(topology).rate_gb_s == pytest.approx(whole.rate_gb_s, rel=1e-8)


def test_a_cut_and_dimension_order_are_an_answer_on_a_slice_with_a_dead_link() -> None:
    """64 x 64 pairs cross 15 links of 50 GB/s where a half of the ring ends."""
    topology = load_topology("tpu_v5e:dims=8x16").without("gpu0.0 - gpu0.1")
    stated = build(flow_problem(topology), find_orbits(topology))
    found = linear_optimum._at_the_bound_of_a_cut(stated, SETTINGS, time.perf_counter() + 20)
    assert found is not None
    assert found.gap < 1e-7
    assert found.bound_gb_s == pytest.approx(15 * 50 / 64**2)
    assert set(found.price.tolist()) == {0, 1}
    assert found.price.sum() == 15
    used = found.flow_gb_s > 0
    assert not (used & ~linear_optimum._on_quickest_paths(stated)).any()
    ordered = dimension_ordered(topology)
    assert ordered is not None
    assert not (used & ~ordered[stated.demands.sources[list(stated.sources)]]).any()


def test_the_rate_at_the_bound_of_a_cut_is_fixed_at_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mesh = load_topology(SHORT)
    stated = build(flow_problem(mesh), find_orbits(mesh))
    asked: list[linear_optimum.AllToAllLp] = []
    monkeypatch.setattr(linear_optimum, "_narrowed", lambda given, *_: asked.append(given))
    assert linear_optimum._at_the_bound_of_a_cut(stated, SETTINGS, time.perf_counter() + 20) is None
    bound = stated.demands.bound_gb_s(halfway_cut(stated.demands))
    program = asked[0].program
    assert program.lower[-1] == program.upper[-1] == bound / stated.scale_gb_s
    assert not program.cost.any()
    assert (program.upper[:-1] == stated.program.upper[:-1]).all()
    assert not program.lower[:-1].any()


def test_links_that_may_not_be_used_are_no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over shortest paths; the links into a source are left out of those over all links, too."""
    mesh = load_topology(SHORT)
    stated = build(flow_problem(mesh), find_orbits(mesh))
    usable = linear_optimum._on_quickest_paths(stated)
    solved: list[Program] = []

    def kept(program: Program, settings: Settings) -> Solution:
        solved.append(program)
        return solve(program, settings)

    monkeypatch.setattr(linear_optimum, "solve", kept)
    found = linear_optimum._over_shortest_paths(stated, SETTINGS, time.perf_counter() + 20)
    assert found is not None
    assert len(solved[0].upper) == usable.sum() + 1
    assert solved[0].upper.all()
    assert not found.flow_gb_s[~usable].any()


def test_without_a_grid_all_quickest_paths_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = network_of("a b c", "a - b: 4, b - c: 4, a - c: 3")
    stated = build(flow_problem(topology), find_orbits(topology))
    asked: list[np.ndarray] = []
    monkeypatch.setattr(linear_optimum, "_narrowed", lambda _, usable, *__: asked.append(usable))
    assert linear_optimum._at_the_bound_of_a_cut(stated, SETTINGS, time.perf_counter() + 20) is None
    assert (asked[0] == linear_optimum._on_quickest_paths(stated)).all()


def test_the_rate_of_a_grid_is_that_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cut above the optimum gives none, and a network without dimensions is not tried."""
    torus = load_topology("torus:dims=5x6").without("gpu0.0 - gpu0.1")
    problem, orbits = flow_problem(torus), find_orbits(torus)
    found = grid_rate(problem, orbits, settings=SETTINGS)
    assert found is not None
    assert found.rate_gb_s == pytest.approx(optimum(torus).rate_gb_s, rel=1e-8)
    assert grid_rate(problem, orbits, settings=replace(SETTINGS, seconds=1e-9)) is None
    corner = np.array([float(link.tail == 0) for link in torus.links])
    monkeypatch.setattr(linear_optimum, "halfway_cut", lambda _: corner)
    assert grid_rate(problem, orbits, settings=SETTINGS) is None
    monkeypatch.undo()
    triangle = network_of("a b c", "a - b, b - c, a - c", "triangle")
    assert grid_rate(flow_problem(triangle), find_orbits(triangle), settings=SETTINGS) is None


def test_a_cut_above_a_known_bound_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No link has a price, so the cut bounds nothing; equal spending does."""
    mesh = load_topology(SHORT)
    stated = build(flow_problem(mesh), find_orbits(mesh))
    tried: list[object] = []
    monkeypatch.setattr(linear_optimum, "_narrowed", lambda *given: tried.append(given))
    monkeypatch.setattr(linear_optimum, "halfway_cut", lambda _: np.zeros(len(mesh.links)))
    assert linear_optimum._at_the_bound_of_a_cut(stated, SETTINGS, time.perf_counter() + 20) is None
    assert not tried


def test_no_flow_is_as_fast_as_a_cut_above_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cut around a corner: 15 pairs over two links, where a half has 64 over four."""
    mesh = load_topology(SHORT)
    whole = optimum(mesh)
    corner = np.array([float(link.tail == 0) for link in mesh.links])
    monkeypatch.setattr(linear_optimum, "halfway_cut", lambda _: corner)
    stated = build(flow_problem(mesh), find_orbits(mesh))
    assert stated.demands.bound_gb_s(corner) > whole.bound_gb_s * (1 + 1e-9)
    assert linear_optimum._at_the_bound_of_a_cut(stated, SETTINGS, time.perf_counter() + 20) is None
    monkeypatch.setattr(linear_optimum, "_MANY_COLUMNS", 0)
    assert optimum(mesh).bound_gb_s == pytest.approx(whole.bound_gb_s, rel=1e-8)


def test_without_time_shortest_paths_are_not_tried() -> None:
    topology = load_topology(SHORT)
    stated = build(flow_problem(topology), find_orbits(topology))
    assert linear_optimum._over_shortest_paths(stated, SETTINGS, time.perf_counter() - 1) is None


def test_symmetries_of_the_network_are_not_those_of_amounts() -> None:
    ring = load_topology("ring:nodes=4")
    amounts = np.arange(16.0).reshape(4, 4) * (1 - np.eye(4))
    with pytest.raises(InvalidParameterError, match="leave one of the two out"):
        all_to_all_rate(ring, amounts, settings=SETTINGS, orbits=find_orbits(ring))
    assert all_to_all_rate(ring, 2 * (1 - np.eye(4)), settings=SETTINGS).sources == (0,)


@pytest.mark.parametrize("kind", ["directed", "bidirectional", "unbalanced"])
@pytest.mark.parametrize("seed", seeds(4, 2))
@pytest.mark.each_value_once
def test_rates_of_random_networks_are_proved_and_attained(kind: str, seed: int) -> None:
    """Schedule, linear program, prices and the approximation all agree."""
    topology = random_topology(seed, kind)
    found = optimum(topology)
    made = schedule_of(found)
    verdict, priced = verify(made), cost(made)
    attained = float(1 / verdict.congestion)
    assert found.rate_gb_s * (1 - 1e-4) <= attained <= found.bound_gb_s * (1 + 1e-9)
    assert priced.time_s_per_gb == verdict.time_s_per_gb
    near = approximate_flow(flow_problem(topology), eps=0.03, seconds=20)
    assert near.rate_gb_s <= found.bound_gb_s * (1 + 1e-6)
    assert near.bound_gb_s >= found.rate_gb_s * (1 - 1e-6)
    assert near.gap <= 0.03


@pytest.mark.parametrize("seed", range(4))
def test_amounts_of_random_networks_are_met(seed: int) -> None:
    """The bound of the prices is attained; twice the amounts halve the rate."""
    topology = random_topology(seed, "directed")
    ranks = topology.num_compute
    amounts = np.random.default_rng(seed).integers(0, 5, (ranks, ranks)) * (1 - np.eye(ranks))
    amounts[0, 1] = 1
    once = optimum(topology, amount=amounts)
    assert optimum(topology, amount=2 * amounts).rate_gb_s == pytest.approx(once.rate_gb_s / 2)
    near = approximate_flow(flow_problem(topology, amounts), eps=0.03, seconds=20)
    assert near.rate_gb_s <= once.bound_gb_s * (1 + 1e-6)
    assert near.bound_gb_s >= once.rate_gb_s * (1 - 1e-6)


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e9])
def test_amounts_may_be_in_any_unit(unit: float) -> None:
    """A ring of four at 1 / 2 GB/s of every pair; the rate is per unit of the amounts."""
    ring = load_topology("ring:nodes=4")
    amounts = unit * (1 - np.eye(4))
    assert optimum(ring, amount=amounts).rate_gb_s == pytest.approx(0.5 / unit)
    assert approximate_flow(flow_problem(ring, amounts)).rate_gb_s == pytest.approx(
        0.5 / unit, rel=0.01
    )


@pytest.mark.parametrize("method", ["highs", "highs-ipm", "glop"])
@pytest.mark.parametrize("tolerance", [1e-9, 1e-4])
def test_the_flow_delivers_the_rate(method: str, tolerance: float) -> None:
    """However coarse the tolerance: link by link and node by node, for all sources."""
    settings = Settings(seconds=60, method=method, tolerance=tolerance)
    for seed in range(4):
        topology = random_topology(seed, "unbalanced")
        found = all_to_all_rate(topology, settings=settings, orbits=no_symmetry(topology))
        assert 0 < found.rate_gb_s <= found.bound_gb_s
        assert (found.flow_gb_s.sum(axis=0) <= found.demands.bandwidth * (1 + 1e-12)).all()
        assert delivered(found.demands, found.flow_gb_s) >= found.rate_gb_s * (1 - 1e-12)


def test_a_flow_that_misses_a_pair_is_no_answer() -> None:
    """A claimed rate counts for nothing: without the flow over the last link, a typed error."""
    stated = build(flow_problem(line((6, 2))), no_symmetry(line((6, 2))))
    solution = solve(stated.program, SETTINGS)
    claimed = solution.x.copy()
    claimed[stated.demands.head.tolist().index(2)] = 0
    with pytest.raises(SolverError, match="not at all"):
        extract(stated, replace(solution, x=claimed))
    half = solution.x.copy()
    half[-1] *= 2
    found = extract(stated, replace(solution, x=half))
    assert found.rate_gb_s == pytest.approx(1)


def test_orbits_of_another_network_are_refused() -> None:
    ring = load_topology("ring:nodes=4")
    for other in ("complete:nodes=4", "ring:nodes=6", "ring:nodes=4,bidirectional=false"):
        with pytest.raises(InvalidParameterError, match=r"orbits are not|not an automorphism"):
            all_to_all_rate(ring, settings=SETTINGS, orbits=find_orbits(load_topology(other)))


def test_the_limit_counts_the_search_for_symmetries() -> None:
    topology = load_topology("generalized_kautz:degree=4,nodes=96")
    with pytest.raises(TimeLimitError, match="before the program was stated") as limit:
        all_to_all_rate(topology, settings=Settings(seconds=0.001))
    assert limit.value.incumbent is None
    assert 0 < limit.value.bound < float(degree_bound(96, 4)) * 1.0001


def test_a_network_without_links_has_no_rate() -> None:
    with pytest.raises(DisconnectedError, match="no path"):
        all_to_all_rate(network_of("a b", "", "apart"), settings=SETTINGS)


def test_a_solver_at_its_limit_leaves_the_best_bound() -> None:
    topology = load_topology("generalized_kautz:degree=4,nodes=64")
    short = Settings(seconds=0.01)
    with pytest.raises(TimeLimitError, match="at most") as limit:
        all_to_all_rate(topology, settings=short, orbits=no_symmetry(topology))
    assert isinstance(limit.value.bound, float)
    assert 15 / 691 <= limit.value.bound <= float(degree_bound(64, 4)) * 1.0001
