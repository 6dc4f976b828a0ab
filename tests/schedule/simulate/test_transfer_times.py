"""Timelines: closed forms of chains, what starts when, and the bandwidths that they respect."""

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate, load_topology
from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import AlphaBeta, Simulator, Timeline, write_timeline
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology

GB = 10**9
MODELS: list[dict[str, Any]] = [
    {},
    {"sharing": "fifo"},
    {"priority": "critical-path"},
    {"window": 2, "chunk_cost_us": 1, "message_cost_us": 2},
    {"window": "unlimited", "sharing": "fifo", "gamma_s_per_gb": "1/100"},
    {"window": 3, "priority": "critical-path", "gamma_s_per_gb": "1/100"},
]


def chain(hops: int) -> Program:
    """A broadcast along a line of links of 1 GB/s."""
    links = ", ".join(f"g{i} - g{i + 1}: 1" for i in range(hops))
    line = network_of(f"g0..{hops}", links, "line")
    return compile_program(generate(line, collective="broadcast", root=0).schedule)


def timed(program: Program, size: int, chunks: int, **model: Any) -> tuple[float, Timeline]:
    """Simulate; the makespan, and the timeline, which does not change it."""
    simulator = Simulator(program)
    found = simulator.run(size, AlphaBeta(**model), chunks, timeline=True)
    assert found.timeline is not None
    assert found.time_s == simulator.run(size, AlphaBeta(**model), chunks, events=True).time_s
    return found.time_s, found.timeline


@pytest.mark.parametrize("model", MODELS[:3], ids=str)
def test_a_chain_is_a_staircase(model: dict[str, Any]) -> None:
    """The slides' picture: hop h sends chunk p in round h + p, which takes alpha + T / c."""
    hops, chunks, alpha = 3, 4, 7e-6
    _, times = timed(chain(hops), GB, chunks, alpha_us=7, **model)
    due = np.add.outer(np.arange(hops), np.arange(chunks)) * (alpha + 1 / chunks)
    rows = times.row
    assert times.start_s[rows] == pytest.approx(due)
    assert times.flow_s[rows] == pytest.approx(due + alpha)
    assert times.arrival_s[rows] == pytest.approx(due + alpha + 1 / chunks)
    assert (times.end_s == times.arrival_s).all()
    assert times.pipeline_chunks == chunks


@pytest.mark.parametrize("sharing", ["fair", "fifo"])
def test_a_window_lets_chunks_wait_together(sharing: str) -> None:
    """Four chunks of 1 s behind a latency of 3 s, two at a time, over one link."""
    _, times = timed(chain(1), 4 * GB, 4, alpha_us=3 * 10**6, window=2, sharing=sharing)
    assert times.start_s[0] == pytest.approx([0, 0, 4, 5])
    assert times.flow_s[0] == pytest.approx([3, 4, 7, 8])
    assert times.arrival_s[0] == pytest.approx([4, 5, 8, 9])


def test_additions_end_after_the_arrival() -> None:
    """Of a reduction along two links, each in 1 s, with 1/4 s for each addition."""
    line = network_of("g0..2", "g0 - g1: 1, g1 - g2: 1", "line")
    program = compile_program(generate(line, collective="reduce", root=0).schedule)
    _, times = timed(program, GB, 1, alpha_us=0, gamma_s_per_gb="1/4")
    assert np.sort(times.arrival_s[:, 0]) == pytest.approx([1, 2.25])
    assert np.sort(times.end_s[:, 0]) == pytest.approx([1.25, 2.5])


NETWORKS = [
    *(
        (load_topology("dgx_a100:boxes=2"), "allgather"),
        (load_topology("paper_example"), "allreduce"),
    ),
    *((random_topology(seed, KINDS[seed]), "allgather") for seed in (0, 1)),
]
PROGRAMS = [
    compile_program(generate(topology, collective=collective).schedule)
    for topology, collective in NETWORKS
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.topology.name)
def test_a_chunk_is_sent_once_it_arrived(program: Program, model: dict[str, Any]) -> None:
    """It starts at the latest end of its dependencies and of its chunk a window before.

    The chain that ends last has no gaps, so its times add up to the makespan.
    """
    chunks = 5
    time_s, times = timed(program, 10**6, chunks, **model)
    window = AlphaBeta(**model).window_of(chunks)
    for transfer in range(program.num_transfers):
        row = times.row[transfer]
        own = np.concatenate([np.zeros(window), times.end_s[row]])[:chunks]
        needs = times.row[program.dependencies(transfer)]
        assert (times.start_s[row] == np.vstack([own, times.end_s[needs]]).max(axis=0)).all()
    assert (times.start_s < times.flow_s).all()
    assert (times.flow_s < times.arrival_s).all()
    path = times.last_chain(program)
    assert [times.end_s[one] for one in path[:-1]] == [times.start_s[one] for one in path[1:]]
    spans = [times.end_s[one] - times.start_s[one] for one in path]
    assert sum(spans) == pytest.approx(time_s, rel=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.topology.name)
@pytest.mark.each_value_once
def test_no_link_carries_more_than_its_bandwidth(program: Program, model: dict[str, Any]) -> None:
    """What is sent and arrives between two times fits into them, on each link, for all times."""
    chunks, size = 3, 10**7
    _, times = timed(program, size, chunks, **model)
    over: dict[tuple[int, int], list[int]] = {}
    for transfer in range(program.num_transfers):
        for link in pairwise(program.paths.nodes(int(program.path[transfer]))):
            over.setdefault(link, []).append(transfer)
    for link, users in over.items():
        rate = float(program.topology.link_between[link].bandwidth_gb_s) * GB
        rows = times.row[users]
        amount = np.repeat(program.amount[users] / program.chunks.whole * size / chunks, chunks)
        begin, end = times.flow_s[rows].ravel(), times.arrival_s[rows].ravel()
        order = np.argsort(end)
        for since in np.unique(begin):
            inside = np.where(begin[order] >= since, amount[order], 0).cumsum()
            room = rate * np.maximum(end[order] - since, 0)
            assert (inside <= room * (1 + 1e-6)).all()


def test_the_file_has_a_line_for_each_transfer_and_chunk(tmp_path: Path) -> None:
    """Two hops in two chunks; half a second each."""
    program = chain(2)
    _, times = timed(program, GB, 2, alpha_us=0)
    write_timeline(times, program, GB, tmp_path / "times.csv")
    with (tmp_path / "times.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["sender"], line["receiver"], line["pipeline_chunk"]) for line in lines] == [
        *(("g0", "g1", "0"), ("g0", "g1", "1"), ("g1", "g2", "0"), ("g1", "g2", "1")),
    ]
    assert {(line["data_of"], line["bytes"]) for line in lines} == {("g0", "500000000")}
    ends = [float(line["end_s"]) for line in lines]
    assert ends == pytest.approx([0.5, 1, 1, 1.5])
    assert [float(line["start_s"]) for line in lines] == pytest.approx([0, 0.5, 0.5, 1])


def test_too_many_times_are_refused(tmp_path: Path) -> None:
    """Two million: of all rows and pipeline chunks in memory, of all transfers in a file."""
    program = compile_program(generate("dgx_a100:boxes=2").schedule)
    simulator = Simulator(program)
    with pytest.raises(InvalidParameterError, match="it may have 2000000, so ask for fewer"):
        simulator.run(GB, AlphaBeta(sharing="fifo"), 2**13, timeline=True)
    found = simulator.run(GB, AlphaBeta(), 2**13, timeline=True)
    assert found.timeline is not None
    with pytest.raises(ExportError, match="more than 2000000 lines"):
        write_timeline(found.timeline, program, GB, tmp_path / "times.csv")
    assert not list(tmp_path.iterdir())


def test_where_nothing_moves_there_is_none() -> None:
    alone = compile_program(generate(network_of("alone", "", "one")).schedule)
    assert Simulator(alone).run(GB, timeline=True).timeline is None
