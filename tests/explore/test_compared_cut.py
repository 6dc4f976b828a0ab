"""One's own cut beside the tightest ones."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from forestcoll.errors import DisconnectedError, InvalidParameterError, InvalidTopologyError
from forestcoll.explore.compared_cut import compare_cut
from forestcoll.problem.cuts import Cut
from forestcoll.topology import TopologyBuilder, load_topology, write_topology
from forestcoll.what_if.tightest_cuts import tightest_cuts

BOXES = load_topology("dgx_a100:boxes=2")


def test_a_cut_is_named_by_the_nodes_outside() -> None:
    seen = compare_cut(BOXES, ["b0.gpu0", "b0.gpu1"], count=2)
    inside = [v for v, node in enumerate(BOXES.nodes) if node.name not in ("b0.gpu0", "b0.gpu1")]
    assert seen.cut == Cut(BOXES, inside)
    assert seen.tightest == tightest_cuts(BOXES, count=2)
    assert not seen.binds
    assert compare_cut(BOXES, "b0.gpu0, b0.gpu1", count=2) == seen
    assert compare_cut(BOXES, "b0.gpu0").binds


def test_the_tightest_cut_does_not_bind_where_a_switch_does() -> None:
    """Each GPU sends 10 GB/s to a switch that could send it 20: the optimum is below all cuts."""
    builder = TopologyBuilder()
    switch = builder.switch("s")
    for name in "abc":
        gpu = builder.gpu(name)
        builder.arc(gpu, switch, 10)
        builder.arc(switch, gpu, 20)
    seen = compare_cut(builder.build("lopsided"), "a", count=1)
    assert (seen.cut.algbw_gb_s, seen.optimum_gb_s, seen.binds) == (30, 15, False)
    assert "your cut, the tightest there is" in repr(seen)


def test_it_reads_as_a_table_and_shows_a_picture() -> None:
    seen = compare_cut(BOXES, "b0.*", count=2)
    lines = str(seen).splitlines()
    assert "400 GB/s  your cut" in lines[0]
    assert "346.667 GB/s  optimum, 16 x" in lines[1]
    assert repr(seen) == "<cut of dgx_a100:boxes=2: 400 GB/s, your cut>"
    page = seen._repr_html_()
    assert page.count("<tr>") == len(lines) + 1
    assert page.count("<svg") == page.count("</svg>") == 1
    assert "8 shards must leave over 8 links" in page
    assert "<?xml" not in page


def test_a_network_is_given_by_its_file_as_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    write_topology(BOXES, path)
    for network in (path, str(path), "dgx_a100:boxes=2"):
        assert compare_cut(network, "b0.*").cut.algbw_gb_s == 400


def test_a_frame_has_the_rows_of_the_table() -> None:
    frame = compare_cut(BOXES, "b0.*", count=2).to_frame()
    assert list(frame.columns) == ["algbw_gb_s", "what", "cut"]
    assert list(frame["what"]) == ["your cut", "optimum, 16 x"]
    assert list(frame["algbw_gb_s"]) == pytest.approx([400, 1040 / 3])
    assert frame["cut"][1].startswith("everything but GPU")


def test_a_frame_has_an_optimum_that_is_no_cut() -> None:
    seen = compare_cut(BOXES, "b0.*", count=1)
    below = SimpleNamespace(algbw_gb_s=Fraction(300), what_binds=lambda: ["prices"])
    frame = replace(seen, optimum=below).to_frame()  # type: ignore[arg-type]
    assert list(frame["what"]) == ["your cut", "optimum", "tightest, 16 x"]
    assert list(frame["algbw_gb_s"]) == pytest.approx([400, 300, 1040 / 3])
    assert frame["cut"][1] == "prices"


def test_selections_that_are_no_cut_are_refused() -> None:
    with pytest.raises(InvalidTopologyError, match="b9"):
        compare_cut(BOXES, "b9.*")
    with pytest.raises(InvalidTopologyError, match=r"leaves out 16 of 16 GPUs; .* b0\.gpu0"):
        compare_cut(BOXES, "*")
    nothing: list[str] = []
    for no_gpu in ("ib", nothing, " , "):
        with pytest.raises(InvalidTopologyError, match="leaves out 0 of 16 GPUs"):
            compare_cut(BOXES, no_gpu)
    with pytest.raises(InvalidParameterError, match="names links"):
        compare_cut(BOXES, "b0.gpu0 - ib")
    one_way = load_topology("ring:nodes=3,bidirectional=false").without("gpu0 -> gpu1")
    with pytest.raises(DisconnectedError):
        compare_cut(one_way, ["gpu1", "gpu2"])
