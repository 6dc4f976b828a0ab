"""Verdicts say what was checked, in numbers worked out by hand."""

from dataclasses import replace
from fractions import Fraction

from forestcoll import generate
from forestcoll.schedule import Allreduce
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.topology import Topology, load_topology
from tests.schedule.made.hand import leaves4


def test_a_verdict_states_the_checked_facts() -> None:
    """Two leaves: 4 trees of 3 edges and depth 2 over 8 logical links; 1/(N k) U = 1/4 s/GB."""
    verdict = verify(leaves4())
    assert verdict.collective == "allgather"
    assert (verdict.gpus, verdict.roots, verdict.k) == (4, 4, 1)
    assert (verdict.batches, verdict.trees, verdict.tree_edges) == (4, 4, 12)
    assert (verdict.logical_links, verdict.paths, verdict.depth) == (8, 8, 2)
    assert verdict.deliveries == 12
    assert verdict.congestion == 1
    assert verdict.busiest_link == ("a", "x")
    assert verdict.time_s_per_gb == Fraction(1, 4)
    assert verdict.algbw_gb_s == 4


def test_the_verdict_of_an_allreduce_has_both_phases() -> None:
    """The same trees up and down: 1/4 s/GB each, on the same links, so 1/2 at once and in turn."""
    gather = leaves4()
    verdict = verify(Allreduce(transposed(gather, gather.topology), gather))
    assert verdict.collective == "allreduce"
    assert (verdict.reduce.collective, verdict.gather.collective) == ("reduce-scatter", "allgather")
    assert verdict.reduce.optimal
    assert verdict.gather.optimal
    assert verdict.time_s_per_gb == verdict.sequential_s_per_gb == Fraction(1, 2)
    assert verdict.algbw_gb_s == 2
    assert (verdict.bound_gb_s, verdict.model, verdict.optimal) == (None, None, False)


def test_a_verdict_in_a_line_says_speed_trees_and_whether_it_is_optimal() -> None:
    """4 GB/s of the leaves are proved by a cut; without the claim they are just reached."""
    assert verify(leaves4()).in_a_line() == "allgather: 4 GB/s, 4 trees, depth 2, optimal"
    plain = verify(replace(leaves4(), optimum=None))
    assert plain.in_a_line() == "allgather: 4 GB/s, 4 trees, depth 2"


def test_a_verdict_in_a_table_has_its_fields_by_names_in_words() -> None:
    """Fractions with their unit, and as decimals where they are not whole; links by an arrow."""
    table = verify(leaves4()).in_a_table()
    assert table["time"] == "1/4 = 0.25 s/GB"
    assert table["algbw"] == "4 GB/s"
    assert table["congestion"] == "1"
    assert table["busiest link"] == "a -> x"
    assert (table["tree edges"], table["depth"], table["optimal"]) == (12, 2, True)


def test_the_verdict_of_an_allreduce_in_brief() -> None:
    """Half of each phase's rate; each phase in a line of its own."""
    gather = leaves4()
    verdict = verify(Allreduce(transposed(gather, gather.topology), gather))
    assert verdict.in_a_line() == "2 GB/s"
    table = verdict.in_a_table()
    assert table["reduce"] == "reduce-scatter: 4 GB/s, 4 trees, depth 2, optimal"
    assert table["gather"] == "allgather: 4 GB/s, 4 trees, depth 2, optimal"
    assert table["sequential"] == "1/2 = 0.5 s/GB"
    assert table["bound"] is None
    best = verify(generate(load_topology("ring:nodes=4"), collective="allreduce").schedule)
    assert best.in_a_line() == "4/3 = 1.33333 GB/s, optimal"
    assert best.in_a_table()["bound"] == "4/3 = 1.33333 GB/s"


def test_schedules_without_transfers_are_empty() -> None:
    """A single GPU, by itself and in both phases of an allreduce."""
    alone = generate(Topology("alone", leaves4().topology.nodes[:1], ())).schedule
    assert verify(alone).in_a_line().startswith("allgather: empty, ")
    both = verify(Allreduce(transposed(alone, alone.topology), alone))
    assert both.in_a_line() == "empty, optimal"
