"""Sums with one way to go: what is complete, where, since when; and what is not one way."""

import numpy as np
import pytest

from forestcoll.schedule import Chunks, Send, StepSchedule, verify
from forestcoll.schedule.verification.steps.one_way import held_sums, problem_of_sums
from forestcoll.schedule.verification.steps.transfers import rows_of
from forestcoll.topology import load_topology
from tests.hand_networks import network_of
from tests.schedule.made.programs import by_hand, line


def problem(made: StepSchedule) -> str | None:
    return problem_of_sums(rows_of(made), np.flatnonzero(made.sends.reduce))


def reduce_along(*sends: Send, collective: str = "reduce", root: int = 0) -> StepSchedule:
    """Two units among three GPUs, all joined."""
    net = load_topology("complete:nodes=3")
    return by_hand(net, collective, Chunks.equal([root], 2, size=2), list(sends))


def test_a_chain_brings_all_to_its_root() -> None:
    """2 -> 1 -> 0, each after what it has to wait for: complete at 0 after two steps."""
    made = by_hand(
        line(3),
        "reduce",
        Chunks.equal([0], 1),
        [Send(0, 0, 2, 1, reduce=True), Send(1, 0, 1, 0, reduce=True)],
    )
    assert problem(made) is None
    held = held_sums(rows_of(made), np.arange(2))
    columns = (held.chunk, held.at, held.first, held.end, held.since)
    assert [column.tolist() for column in columns] == [[0], [0], [0], [1], [2]]


def test_sums_of_an_allreduce_are_complete_at_their_last_gpu() -> None:
    """Unit 0 stays at GPU 0, unit 1 at GPU 1; the second has one sum more to wait for."""
    made = reduce_along(
        Send(0, 0, 1, 0, True, first=0, amount=1),
        Send(0, 0, 2, 0, True, first=0, amount=1),
        Send(0, 0, 2, 0, True, first=1, amount=1),
        Send(1, 0, 0, 1, True, first=1, amount=1),
        collective="allreduce",
        root=-1,
    )
    assert problem(made) is None
    held = held_sums(rows_of(made), np.arange(4))
    found = zip(
        held.at.tolist(), held.first.tolist(), held.end.tolist(), held.since.tolist(), strict=True
    )
    assert sorted(found) == [(0, 0, 1, 1), (1, 1, 2, 2)]


@pytest.mark.parametrize(
    ("sends", "message"),
    [
        (
            [Send(0, 0, 1, 0, True), Send(0, 0, 1, 2, True), Send(1, 0, 2, 0, True)],
            "gpu1 sends its sum twice",
        ),
        ([Send(0, 0, 1, 0, True)], "chunk 0: not all GPUs send their part"),
        (
            [
                Send(0, 0, 1, 0, True, first=0, amount=2),
                Send(0, 0, 2, 0, True, first=0, amount=1),
            ],
            "the sum at gpu0 lacks the contribution of gpu2",
        ),
        (
            [Send(0, 0, 1, 0, True), Send(0, 0, 2, 0, True), Send(1, 0, 0, 1, True)],
            "step 1, chunk 0, gpu0 -> gpu1: the root sends its sum on",
        ),
        (
            [Send(0, 0, 1, 0, True), Send(0, 0, 2, 1, True)],
            "gpu1 sends its sum before this is added to it",
        ),
    ],
)
def test_violations_of_one_way_are_named(sends: list[Send], message: str) -> None:
    """Twice, never, in part, on from the root, or too late."""
    found = problem(reduce_along(*sends))
    assert found is not None
    assert message in found


def test_two_gpus_may_not_both_keep_a_sum() -> None:
    """In an allreduce all but one send on; who sums otherwise is left to the slow check."""
    swaps = [Send(0, 0, 0, 1, True), Send(0, 0, 1, 0, True)]
    pair = by_hand(line(2), "allreduce", Chunks.equal([-1], 1), swaps)
    found = problem(pair)
    assert found == "chunk 0: 2 of 2 GPUs send their sum on; it must be all but one"
    assert verify(pair).collective == "allreduce"


def test_an_allreduce_without_sent_sums_is_not_one_way() -> None:
    """Three GPUs, of which two should send on, and a copy only."""
    made = reduce_along(Send(0, 0, 0, 1), collective="allreduce", root=-1)
    assert problem(made) == "chunk 0: 0 of 3 GPUs send their sum on; it must be all but one"


@pytest.mark.parametrize("short", [0, 1])
def test_the_chunk_with_an_unsent_unit_is_named(short: int) -> None:
    """Two chunks of two units to roots 0 and 1; of one of them GPU 2 sends its first unit only."""
    net = load_topology("complete:nodes=3")
    sends = [
        Send(0, root, v, root, True, first=0, amount=1 if (root, v) == (short, 2) else 2)
        for root in (0, 1)
        for v in range(3)
        if v != root
    ]
    made = by_hand(net, "reduce-scatter", Chunks.equal([0, 1], 4, size=2), sends)
    found = problem(made)
    assert found is not None
    assert f"chunk {short}: the sum at gpu{short} lacks the contribution of gpu2" in found


def test_a_switch_that_forwards_nothing_is_named() -> None:
    """GPUs 1 and 2 send their parts to a switch that stores, end 3; it sends none to GPU 0."""
    star = network_of("[w*+] a b c", "w - a b c", "star")
    sends = [Send(0, 0, 1, 3, True), Send(0, 0, 2, 3, True)]
    found = problem(by_hand(star, "reduce", Chunks.equal([0], 1), sends))
    assert found is not None
    assert found.endswith("w does not send it on")
