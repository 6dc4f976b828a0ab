"""Flow schedules: what verify accepts, and what it refuses."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.problem.demand import Demand
from forestcoll.schedule import FlowSchedule, Path, Routes, verify
from forestcoll.schedule.verification import flows
from forestcoll.topology import Node, NodeKind, Topology, load_topology
from tests.schedule.made.flows import FLOWS, among_three, ring, switched, unequal
from tests.schedule.mutations_of.flows import FLOW_MUTATIONS, with_paths


def test_a_single_gpu_has_nothing_to_send():
    topology = Topology("alone", load_topology("ring:nodes=2").nodes[:1], ())
    verdict = verify(FlowSchedule(topology, "by hand", 1, Routes.from_paths({})))
    assert (verdict.deliveries, verdict.time_s_per_gb, verdict.algbw_gb_s) == (0, 0, None)


def test_a_relay_forwards_but_takes_no_part():
    """The middle of three GPUs in a line is outside the group."""
    line = load_topology("torus:dims=3,wrap=false")
    nodes = (line.nodes[0], replace(line.nodes[1], kind=NodeKind.RELAY), line.nodes[2])
    topology = Topology("line", nodes, line.links)
    routes = Routes.from_paths({(0, 1): [Path((0, 1, 2), 1)], (1, 0): [Path((2, 1, 0), 1)]})
    assert verify(FlowSchedule(topology, "by hand", 1, routes)).deliveries == 2


@pytest.mark.parametrize("mutate", FLOW_MUTATIONS)
@pytest.mark.parametrize("name", FLOWS)
def test_a_spoiled_schedule_is_refused(name: str, mutate) -> None:
    with pytest.raises(VerificationError, match=FLOW_MUTATIONS[mutate]):
        verify(mutate(FLOWS[name]()))


def test_a_schedule_without_a_gpu_is_refused():
    """Of no GPU nothing can be said; a topology of a switch alone is such."""
    switch = Topology("switch", (Node("w", NodeKind.SWITCH),), ())
    with pytest.raises(VerificationError, match="switch has no GPU"):
        verify(FlowSchedule(switch, "by hand", 1, Routes.from_paths({})))


def test_flows_must_name_their_method():
    for method in ("", 7):
        made = replace(switched(), method=method)
        with pytest.raises(VerificationError, match="printable name of who made"):
            verify(made)


@pytest.mark.parametrize("mutate", FLOW_MUTATIONS)
def test_a_spoiled_schedule_with_a_demand_is_refused(mutate) -> None:
    with pytest.raises(VerificationError, match=FLOW_MUTATIONS[mutate]):
        verify(mutate(unequal()))


def _demand(*amounts: list[int]) -> Callable[[FlowSchedule], FlowSchedule]:
    return lambda made: replace(made, demand=Demand.of_matrix(amounts))


def _paths(change: Callable[[dict], object]) -> Callable[[FlowSchedule], FlowSchedule]:
    return lambda made: with_paths(made, lambda paths: change(paths) and None)


SPOILED: dict[str, tuple[Callable[[FlowSchedule], FlowSchedule], str]] = {
    "a byte less": (
        _demand([0, 0, 3], [0, 0, 0], [2, 2, 0]),
        "the paths of a -> c carry 4 of the 3 units of its part",
    ),
    "a byte more": (
        _demand([0, 0, 5], [0, 0, 0], [2, 2, 0]),
        "the paths of a -> c carry 4 of the 5 units",
    ),
    "a part for nobody": (
        _demand([0, 0, 4], [0, 0, 0], [2, 0, 0]),
        "paths lead from c to b, which needs nothing from it; leave them out",
    ),
    "a part without a path": (
        _demand([0, 0, 4], [1, 0, 0], [2, 2, 0]),
        "no path leads from b to a; its part is never delivered",
    ),
    "a lost pair": (_paths(lambda paths: paths.pop((2, 1))), "no path leads from c to b"),
    "a pair too many": (
        _paths(lambda paths: paths.update({(1, 0): [Path((1, 0), 1)]})),
        "paths lead from b to a, which needs nothing",
    ),
    "of two GPUs": (_demand([0, 4], [2, 0]), "the demand is of 2 GPUs; the network has 3"),
    "for two GPUs": (
        lambda made: replace(made, demand=Demand.of_chunks(3, [(0, 4, [1, 2]), (2, 2, [0, 1])])),
        "the demand has a chunk for several GPUs; a flow has one target",
    ),
    "a price too many": (
        lambda made: replace(made, price=(*made.price, 0)),
        "5 prices are claimed; the network has 4",
    ),
    "a price too few": (lambda made: replace(made, price=(1,)), "1 prices are claimed"),
    "a negative price": (lambda made: replace(made, price=(1, -1, 0, 0)), "not a whole number"),
    "a price that is true": (lambda made: replace(made, price=(True, 0, 0, 0)), "not a whole"),
    "a price that is large": (lambda made: replace(made, price=(2**60, 0, 0, 0)), "not a whole"),
    "no price above 0": (lambda made: replace(made, price=(0,) * 4), "they prove nothing"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_demand_or_price_that_is_not_true_is_refused(name: str) -> None:
    spoil, message = SPOILED[name]
    with pytest.raises(VerificationError, match=message):
        verify(spoil(among_three()))


def test_prices_without_a_demand_are_checked_too() -> None:
    with pytest.raises(VerificationError, match="they prove nothing"):
        verify(replace(ring(), price=(0,) * 8))


def test_a_bound_above_the_attained_rate_is_a_contradiction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No prices prove such a one; a fault of the sums would."""
    monkeypatch.setattr(
        flows, "priced_inverse_rate_of_pairs", lambda *_: Fraction(2) + Fraction(1, 10**30)
    )
    with pytest.raises(VerificationError, match="no schedule is less congested than"):
        verify(among_three())


def test_several_chunks_of_a_pair_add_up() -> None:
    """4 bytes as 1 + 3; also where a single sum is beyond 64 bits."""
    parts = Demand.of_chunks(3, [(0, 1, [2]), (0, 3, [2]), (2, 2, [0]), (2, 2, [1])])
    assert verify(replace(among_three(), demand=parts)).congestion == 2
    half = np.array([2**62, 2**62, 2**62], dtype=np.int64)
    huge = replace(Demand.of_chunks(3, [(0, 1, [2]), (0, 1, [2]), (0, 1, [2])]), size=half)
    with pytest.raises(VerificationError, match=f"carry 4 of the {3 * 2**62} units"):
        verify(with_paths(replace(among_three(), demand=huge), _only_a_to_c))


def _only_a_to_c(paths: dict) -> None:
    del paths[2, 0], paths[2, 1]
