"""The stages together: what they report, and what is left when the time is up."""

from __future__ import annotations

import pytest

from baselines.interface.search import Search
from baselines.synthesizers.taccl import stages
from baselines.synthesizers.taccl.contiguity import best_messages
from baselines.synthesizers.taccl.ordering import HEURISTICS, ordered
from baselines.synthesizers.taccl.stages import Effort, best_times
from forestcoll.errors import InfeasibleError, TimeLimitError
from forestcoll.problem.limits import Limits
from lp.solver.linear_program import Settings
from tests.baselines.synthesizers.taccl.instances import routing_of, two_boxes


def run(routing, heuristics=HEURISTICS, optima=0, gap=1e-3, seconds=None):
    """Return the times and the last that was told of each stage."""
    told: dict[str, Search] = {}
    effort = Effort(heuristics, optima, gap, "highs", Limits(seconds=seconds))

    def report(search: Search) -> None:
        told[search.stage.split()[0]] = search

    return best_times(routing, effort, "allgather", report), told


def test_the_stages_are_told_in_turn() -> None:
    times, told = run(routing_of("paper_example"))
    assert [*told] == ["routing", "messages", "finish"]
    assert told["finish"].incumbent == float(times.finish_us)
    assert told["finish"].bound <= told["finish"].incumbent
    assert told["routing"].bound <= told["routing"].incumbent


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=1", "complete:nodes=6", "dgx1"])
def test_what_is_called_optimal_takes_no_longer_than_what_must_come_in(spec: str) -> None:
    """With gap 0 the routing is proved; if the finish is called optimal it meets the bound."""
    routing = routing_of(spec)
    times, told = run(routing, optima=4, gap=0.0)
    assert told["routing"].status == "optimal"
    assert (told["finish"].status == "optimal") == (
        float(times.finish_us) == pytest.approx(told["finish"].bound, rel=1e-12)
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
    times, told = run(routing)
    assert told["routing"].incumbent > 1000
    assert times.finish_us > 1000


def test_a_symmetry_that_leaves_no_routes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """GPUs of a box turn while only GPU 0 sends and GPU 1 receives."""
    monkeypatch.setattr(stages, "_HORIZONS", (1.02, 2.0, 8.0))
    routing = routing_of("dgx_a100:boxes=2", pattern="", connections={0: (1,)}, symmetry=((1, 8),))
    with pytest.raises(InfeasibleError, match="allow more links, or less symmetry"):
        run(routing)


def test_without_time_for_a_routing_there_is_an_error_with_a_bound() -> None:
    told = []
    effort = Effort(HEURISTICS, 4, 0.0, "highs", Limits(seconds=1e-6))
    routing = routing_of("torus:dims=4x4", symmetry=())
    with pytest.raises(TimeLimitError, match="no routing of torus:dims=4x4") as caught:
        best_times(routing, effort, "allgather", told.append)
    assert caught.value.bound == float(routing.least_us)
    assert [search.status for search in told] == ["open"]


def test_early_routes_are_kept_when_the_time_is_up() -> None:
    """The routing is not proved in two seconds, but what it has found by then is scheduled."""
    routing = routing_of("mi250:boxes=1", symmetry=())
    times, told = run(routing, gap=0.0, seconds=4)
    assert told["routing"].status == "feasible"
    assert told["routing"].bound < told["routing"].incumbent <= float(times.finish_us) * (1 + 1e-9)


def test_the_best_is_what_stage_3_makes_of_its_order() -> None:
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
