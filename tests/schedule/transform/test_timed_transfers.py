"""Schedules of every kind as transfers over one path each."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule import Allreduce, Chunks, FlowSchedule, Path, Routes, Send
from forestcoll.schedule.clock import timed
from forestcoll.schedule.sends import TimedSend
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.schedule.transform.timed_transfers import (
    Plan,
    in_windows,
    of_forest,
    of_multicast,
    of_steps,
    refined,
)
from forestcoll.topology import load_topology
from tests.schedule.made.hand import star3
from tests.schedule.made.programs import by_hand, check, line
from tests.schedule.made.run_program import delivers
from tests.schedule.mutations_of.multicast import star as multicast_star


def test_whole_trees_fill_paths_in_order() -> None:
    """Of two trees over a link and two paths each takes one; of three, the second takes both."""
    net = load_topology("fat_tree:leaves=2,hosts=1,spines=2")
    forest = generate(net).schedule
    program = check(forest)
    for tail in range(2):
        mine = program.tail == tail
        nodes = [program.paths.nodes(path) for path in program.path[mine].tolist()]
        assert len(set(nodes)) == len(nodes) == 2
        assert program.amount[mine].tolist() == [program.chunks.size[tail] // 2] * 2


def test_trees_without_paths_are_refused() -> None:
    """A forest that is not right cannot be followed."""
    forest = generate(load_topology("ring:nodes=4")).schedule
    more = replace(forest.routes, multiplicity=forest.routes.multiplicity + 1)
    with pytest.raises(VerificationError, match="not as many paths as trees"):
        compile_program(replace(forest, routes=more))


def test_numbers_beyond_64_bits_are_refused() -> None:
    """Pipeline chunks of what is as fine as numbers go; phases that share no data."""
    fine = Chunks.equal([0], 2**62 + 1, 2**62 + 1)
    schedule = by_hand(line(2), "broadcast", fine, [Send(0, 0, 0, 1)])
    check(schedule)
    with pytest.raises(UnsupportedError, match="more than 64-bit numbers count"):
        compile_program(schedule, pipeline_chunks=2)
    net = line(3)
    reduce = generate(net, collective="reduce", root=0).schedule
    gather = generate(net, collective="broadcast", root=1).schedule
    with pytest.raises(UnsupportedError, match="different weights"):
        compile_program(Allreduce(reduce, gather))


def test_a_clock_gives_start_times_and_messages() -> None:
    """Messages hold together window by window; what is not in one is alone."""
    net = load_topology("complete:nodes=2")
    sends, clock = timed(
        [
            TimedSend(1, 3, 0, 0, 1, first=0, amount=2, message=4),
            TimedSend(1, 3, 0, 0, 1, first=2, amount=2, message=4),
            TimedSend(0, 2, 1, 1, 0, first=0, amount=4),
        ],
        4000,
    )
    base = by_hand(
        net, "allgather", Chunks.equal([0, 1], 8, 4), [Send(0, 0, 0, 1), Send(0, 1, 1, 0)]
    )
    schedule = replace(base, sends=sends, clock=clock)
    program = compile_program(schedule)
    assert program.starts is not None
    assert (program.starts.size_bytes, program.starts.tick_us) == (4000, 1)
    assert program.starts.tick.tolist() == [0, 1, 1]
    assert program.message.tolist() == [-1, 0, 0]
    quarters = compile_program(schedule, pipeline_chunks=4)
    assert len(set(quarters.message.tolist()) - {-1}) == 4
    assert (quarters.message == -1).sum() == 4


def test_flows_stop_at_every_gpu() -> None:
    """Two GPUs of a ring of three, each over both ways round: the third stores and forwards.

    Of every pair's three units the first two go directly; the last one needs what brought it to
    the GPU between.
    """
    ring = load_topology("ring:nodes=3")
    paths = {
        (a, b): (Path((a, b), 2), Path((a, 3 - a - b, b), 1))
        for a in range(3)
        for b in range(3)
        if a != b
    }
    program = check(FlowSchedule(ring, "by hand", 3, Routes.from_paths(paths)))
    assert delivers(program)
    assert sorted(program.first.tolist()) == [0] * 6 + [2] * 12
    assert program.step.tolist() == [0] * 12 + [1] * 6
    assert [program.dependencies(one).tolist() for one in range(12)] == [[]] * 12
    for one in range(12, 18):
        (before,) = program.dependencies(one).tolist()
        assert program.chunk[one] == program.chunk[before]
        assert (program.tail[one], program.first[one]) == (program.head[before], 2)
    lengths = np.diff(program.paths.first_node)[program.path]
    assert lengths.tolist() == [2] * 18  # every path is one link
    check(FlowSchedule(ring, "by hand", 3, Routes.from_paths(paths)), pipeline_chunks=2)


def columns(plan: Plan) -> list[tuple[int, ...]]:
    """Chunk, first unit, amount, ends, start of every transfer."""
    transfers = plan.transfers
    table = (
        transfers.chunk,
        transfers.first,
        transfers.amount,
        transfers.tail,
        transfers.head,
        transfers.start,
    )
    return list(zip(*(column.tolist() for column in table), strict=True))


def test_a_tree_goes_hop_by_hop() -> None:
    """The star's chains r -> r + 1 -> r + 2, each edge over one path, first hops first."""
    plan = of_forest(star3())
    assert sorted(columns(plan)) == sorted(
        [(r, 0, 1, r, (r + 1) % 3, 0) for r in range(3)]
        + [(r, 0, 1, (r + 1) % 3, (r + 2) % 3, 1) for r in range(3)]
    )
    assert (plan.chunks.whole, plan.chunks.root.tolist()) == (3, [0, 1, 2])
    ends = [
        plan.paths.nodes(path)[:: len(plan.paths.nodes(path)) - 1] for path in plan.transfers.path
    ]
    assert ends == list(zip(plan.transfers.tail, plan.transfers.head, strict=True))
    assert not plan.transfers.reduce.any()


def test_sums_go_from_the_leaves_to_the_root() -> None:
    """The same trees turned round: the last hop is the first, and all of it is added."""
    back = of_forest(transposed(star3(), star3().topology.reversed()))
    there = of_forest(star3())
    assert sorted(columns(back)) == sorted(
        (chunk, first, amount, head, tail, 1 - start)
        for chunk, first, amount, tail, head, start in columns(there)
    )
    assert back.transfers.reduce.all()


def test_copies_by_a_multicast_switch_are_sent_one_by_one() -> None:
    """Stars around w, which is end 4: each root sends once, and w to the three others."""
    plan = of_multicast(multicast_star())
    assert sorted(columns(plan)) == sorted(
        [(r, 0, 1, r, 4, 0) for r in range(4)]
        + [(r, 0, 1, 4, v, 1) for r in range(4) for v in range(4) if v != r]
    )
    sums = of_multicast(multicast_star(reduction=True))
    assert sorted(
        set(zip(sums.transfers.head.tolist(), sums.transfers.start.tolist(), strict=True))
    ) == [
        *((gpu, 1) for gpu in range(4)),
        (4, 0),
    ]


def test_smaller_units_make_larger_numbers() -> None:
    """A plan cut into three is the same plan, unless its numbers would not fit."""
    plan = of_forest(star3())
    finer = refined(plan, 3)
    assert (finer.chunks.whole, finer.chunks.size.tolist()) == (9, [3, 3, 3])
    assert columns(finer) == [(c, 3 * f, 3 * a, *rest) for c, f, a, *rest in columns(plan)]
    assert refined(plan, 1) is plan
    with pytest.raises(UnsupportedError, match=r"cut into \d+ parts, more than 64-bit numbers"):
        refined(plan, 2**63)


def test_windows_cut_transfers_at_their_borders() -> None:
    """A chunk of 6 in two windows: units 2 to 5 are one of 2 to 3 and one of 3 to 5."""
    net = load_topology("complete:nodes=2")
    sends = [Send(0, 0, 0, 1, first=2, amount=3), Send(0, 0, 0, 1, first=0, amount=2)]
    plan = of_steps(by_hand(net, "broadcast", Chunks.equal([0], 6, size=6), sends))
    assert [row[1:3] for row in columns(in_windows(plan, 2))] == [(0, 2), (2, 1), (3, 2)]
    quarters = in_windows(plan, 4)
    assert quarters.chunks.size.tolist() == [12]  # 6 is no multiple of 4: units of a half
    assert [row[1:3] for row in columns(quarters)] == [(0, 3), (3, 1), (4, 2), (6, 3), (9, 1)]


def test_more_trees_than_64_bits_count_are_refused() -> None:
    forest = replace(star3(), k=2**62)
    with pytest.raises(UnsupportedError, match="use a smaller k"):
        of_forest(forest)
