"""Panels: titles, groups, published values."""

import itertools
from dataclasses import replace

import pytest

from experiments import published
from experiments.figures.figure import INK
from experiments.figures.panels import (
    cluster_title,
    grouped,
    published_by_gpus,
    published_by_size,
    size_ticks,
    with_room,
    wrapped,
)
from experiments.figures.styles import palette_of
from experiments.published import Mark
from tests.experiments.samples import clusters_of_rows

MARK = Mark("dgx_a100", 16, 100.0, "a paper", frozenset({"allgather"}))


def test_clusters_are_called_as_people_call_them() -> None:
    """With their options; others by the name of their family."""
    assert cluster_title("dgx_a100") == "NVIDIA DGX A100"
    assert cluster_title("mi250:gpus_per_box=8") == "AMD MI250, gpus_per_box=8"
    assert cluster_title("my own") == "my own"


def test_rows_are_grouped_in_their_order() -> None:
    rows = clusters_of_rows()
    rows += [replace(row, cluster="torus") for row in rows]
    assert {name: len(its) for name, its in grouped(rows, "cluster").items()} == {
        "dgx_a100": 6,
        "torus": 6,
    }
    assert list(grouped(rows, "topology")) == [f"dgx_a100:boxes={n}" for n in (2, 4, 8)]


def test_long_names_are_broken_behind_commas_or_anywhere() -> None:
    assert wrapped("circulant:nodes=16,offsets=3", 20).split("\n") == [
        "circulant:nodes=16,",
        "offsets=3",
    ]
    assert wrapped("stand_ins/internal-1-stand-in-2-chassis.yaml", 32).split("\n") == [
        "stand_ins/internal-1-stand-in-2-",
        "chassis.yaml",
    ]
    assert wrapped("9" * 40, 20) == "\n".join(["9" * 20] * 2)


def test_published_values_by_gpus_stay_within_the_range_of_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between 8 and 32 GPUs; what is derived only at their sizes, what is of a size nowhere."""
    marks = [
        MARK,
        replace(MARK, gpus=64),
        replace(MARK, label="b", derived=True),
        replace(MARK, label="c", size_bytes=1024),
        replace(MARK, label="d", cluster="mi250"),
    ]
    monkeypatch.setattr(published, "marks", lambda *_: marks)
    rows = [replace(clusters_of_rows()[0], gpus=gpus) for gpus in (8, 32)]
    (series,) = published_by_gpus("dgx_a100", rows, "algbw_gb_s")
    assert series.name == "a paper"
    assert [(point.x, point.y) for point in series.points] == [(16, 100)]
    assert "published: 100 GB/s" in series.points[0].text
    assert series.style.colour == INK
    assert not list(published_by_gpus("dgx_a100", [], "algbw_gb_s"))


def test_published_values_by_size_look_like_their_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hollow, in its colour; those of other sizes, GPUs and panels, or of no size, are not there.

    A method that is not among the rows has a star.
    """
    row = replace(clusters_of_rows()[0], size_bytes=1024)
    sized = replace(MARK, size_bytes=1024, method="forestcoll")
    marks = [
        MARK,
        sized,
        replace(sized, size_bytes=2048),
        replace(sized, gpus=32),
        replace(sized, label="other", method="taccl"),
    ]
    monkeypatch.setattr(published, "marks", lambda *_: marks)
    palette = palette_of([row])
    found = {one.name: one for one in published_by_size([row], "algbw_gb_s", palette)}
    assert found.keys() == {"a paper", "other"}
    assert [(point.x, point.y) for point in found["a paper"].points] == [(1024, 100)]
    assert found["a paper"].style.colour == palette["forestcoll"].colour
    assert found["a paper"].style.fill == "none"
    assert found["other"].style.marker == "*"


def test_crowded_places_leave_ticks_out_but_the_ends_stay() -> None:
    """Of 1 to 128 one by one there is room for the doublings or so; both ends are there."""
    ticks = with_room(range(1, 129))
    assert (ticks[0], ticks[-1]) == (1, 128)
    assert len(ticks) <= 10
    assert all(b / a > 1.6 for a, b in itertools.pairwise(ticks))
    assert with_room([]) == []


def test_sizes_are_all_in_units_or_all_in_bytes() -> None:
    """1 KB and 64 MB have few digits in their units; 256,000 bytes beside 1 MB have not."""
    assert size_ticks([1 << 10, 64 << 20]) == (["1KB", "64MB"], "")
    assert size_ticks([1000, 4_096_000, 1e9]) == (["1k", "4.1M", "1G"], " (bytes)")
    assert size_ticks([1, 999, 16_000]) == (["1", "999", "16k"], " (bytes)")
