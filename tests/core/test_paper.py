"""The paper's own algorithms: the same optimum, forests that the independent check accepts."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from experiments.config.methods import method_names, parameters_of, run_method
from forestcoll import generate, load_topology, optimum, verify
from forestcoll.core import paper
from forestcoll.core.problem import Problem
from forestcoll.errors import (
    CapacityOverflowError,
    DisconnectedError,
    InfeasibleError,
    UnknownMethodError,
)
from forestcoll.generation import PAPER_STAGES
from forestcoll.schedule import cost
from tests.command_line import assert_ctrl_c_stops, document, invoke
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology, rounds, seeds
from tests.reference.cuts import enumerate_optimum, violated_set
from tests.reference.edge_splitting import remove_switches as remove_switches_reference
from tests.strategies import topologies

CLUSTERS = [
    "paper_example",
    "dgx_a100:boxes=2",
    "dgx_a100:boxes=3",
    "dgx_h100:boxes=2",
    "mi250:boxes=1",
    "mi250:boxes=2,gpus_per_box=8",
    "ring:nodes=7",
    "torus:dims=4x4",
    "hypercube:dimension=4",
    "complete:nodes=9",
    "fat_tree:leaves=3,hosts=5,spines=3,oversubscription=2",
    "rail_optimized:boxes=3,gpus_per_box=4,spines=2",
    "docs/examples/directed.yaml",
    "docs/examples/heterogeneous.yaml",
]


def proves_optimal(topology):
    """Generate the paper's way, verify independently, compare the time with the bound exactly."""
    forest = generate(topology, method="paper").schedule
    assert verify(forest).optimal
    assert cost(forest).time_s_per_gb == forest.optimum.inverse_rate / topology.num_compute
    return forest


def without_switches(topology):
    """Run Algorithms 1 and 3; also return what went in: capacities and trees."""
    best = paper.optimum(topology)
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    problem = Problem.at(topology, best.congestion, trees)
    return paper.remove_switches(problem), problem.capacity, trees


def links_of(logical):
    ends = zip(logical.tail.tolist(), logical.head.tolist(), strict=True)
    return dict(zip(ends, logical.capacity.tolist(), strict=True))


@pytest.mark.parametrize("spec", CLUSTERS)
def test_the_papers_forest_attains_the_bound_of_the_core(spec):
    """Bisection and Newton's method find the same fraction and k; the trees attain it."""
    topology = load_topology(spec)
    forest, best = proves_optimal(topology), optimum(topology)
    assert forest.method == "forestcoll-paper"
    assert (forest.optimum.inverse_rate, forest.k) == (best.inverse_rate, best.k)
    assert forest.congestion == best.congestion


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(40, 15))
def test_random_forests_attain_the_worst_of_all_cuts(kind, seed):
    """A seeded set of 120 small networks: the bound by enumeration, attained exactly."""
    topology = random_topology(seed, kind)
    forest = proves_optimal(topology)
    assert forest.time_s_per_gb * topology.num_compute == enumerate_optimum(topology)[0]


@settings(max_examples=rounds(100), deadline=None)
@given(topologies())
def test_theorem_5_switch_removal_keeps_every_cut(topology):
    """Condition (C) on the logical links, by enumeration of all cuts; then the whole forest."""
    logical, _, trees = without_switches(topology)
    assert violated_set(links_of(logical), dict(enumerate(trees.tolist()))) is None
    proves_optimal(topology)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(20, 8))
def test_algorithm_3_makes_the_links_and_the_routing_table_of_its_slow_twin(kind, seed):
    """In the same order of pairs, Theorem 6 leaves no choice: every gamma is the same."""
    topology = random_topology(seed, kind)
    logical, capacity, trees = without_switches(topology)
    ends = topology.integer_capacities
    links, routing = remove_switches_reference(
        dict(zip(zip(ends.tail.tolist(), ends.head.tolist(), strict=True), capacity, strict=True)),
        topology.switches,
        dict(zip(topology.compute, trees.tolist(), strict=True)),
    )
    rank = topology.rank_of
    assert links_of(logical) == {(rank[u], rank[t]): room for (u, t), room in links.items()}
    splits = logical.splits
    table = {}
    for w, u, t, amount in zip(
        splits.via, splits.from_node, splits.to_node, splits.amount, strict=True
    ):
        via = table.setdefault((u, t), {})
        via[w] = via.get(w, 0) + amount
    assert table == routing


def test_running_example_becomes_one_tree_a_gpu():
    """Figure 5 with b = 1: the box cut, 4 GPUs over 4 links, so 1/x* = 1 and k = 1."""
    forest = proves_optimal(load_topology("paper_example"))
    assert (forest.optimum.inverse_rate, forest.k, forest.num_trees) == (Fraction(1), 1, 8)


def test_a_gpu_out_of_reach_is_named():
    """Before the bisection, which would search for a rate of 0."""
    with pytest.raises(DisconnectedError, match="b"):
        paper.optimum(network_of("a b", "a > b", "one way"))


def test_the_only_tight_set_is_the_whole_network():
    """It is in no other; all GPUs are in it."""
    topology = load_topology("paper_example")
    best = paper.optimum(topology)
    trees = np.full(8, best.k, dtype=np.int64)
    logical = paper.remove_switches(Problem.at(topology, best.congestion, trees))
    assert logical.sets.parent.tolist() == [-1]
    assert logical.sets.set_of.tolist() == [0] * 8


def test_same_input_same_arrays():
    """Two runs make the same forest."""
    topology = load_topology("mi250:boxes=2,gpus_per_box=8")
    first, again = (generate(topology, method="paper").schedule for _ in range(2))
    for field in ("root", "multiplicity", "parent"):
        assert np.array_equal(getattr(first, field), getattr(again, field))
    assert first.routes.paths() == again.routes.paths()


def test_asking_for_more_trees_than_fit_is_infeasible():
    """One tree more per root than the optimum's k breaks the bottleneck cut."""
    topology = load_topology("dgx_a100:boxes=2")
    best = paper.optimum(topology)
    enough = np.full(topology.num_compute, best.k, dtype=np.int64)
    with pytest.raises(InfeasibleError, match="cannot carry"):
        paper.remove_switches(Problem.at(topology, best.congestion, enough + 1))
    logical = paper.remove_switches(Problem.at(topology, best.congestion, enough))
    with pytest.raises(InfeasibleError, match="lacks capacity"):
        paper.pack_trees(logical, enough + 1)


def test_links_that_no_tree_uses_are_left_out():
    """A broadcast on a complete network of three: nothing enters the root."""
    logical, _, _ = without_switches(load_topology("complete:nodes=3"))
    batches = paper.pack_trees(logical, np.array([1, 0, 0]))
    used = {(up, down) for row in batches.parent.tolist() for down, up in enumerate(row) if up >= 0}
    links = batches.links
    assert set(zip(links.tail.tolist(), links.head.tolist(), strict=True)) == used
    assert len(links.load) == len(used) == 2
    assert links.load.tolist() == [1, 1]


def test_bisection_refuses_numbers_that_the_core_still_takes():
    """Bandwidths near 2^31: N B^2 times their sum is beyond 62 bits, their sum times N is not."""
    topology = load_topology("complete:nodes=3")
    wide = replace(
        topology,
        links=tuple(
            replace(link, bandwidth_gb_s=Fraction(2**31 + link.tail * 2 + link.head))
            for link in topology.links
        ),
    )
    assert optimum(wide).k > 2**31
    with pytest.raises(CapacityOverflowError, match="bisection"):
        paper.optimum(wide)


def test_stages_are_reported_and_timed_in_order():
    """Progress names every stage from start to end, no tight sets among them; so do the times."""
    seen: list[tuple[str, int, int]] = []
    made = generate(
        load_topology("mi250:boxes=2,gpus_per_box=8"),
        method="paper",
        progress=lambda *report: seen.append(report),
        routed=True,
    )
    assert tuple(stage for stage, _ in itertools.groupby(seen, key=lambda r: r[0])) == PAPER_STAGES
    assert all(0 <= done <= total for _, done, total in seen)
    assert tuple(made.seconds) == PAPER_STAGES


@pytest.mark.parametrize("stage", PAPER_STAGES)
def test_progress_can_stop_every_stage(stage):
    """What the callback raises ends the work and comes out as it is."""

    def stop(at: str, _done: int, _total: int) -> None:
        if at == stage:
            raise TimeoutError(at)

    with pytest.raises(TimeoutError, match=stage):
        generate(load_topology("dgx_a100:boxes=2"), method="paper", progress=stop, routed=True)


def test_progress_comes_from_inside_the_native_stages():
    """Each native stage reports between its start and its end, from the first max-flow on."""
    topology = load_topology("dgx_a100:boxes=2")
    seen = []
    best = paper.optimum(topology, progress=lambda *report: seen.append(report))
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    logical = paper.remove_switches(
        Problem.at(topology, best.congestion, trees), progress=lambda *report: seen.append(report)
    )
    paper.pack_trees(logical, trees, progress=lambda *report: seen.append(report))
    totals = [total for _, total in seen]
    assert {len(topology.switches), int(trees.sum())} <= set(totals)
    assert totals[0] > 1


@pytest.mark.slow
def test_ctrl_c_stops_native_work():
    """SIGINT during minutes of switch removal ends the process as KeyboardInterrupt at once."""
    code = (
        "import forestcoll; print('started', flush=True); "
        "forestcoll.generate(forestcoll.load_topology('dgx_a100:boxes=64'), method='paper')"
    )
    assert_ctrl_c_stops(code, 1)


def test_an_unknown_method_is_refused_with_the_names_there_are(tmp_path):
    """In Python a typed error, on the command line one line and exit code 2; nothing is written."""
    with pytest.raises(UnknownMethodError, match="no method 'fast'; known: forestcoll, paper"):
        generate(load_topology("ring:nodes=3"), method="fast")
    path = tmp_path / "schedule.json"
    result = invoke("generate", "ring:nodes=3", "-o", path, "--method", "fast")
    assert result.exit_code == 2
    assert "known: forestcoll, paper" in result.output
    assert not path.exists()


def test_the_command_line_takes_the_method(tmp_path):
    """``--method paper`` writes a verified forest and reports the paper's stages."""
    path = tmp_path / "schedule.json"
    facts = document("generate", "dgx_a100:boxes=2", "-o", path, "--method", "paper")
    assert facts["optimal"]
    assert tuple(facts["stages_s"]) == PAPER_STAGES
    assert '"forestcoll-paper"' in path.read_text()


def test_experiments_can_name_it():
    """As "forestcoll-paper", the name its forests bear, with the core's parameters."""
    stages: list[str] = []
    topology = load_topology("dgx_a100:boxes=2")
    forest, seconds = run_method("forestcoll-paper", topology, "allgather", {}, 60.0, stages.append)
    assert forest.method == "forestcoll-paper" in method_names()
    assert parameters_of("forestcoll-paper") == ("threads",)
    assert parameters_of("forestcoll") == (
        "k",
        "max_depth",
        "sparse_exchange",
        "threads",
        "lp_time_limit_s",
        "multicast",
        "factored",
    )
    assert tuple(stages) == tuple(seconds) == PAPER_STAGES
