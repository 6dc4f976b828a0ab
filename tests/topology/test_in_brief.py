"""What notebooks and prompts show: one line, and a small table that is no markup of others."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

import forestcoll
from forestcoll.topology import Link, Node, NodeKind, Topology
from forestcoll.topology.in_brief import InBrief

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
    assert len(rows) > 3


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
