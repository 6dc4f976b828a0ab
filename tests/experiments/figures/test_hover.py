"""What the mouse shows."""

from dataclasses import replace

from experiments.figures import hover
from experiments.published import Mark
from experiments.results.rows import Status
from tests.experiments.samples import clusters_of_rows, rings_of_rows


def test_a_point_shows_method_topology_gpus_time_algbw_and_status() -> None:
    row = replace(rings_of_rows()[0], size_bytes=1048576, algbw_simulated_gb_s=12.345)
    assert hover.of_runs([row]).splitlines() == [
        "ring (effort=2, fast=True, share=0.5, mode=a)",
        "topology: ring:nodes=3",
        "3 GPUs, allgather",
        "size: 1MB",
        "simulated algbw: 12.35 GB/s",
        "generation time: 1.0 s",
        "theoretical algbw, GB/s: 266.7 pipelined",
        "status: ok",
    ]


def test_repetitions_are_reported_by_their_median() -> None:
    """Of 1, 3 and 8 s that is 3 s; one that failed is counted."""
    rows = [row for row in rings_of_rows((1.0, 3.0, 8.0)) if row.method == "ring"][:3]
    lost = replace(rows[0], status=Status.FAILED, generation_s=None)
    lines = hover.of_runs([*rows, lost]).splitlines()
    assert "generation time: 3.0 s (median of 3)" in lines
    assert "status: ok (3), failed (1)" in lines


def test_a_failure_mark_shows_its_reason() -> None:
    """On one line, whatever the reason has."""
    row = replace(clusters_of_rows()[-1], reason="timeout: over\n60 s")
    assert "status: timeout: over 60 s" in hover.of_loss(row).splitlines()


def test_many_topologies_at_one_place_are_counted() -> None:
    rows = [replace(rings_of_rows()[0], topology=f"t{number}") for number in range(5)]
    assert "topology: t0, t1, t2 and 2 more" in hover.of_runs(rows).splitlines()


def test_a_published_value_says_that_it_is_one() -> None:
    mark = Mark("dgx_a100", 16, 100.0, "a paper", frozenset({"allgather"}), size_bytes=1024)
    assert "size: 1KB\npublished: 100 GB/s" in hover.of_mark(mark, "algbw_gb_s")
    derived = replace(mark, derived=True, size_bytes=None)
    assert "derived from what is published: 100 GB/s" in hover.of_mark(derived, "algbw_gb_s")
