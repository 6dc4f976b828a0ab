"""What notebooks and prompts show: one line, and a small table that is no markup of others."""

from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree

import pytest

import forestcoll
from baselines.registry import METHODS
from forestcoll.topology import Link, Node, NodeKind, Topology
from forestcoll.topology.in_brief import InBrief, cell_text, html_cell

BOX = forestcoll.load_topology("dgx_h100:boxes=1")
FOREST = forestcoll.generate(BOX).schedule
ALLREDUCE = forestcoll.generate(BOX, collective="allreduce").schedule
ALONE = Topology("alone <b>", (Node("g", NodeKind.COMPUTE),), ())

SHOWN = [
    (BOX, "<Topology dgx_h100:boxes=1: 8 GPUs, 1 switch, 16 links>"),
    (ALONE, "<Topology alone <b>: 1 GPU, 0 switches, 0 links>"),
    (
        forestcoll.optimum(BOX),
        "<Optimum allgather on dgx_h100:boxes=1: 3600/7 = 514.286 GB/s, k = 1>",
    ),
    (FOREST, "<Forest allgather on dgx_h100:boxes=1: 3600/7 = 514.286 GB/s, k = 1, 8 trees>"),
    (
        forestcoll.generate(BOX, collective="reduce-scatter", factored=True).schedule,
        "<FactoredForest reduce-scatter on dgx_h100:boxes=1: 3600/7 = 514.286 GB/s, k = 1, "
        "8 trees>",
    ),
    (
        forestcoll.multicast(FOREST),
        "<MulticastForest allgather on dgx_h100:boxes=1: 3600/7 = 514.286 GB/s, k = 1, 8 trees>",
    ),
    (ALLREDUCE, "<Allreduce on dgx_h100:boxes=1: 1800/7 = 257.143 GB/s, optimal>"),
    (
        forestcoll.optimum(BOX, k=1),
        "<FixedK allgather on dgx_h100:boxes=1: 3600/7 = 514.286 GB/s, k = 1, optimal>",
    ),
    (
        forestcoll.optimum("mi250:boxes=2", k=2),
        "<FixedK allgather on mi250:boxes=2: 1024/3 = 341.333 GB/s, k = 2, 96.3855 % of the "
        "optimum>",
    ),
    (
        forestcoll.optimum(BOX, collective="allreduce"),
        "<AllreduceBound on dgx_h100:boxes=1: at most 1800/7 = 257.143 GB/s; each piece summed up "
        "at one GPU; switches only forward>",
    ),
    (
        forestcoll.optimum(BOX).bottleneck,
        "<Cut of dgx_h100:boxes=1: 3600/7 = 514.286 GB/s, everything but GPU 0 of box 0: 7 shards "
        "must enter it over 1 link, 450 GB/s in all>",
    ),
    (
        forestcoll.generate(BOX),
        "<Generated <Forest allgather on dgx_h100:boxes=1: 3600/7 = 514.286 GB/s, k = 1, 8 trees>>",
    ),
    (
        forestcoll.compile_program(FOREST),
        "<Program forestcoll allgather on dgx_h100:boxes=1: 56 transfers>",
    ),
    (
        forestcoll.replan(FOREST, BOX),
        "<Replanned <Forest allgather on dgx_h100:boxes=1: 3600/7 = 514.286 GB/s, k = 1, 8 trees>, "
        "kept_percent 100, changed_trees 0 of 8, touched_gpus 0>",
    ),
    (METHODS["bruck"].run(BOX), "<StepSchedule bruck allgather on dgx_h100:boxes=1: 3 steps>"),
    (
        METHODS["all-to-all-lp"].run("ring:nodes=4"),
        "<FlowSchedule all-to-all-lp all-to-all on ring:nodes=4: 16 paths>",
    ),
    (
        forestcoll.cost(FOREST),
        "<Cost algbw_gb_s 514.286, time_s_per_gb 0.00194444, busiest_link b0.gpu0 -> b0.nvswitch>",
    ),
    (
        forestcoll.simulate(FOREST, "1MB", alpha_us=0),
        "<Simulation 1MB, time_us 2.0389, algbw_gb_s 514.286, pipeline_chunks 1>",
    ),
    (
        forestcoll.latency(FOREST),
        "<Latency depth 1, average_depth 1, physical_hops 2, distinct_trees 8, trees 8>",
    ),
    (
        forestcoll.failures("dgx_a100:boxes=2")[-1],
        "<Outcome any of 16 GPUs, b*.gpu*, algbw_gb_s 328.125, change_percent -5.34856>",
    ),
    (
        forestcoll.verify(FOREST),
        "<Verdict allgather: 3600/7 = 514.286 GB/s, 8 trees, depth 1, optimal>",
    ),
    (forestcoll.verify(ALLREDUCE), "<AllreduceVerdict 1800/7 = 257.143 GB/s, optimal>"),
]


@pytest.mark.parametrize(("shown", "line"), SHOWN, ids=lambda value: type(value).__name__)
def test_everything_prints_as_a_line_and_shows_as_a_table(shown: InBrief, line: str) -> None:
    """The table is well-formed, with names as text and no row without a value."""
    assert repr(shown) == line
    table = ElementTree.fromstring(shown._repr_html_().replace("<br>", "<br/>"))
    assert table.findtext("caption") == type(shown).__name__
    rows = {"".join(row[0].itertext()): "".join(row[1].itertext()) for row in table.findall("tr")}
    assert all(rows.values())
    assert len(rows) >= 3


def test_a_schedule_that_is_empty_or_not_proved_says_so() -> None:
    """A single GPU needs no time; a claim without a cut is not optimal."""
    empty = forestcoll.generate(ALONE).schedule
    assert repr(empty).startswith("<Forest allgather on alone <b>: empty, k = ")
    assert "algbw" not in empty._repr_html_()
    unproved = forestcoll.verify(replace(FOREST, optimum=None))
    assert repr(unproved).endswith("depth 1>")
    assert ">no<" in unproved._repr_html_()


def test_names_are_never_markup() -> None:
    nodes = (Node("<i>", NodeKind.COMPUTE), Node("&", NodeKind.COMPUTE))
    shown = Topology("<script>", nodes, (Link(0, 1, 1), Link(1, 0, 1)))._repr_html_()  # type: ignore[arg-type]
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_a_class_must_define_its_table() -> None:
    class Silent(InBrief):
        def in_a_line(self) -> str:
            return "without a table"

    with pytest.raises(TypeError, match="in_a_table"):
        Silent()  # type: ignore[abstract]


def test_numbers_are_written_to_six_digits_and_lists_line_by_line() -> None:
    assert [cell_text(one) for one in (True, Fraction(1, 3), 2.0, float("inf"), 7, "a")] == [
        *("yes", "0.333333", "2", "inf", "7", "a"),
    ]
    assert html_cell(["<", None, Fraction(1, 4)]) == "&lt;<br><br>0.25"


def test_options_print_what_differs_from_the_defaults() -> None:
    """As the call that makes them."""
    asked = forestcoll.Options(collective="allreduce", k=None, threads=2)
    assert repr(asked) == "Options(collective='allreduce', threads=2)"
    assert repr(forestcoll.Options()) == "Options()"
