"""docs/papers/posted-runs.md has what the bounds are, and no run exceeds its own."""

import re
from fractions import Fraction

import pytest

from experiments.reproduction.posted_runs import (
    Posted,
    Run,
    compared,
    posted_lines,
    read_runs,
    updated,
)
from tests.experiments.reproduction.conftest import CLONE

RUNS = read_runs()
PAGE = (CLONE / "docs" / "papers" / "posted-runs.md").read_text(encoding="utf-8")


def numbered() -> list[object]:
    """Networks of a thousand GPUs and more take seconds each."""
    return [
        pytest.param(run, marks=[pytest.mark.slow] if "boxes=248" in run.topology else [])
        for run in RUNS
    ]


@pytest.mark.parametrize("run", numbered(), ids=lambda run: run.machine)
def test_no_run_is_above_its_bound_and_the_page_has_its_row(run: Run) -> None:
    one = compared(run)
    assert 0 < one.share <= 1
    assert one.method_gb_s <= one.bound_gb_s
    (line,) = posted_lines([one])
    assert line in PAGE


def test_every_run_has_a_thread_to_look_at() -> None:
    assert len(RUNS) >= 15
    for run in RUNS:
        assert re.fullmatch(r"[\w-]+/[\w-]+#\d+", run.source)


def test_a_row_by_hand() -> None:
    run = Run("a box", "ring:nodes=2", "*/0", "allreduce", Fraction(30), "a/b#1", "peak")
    assert posted_lines([Posted(run, Fraction(60), "NCCL ring", Fraction(40))]) == [
        "| a box | `ring:nodes=2`, group `*/0` | allreduce | 30 (peak) | 60 | 50% "
        "| 40 (ring) | 75% | [a/b#1](https://github.com/a/b/issues/1) |"
    ]


def test_the_table_stands_between_its_marks() -> None:
    page = "a\n<!-- runs: forestcoll reproduction posted-runs -->\nold\n<!-- end -->\nb"
    made = updated(page, [])
    assert "old" not in made
    assert made.startswith("a\n<!-- runs")
    assert made.endswith("<!-- end -->\nb")
