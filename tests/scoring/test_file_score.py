"""What a runtime's file is worth on a network: our own files have the algbw of their schedules."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from baselines.registry import METHODS
from forestcoll import generate
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.lowering import lower
from forestcoll.schedule import cost
from forestcoll.schedule.export import export
from forestcoll.schedule.msccl import Algorithm, parse_algorithm
from forestcoll.scoring.file_score import score
from forestcoll.topology import load_topology
from tests.random_topologies import KINDS, random_topology

UNIQUE = ("dgx_a100:boxes=2", "ring:nodes=5", "torus:dims=3x3", "hypercube:dimension=3")
"""Where there is one path of fewest links from GPU to GPU, by the widest links."""


def exported(schedule: Any) -> Algorithm:
    return parse_algorithm(export(lower(schedule), "msccl", {}).text).algorithm


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "broadcast", "reduce"])
@pytest.mark.parametrize("name", UNIQUE)
def test_a_file_of_an_optimal_schedule_is_at_the_optimum(name: str, collective: str) -> None:
    """Exactly, and every link carries what it does in the schedule."""
    topology = load_topology(name)
    root = 1 if collective in ("broadcast", "reduce") else None
    schedule = generate(topology, collective=collective, root=root)
    found, taken = score(exported(schedule), topology, root=root), cost(schedule)
    assert found.findings.is_right
    assert found.algbw_gb_s == taken.algbw_gb_s == found.at_most_gb_s
    assert found.share_of_optimum == 1
    assert list(found.loads) == [Fraction(load, taken.whole) for load in taken.loads]
    assert found.busiest_link == taken.busiest_link


@pytest.mark.parametrize("name", UNIQUE)
def test_a_file_of_an_allreduce_has_its_algbw_and_no_share(name: str) -> None:
    topology = load_topology(name)
    schedule = generate(topology, collective="allreduce")
    found = score(exported(schedule), topology)
    assert found.algbw_gb_s == schedule.algbw_gb_s <= found.rooted_at_most_gb_s
    assert found.share_of_optimum is None


@pytest.mark.parametrize("method", ["ring", "direct", "bruck", "recursive-halving-doubling"])
@pytest.mark.parametrize("name", ["dgx_a100:boxes=2", "dgx_h100:boxes=1"])
def test_files_of_peers_are_not_above_the_optimum(name: str, method: str) -> None:
    """And have the algbw of their schedules, whose switches offer one path."""
    topology = load_topology(name)
    schedule = METHODS[method].run(topology, "allgather")
    found = score(exported(schedule), topology)
    assert found.algbw_gb_s == cost(schedule).algbw_gb_s
    assert 0 < found.share_of_optimum <= 1


@pytest.mark.parametrize("seed", range(12))
def test_files_on_random_networks_are_not_above_the_optimum(seed: int) -> None:
    """Whatever paths the schedule itself takes there."""
    topology = random_topology(seed, KINDS[seed % len(KINDS)])
    found = score(exported(generate(topology)), topology)
    assert found.findings.is_right
    assert 0 < found.share_of_optimum <= 1


def test_the_root_of_a_broadcast_is_the_gpu_that_receives_nothing() -> None:
    """On a star whose links differ the bound is that of the root, which need not be told."""
    topology = load_topology("dgx_a100:boxes=2").scaled("b0.gpu3 - *", "1/2")
    for root in (3, 4):
        file = exported(generate(topology, collective="broadcast", root=root))
        told, found = score(file, topology, root=root), score(file, topology)
        assert told.at_most_gb_s == found.at_most_gb_s
        assert found.share_of_optimum == 1


def test_a_wrong_file_has_findings_and_no_score() -> None:
    ring = load_topology("ring:nodes=4")
    right = exported(generate(ring))
    gpu = right.gpus[0]
    block = next(one for one in gpu.threadblocks if one.send >= 0)
    number = gpu.threadblocks.index(block)
    torn = replace(block, instructions=block.instructions[:-1])
    blocks = (*gpu.threadblocks[:number], torn, *gpu.threadblocks[number + 1 :])
    found = score(replace(right, gpus=(replace(gpu, threadblocks=blocks), *right.gpus[1:])), ring)
    assert not found.findings.is_right
    assert (found.algbw_gb_s, found.at_most_gb_s, found.loads) == (None, None, ())


def test_a_slower_network_for_the_same_file_is_told() -> None:
    """A link at half its bandwidth halves a file that fills it; the optimum falls by less."""
    ring = load_topology("ring:nodes=4")
    slow = ring.scaled("gpu0 - gpu1", "1/2")
    file = exported(generate(ring))
    assert score(file, slow).algbw_gb_s == score(file, ring).algbw_gb_s / 2
    assert Fraction(1, 2) < score(file, slow).share_of_optimum < 1


def test_what_cannot_be_scored_is_refused() -> None:
    """Another number of GPUs; an all-to-all; GPUs that only others join."""
    file = exported(generate(load_topology("ring:nodes=4")))
    with pytest.raises(InvalidParameterError, match="is for 4 GPUs, and ring:nodes=5 has 5"):
        score(file, load_topology("ring:nodes=5"))
    with pytest.raises(UnsupportedError, match="an all-to-all is not scored"):
        score(replace(file, collective="alltoall"), load_topology("ring:nodes=4"))
    direct = exported(METHODS["direct"].run(load_topology("complete:nodes=4"), "allgather"))
    with pytest.raises(UnsupportedError, match="through switches alone"):
        score(direct, load_topology("ring:nodes=4"))
