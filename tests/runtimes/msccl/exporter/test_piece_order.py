"""One order for all, in chains."""

from itertools import pairwise

import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.msccl.exporter.piece_order import chained
from forestcoll.runtimes.transfer_pieces import pieces_of
from tests.random_topologies import random_topology
from tests.runtimes.msccl.exporter.drafts import down_a_line, swap, up_a_line


def test_a_path_is_one_chain() -> None:
    """Down and up alike."""
    assert down_a_line().chains == up_a_line().chains == [[0, 1]]


def test_independent_pieces_form_no_chain() -> None:
    assert swap().chains == [[0], [1]]


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.each_value_once
def test_pieces_appear_once_and_after_their_dependencies(seed: int, collective: str) -> None:
    """Within a chain each is sent on from where the one before has come to."""
    topology = random_topology(seed, "directed")
    pieces = pieces_of(compile_program(generate(topology, collective=collective).schedule))
    chains = chained(pieces)
    order = [piece for chain in chains for piece in chain]
    place = {piece: when for when, piece in enumerate(order)}
    assert sorted(order) == list(range(len(pieces)))
    assert all(place[need] < place[p] for p in order for need in pieces[p].needs)
    for chain in chains:
        for one, other in pairwise(chain):
            assert pieces[one].head == pieces[other].tail
            assert one in pieces[other].needs
