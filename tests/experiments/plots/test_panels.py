"""Panels by cluster, looks by method."""

from __future__ import annotations

from dataclasses import replace

from experiments.plots.panels import cluster_panels, cluster_title, palette_of, topology_panels
from tests.experiments.samples import clusters_of_rows


def test_clusters_are_called_as_people_call_them() -> None:
    """With their options; others by the name of their family."""
    assert cluster_title("dgx_a100") == "NVIDIA DGX A100"
    assert cluster_title("mi250:gpus_per_box=8") == "AMD MI250, gpus_per_box=8"
    assert cluster_title("my own") == "my own"


def test_there_is_a_panel_for_each_cluster_in_their_order() -> None:
    rows = clusters_of_rows()
    rows += [replace(row, cluster="torus") for row in rows]
    figure, panels = cluster_panels(rows, "algbw_gb_s")
    assert list(panels) == ["dgx_a100", "torus"]
    assert [axes.get_title() for axes in figure.axes] == ["NVIDIA DGX A100", "torus"]
    assert list(panels.values()) == figure.axes


def test_there_is_a_panel_for_each_topology() -> None:
    figure, panels = topology_panels(clusters_of_rows(), "algbw_gb_s")
    assert list(panels) == [f"dgx_a100:boxes={n}" for n in (2, 4, 8)]
    assert list(panels.values()) == figure.axes


def test_each_method_with_its_parameters_has_a_look_of_its_own() -> None:
    """Choices of parameters have the method's marker, in a shade of its colour."""
    rows = clusters_of_rows()
    rows.append(replace(rows[-1], parameters={"rings": 2}))
    palette = palette_of(rows)
    assert list(palette) == ["forestcoll", "ring", "ring (rings=2)"]
    assert len({look["color"] for look in palette.values()}) == 3
    assert palette["ring"]["marker"] == palette["ring (rings=2)"]["marker"] != "o"


def test_a_method_looks_the_same_without_the_others() -> None:
    """Colour, marker and line; the size of the marker says which lies on top."""
    rows = clusters_of_rows()
    alone = palette_of([row for row in rows if row.method == "ring"])["ring"]
    both = palette_of(rows)["ring"]
    assert {key for key in both if both[key] != alone[key]} <= {"markersize", "zorder"}
