"""The stages together: what they report, and what is left when the time is up."""

from fractions import Fraction

import pytest

from baselines.interface.search import Search
from baselines.synthesizers.taccl import stages
from baselines.synthesizers.taccl.contiguity import best_messages
from baselines.synthesizers.taccl.ordering import HEURISTICS, ordered
from baselines.synthesizers.taccl.routing_rows import RoutingRows
from baselines.synthesizers.taccl.stages import Effort, best_times
from forestcoll.errors import (
    ForestCollError,
    InfeasibleError,
    InvalidParameterError,
    SolverError,
    TimeLimitError,
)
from forestcoll.problem.limits import Limits
from forestcoll.solver.linear_program import Program, Settings, Solution
from forestcoll.solver.solve import solve
from tests.baselines.synthesizers.taccl.instances import arcs_of, plain, routing_of, two_boxes


def run(routing, heuristics=HEURISTICS, optima=0, gap=1e-3, seconds=None):
    """Return the times and the last report of each stage."""
    expected: dict[str, Search] = {}
    effort = Effort(heuristics, optima, gap, "highs", Limits(seconds=seconds))

    def report(search: Search) -> None:
        expected[search.stage.split()[0]] = search

    return best_times(routing, effort, "allgather", report), expected


def test_the_stages_are_reported_in_turn() -> None:
    times, expected = run(routing_of("paper_example"))
    assert [*expected] == ["routing", "messages", "finish"]
    assert expected["finish"].incumbent == float(times.finish_us)
    assert expected["finish"].bound <= expected["finish"].incumbent
    assert expected["routing"].bound <= expected["routing"].incumbent


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=1", "complete:nodes=6", "dgx1"])
def test_optimal_results_meet_the_ingress_bound(spec: str) -> None:
    """With gap 0 the routing is proved; if the finish is called optimal it meets the bound."""
    routing = routing_of(spec)
    times, expected = run(routing, optima=4, gap=0.0)
    assert expected["routing"].status == "optimal"
    assert (expected["finish"].status == "optimal") == (
        float(times.finish_us) == pytest.approx(expected["finish"].bound, rel=1e-12)
    )


@pytest.mark.parametrize(
    "spec", ["paper_example", "rail_optimized:boxes=3,gpus_per_box=2", "ring:nodes=5"]
)
def test_more_orders_and_routings_never_finish_later(spec: str) -> None:
    routing = routing_of(spec)
    alone = [run(routing, heuristics=(each,), gap=0.1)[0].finish_us for each in HEURISTICS]
    together = run(routing, gap=0.1)[0].finish_us
    assert together == min(alone)
    assert run(routing, optima=2, gap=0.1)[0].finish_us <= together


def test_routes_are_found_within_any_horizon() -> None:
    """Long latencies against short transfers: the first horizon is by the way, not the load."""
    routing = routing_of(two_boxes(latency=1000), size_bytes=1000)
    times, expected = run(routing)
    assert expected["routing"].incumbent > 1000
    assert times.finish_us > 1000


def test_slow_links_that_must_be_taken_are_within_some_horizon() -> None:
    """The only link on the shortest way takes 14286 times as long as those round it."""
    fast = [(u, v, 100) for u, v in ((0, 2), (2, 0), (1, 2), (2, 1))]
    slow = [(u, v, Fraction(100, 14286)) for u, v in ((0, 1), (1, 0))]
    _, expected = run(plain(arcs_of(fast + slow, 3), "all-to-all"))
    assert expected["routing"].incumbent == pytest.approx(142.86)


def test_ways_in_a_box_that_take_far_longer_than_those_between_are_found() -> None:
    """A ring of three within boxes, ten billion times as slow as links from box to box."""
    ring = [(b + u, b + (u + 1) % 3, Fraction(7, 1000)) for b in (0, 3) for u in range(3)]
    across = [(u, v, 10**8) for u in range(6) for v in range(6) if u // 3 != v // 3]
    routing = plain(arcs_of(ring + across, 6, boxes=2), pattern="fully-connected")
    times, expected = run(routing)
    assert expected["routing"].status == "optimal"
    assert times.finish_us > 0


def test_a_symmetry_that_leaves_no_routes_is_reported() -> None:
    """GPUs of a box turn while only GPU 0 sends and GPU 1 receives."""
    routing = routing_of("dgx_a100:boxes=2", pattern="", connections={0: (1,)}, symmetry=((1, 8),))
    with pytest.raises(InfeasibleError, match="allow more links, or less symmetry"):
        run(routing)


def test_searches_that_end_without_a_proof_are_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes its time and finds nothing; the last has all that is left."""
    given: list[float] = []

    def nothing(program: Program, settings: Settings) -> Solution:
        given.append(settings.seconds)
        raise TimeLimitError("nothing yet")

    monkeypatch.setattr(stages, "solve", nothing)
    with pytest.raises(TimeLimitError, match="no routing of dgx_a100:boxes=1 in the time"):
        run(routing_of("dgx_a100:boxes=1"), seconds=1000)
    assert given[0] < 200
    assert given[-1] > 900


def test_an_infeasible_horizon_is_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that first finds nothing, then that four times the least is too little."""
    asked: list[Program] = []

    def slow(program: Program, settings: Settings) -> Solution:
        asked.append(program)
        if settings.seconds < 900:
            raise TimeLimitError("nothing yet")
        if program.upper[-1] < 30:
            raise InfeasibleError("nothing so early")
        return solve(program, settings)

    monkeypatch.setattr(stages, "solve", slow)
    run(routing_of("dgx_a100:boxes=1"), seconds=1000)
    assert [program.upper[-1] for program in asked[-2:]] == pytest.approx([28.56, 56], rel=1e-6)


@pytest.mark.parametrize("error", [SolverError, InvalidParameterError])
def test_a_solver_that_gives_up_is_reported_with_how_far_costs_are_apart(
    error: type[ForestCollError], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(program: Program, settings: Settings) -> Solution:
        raise error("highs stopped with status 'refused the model'")

    monkeypatch.setattr(stages, "solve", refuse)
    with pytest.raises(SolverError, match="the model'; one link takes 12"):
        run(routing_of(two_boxes(latency=100, gpus=2)))


def test_a_failed_solve_is_repeated_less_strictly(monkeypatch: pytest.MonkeyPatch) -> None:
    """As HiGHS does with a "Solve error" where one link is ten billion times as fast as another."""
    asked: list[float] = []

    def strict(program: Program, settings: Settings) -> Solution:
        asked.append(settings.tolerance)
        if settings.tolerance < 1e-6:
            raise SolverError("too strict")
        return solve(program, settings)

    monkeypatch.setattr(stages, "solve", strict)
    run(routing_of("ring:nodes=3"))
    assert asked == [1e-9, 1e-6]


def test_routes_in_circles_are_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RoutingRows, "routes", lambda self, values: None)
    with pytest.raises(SolverError, match="a chunk goes round in a cycle"):
        run(routing_of("ring:nodes=3"))


@pytest.mark.parametrize("local", ["maxmin", "minmax"])
def test_even_loads_are_proved(local: str) -> None:
    """The idlest link counts a hundredth: routes worth less may take a little longer."""
    routing = routing_of("ring:nodes=4", "all-to-all", symmetry=(), local=local)
    _, expected = run(routing, gap=0.0)
    assert expected["routing"].status == "optimal"
    assert expected["routing"].bound <= expected["routing"].incumbent


@pytest.mark.parametrize("size_bytes", [10**9, 10**15, 10**18])
def test_a_bound_never_exceeds_the_incumbent(size_bytes: int) -> None:
    """Links used count a hundredth of a microsecond beside transfers of days."""
    routing = routing_of("dgx_a100:boxes=1", size_bytes=size_bytes, unique="uc-max")
    _, expected = run(routing, gap=0.0)
    assert expected["routing"].status == "optimal"
    assert expected["routing"].bound <= expected["routing"].incumbent


def test_without_time_for_a_routing_there_is_an_error_with_a_bound() -> None:
    expected = []
    effort = Effort(HEURISTICS, 4, 0.0, "highs", Limits(seconds=1e-6))
    routing = routing_of("torus:dims=4x4", symmetry=())
    with pytest.raises(TimeLimitError, match="no routing of torus:dims=4x4") as caught:
        best_times(routing, effort, "allgather", expected.append)
    assert caught.value.bound == float(routing.least_us)
    assert [search.status for search in expected] == ["open"]


@pytest.mark.slow
def test_early_routes_are_kept_when_the_time_is_up() -> None:
    """The routing is not proved in two seconds, but what it has found by then is scheduled."""
    routing = routing_of("mi250:boxes=1", symmetry=())
    times, expected = run(routing, gap=0.0, seconds=4)
    assert expected["routing"].status == "feasible"
    assert (
        expected["routing"].bound
        < expected["routing"].incumbent
        <= float(times.finish_us) * (1 + 1e-9)
    )


def test_the_best_times_are_stage_3_of_the_best_order() -> None:
    routing = routing_of("paper_example")
    times, _ = run(routing, heuristics=("farthest",))
    links = {}
    for message in times.messages:
        for chunk, link in message:
            links.setdefault(chunk, set()).add(link)
    routes = tuple(frozenset(links[chunk]) for chunk in sorted(links))
    again = best_messages(
        routing.network, ordered(routing, routes, "farthest"), Settings(seconds=10)
    )
    assert again.times == times
