"""Transfers through switches that copy, by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.runtimes.scoring.least_hops import paths_between
from forestcoll.runtimes.scoring.peer_score import score_transfers
from forestcoll.runtimes.scoring.peers.switch_copies import cut_at_copying_switches
from forestcoll.schedule import Sends, verify
from forestcoll.schedule.sends import Send
from forestcoll.topology import Topology
from tests.hand_networks import network_of
from tests.runtimes.scoring.peer_documents import teccl, teccl_all_to_all, teccl_allgather


def copying(*names: str, wide: int = 2) -> Topology:
    """GPUs a and b at switch s, c at t; of s and t those named copy."""
    switches = " ".join(f"[{name}{'*' * (name in names)}]" for name in "st")
    return network_of(f"a b c {switches}", f"a b t - s: {wide}, t - c: {wide}", "two switches")


def cut(topology: Topology, *rows: Send) -> tuple[list[tuple[int, ...]], int]:
    sends = Sends.of(rows)
    through = sends.tail >= 0
    pairs = list(zip(sends.tail.tolist(), sends.head.tolist(), strict=True))
    found, left, _, links = cut_at_copying_switches(
        topology, sends, through, paths_between(topology, pairs, through=True)
    )
    assert left.sum() == len(found) - sum(
        (tail, head) in links for tail, head in zip(found.tail, found.head, strict=True)
    )
    return sorted(zip(found.step, found.chunk, found.tail, found.head, strict=True)), len(links)


def test_what_goes_to_two_goes_to_the_switch_once() -> None:
    """Ends 3 and 4 are s and t. From a to b and c in a step: a-s, s-b, s-t, t-c."""
    rows = (Send(0, 0, 0, 1), Send(0, 0, 0, 2))
    assert cut(copying("s", "t"), *rows) == (
        [(0, 0, 0, 3), (0, 0, 3, 1), (0, 0, 3, 4), (0, 0, 4, 2)],
        4,
    )


def test_in_two_steps_or_of_two_chunks_it_goes_twice() -> None:
    for rows in ((Send(0, 0, 0, 1), Send(1, 0, 0, 2)), (Send(0, 0, 0, 1), Send(0, 1, 0, 2))):
        found, _ = cut(copying("s", "t"), *rows)
        assert len(found) == 5


def test_a_path_with_a_switch_that_does_not_copy_is_left_whole() -> None:
    """From a to c over t, too; from a to b over s alone."""
    rows = (Send(0, 0, 0, 1), Send(0, 0, 0, 2))
    assert cut(copying("s"), *rows) == ([(0, 0, 0, 2), (0, 0, 0, 3), (0, 0, 3, 1)], 2)
    assert cut(copying(), *rows) == ([(0, 0, 0, 1), (0, 0, 0, 2)], 0)


SENTENCES = [
    f"Chunk 0 from {s} traveled over {s}->{t} in epoch 0 via switches 0"
    for s in (1, 2, 3)
    for t in (1, 2, 3)
    if s != t
]


@pytest.mark.parametrize(("names", "link"), [((), 2), (("s", "t"), 1)])
def test_an_allgather_through_switches_that_copy(names: tuple[str, ...], link: int) -> None:
    """Shards of 1/3: a sends two, or one and it is copied; c gets two at 2 GB/s in any case."""
    topology = copying(*names)
    found = score_transfers(teccl(teccl_allgather(SENTENCES)), topology)
    assert found.wrong is None
    verify(found.schedule)
    loads = {
        topology.nodes[e.tail].name + topology.nodes[e.head].name: load
        for e, load in zip(topology.links, found.measurement.loads, strict=True)
    }
    assert loads["as"] == Fraction(link, 3)
    assert loads["tc"] == loads["st"] == Fraction(2, 3)
    assert (found.measurement.algbw_gb_s, found.measurement.share) == (3, 1)


def test_a_chunk_that_comes_twice_is_found_behind_a_switch_too() -> None:
    twice = [*SENTENCES, "Chunk 0 from 1 traveled over 2->3 in epoch 1 via switches 0"]
    found = score_transfers(teccl(teccl_allgather(twice)), copying("s", "t"))
    assert found.wrong is not None
    assert "t -> c: c has that already or gets it twice" in found.wrong


def test_an_all_to_all_is_not_copied() -> None:
    demands = {
        (s, t, t): [[f"{s}->{t} with volume 1.0 in epoch 0 via switches 0"]]
        for s in (1, 2, 3)
        for t in (1, 2, 3)
        if s != t
    }
    plain, marked = (
        score_transfers(teccl(teccl_all_to_all(demands)), topology)
        for topology in (copying(), copying("s", "t"))
    )
    assert replace(plain.measurement, bound=None) == replace(marked.measurement, bound=None)
