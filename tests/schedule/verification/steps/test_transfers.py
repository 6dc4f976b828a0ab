"""Transfers as checks read them: what, from where, when, and what they are called."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll.schedule import Chunks, Send
from forestcoll.schedule.verification.steps.transfers import (
    keeping_ends,
    rows_of,
    send_name,
    too_few,
)
from forestcoll.topology import group, load_topology
from tests.hand_networks import network_of
from tests.schedule.literals import LITERALS
from tests.schedule.made.programs import by_hand, line
from tests.schedule.made.steps import relay


def test_times_are_those_of_the_clock_or_steps() -> None:
    """3 us for each hop; without a clock a transfer of step s is there in step s + 1."""
    timed = rows_of(relay())
    assert (timed.start.tolist(), timed.finish.tolist()) == ([0, 3], [3, 6])
    stepwise = rows_of(replace(relay(), clock=None))
    assert (stepwise.start.tolist(), stepwise.finish.tolist()) == ([0, 1], [1, 2])
    assert (stepwise.ends, stepwise.gpus) == (3, 3)


def test_cells_are_chunks_at_ends() -> None:
    """Chunk 1 from 0 to 2 of three GPUs: cells 3 and 5."""
    sends = [Send(0, 0, 1, 0), Send(0, 1, 0, 2)]
    rows = rows_of(
        by_hand(load_topology("complete:nodes=3"), "reduce", Chunks.equal([0, 2], 2), sends)
    )
    assert rows.at_tail(np.array([0, 1])).tolist() == [1, 3]
    assert rows.at_head(np.array([1])).tolist() == [5]


def test_places_that_need_too_many_bits_are_renumbered() -> None:
    """Of 2^62 units, three places are asked for: 0, the middle, and the end."""
    half = 2**61
    sends = [Send(0, 0, 0, 1, first=0, amount=half), Send(0, 0, 0, 1, first=half, amount=half)]
    rows = rows_of(by_hand(line(2), "broadcast", Chunks.equal([0], 2 * half, 2 * half), sends))
    assert (rows.first.tolist(), rows.end.tolist()) == ([0, 1], [1, 2])
    assert (rows.size.tolist(), rows.span) == ([2], 3)


def test_gpus_and_switches_that_copy_and_store_keep_chunks() -> None:
    """A relay does not, nor does a switch with one mark only."""
    net = group(
        network_of(
            "[none] a b c [copies*] [stores+] [both*+]", "a b c - none copies stores both", "marks"
        ),
        ["a", "c"],
    )
    names = [net.nodes[position].name for position in net.ends]
    keeps = dict(zip(names, keeping_ends(net).tolist(), strict=True))
    assert keeps == {
        "a": True,
        "c": True,
        "b": False,
        "none": False,
        "copies": False,
        "stores": False,
        "both": True,
    }


def test_a_chunk_in_too_few_places_is_found_first() -> None:
    """Cells of switches do not count, and the same one counts once."""
    rows = rows_of(LITERALS["TE-CCL, multicast switch"].make())  # 3 GPUs, the switch is end 3
    cells = np.array([0, 1, 2, 4, 5, 5, 7, 8, 9, 10, 11])  # of 4 ends: chunk 1 at 0, 1, 3
    assert too_few(rows, cells, 2) is None
    assert too_few(rows, cells, 3) == 1
    assert too_few(rows, cells[cells < 4], 1) == 1


@pytest.mark.parametrize(
    ("send", "name"),
    [
        (Send(0, 0, 0, 1, first=0, amount=6), "step 0, chunk 0, gpu0 -> gpu1"),
        (Send(0, 0, 0, 1, first=2, amount=3), "step 0, chunk 0 from unit 2 to 5, gpu0 -> gpu1"),
        (Send(0, 0, 0, 1), "step 0, chunk 0, gpu0 -> gpu1"),
    ],
)
def test_parts_of_chunks_are_named_by_units(send: Send, name: str) -> None:
    """All of a chunk is called by the chunk, whether it is written out or not."""
    made = by_hand(line(2), "broadcast", Chunks.equal([0], 6, size=6), [send])
    assert send_name(made, 0) == name


def test_a_transfer_is_named_by_step_chunk_units_and_ends() -> None:
    """All units of a chunk need no mention; some are said from the first to behind the last."""
    net = load_topology("complete:nodes=3")
    sends = [Send(0, 0, 0, 1, first=0, amount=2), Send(1, 0, 1, 2, first=1, amount=1)]
    made = by_hand(net, "broadcast", Chunks.equal([0], 2, size=2), sends)
    assert send_name(made, 0) == "step 0, chunk 0, gpu0 -> gpu1"
    assert send_name(made, 1) == "step 1, chunk 0 from unit 1 to 2, gpu1 -> gpu2"


def test_gpus_and_storing_multicast_switches_are_keeping_ends() -> None:
    """Ends are the GPUs and then the others."""
    assert keeping_ends(
        network_of("gpu [plain] [copies*] [stores*+]", "gpu - plain copies stores", "ends")
    ).tolist() == [True, False, False, True]


def test_chunks_in_too_few_gpus_are_found_without_counting_switches() -> None:
    """Three GPUs and a switch, whose end is 3; chunk 1 is at GPU 0, twice, and at the switch."""
    star = network_of("[w] a b c", "w - a b c", "star")
    made = by_hand(star, "broadcast", Chunks.equal([0, 0], 2), [Send(0, 0, 0, 3)])
    rows = rows_of(made)
    cells = np.array([0, 1, 4, 4, 7])
    assert too_few(rows, cells, 1) is None
    assert too_few(rows, cells, 2) == 1
    assert too_few(rows, cells, 3) == 0
