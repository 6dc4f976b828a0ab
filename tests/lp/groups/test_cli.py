"""The command ``forestcoll groups``."""

from pathlib import Path

import pytest

from forestcoll.schedule import read_schedule, verify
from tests.command_line import assert_refused, document, invoke

NAME = "groups"


def test_rates_are_shown_and_forests_written(tmp_path: Path) -> None:
    """7 shards enter a GPU of the larger group, over 300 and 25 GB/s."""
    chosen = ("--group", "0/*", "--group", "1/0-3", "-o", str(tmp_path))
    result = invoke(NAME, "dgx_a100:boxes=2", *chosen)
    assert result.exit_code == 0, result.output
    assert "325/7 = 46.4286 GB/s" in result.stdout
    forests = [read_schedule(tmp_path / f"group{i}.json") for i in (0, 1)]
    assert [forest.topology.num_compute for forest in forests] == [8, 4]
    for forest in forests:
        verify(forest)


@pytest.mark.parametrize(("by", "groups", "rate"), [("box", 2, "325/7"), ("index", 8, "25")])
def test_all_groups_of_a_kind(by: str, groups: int, rate: str) -> None:
    found = document(NAME, "dgx_a100:boxes=2", "--by", by)
    assert (found["groups"], found["rate_gb_s"]["exact"]) == (groups, rate)
    assert found["bound_gb_s"] == pytest.approx(found["rate_gb_s"]["value"], rel=1e-7)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "--by box or index"),
        (("--by", "box", "--group", "0/*"), 2, "--by box or index"),
        (("--by", "rack"), 2, "it must be box or index"),
        (("--group", "0/*", "--group", "0/*"), 2, "given twice"),
        (("--group", "0/*", "--group", "*/0"), 2, "'b0.gpu0' is in group '0/*'"),
        (("--by", "box", "-o", __file__), 2, "is a file; name a folder"),
        (("--by", "box", "--time-limit", "1e-9"), 3, "the best rate is at most"),
    ],
)
def test_invalid_groups_and_options_are_refused(
    arguments: tuple[str, ...], code: int, message: str
) -> None:
    assert_refused(message, NAME, "dgx_a100:boxes=2", *arguments, code=code)
