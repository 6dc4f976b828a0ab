"""``forestcoll baselines allreduce``: TE-CCL's allreduces beside each other."""

import pytest

from tests.command_line import document, invoke

COMMAND = ("baselines", "allreduce")


def test_three_ways_are_compared() -> None:
    """On a ring of six sums on the way are faster; the stages wait for each other there."""
    rows = document(*COMMAND, "ring:nodes=6", "--set", "size_bytes=6000", "--seconds", 30)
    spans = [row["makespan_us"]["value"] for row in rows]
    assert spans == pytest.approx([8, 8, 6], rel=1e-4)
    assert [row["verified"] for row in rows] == [True] * 3
    assert rows[1]["epochs"] == rows[1]["bound"] == 8


def test_the_rows_are_lines() -> None:
    text = invoke(*COMMAND, "ring:nodes=3").stdout
    assert "both stages together" in text


@pytest.mark.parametrize(
    ("settings", "words"),
    [("buffer=3", "has no parameter 'buffer'"), ("chunks=x", "chunks is 'x'"), ("chunks", "NAME=")],
)
def test_invalid_settings_are_refused_in_one_line(settings: str, words: str) -> None:
    result = invoke(*COMMAND, "ring:nodes=4", "--set", settings)
    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
