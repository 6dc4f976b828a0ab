"""Cuts with widgets: what the reader picks is what is compared."""

from pathlib import Path

import pytest

from forestcoll.errors import InvalidParameterError, InvalidTopologyError
from forestcoll.explore.compared_cut import compare_cut
from forestcoll.explore.cut_explorer import CutExplorer
from forestcoll.topology import load_topology, write_topology


def test_the_network_its_speeds_and_the_cut_are_picked() -> None:
    explorer = CutExplorer("dgx_a100:boxes=2", "b0.*")
    whole = load_topology("dgx_a100:boxes=2")
    assert explorer.comparison == compare_cut(whole, "b0.*")
    assert set(explorer.speeds) == {"NICs of 25 GB/s", "links of 300 GB/s"}
    explorer.speeds["NICs of 25 GB/s"].value = "12.5"
    slower = compare_cut(whole.scaled("* - ib", "1/2"), "b0.*")
    assert explorer.comparison.cut.algbw_gb_s == slower.cut.algbw_gb_s
    assert explorer.comparison.optimum_gb_s == slower.optimum_gb_s
    explorer.leaving_out.value = "b0.gpu0, b0.gpu1"
    assert len(explorer.comparison.cut.compute) == 14
    explorer.count.value = 1
    assert len(explorer.comparison.tightest) == 1
    explorer.network.value = "dgx_a100:boxes=3"
    assert explorer.comparison.cut.topology == load_topology("dgx_a100:boxes=3")


@pytest.mark.slow
def test_a_file_of_ones_own_is_a_network(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    write_topology(load_topology("mi250:boxes=2"), path)
    explorer = CutExplorer(str(path), "b0.gpu0, b0.gpu1")
    assert explorer.comparison.binds
    assert len(explorer.speeds) == 4
    assert CutExplorer(path, ["b0.gpu0", "b0.gpu1"]).comparison == explorer.comparison


def test_without_a_cut_the_first_gpu_is_left_out() -> None:
    explorer = CutExplorer("ring:nodes=4")
    assert explorer.leaving_out.value == "gpu0"
    assert explorer.comparison == compare_cut("ring:nodes=4", "gpu0")


def test_a_network_that_the_form_cannot_show_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="is a Topology; give a family"):
        CutExplorer(load_topology("ring:nodes=4"))  # type: ignore[arg-type]


def test_errors_are_shown_and_can_be_corrected() -> None:
    explorer = CutExplorer("dgx_a100:boxes=2", "b0.*")
    before = explorer.comparison
    explorer.network.value = "nothing"
    assert "is neither a file nor a topology family" in explorer.form.children[-1].value
    explorer.network.value = "dgx_a100:boxes=2"
    explorer.speeds["NICs of 25 GB/s"].value = "fast"
    assert "the speed of NICs of 25 GB/s" in explorer.form.children[-1].value
    explorer.speeds["NICs of 25 GB/s"].value = "25"
    assert explorer.form.children[-1].value == before._repr_html_()
    with pytest.raises(InvalidTopologyError):
        CutExplorer("nothing")


def test_the_comparison_is_shown_without_widgets() -> None:
    explorer = CutExplorer("dgx_a100:boxes=2", "b0.*")
    bundle = explorer._repr_mimebundle_()
    assert bundle["text/html"] == explorer.comparison._repr_html_()
    assert bundle["text/plain"] == str(explorer.comparison)
    assert "application/vnd.jupyter.widget-view+json" in bundle
