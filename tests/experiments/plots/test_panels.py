"""Panels by cluster, looks by method, and losses in words."""

from __future__ import annotations

from dataclasses import replace

from experiments.config.points import Status
from experiments.plots.panels import cluster_panels, cluster_title, lost_in_words, palette_of
from tests.experiments.samples import clusters_of_rows


def test_clusters_are_called_as_people_call_them() -> None:
    """With their options; others by the name of their family."""
    assert cluster_title("dgx_a100") == "NVIDIA DGX A100"
    assert cluster_title("mi250:gpus_per_box=8") == "AMD MI250, gpus_per_box=8"
    assert cluster_title("my own") == "my own"


def test_there_is_a_panel_for_each_cluster_in_their_order() -> None:
    rows = clusters_of_rows()
    rows += [replace(row, cluster="torus") for row in rows]
    figure, panels = cluster_panels(rows)
    assert list(panels) == ["dgx_a100", "torus"]
    assert [axes.get_title() for axes in figure.axes] == ["NVIDIA DGX A100", "torus"]
    assert list(panels.values()) == figure.axes


def test_each_method_with_its_parameters_has_a_look_of_its_own() -> None:
    """Equal ones have the same, wherever they stand."""
    rows = clusters_of_rows()
    rows.append(replace(rows[-1], parameters={"rings": 2}))
    palette = palette_of(rows)
    assert list(palette) == ["forestcoll", "ring", "ring (rings=2)"]
    assert len({look["color"] for look in palette.values()}) == 3
    assert len({look["marker"] for look in palette.values()}) == 3


def test_losses_are_told_with_the_sizes_where_they_are() -> None:
    """In the order and colour of the methods; of a topology the size is known."""
    rows = clusters_of_rows()
    rows[4] = replace(rows[4], status=Status.TIMEOUT)
    rows[0] = replace(rows[0], status=Status.FAILED)
    rows.append(replace(rows[0], cluster="other", status=Status.UNSUPPORTED))
    palette = palette_of(rows)
    assert lost_in_words(rows, palette, cluster="dgx_a100") == [
        ("forestcoll: failed at 16 GPUs", palette["forestcoll"]["color"]),
        ("ring: timeout at 32, 64 GPUs", palette["ring"]["color"]),
    ]
    assert lost_in_words(rows, palette, topology="dgx_a100:boxes=8") == [
        ("ring: timeout", palette["ring"]["color"])
    ]


def test_a_loss_without_a_size_is_told_too() -> None:
    rows = [replace(row, gpus=None, status=Status.FAILED) for row in clusters_of_rows()[:1]]
    ((words, _),) = lost_in_words(rows, palette_of(rows), cluster="dgx_a100")
    assert words == "forestcoll: failed at ? GPUs"
