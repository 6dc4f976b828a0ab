"""The published measurements as curves."""

from __future__ import annotations

import pytest

from experiments.simulation_fit.measurements import curves_of, named
from experiments.simulation_fit.slides import HELD_BACK, NETWORKS, slide_measurements


def test_eight_curves_have_four_sizes_each() -> None:
    """32 numbers, as printed: an allgather of 1 GiB by ForestColl has 247 GB/s."""
    found = slide_measurements()
    assert len(found) == 32
    assert len(curves_of(found)) == 8
    (one,) = [
        one for one in found if one.curve.name == "allgather/forestcoll" and one.size_bytes == 2**30
    ]
    assert one.algbw_gb_s == pytest.approx(247)
    assert one.curve.schedule_for == ""


def test_schedules_are_made_for_the_papers_bandwidths() -> None:
    slower = slide_measurements(NETWORKS["240 GB/s, NCCL's"])
    assert {one.curve.schedule_for for one in slower} == {"dgx_a100:boxes=2"}
    assert {one.curve.topology for one in slower} == {"dgx_a100:boxes=2,nvswitch_bandwidth=240"}


def test_two_allgathers_are_fitted() -> None:
    names = [one.name for one in curves_of(slide_measurements()) if not named(one, HELD_BACK)]
    assert names == ["allgather/forestcoll", "allgather/ring"]
