"""Numbers in the prose of the papers' pages are those of the rows that are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.reproduction.coverage import Coverage
from experiments.reproduction.teccl_numbers import model_us
from experiments.results.rows import Row, Status

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "papers"


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    return Coverage(ROOT)


def ok(coverage: Coverage, name: str, **of: object) -> Iterator[Row]:
    """The rows of an experiment that have these values, columns or parameters."""
    for row in coverage.rows[name]:
        have = {**row.as_dict(), **row.parameters}
        if row.status is Status.OK and all(have[key] == value for key, value in of.items()):
            yield row


def percent(share: float, digits: int = 0) -> str:
    """As prose has it: .8 %, 14 %."""
    return f"{100 * share:.{digits}f} %".removeprefix("0")


def all_to_alls_of_table_8(coverage: Coverage) -> list[str]:
    its = [
        one
        for one in coverage.differences
        if one.item == "ET19" and one.kind == "theory" and "time, all-to-all" in one.what
    ]
    less = sorted(-one.share for one in its if one.share < 0)
    wide = {
        row.incumbent
        for row in ok(coverage, "teccl-table8-all-to-all-switch", epoch="slowest")
        if row.parameters["size_bytes"] >= 4_000_000
    }
    (narrow,) = ok(coverage, "teccl-table8-all-to-all", epoch="slowest", size_bytes=10**9)
    (switched,) = wide
    return [
        f".{100 * less[0]:.2f} to {100 * less[-1]:.1f} % less than printed".replace(".0.", "."),
        f"at {len(less)} of {len(its)} points",
        f"{narrow.incumbent:g} epochs of the slowest link at 1 GB",
        f"the least is {switched:g} from 4 MB on",
    ]


def figure_5(coverage: Coverage) -> list[str]:
    """By epochs times their length, of TE-CCL the better ones."""
    ahead = points = 0
    for name in ("teccl-figures5-6-allgather", "teccl-figures5-6-all-to-all"):
        for theirs in ok(coverage, name, method="taccl"):
            of = {"topology": theirs.topology, "size_bytes": theirs.parameters["size_bytes"]}
            ours = min(model_us(row) for row in ok(coverage, name, method="teccl", **of))
            points += 1
            ahead += ours < float(theirs.incumbent or 0)
    return [f"TE-CCL is ahead of TACCL at {ahead} of {points} points"]


def lead_over_multitree(coverage: Coverage) -> list[str]:
    def algbw(method: str, gpus: int) -> float:
        its = ok(coverage, "forestcoll-figure14", method=method, gpus=gpus)
        return max(row.algbw_gb_s or 0 for row in its if row.topology.startswith("mi250"))

    leads = [algbw("forestcoll", n) / algbw("multitree", n) - 1 for n in (512, 1024)]
    return [f"falls to {leads[0]:.0%} at 512 GPUs and {leads[1]:.0%} at 1024".replace("%", " %")]


def peers_on_tori_and_hypercubes(coverage: Coverage) -> list[str]:
    steps, times = [], []
    for row in ok(coverage, "bfb-figure10", method="taccl"):
        (bfb,) = ok(coverage, "bfb-figure10", method="bfb", topology=row.topology)
        steps.append((row.steps or 0) / (bfb.steps or 1))
        if row.parameters["chunks"] == 4:
            times.append((row.bandwidth_runtime or 0) / (bfb.bandwidth_runtime or 1) - 1)
    assert min(times) > -1e-9
    return [f"up to {percent(max(times))} more", f"up to {round(max(steps))} times the steps"]


def faults(coverage: Coverage) -> list[str]:
    """What the optimum loses to a fault, over the same network without."""

    def costs(fault: str) -> dict[int, float]:
        found = {}
        for row in ok(coverage, "own-faults", method="forestcoll"):
            whole, _, damage = row.topology.partition(" ")
            if damage and fault in damage:
                (without,) = ok(coverage, "own-faults", method="forestcoll", topology=whole)
                boxes = int(re.findall(r"boxes=(\d+)", whole)[0])
                found[boxes] = float(without.optimum_gb_s or 0) / float(row.optimum_gb_s or 1) - 1
        return found

    slow, dead = costs(" x 1/2"), costs("without")
    return [
        f"a third at four boxes and {percent(slow[128], 1)} at 128",
        f"{percent(dead[4], 1)} at four boxes, {percent(dead[16], 1)} at 16, "
        f"{percent(dead[128], 1)} at 128",
    ]


def generation(coverage: Coverage) -> list[str]:
    its = {
        family: next(
            row
            for row in ok(coverage, "own-generation", gpus=65536)
            if row.topology.startswith(family)
        )
        for family in ("dgx_a100", "dgx_h100", "mi250")
    }
    taken = [round(row.generation_s or 0) for row in its.values()]
    in_all = [round(row.wall_s or 0) for row in its.values()]
    memory = (its["dgx_a100"].peak_memory_mb or 0) / 1000
    return [
        f"take {taken[0]} s to generate, physical paths included, and {memory:.1f} GB, of DGX H100 "
        f"{taken[1]} s, of MI250 {taken[2]} s",
        f"make it {in_all[0]}, {in_all[1]} and {in_all[2]} s in all",
    ]


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("reproduction.md", all_to_alls_of_table_8),
        ("reproduction.md", figure_5),
        ("reproduction.md", lead_over_multitree),
        ("reproduction.md", peers_on_tori_and_hypercubes),
        ("own-figures.md", faults),
        ("own-figures.md", generation),
    ],
)
def test_the_page_says_what_the_rows_say(
    page: str, said: Callable[[Coverage], list[str]], coverage: Coverage
) -> None:
    text = " ".join((PAGES / page).read_text(encoding="utf-8").split())
    for words in said(coverage):
        assert words in text, words
