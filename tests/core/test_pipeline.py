"""Every collective on random digraphs: the bound by enumeration, attained exactly, and verified."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import networkx as nx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from forestcoll import Allreduce, Options, cost, expand, generate, group, optimum, verify
from forestcoll.core.pipeline import EXPLICIT, FACTORED, Form, both_phases
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.errors import (
    DisconnectedError,
    ForestCollError,
    InvalidTopologyError,
    UnsupportedError,
)
from forestcoll.problem.request import Request
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from forestcoll.topology.validation import COLLECTIVES
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology, rounds, seeds
from tests.reference.cuts import enumerate_optimum
from tests.strategies import topologies

REDUCTIONS = ("reduce-scatter", "reduce")
ONE_WAY = ("allgather", "broadcast", *REDUCTIONS)


def bound_by_enumeration(
    topology: Topology, weights: Sequence[int], *, reduction: bool
) -> Fraction:
    """Worst w(S) / B+(S) of all cuts; of the network reversed in a reduction."""
    network = topology.reversed() if reduction else topology
    roots = {v: w for v, w in zip(network.compute, weights, strict=True) if w}
    return enumerate_optimum(network, roots, network.compute)[0]


def proves_optimal(topology: Topology, collective: str, **demand: Any) -> None:
    """Both forms verify; the time is the worst of all cuts over the weight, with no tolerance."""
    forest = generate(topology, collective=collective, **demand).schedule
    factored = generate(topology, collective=collective, **demand, factored=True).schedule
    assert not isinstance(forest, Allreduce)
    assert not isinstance(factored, Allreduce)
    reduction = collective in REDUCTIONS
    for form in (forest, factored, expand(factored)):
        assert form.reduction is reduction
        verdict = verify(form)
        assert verdict.optimal
        assert verdict.trees == forest.k * sum(forest.weights)
    bound = bound_by_enumeration(topology, forest.weights, reduction=reduction)
    assert forest.optimum is not None
    assert forest.optimum.inverse_rate == bound == forest.optimum.certificate()
    assert cost(forest).time_s_per_gb == forest.time_s_per_gb == bound / sum(forest.weights)


@st.composite
def demands(draw: st.DrawFn, topology: Topology, collective: str) -> dict[str, Any]:
    """Draw a root, or weights from 0 to 5 (or none) for a collective."""
    gpus = topology.num_compute
    if collective in ("broadcast", "reduce"):
        return {"root": draw(st.integers(0, gpus - 1))}
    weights = draw(st.none() | st.lists(st.integers(0, 5), min_size=gpus, max_size=gpus))
    assume(weights is None or any(weights))
    return {"weights": weights}


def fit(topology: Topology, collective: str) -> Topology:
    """Turn a network round for a reduction: its switches then send at least what they receive."""
    return topology.reversed() if collective in REDUCTIONS else topology


@pytest.mark.parametrize("collective", ONE_WAY)
@settings(max_examples=rounds(150, 20), deadline=None)
@given(data=st.data(), topology=topologies())
def test_collectives_attain_cuts(collective: str, data: st.DataObject, topology: Topology) -> None:
    """Random digraphs with switches and unbalanced GPUs, random roots and weights."""
    network = fit(topology, collective)
    proves_optimal(network, collective, **data.draw(demands(network, collective)))


@pytest.mark.first_rows(15)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("collective", ONE_WAY)
@pytest.mark.parametrize("seed", seeds(20, 5))
def test_every_collective_on_a_seeded_set(collective: str, kind: str, seed: int) -> None:
    """The same on networks that do not change from run to run; weights go 0, 1, 2, 3, 0, .."""
    network = fit(random_topology(seed, kind), collective)
    rooted = collective in ("broadcast", "reduce")
    weights = [(rank + seed) % 4 for rank in range(network.num_compute)]
    weights[0] += 1
    proves_optimal(network, collective, **({"root": 0} if rooted else {"weights": weights}))


@settings(max_examples=rounds(150), deadline=None)
@given(topology=topologies(), root=st.integers(0, 9))
def test_a_broadcast_attains_the_least_max_flow(topology: Topology, root: int) -> None:
    """Edmonds: min over v of maxflow(root, v), by networkx; the reduce to it, of flows into it."""
    root %= topology.num_compute
    source = topology.compute[root]
    others = [v for v in topology.compute if v != source]
    rate = min(max_flow(topology, source, v) for v in others)
    assert generate(topology, collective="broadcast", root=root).schedule.algbw_gb_s == rate
    back = topology.reversed()
    assert min(max_flow(back, v, source) for v in others) == rate
    assert generate(back, collective="reduce", root=root).schedule.algbw_gb_s == rate


def max_flow(topology: Topology, source: int, sink: int) -> Fraction:
    links = topology.integer_capacities
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(topology.nodes)))
    for tail, head, capacity in zip(
        links.tail.tolist(), links.head.tolist(), links.capacity.tolist(), strict=True
    ):
        graph.add_edge(tail, head, capacity=capacity)
    return Fraction(nx.maximum_flow_value(graph, source, sink), links.denominator)


@settings(max_examples=rounds(100), deadline=None)
@given(data=st.data(), topology=topologies(kinds=("directed", "bidirectional")))
def test_allreduce_time_is_that_of_both_bounds(data: st.DataObject, topology: Topology) -> None:
    """One after the other, on balanced networks, by weights or through a root; at once no more."""
    demand = data.draw(demands(topology, data.draw(st.sampled_from(["allgather", "broadcast"]))))
    for schedule in (
        generate(topology, collective="allreduce", lp_time_limit_s=0, **demand).schedule,
        generate(
            topology, collective="allreduce", lp_time_limit_s=0, **demand, factored=True
        ).schedule,
    ):
        verdict = verify(schedule)
        assert verdict.reduce.optimal
        assert verdict.gather.optimal
        weights = schedule.gather.weights
        times = [
            bound_by_enumeration(topology, weights, reduction=reduction) / sum(weights)
            for reduction in (True, False)
        ]
        assert verdict.sequential_s_per_gb == schedule.sequential_s_per_gb == sum(times)
        assert verdict.time_s_per_gb == schedule.time_s_per_gb <= sum(times)
        assert verdict.algbw_gb_s == schedule.algbw_gb_s <= verdict.bound_gb_s
        assert verdict.optimal == schedule.optimal == (verdict.algbw_gb_s == verdict.bound_gb_s)


def test_a_reduce_scatter_on_a_directed_network_is_no_turned_allgather() -> None:
    """A one-way ring with a chord a -> c: by hand.

    Links a -> b -> c -> a of 1 GB/s and a -> c of 1. Shards enter b over 1 GB/s, two of them:
    1/x* = 2. Sums leave b over 1 GB/s, two of them, and c over 1: 2 as well; but into c come
    2 GB/s and out of a go 2, so the forests differ: in the reduction a sends to b and to c.
    """
    net = network_of("a b c", "a > b c, b > c, c > a", "chord")
    scatter = generate(net, collective="reduce-scatter").schedule
    assert verify(scatter).optimal
    assert scatter.time_s_per_gb == Fraction(2, 3)
    for tail, head in zip(scatter.routes.tail, scatter.routes.head, strict=True):
        assert (net.compute[tail], net.compute[head]) in net.link_between


@pytest.mark.parametrize(("form", "kind"), [(EXPLICIT, Forest), (FACTORED, FactoredForest)])
def test_both_phases_have_the_form_asked_for(form: Form[Any], kind: type) -> None:
    """On a directed network neither phase is the other reversed: both are made, and converted."""
    net = network_of("a b c", "a > b c, b > c, c > a", "chord")
    made, _ = both_phases(Request.of(net, Options(collective="allreduce")), form, Stopwatch())
    assert [type(phase) for phase in made.phases] == [kind, kind]
    assert [phase.reduction for phase in made.phases] == [True, False]


def test_roots_alone_must_reach_the_others() -> None:
    """A -> b -> c: a can broadcast, c can be reduced to; the other way round is refused."""
    net = network_of("a b c", "a > b: 3, b > c: 2", "chain")
    assert generate(net, collective="broadcast", root="a").schedule.algbw_gb_s == 2
    assert generate(net, collective="reduce", root="c").schedule.algbw_gb_s == 2
    assert verify(generate(net, collective="reduce", root="c").schedule).optimal
    with pytest.raises(DisconnectedError, match="'b' cannot reach GPU 'a'"):
        generate(net, collective="broadcast", root="b")
    with pytest.raises(DisconnectedError, match="'b' cannot reach GPU 'a'"):
        generate(net, collective="reduce", root="a")
    with pytest.raises(DisconnectedError, match="'b' cannot reach GPU 'a'"):
        generate(net, weights=[1, 1, 0])
    with pytest.raises(DisconnectedError, match="'b' cannot reach GPU 'a'"):
        generate(net, collective="reduce-scatter", method="paper")


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_papers_algorithms_agree_for_equal_weights(collective: str) -> None:
    """Times are the same; a root is refused by name."""
    topology = load_topology("mi250:boxes=1,gpus_per_box=8")
    if collective in ("broadcast", "reduce"):
        with pytest.raises(UnsupportedError, match="take the method forestcoll"):
            generate(topology, collective=collective, root=0, method="paper")
        return
    ours = generate(topology, collective=collective, lp_time_limit_s=0).schedule
    theirs = generate(topology, collective=collective, method="paper").schedule
    assert theirs.time_s_per_gb == ours.time_s_per_gb
    factored = generate(topology, collective=collective, method="paper", factored=True).schedule
    for verdict in (verify(theirs), verify(factored)):
        phases = [verdict.reduce, verdict.gather] if collective == "allreduce" else [verdict]
        assert all(phase.optimal for phase in phases)


def test_sums_that_a_switch_cannot_pass_on_stay_away() -> None:
    """A switch with 3 GB/s in and 2 out: 1 GB/s of a's 2 is of no use to a reduction."""
    net = network_of("a b [s]", "a > s: 2, b > s, s > a b", "greedy")
    assert verify(generate(net).schedule).optimal
    verdict = verify(generate(net, collective="reduce-scatter").schedule)
    assert verdict.optimal
    assert verdict.algbw_gb_s == 2


# --- process groups -----------------------------------------------------------------------------


@pytest.mark.parametrize("collective", ONE_WAY)
@settings(max_examples=rounds(100, 12), deadline=None)
@given(data=st.data(), topology=topologies(kinds=("directed", "bidirectional")))
def test_relays_need_no_copying(collective: str, data: st.DataObject, topology: Topology) -> None:
    """Theorem: the bound over cuts, which holds for relays that copy too, is attained without."""
    gpus = [topology.nodes[v].name for v in topology.compute]
    members = data.draw(st.sets(st.sampled_from(gpus), min_size=2))
    net = group(topology, members)
    assert {net.nodes[v].name for v in net.compute} == members
    proves_optimal(net, collective, **data.draw(demands(net, collective)))


def test_relays_speed_a_group_up() -> None:
    """Four GPUs in a ring, both ways, 1 GB/s; the group a, c: by hand.

    Each shard goes half over b and half over d: 1 shard over 2 GB/s. Without relays there is no
    way at all; with b alone it would take 1 shard over 1 GB/s, twice as long.
    """
    ring = load_topology("ring:nodes=4")
    pair = generate(group(ring, ["gpu0", "gpu2"])).schedule
    assert pair.optimum is not None
    assert (pair.optimum.inverse_rate, pair.k) == (Fraction(1, 2), 2)
    assert verify(pair).optimal
    through = {ring.nodes[v].name for v in pair.routes.hop.tolist()}
    assert through == {"gpu0", "gpu1", "gpu2", "gpu3"}


def test_a_relay_that_cannot_copy_serves_half() -> None:
    """It receives 1 GB/s and sends 2: as a GPU it could pass everything on twice, as a relay one
    half of the data goes to b and one to c, and the two have no link to exchange them.
    """
    net = network_of("a b c d", "a > d, d > b c, b c > a", "copier")
    assert generate(net, collective="broadcast", root="a").schedule.algbw_gb_s == 1
    verdict = verify(
        generate(group(net, ["a", "b", "c"]), collective="broadcast", root="a").schedule
    )
    assert verdict.optimal
    assert verdict.algbw_gb_s == Fraction(1, 2)


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("method", ["forestcoll", "paper"])
def test_a_group_of_one_has_an_empty_schedule(collective: str, method: str) -> None:
    """No trees, no time, no bandwidth to divide by; it verifies."""
    alone = group(load_topology("dgx_a100:boxes=2"), ["b1.gpu3"])
    root = "b1.gpu3" if collective in ("broadcast", "reduce") else None
    for factored in (False, True):
        asked = Options(collective=collective, root=root, method=method, factored=factored)
        schedule = generate(alone, asked).schedule
        assert schedule.time_s_per_gb == 0
        parts = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
        assert [part.num_trees for part in parts] == [0] * len(parts)
        made_by = {"forestcoll": "forestcoll", "paper": "forestcoll-paper"}[method]
        assert {part.method for part in parts} == {made_by}
        verdict = verify(schedule)
        assert (verdict.time_s_per_gb, verdict.algbw_gb_s) == (0, None)
        with pytest.raises(UnsupportedError, match="takes no time"):
            schedule.algbw_gb_s  # noqa: B018


def test_a_box_that_leads_nowhere_is_left_aside() -> None:
    """A group of one box on a cluster is as fast as the box with its ways through the network."""
    cluster = load_topology("dgx_a100:boxes=3")
    box = [cluster.nodes[v].name for v in cluster.compute if cluster.nodes[v].box == 1]
    forest = generate(group(cluster, box)).schedule
    assert verify(forest).optimal
    assert forest.optimum is not None
    assert forest.optimum.inverse_rate == Fraction(7, 325)  # seven shards over 300 + 25 GB/s


# --- what is refused ----------------------------------------------------------------------------

RING: Topology = load_topology("dgx_a100:boxes=1")


def test_weights_whose_products_overflow_are_refused() -> None:
    """Eight times 2^60 by 600 GB/s and more leave 62 bits."""
    with pytest.raises(ForestCollError, match=r"a total weight of .* is beyond exact 64-bit"):
        optimum(RING, weights=[2**60] * 7 + [1])
    with pytest.raises(ForestCollError, match="beyond exact 64-bit"):
        optimum(RING, weights=[2**100, *[1] * 7])


def test_no_gpu_is_no_group() -> None:
    """A network of switches has nobody to ask."""
    nodes = (Node("v", NodeKind.SWITCH), Node("w", NodeKind.SWITCH))
    with pytest.raises(InvalidTopologyError, match="has no GPUs"):
        generate(Topology("switches", nodes, (Link(0, 1, Fraction(1)),)))
