"""Transfers divided over the paths of their links, and the paths of two schedules together."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import VerificationError
from forestcoll.schedule import Chunks, Path, Routes, Send, Sends, StepSchedule, lockstep
from forestcoll.schedule.clock import timed
from forestcoll.schedule.sends import TimedSend
from forestcoll.schedule.transform.single_paths import along_paths, links_of, united
from forestcoll.topology import load_topology
from tests.schedule.made.programs import check, rows
from tests.schedule.transform.schedules import on_spines


def test_a_transfer_is_cut_in_proportion_to_its_paths() -> None:
    """One unit over two paths of 1 : 2 is three units, a and two of them."""
    net = load_topology("fat_tree:leaves=2,hosts=1,spines=2")
    (gpu, far), (leaf, other, one, two) = net.compute, net.switches
    ways = [(gpu, leaf, spine, other, far) for spine in (one, two)]
    routes = Routes.from_paths({(0, 1): (Path(ways[0], 1), Path(ways[1], 2))})
    sends = Sends.of([Send(0, 0, 0, 1)])
    schedule = StepSchedule(net, "by hand", "broadcast", Chunks.equal([0], 1), sends, routes)
    program = check(schedule)
    assert rows(program) == [(0, 0, 1, 0, 1), (0, 1, 2, 0, 1)]
    assert [program.paths.nodes(path) for path in program.path.tolist()] == ways
    assert program.chunks.whole == 3


def test_transfers_without_a_path_are_refused() -> None:
    """They are charged to no other link."""
    schedule = lockstep(generate(load_topology("ring:nodes=4")).schedule)
    for head in (schedule.sends.head * 0 + 2, schedule.sends.tail):
        with pytest.raises(VerificationError, match="have no path for one of its transfers"):
            compile_program(replace(schedule, sends=replace(schedule.sends, head=head)))


def two_of_three() -> tuple[Routes, Routes]:
    """Link 0 -> 1 in halves of 2 : 4 here, 1 : 2 there; 1 -> 0 in one way here, in two there."""
    near, far = (0, 2, 1), (0, 3, 1)
    one = {(0, 1): (Path(near, 2), Path(far, 4)), (1, 0): (Path(near[::-1], 5),)}
    other = {
        (0, 1): (Path(far, 2), Path(near, 1)),
        (1, 0): (Path(near[::-1], 1), Path(far[::-1], 1)),
        (1, 4): (Path((1, 4), 7),),
    }
    return Routes.from_paths(one), Routes.from_paths(other)


def test_links_that_are_divided_alike_stay_divided() -> None:
    """2 : 4 is 1 : 2 in another order; a link of one schedule alone is as there."""
    union = united(*two_of_three())
    paths = union.routes.paths()
    assert [(path.nodes, path.multiplicity) for path in paths[0, 1]] == [
        ((0, 2, 1), 2),
        ((0, 3, 1), 4),
    ]
    assert paths[1, 4] == (Path((1, 4), 7),)
    assert [flags.tolist() for flags in union.differ] == [[False, True], [False, True, False]]


def test_links_that_are_divided_differently_have_each_path_once() -> None:
    """And whoever names a path finds it at the returned place."""
    one, other = two_of_three()
    union = united(one, other)
    assert union.routes.paths()[1, 0] == (Path((1, 2, 0), 1), Path((1, 3, 0), 1))
    flat = [path.nodes for some in union.routes.paths().values() for path in some]
    for routes, numbers in zip((one, other), union.numbers, strict=True):
        mine = [path.nodes for some in routes.paths().values() for path in some]
        assert [flat[number] for number in numbers.tolist()] == mine


def test_every_part_has_its_share_and_its_message() -> None:
    """Six units over 1 : 2 are two and four; a transfer that names its path keeps all of it.

    Parts of a message differ in their paths, and keep its times.
    """
    net, ways = on_spines()
    near, far = ways[0, 1]
    sends, clock = timed(
        [
            TimedSend(0, 9, 0, 0, 1, first=0, amount=6, left=7, message=0),
            TimedSend(0, 9, 0, 0, 1, first=6, amount=6, left=7, message=0),
            TimedSend(3, 8, 1, 0, 1, first=0, amount=12, left=6, path=1),
        ],
        1000,
    )
    routes = Routes.from_paths({(0, 1): (Path(near, 1), Path(far, 2))})
    chunks = Chunks.equal([0, 0], 24, size=12)
    made = StepSchedule(net, "by hand", "broadcast", chunks, sends, routes, clock)
    assert links_of(made).tolist() == [0, 0, 0]
    cut = along_paths(made)
    assert cut.intervals.first.tolist() == [0, 2, 6, 8, 0]
    assert cut.intervals.amount.tolist() == [2, 4, 2, 4, 12]
    assert cut.sends.paths.tolist() == [0, 1, 0, 1, 1]
    assert cut.clock is not None
    assert cut.clock.left is not None
    assert cut.clock.message is not None
    assert cut.clock.message.tolist() == [0, 1, 0, 1, -1]
    assert cut.clock.left.tolist() == [7, 7, 7, 7, 6]
    assert along_paths(cut) is cut
    assert along_paths(made, np.array([False])) is made
