"""Numbers in the prose of the papers' pages are those of the rows that are kept."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.published import printed
from experiments.reproduction.coverage import Coverage
from experiments.reproduction.difference import may_be_stopped
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
        if row.status is Status.OK and all(have.get(key) == value for key, value in of.items()):
            yield row


def percent(share: float, digits: int = 0) -> str:
    """As prose has it: .8 %, 14 %."""
    return f"{100 * share:.{digits}f} %".removeprefix("0")


def all_to_alls_of_table_8(coverage: Coverage) -> list[str]:
    """Printed times over the least with the switch, and without."""
    lines = {
        (line["epoch"], int(line["size_bytes"])): float(line["printed_time_us"])
        for line in printed("teccl_times.csv")
        if (line["table"], line["collective"]) == ("8", "all-to-all")
    }

    def over(name: str, epoch: str) -> dict[int, float]:
        its = {
            row.parameters["size_bytes"]: model_us(row) for row in ok(coverage, name, epoch=epoch)
        }
        return {size: lines[epoch, size] / ours - 1 for size, ours in its.items()}

    without, switch = "teccl-table8-all-to-all", "teccl-table8-all-to-all-switch"
    slow, fast = over(switch, "slowest"), over(switch, "fastest")
    as_printed = {size for size, share in slow.items() if abs(share) < 5e-4}
    assert as_printed == {size for size in slow if size >= 4 * 10**6} | {256_000}
    below = [-share for size, share in fast.items() if size >= 64_000]
    above = [share for size, share in over(without, "fastest").items() if size >= 64_000]
    epochs = [
        next(ok(coverage, name, epoch="slowest", size_bytes=10**9)).incumbent
        for name in (switch, without)
    ]
    both = [over(without, epoch)[size] for epoch, size in lines]
    less = sorted(share / (1 + share) for share in both if share > 0)
    late = sum(
        row.parameters["size_bytes"] / (row.algbw_at_finish_gb_s or 1) / 1000
        > lines[row.parameters["epoch"], row.parameters["size_bytes"]]
        for row in ok(coverage, without)
    )
    return [
        f"{epochs[0]:g} epochs at 1 GB, where {epochs[1]:g} are enough without it",
        f"{share(min(below), 1)} to {percent(max(below), 1)} below the least with the switch, and "
        f"{share(min(above), 2)} to {percent(max(above), 1)} above the least without it",
        f"{share(less[0], 2)} to {percent(less[-1], 1)} less than printed at {len(less)} of "
        f"{len(both)} points",
        f"{late} of the {len(both)} take longer than printed",
    ]


def buffers(coverage: Coverage) -> list[str]:
    """What room for everything saves the solver, over any fewer slots, at four chunks."""
    its = list(ok(coverage, "teccl-figure11", method="teccl", chunks=4))
    saved = []
    for row in its:
        if row.parameters["buffer"]:
            size = row.parameters["size_bytes"]
            (free,) = ok(coverage, "teccl-figure11", chunks=4, buffer=0, size_bytes=size)
            assert free.incumbent == row.incumbent
            saved.append(1 - (free.generation_s or 0) / (row.generation_s or 1))
    return [f"saves HiGHS {share(min(saved), 0)} to {percent(max(saved))} of its seconds"]


def share(part: float, digits: int) -> str:
    """A percentage without its sign, before another."""
    return percent(part, digits).removesuffix(" %")


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
    never = {
        (line["topology"], int(line["chunks_of_each"]), line["symmetric"] != "no")
        for line in printed("bfb_generation.csv")
        if line["method"] == "taccl" and float(line["printed_generation_s"]) >= 1800
    }
    ours = [
        row
        for row in ok(coverage, "bfb-figure10", method="taccl")
        if (row.topology, row.parameters["chunks"], row.parameters.get("symmetry", True)) in never
    ]
    ended = [row.generation_s or 0 for row in ours if not may_be_stopped(row)]
    assert len(ours) == len(never)
    return [
        f"within {math.ceil(max(ended))} s in {len(ended)} of {len(never)}",
        f"up to {percent(max(times))} more",
        f"up to {round(max(steps))} times the steps",
    ]


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
    assert abs(slow[4] - 1 / 3) < 0.005
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


def sizes_on_h100(coverage: Coverage) -> list[str]:
    """How far ForestColl is behind the fastest up to 64 MB, and NVLS behind it in one box."""
    behind, nvls = [], []
    for own in ok(coverage, "forestcoll-figure12b-sizes", method="forestcoll"):
        beside = list(ok(coverage, "forestcoll-figure12b-sizes", gpus=own.gpus))
        for size in (size for size in own.sizes if int(size) <= 2**26):
            fastest = max(row.sizes[size]["algbw_simulated_gb_s"] for row in beside)
            share = own.sizes[size]["algbw_simulated_gb_s"] / fastest
            if not own.parameters.get("multicast"):
                behind.append(1 - share)
            elif own.gpus == 8:
                nvls.append(1 - share)
    assert len(behind) == 5 * 7
    assert max(behind) < 0.01
    assert nvls[0] < 0.01
    return [
        "the fastest of all, or within 1 % of it, on 1 to 16 boxes",
        f"level at 1 MB and up to {percent(max(nvls))} behind",
    ]


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("simulated-figures.md", sizes_on_h100),
        ("reproduction.md", all_to_alls_of_table_8),
        ("reproduction.md", buffers),
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
