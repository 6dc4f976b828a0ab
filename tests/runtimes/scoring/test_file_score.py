"""What a runtime's file is worth on a network: our own files have the algbw of their schedules."""

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
    TimeLimitError,
    UnbalancedError,
    UnsupportedError,
)
from forestcoll.problem.limits import Limits
from forestcoll.runtimes.formats import export
from forestcoll.runtimes.msccl import Algorithm, parse_algorithm
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.runtimes.scoring.file_score import score
from forestcoll.runtimes.scoring.measurement import Measurement
from forestcoll.schedule import cost
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology

UNIQUE = ("dgx_a100:boxes=2", "ring:nodes=5", "torus:dims=3x3", "hypercube:dimension=3")
"""Where there is one path of fewest links from GPU to GPU, by the widest links."""


def exported(schedule: Any) -> Algorithm:
    return parse_algorithm(export(compile_program(schedule), MscclOptions()).text).algorithm


def pairs() -> Topology:
    """Two boxes of two GPUs, 8 GB/s inside, a NIC of 1 GB/s for each GPU."""
    return network_of(
        "[ib] [b0.nvswitch]@0 b0.gpu0@0.0 b0.gpu1@0.1 [b1.nvswitch]@1 b1.gpu0@1.0 b1.gpu1@1.1",
        "b0.gpu0 b0.gpu1 - b0.nvswitch: 8, b0.gpu0 b0.gpu1 b1.gpu0 b1.gpu1 - ib, "
        "b1.gpu0 b1.gpu1 - b1.nvswitch: 8",
        "pairs",
    )


def worth(file: Algorithm, topology: Topology, root: int | None = None) -> Measurement:
    found = score(file, topology, root=root)
    assert found.findings.is_right
    assert found.measurement is not None
    return found.measurement


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "broadcast", "reduce"])
@pytest.mark.parametrize("name", UNIQUE)
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
def test_files_of_peers_are_not_above_the_optimum(name: str, method: str) -> None:
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


@pytest.mark.parametrize("collective", ["allreduce", "all-to-all"])
@pytest.mark.parametrize("name", NETWORKS)
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
    """On a star whose links differ the bound is that of the root, which need not be told."""
    topology = load_topology("dgx_a100:boxes=2").scaled("b0.gpu3 - *", "1/2")
    for root in (3, 4):
        file = exported(generate(topology, collective="broadcast", root=root).schedule)
        told, found = worth(file, topology, root), worth(file, topology)
        assert told.bound == found.bound
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


def test_a_slower_network_for_the_same_file_is_reported() -> None:
    """A link at half its bandwidth halves a file that fills it; the optimum falls by less."""
    ring = load_topology("ring:nodes=4")
    slow = ring.scaled("gpu0 - gpu1", "1/2")
    file = exported(generate(ring).schedule)
    assert worth(file, slow).algbw_gb_s == worth(file, ring).algbw_gb_s / 2
    assert Fraction(1, 2) < worth(file, slow).share < 1


def test_what_cannot_be_scored_is_refused() -> None:
    """Another number of GPUs; GPUs that only others join."""
    file = exported(generate(load_topology("ring:nodes=4")).schedule)
    with pytest.raises(InvalidParameterError, match="is for 4 GPUs, and ring:nodes=5 has 5"):
        score(file, load_topology("ring:nodes=5"))
    direct = exported(METHODS["direct"].run(load_topology("complete:nodes=4"), "allgather"))
    with pytest.raises(UnsupportedError, match="through switches alone"):
        score(direct, load_topology("ring:nodes=4"))
