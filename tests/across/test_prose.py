"""Numbers in the prose of the papers' pages are those of the rows that are kept."""

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.published import printed
from experiments.reproduction.coverage import Coverage
from experiments.reproduction.difference import may_be_stopped
from experiments.reproduction.printed_numbers import bfb_numbers
from experiments.reproduction.printed_numbers.bfb_bounds import trees_allreduce_us
from experiments.reproduction.printed_numbers.teccl_comparisons import leads_percent
from experiments.reproduction.printed_numbers.teccl_numbers import model_us
from experiments.reproduction.two_measures import both_measures
from experiments.results.rows import Row, Status

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "papers"


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    return Coverage(ROOT)


def ok(coverage: Coverage, name: str, **of: object) -> Iterator[Row]:
    """The rows of an experiment that have these values, columns or parameters."""
    for row in coverage.rows[name]:
        if row.status is Status.OK and all(_value(row, key) == value for key, value in of.items()):
            yield row


def _value(row: Row, key: str) -> object:
    return row.parameters[key] if key in row.parameters else getattr(row, key, None)


def percent(share: float, digits: int = 0) -> str:
    """As prose has it: 0.8 %, 14 %."""
    return f"{100 * share:.{digits}f} %"


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
        row.parameters["size_bytes"] / (row.algbw_makespan_gb_s or 1) / 1000
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
    """By makespan and by epochs times their length, of TE-CCL the better epochs."""

    def leads(measure: str) -> list[tuple[str, str, int, float]]:
        return [
            (collective, chassis, size, lead)
            for collective in ("allgather", "all-to-all")
            for chassis in ("dgx2", "ndv2")
            for size, lead in leads_percent(
                coverage.rows[f"teccl-figures5-6-{collective}"], chassis, measure
            ).items()
        ]

    finish, epochs = leads("makespan"), leads("epochs")
    assert all(lead > 0 for *_, size, lead in finish if size <= 10**6)
    assert all(lead < 0 for *_, size, lead in finish if size >= 16 * 10**6)
    largest = max(1 / (1 + lead / 100) - 1 for *_, lead in finish)
    ahead = [sum(lead > 0 for *_, lead in its) for its in (finish, epochs)]
    assert all(lead > 0 for collective, *_, lead in epochs if collective == "all-to-all")
    behind = [(of, size, 1 / (1 + lead / 100) - 1) for _, of, size, lead in epochs if lead < 0]
    on_dgx2 = [by for of, size, by in behind if of == "dgx2" and size >= 16 * 10**6]
    ((size, on_ndv2),) = ((size, by) for of, size, by in behind if of == "ndv2")
    assert (len(on_dgx2), size) == (len(behind) - 1, 4 * 10**6)
    return [
        f"TE-CCL is ahead of TACCL at {ahead[0]} of {len(finish)} points",
        f"where TACCL is ahead by up to {percent(largest)}",
        f"TE-CCL is ahead at {ahead[1]} of {len(epochs)} points",
        f"by {share(min(on_dgx2), 0)} to {percent(max(on_dgx2))} (TE-CCL's search",
        f"On NDv2 it is ahead at 4 MB, by {percent(on_ndv2)}",
    ]


def figure_14(coverage: Coverage) -> list[str]:
    """Shares of the optimum of the baselines, pipelined and by their own end."""
    found = {
        (one.cluster, one.method, one.gpus): one
        for one in both_measures(coverage.rows["forestcoll-figure14"])
    }
    on_a100 = {key[1:]: one for key, one in found.items() if key[0] == "dgx_a100"}
    for (method, gpus), one in on_a100.items():
        assert one.pipelined > 0.98 or (method == "teccl" and gpus > 64), one
        assert method != "taccl" or one.at_end >= on_a100[method, 16].at_end
    for gpus in (16, 32, 64):
        tree, teccl = found["mi250", "multitree", gpus], found["mi250", "teccl", gpus]
        assert tree.pipelined < teccl.pipelined
        assert tree.at_end < teccl.at_end
    of = {key: percent(one.at_end) for key, one in on_a100.items()}
    most = {name: max(gpus for method, gpus in of if method == name) for name in ("taccl", "teccl")}
    assert (
        max(gpus for cluster, name, gpus in found if (cluster, name) == ("mi250", "teccl")) == 128
    )
    rows = ok(coverage, "forestcoll-figure14", method="taccl")
    assert max(row.generation_s or 0 for row in rows) < 180
    return [
        f"TACCL finds schedules up to {most['taccl']} GPUs",
        f"up to {most['teccl'] // 8} boxes of A100 and 8 of MI250",
        f"TACCL has {of['taccl', 16]} of the optimum at 16 GPUs and {of['taccl', 256]} at 256",
        f"TE-CCL has {of['teccl', 16]} at 16, {of['teccl', 64]} at 64 and "
        f"{of['teccl', 128]} at 128",
        f"in synchronous steps it has {of['multitree', 16]} at 16 GPUs and "
        f"{of['multitree', 1024]} at 1024",
    ]


def sccl_in_the_fewest_steps(coverage: Coverage) -> list[str]:
    bfb = {row.topology: row for row in ok(coverage, "bfb-figure10", method="bfb")}
    of_one = [
        row
        for row in ok(coverage, "bfb-figure10", method="sccl", chunks=1)
        if not row.parameters.get("fewest_steps")
    ]
    more = max((row.steps or 0) / (bfb[row.topology].steps or 1) - 1 for row in of_one)
    fewest = list(ok(coverage, "bfb-figure10", method="sccl", fewest_steps=True))
    assert all(row.steps == bfb[row.topology].steps for row in fewest)
    least = {
        row.topology
        for row in fewest
        if (row.bandwidth_runtime or 2) <= (bfb[row.topology].bandwidth_runtime or 1) + 1e-9
    }
    reached = {row.topology for row in fewest}
    return [
        f"takes up to {percent(more)} more steps than the network's diameter",
        f"attains them on {len(reached)} of {len(bfb)} networks",
        f"and there BFB's T_B on {len(least)}",
    ]


def sccl_on_tori(coverage: Coverage) -> list[str]:
    """Figure 11 of the BFB paper: which sweeps end, and T_B beside BFB's."""
    ended: dict[str, list[Row]] = {}
    for row in ok(coverage, "bfb-figure11", method="sccl", fewest_steps=True):
        ended.setdefault(row.topology.removeprefix("torus:dims=").partition(",")[0], []).append(row)
    assert {dims: len(its) for dims, its in ended.items()} == {"3x3x2": 4, "3x3x3": 2, "3x3x3x2": 1}
    (four,) = (row for row in ended["3x3x2"] if row.parameters["chunks"] == 4)
    (bfb,) = ok(coverage, "bfb-figure11", method="bfb", topology=four.topology)
    assert four.steps == bfb.steps
    above = (four.bandwidth_runtime or 0) / (bfb.bandwidth_runtime or 1) - 1
    return [
        f"4 chunks in {(four.steps or 0) // 2} steps a phase have T_B {percent(above, 1)} above"
    ]


def hosts_of_tori(coverage: Coverage) -> list[str]:
    """Figure 11 of the BFB paper with the limit of the hosts: BFB beside the torus collective."""

    def of(name: str, method: str) -> list[Row]:
        its = ok(coverage, name, method=method)
        return sorted(its, key=lambda row: row.gpus or 0)

    def algbw(row: Row, size: str) -> float:
        return float(row.sizes[size]["algbw_simulated_gb_s"])

    hosts, free = of("bfb-figure11-hosts", "bfb"), of("bfb-figure11", "bfb")
    tori = of("bfb-figure11-hosts", "torus")
    assert [row.gpus for row in hosts] == [row.gpus for row in tori] == [18, 27, 54]
    at_1gb = [f"{algbw(row, str(2**30)):.2f}" for row in hosts]
    large = [str(2**power) for power in range(27, 31)]
    leads = [
        sum(algbw(ours, size) / algbw(theirs, size) for size in large) / len(large) - 1
        for ours, theirs in zip(hosts, tori, strict=True)
    ]
    synchronous = [
        (ours.algbw_synchronous_gb_s or 0) / (theirs.algbw_synchronous_gb_s or 1) - 1
        for ours, theirs in zip(hosts, tori, strict=True)
    ]
    without = [algbw(row, str(2**30)) for row in free]
    sccl = {
        row.parameters["chunks"]: (row.bandwidth_runtime or 0) / (hosts[0].bandwidth_runtime or 1)
        for row in ok(coverage, "bfb-figure11-hosts", method="sccl")
        if row.gpus == 18
    }
    assert list(sccl) == [1, 3]
    return [
        f"{at_1gb[0]}, {at_1gb[1]} and {at_1gb[2]} GB/s on 18, 27 and 54 GPUs",
        f"it is {min(without):.2f} to {max(without):.2f}",
        "{:.0f}, {:.0f} and {:.0f} % at 128 MB and more".format(*(100 * x for x in leads)),
        "BFB leads by {:.0f}, {:.0f} and {:.0f} %".format(*(100 * x for x in synchronous)),
        f"3 chunks have T_B {percent(sccl[3] - 1, 1)} above BFB's. Four",
    ]


def servers_of_figure_6(coverage: Coverage) -> list[str]:
    """Figure 6 of the BFB paper: computed and printed percentages."""
    found: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for one in bfb_numbers.on_the_testbed(coverage.rows):
        pair, size = re.fullmatch(
            r"time of (.*), allreduce of (\w+), \d+ servers", one.what
        ).groups()  # type: ignore[union-attr]
        found.setdefault((pair.replace(" below that of", ""), size), []).append(
            (one.ours, one.printed)
        )

    def lead(pair: str, size: str, printed_too: str = " %") -> str:
        ours = [round(value) for value, _ in found[pair, size]]
        ((_, shown), *_) = found[pair, size]
        text = f"{min(ours)} to {max(ours)}" if len(ours) > 1 else f"{ours[0]}"
        return f"{text} % at {size[:1]} {size[1:]} ({shown}{printed_too})"

    best, ring, trees = (
        "bfb shifted-ring", "shifted-bfb-ring shifted-ring", "bfb double-binary-tree"
    )  # fmt: skip
    assert [round(value) for value, _ in found[best, "1GB"]] == [0]
    return [
        f"{lead(best, '1KB', ' % printed')}, {lead(best, '1MB')}, none at 1 GB",
        f"is {lead(ring, '1KB').replace(' at', ' below ShiftedRing at')} and {lead(ring, '1MB')}",
        f"{lead(trees, '1KB')}, {lead(trees, '1MB')}, {lead(trees, '1GB')}",
    ]


def ratios_of_table_4(coverage: Coverage) -> list[str]:
    """Of 1024 nodes: the baselines' printed times over the least that is printed."""
    del coverage
    ring = next(
        line for line in printed("bfb_topologies.csv")
        if (line["table"], line["method"]) == ("4", "shifted-ring")
    )["printed_allreduce_us"]  # fmt: skip
    trees = next(
        line for line in printed("bfb_bounds.csv") if line["bound"] == "double binary tree"
    )["printed_allreduce_us"]
    least = min(
        float(line["printed_allreduce_us"])
        for line in printed("bfb_topologies.csv")
        if line["table"] == "4" and line["printed_allreduce_us"]
    )
    half = trees_allreduce_us(1024)
    assert abs(float(trees) - 2 * half) < 0.01
    return [
        f"Its table 4, of 1024 nodes, has {float(trees) / least:.1f} and {float(ring) / least:.0f} "
        f"times",
        f"is printed as {trees} us. NCCL's two trees take {half:.1f} us, exactly half",
    ]


def lead_over_multitree(coverage: Coverage) -> list[str]:
    def algbw(method: str, gpus: int) -> float:
        its = ok(coverage, "forestcoll-figure14", method=method, gpus=gpus)
        return max(row.algbw_gb_s or 0 for row in its if row.topology.startswith("mi250"))

    leads = [algbw("forestcoll", n) / algbw("multitree", n) - 1 for n in (512, 1024)]
    return [f"falls to {leads[0]:.0%} at 512 GPUs and {leads[1]:.0%} at 1024".replace("%", " %")]


def baselines_on_tori_and_hypercubes(coverage: Coverage) -> list[str]:
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
    taken = [row.generation_s or 0 for row in its.values()]
    in_all = [round(row.wall_s or 0) for row in its.values()]
    memory = (its["dgx_a100"].peak_memory_mb or 0) / 1000
    return [
        f"take {taken[0]:.1f} s to generate, physical paths included, and {memory:.2f} GB. DGX "
        f"H100 takes {taken[1]:.1f} s and MI250 {taken[2]:.1f} s",
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
    ("page", "sentences"),
    [
        ("simulated-figures.md", sizes_on_h100),
        ("simulated-figures.md", sccl_on_tori),
        ("simulated-figures.md", hosts_of_tori),
        ("reproduction*.md", all_to_alls_of_table_8),
        ("reproduction*.md", buffers),
        ("reproduction*.md", figure_5),
        ("reproduction*.md", figure_14),
        ("reproduction*.md", sccl_in_the_fewest_steps),
        ("reproduction*.md", servers_of_figure_6),
        ("reproduction*.md", ratios_of_table_4),
        ("reproduction*.md", lead_over_multitree),
        ("reproduction*.md", baselines_on_tori_and_hypercubes),
        ("own-figures.md", faults),
        ("own-figures.md", generation),
    ],
)
def test_sentences_of_the_page_follow_from_the_rows(
    page: str, sentences: Callable[[Coverage], list[str]], coverage: Coverage
) -> None:
    texts = (file.read_text(encoding="utf-8") for file in sorted(PAGES.glob(page)))
    text = " ".join(" ".join(texts).split())
    for words in sentences(coverage):
        assert words in text, words
