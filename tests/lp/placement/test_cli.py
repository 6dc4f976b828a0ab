"""The command ``forestcoll placement``."""

import json
import time
from pathlib import Path

import pytest

from tests.command_line import assert_refused, document, invoke

NAME = "placement"
PAIR = "dgx_a100:boxes=2"
KINDS = ("--kind", "data=2:allgather:8MB", "--kind", "tensor=rest:allreduce:64MB")


def test_the_gain_is_shown_and_all_groups_written(tmp_path: Path) -> None:
    file = tmp_path / "groups.json"
    result = invoke(NAME, PAIR, *KINDS, "-o", file)
    assert result.exit_code == 0, result.output
    for part in (
        "gain",
        "sum of the kinds' times",
        "local search",
        "best of all placements    yes",
    ):
        assert part in result.stdout
    written = json.loads(file.read_text())
    tensor = written["kinds"]["tensor"]["groups"]
    assert [{name[:2] for name in group} for group in tensor] in (
        [{"b0"}, {"b1"}],
        [{"b1"}, {"b0"}],
    )
    assert len(set(written["ranks"])) == 16
    assert written["kinds"]["data"]["groups"][0] == written["ranks"][:2]


def test_a_small_network_has_a_bound_for_all_placements() -> None:
    found = document(NAME, "ring:nodes=4", "--kind", "a=2:allgather:8MB")
    assert found["bound_for_all_placements_us"] == pytest.approx(found["time_us"]["value"])
    assert found["search"] == "all placements up to symmetry"
    assert (found["gain"], found["verified"]) == (1, True)


def test_rates_and_groups_are_shown() -> None:
    """The rate of a kind is its size over the time that is found."""
    start = time.perf_counter()
    asked = (NAME, "ring:nodes=4", "--kind", "a=2:allgather:8MB")
    found = document(*asked)
    assert 0 < found["search_s"] < time.perf_counter() - start
    line = next(line for line in invoke(*asked).stdout.splitlines() if "algbw" in line)
    rate = float(line.split(" GB/s algbw")[0].split()[-1])
    assert rate == pytest.approx(8 * 2**20 / found["kinds"]["a"]["time_us"]["value"] / 1000, 1e-4)


@pytest.mark.parametrize(("boxes", "dots"), [(2, False), (3, True)])
def test_only_the_first_groups_are_shown(boxes: int, dots: bool) -> None:
    """Of pairs of 16 GPUs all eight, of 24 GPUs the first eight of twelve."""
    shown = invoke(NAME, f"dgx_a100:boxes={boxes}", "--kind", "a=2:allgather:8MB").stdout
    assert ("..." in shown) == dots


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "there is no --kind"),
        (("--kind", "t=3:allreduce:1MB"), 2, "it must divide 16 GPUs"),
        (("--kind", "t=8:allreduce"), 2, "NAME=GPUS:COLLECTIVE:SIZE"),
        ((*KINDS, "--objective", "mean"), 2, "sum or slowest"),
        ((*KINDS, "--time-limit", "0"), 2, "seconds must be positive"),
        ((*KINDS, "--time-limit", "1e-9"), 3, "allow more time"),
        ((*KINDS, "-o", f"{__file__}/all.json"), 2, "test_cli.py"),
    ],
)
def test_invalid_kinds_and_options_are_refused(
    arguments: tuple[str, ...], code: int, message: str
) -> None:
    assert_refused(message, NAME, PAIR, *arguments, code=code)
