"""What a runtime's file is worth on a network: our own files have the algbw of their schedules."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from baselines.registry import METHODS
from forestcoll import generate
from forestcoll.compilation import compile_program
from forestcoll.errors import (
    ExportError,
    InvalidParameterError,
    RuntimeLimitError,
    TimeLimitError,
    UnbalancedError,
    UnsupportedError,
)
from forestcoll.problem.limits import Limits
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl import Algorithm, parse_algorithm
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.runtimes.mscclpp import parse_plan
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.runtimes.scoring.file_bounds import Measurement
from forestcoll.runtimes.scoring.file_score import score
from forestcoll.runtimes.scoring.threadblock_rates import THREADBLOCK_RATES
from forestcoll.schedule import cost
from forestcoll.topology import Topology, load_topology
from tests.baselines.once_each import in_turn
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology

UNIQUE = ("dgx_a100:boxes=2", "ring:nodes=5", "torus:dims=3x3", "hypercube:dimension=3")
"""Where there is one path of fewest links from GPU to GPU, by the widest links."""


def exported(schedule: Any) -> Algorithm:
    return parse_algorithm(export(compile_program(schedule), MscclOptions()).text).algorithm


def pairs() -> Topology:
    """Two boxes of two GPUs, 8 GB/s inside, a NIC of 1 GB/s for each GPU."""
    nodes = "[ib] [b0.nvswitch]@0 b0.gpu0@0.0 b0.gpu1@0.1 [b1.nvswitch]@1 b1.gpu0@1.0 b1.gpu1@1.1"
    boxes = [f"b{i}.gpu0 b{i}.gpu1 - b{i}.nvswitch: 8" for i in range(2)]
    links = ", ".join([*boxes, "ib - b0.gpu0 b0.gpu1 b1.gpu0 b1.gpu1"])
    return network_of(nodes, links, "pairs")


def worth(file: Algorithm, topology: Topology, root: int | None = None) -> Measurement:
    found = score(file, topology, root=root)
    assert found.findings.is_right
    assert found.measurement is not None
    return found.measurement


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "broadcast", "reduce"])
@pytest.mark.parametrize("name", UNIQUE)
@pytest.mark.each_value_once
def test_a_file_of_an_optimal_schedule_is_at_the_optimum(name: str, collective: str) -> None:
    """Exactly, and every link carries what it does in the schedule."""
    topology = load_topology(name)
    root = 1 if collective in ("broadcast", "reduce") else None
    schedule = generate(topology, collective=collective, root=root).schedule
    found, taken = worth(exported(schedule), topology, root), cost(schedule)
    assert found.algbw_gb_s == taken.algbw_gb_s == found.bound.algbw_gb_s
    assert found.bound.optimal
    assert found.share == 1
    assert list(found.loads) == [Fraction(load, taken.whole) for load in taken.loads]
    assert found.busiest_link == taken.busiest_link


@pytest.mark.parametrize("name", UNIQUE)
def test_a_file_of_an_allreduce_is_held_against_a_bound_on_any(name: str) -> None:
    """One after the other both phases take N x*/2 there, and the bound of the parts is the same."""
    topology = load_topology(name)
    schedule = generate(topology, collective="allreduce").schedule
    found = worth(exported(schedule), topology)
    assert found.algbw_gb_s == schedule.algbw_gb_s == found.bound.algbw_gb_s
    assert not found.bound.optimal
    assert found.bound.model == "any allreduce in which switches only forward"


def test_an_all_to_all_between_two_pairs_by_hand() -> None:
    """GPUs 0, 1 and 2, 3 in boxes at 8 GB/s each, NICs of 1: 4 of 16 parts leave a box by two NICs.

    So the bound is 1 / (4/4 / 2) = 2 GB/s: every GPU sends half of its data over its NIC of 1 GB/s.
    """
    topology = pairs()
    direct = METHODS["direct"].run(topology, "all-to-all")
    found = worth(exported(direct), topology)
    assert found.bound.algbw_gb_s == 2
    assert found.bound.by == "what must leave box 0 (2 GPUs) over 2 GB/s"
    assert found.algbw_gb_s == 2
    assert found.share == 1


@pytest.mark.parametrize("method", ["ring", "direct", "bruck", "recursive-halving-doubling"])
@pytest.mark.parametrize("name", ["dgx_a100:boxes=2", "dgx_h100:boxes=1"])
@pytest.mark.each_value_once
def test_files_of_other_tools_are_not_above_the_optimum(name: str, method: str) -> None:
    """And have the algbw of their schedules, whose switches offer one path."""
    topology = load_topology(name)
    schedule = METHODS[method].run(topology, "allgather")
    found = worth(exported(schedule), topology)
    assert found.algbw_gb_s == cost(schedule).algbw_gb_s
    assert 0 < found.share <= 1


NOT_HERE = (UnsupportedError, UnbalancedError, TimeLimitError, ExportError)
"""What a method may say of a network, or the export of its schedule."""

NETWORKS = {
    "pairs": pairs,
    "ring": lambda: load_topology("ring:nodes=4"),
    "cube": lambda: load_topology("hypercube:dimension=3"),
    "dgx1": lambda: load_topology("dgx1"),
}


@pytest.mark.first_rows(2)
@pytest.mark.parametrize(("name", "collective"), in_turn([*NETWORKS], ["allreduce", "all-to-all"]))
def test_no_file_of_any_method_is_above_its_bound(name: str, collective: str) -> None:
    """Of allreduces and all-to-alls, whose bounds are of any whatever, rooted or not."""
    topology, tried = NETWORKS[name](), 0
    for known, method in METHODS.items():
        if collective in method.collectives and known != "sccl":
            try:
                schedule = method.run(topology, collective, limits=Limits(seconds=1.0))
                found = worth(exported(schedule), topology)
            except NOT_HERE:
                continue
            assert 0 < found.share <= 1, known
            tried += 1
    assert tried >= 2


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("seed", range(12))
def test_files_on_random_networks_are_not_above_the_optimum(seed: int) -> None:
    """Whatever paths the schedule itself takes there; an allreduce where there may be one."""
    kind = KINDS[seed % len(KINDS)]
    topology = random_topology(seed, kind)
    assert 0 < worth(exported(generate(topology).schedule), topology).share <= 1
    if kind != "unbalanced":
        allreduce = generate(topology, collective="allreduce", lp_time_limit_s=0.5).schedule
        assert 0 < worth(exported(allreduce), topology).share <= 1


def test_the_root_of_a_broadcast_is_the_gpu_that_receives_nothing() -> None:
    """On a star whose links differ the bound is that of the root, which need not be given."""
    topology = load_topology("dgx_a100:boxes=2").scaled("b0.gpu3 - *", "1/2")
    for root in (3, 4):
        file = exported(generate(topology, collective="broadcast", root=root).schedule)
        reported, found = worth(file, topology, root), worth(file, topology)
        assert reported.bound == found.bound
        assert found.share == 1


def test_a_wrong_file_has_findings_and_no_score() -> None:
    ring = load_topology("ring:nodes=4")
    right = exported(generate(ring).schedule)
    gpu = right.gpus[0]
    block = next(one for one in gpu.threadblocks if one.send >= 0)
    number = gpu.threadblocks.index(block)
    torn = replace(block, instructions=block.instructions[:-1])
    blocks = (*gpu.threadblocks[:number], torn, *gpu.threadblocks[number + 1 :])
    found = score(replace(right, gpus=(replace(gpu, threadblocks=blocks), *right.gpus[1:])), ring)
    assert not found.findings.is_right
    assert found.measurement is None


def test_the_score_falls_on_a_slower_network() -> None:
    """A link at half its bandwidth halves a file that fills it; the optimum falls by less."""
    ring = load_topology("ring:nodes=4")
    slow = ring.scaled("gpu0 - gpu1", "1/2")
    file = exported(generate(ring).schedule)
    assert worth(file, slow).algbw_gb_s == worth(file, ring).algbw_gb_s / 2
    assert Fraction(1, 2) < worth(file, slow).share < 1


def test_files_for_other_networks_are_refused() -> None:
    """Another number of GPUs; GPUs that only others join."""
    file = exported(generate(load_topology("ring:nodes=4")).schedule)
    with pytest.raises(InvalidParameterError, match="is for 4 GPUs, and ring:nodes=5 has 5"):
        score(file, load_topology("ring:nodes=5"))
    direct = exported(METHODS["direct"].run(load_topology("complete:nodes=4"), "allgather"))
    with pytest.raises(UnsupportedError, match="through switches alone"):
        score(direct, load_topology("ring:nodes=4"))


# --- threadblocks --------------------------------------------------------------------------------

INSTANCES = (1, 2, 4, 8, 16)
MEASURED = (33.8, 65.5, 123.6, 215.9, 246.4)
"""GB/s with so many instances, as a user measured them on two boxes of 8 A100."""


def rates_of(files: Any, topology: Topology) -> list[Fraction]:
    """Return the rates on A100s; the links alone allow each file the same."""
    scores = [score(file, topology, machine=THREADBLOCK_RATES["a100"]) for file in files]
    assert len({one.measurement.algbw_gb_s for one in scores}) == 1
    for one in scores:
        limits = one.measurement.algbw_gb_s, one.threadblock.algbw_gb_s
        assert one.algbw_gb_s == min(limits)
        assert one.share == one.algbw_gb_s / one.measurement.bound.algbw_gb_s
    return [one.algbw_gb_s for one in scores]


def plans(schedule: Any, instances: Sequence[int] = INSTANCES) -> list[Any]:
    program = compile_program(schedule)
    return [parse_plan(export(program, MscclppOptions(instances=n)).text).plan for n in instances]


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, pytest.param(len(INSTANCES), marks=pytest.mark.slow)])
def test_plans_with_more_instances_rank_higher_as_they_were_measured(count: int) -> None:
    """One tree a GPU: with one instance, a threadblock copies a shard of 1/16 once and puts it 8
    times. 8 instances divide these 9/16 by 8; 16 leave a whole shard to one. At 20 GB/s:
    20 / (9/16 / n) GB/s, then 20 / (1/16). The links alone allow all of them 342.9 GB/s.

    Measured rates are lower by up to a quarter. With 1.03 ms for each GB besides, each of them
    is met within 2.5 %.
    """
    topology = load_topology("dgx_a100:boxes=2")
    rates = rates_of(plans(generate(topology, k=1).schedule, INSTANCES[:count]), topology)
    assert rates == [*(Fraction(20 * 16 * n, 9) for n in (1, 2, 4, 8)), 320][:count]
    assert rates == sorted(set(rates))
    assert rates[-1] < Fraction(2400, 7)
    off = [float(rate) / found - 1 for rate, found in zip(rates, MEASURED, strict=False)]
    assert off == pytest.approx([0.052, 0.086, 0.151, 0.317, 0.299][:count], abs=0.001)
    slower = [1 / (1 / float(rate) + 0.00103) for rate in rates]
    assert slower == pytest.approx(MEASURED[:count], rel=0.025)


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, pytest.param(len(INSTANCES), marks=pytest.mark.slow)])
def test_plans_of_the_optimum_rank_by_instances(count: int) -> None:
    """13 trees a GPU: 119 parts of 1/416 with two instances, then halves, then a shard of 1/16."""
    topology = load_topology("dgx_a100:boxes=2")
    rates = rates_of(plans(generate(topology).schedule, INSTANCES[:count]), topology)
    parts = [Fraction(9, 16), *(Fraction(119, 208 * n) for n in (2, 4, 8)), Fraction(1, 16)]
    assert rates == [20 / part for part in parts[:count]]
    assert rates == sorted(set(rates))


@pytest.mark.slow
def test_files_of_the_optimum_rank_by_instances_up_to_the_links() -> None:
    """On one channel a threadblock moves 37/208 of the data, then 1/n of it: 112.4, 224.9 GB/s.
    At 449.7 with four instances the links limit, at 346.7. No more fit 108 threadblocks.
    """
    topology = load_topology("dgx_a100:boxes=2")
    program = compile_program(generate(topology).schedule)
    options = [MscclOptions(instances=n, channels=1) for n in (1, 2, 4)]
    files = [parse_algorithm(export(program, one).text).algorithm for one in options]
    rates = rates_of(files, topology)
    assert rates == [Fraction(20 * 208, 37), Fraction(40 * 208, 37), Fraction(1040, 3)]
    for n in (8, 16):
        with pytest.raises(RuntimeLimitError, match="108 are the most"):
            export(program, MscclOptions(instances=n, channels=1))


@pytest.mark.slow  # TACCL searches for half a minute
def test_files_of_a_ring_in_each_box_rank_up_to_16_instances() -> None:
    """TACCL's threadblock of one channel moves all data: 1/n of it at 20 GB/s are 20 n GB/s."""
    topology = load_topology("dgx_a100:boxes=2")
    program = compile_program(METHODS["taccl"].run(topology, "allgather"))
    options = [MscclOptions(instances=n, channels=1) for n in INSTANCES]
    files = [parse_algorithm(export(program, one).text).algorithm for one in options]
    assert rates_of(files, topology) == [20 * n for n in INSTANCES]


def test_a_machine_limits_the_threadblocks_that_run_at_once() -> None:
    """121 of a GPU run on an H100 and not on an A100; without a machine they are a note."""
    ring = load_topology("ring:nodes=4")
    right = exported(generate(ring).schedule)
    idle = replace(right.gpus[0].threadblocks[0], send=-1, receive=-1, instructions=())
    gpu = right.gpus[0]
    many = (*gpu.threadblocks, *(idle,) * (121 - len(gpu.threadblocks)))
    file = replace(right, gpus=(replace(gpu, threadblocks=many), *right.gpus[1:]))
    found = {name: score(file, ring, machine=THREADBLOCK_RATES[name]) for name in ("a100", "h100")}
    assert score(file, ring).findings.is_right
    assert found["h100"].threadblock is not None
    assert (
        found["a100"].measurement is found["a100"].threadblock is found["a100"].algbw_gb_s is None
    )
    assert any("at most 108 for" in one.message for one in found["a100"].findings.findings)
