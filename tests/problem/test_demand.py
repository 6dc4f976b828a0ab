"""Demands as matrices and as chunks: what they hold, and what is refused."""

from typing import Any

import numpy as np
import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.demand import MOST_BYTES, Demand, DemandedChunk


def test_a_matrix_is_a_chunk_for_each_amount() -> None:
    """Three GPUs: 0 has 5 bytes for 1, 2 has 1 for each other; the diagonal does not count."""
    made = Demand.of_matrix([[9, 5, 0], [0, 9, 0], [1, 1, 9]], "three")
    assert [made.chunk(c) for c in range(made.num_chunks)] == [
        DemandedChunk(0, 5, (1,)),
        DemandedChunk(2, 1, (0,)),
        DemandedChunk(2, 1, (1,)),
    ]
    assert (made.name, made.gpus, made.bytes) == ("three", 3, 7)
    assert made.is_unicast
    assert not made.is_uniform
    assert made.matrix.tolist() == [[0, 5, 0], [0, 0, 0], [1, 1, 0]]


def test_a_chunk_for_several_counts_once_in_bytes_and_for_each_in_the_matrix() -> None:
    """A broadcast of 7 bytes by rank 1, itself named too, and 2 bytes from 0 to 2 twice."""
    made = Demand.of_chunks(3, [(1, 7, [2, 1, 0, 2]), (0, 2, [2]), (0, 2, [2])], "mixed")
    assert [made.chunk(c) for c in range(3)] == [(0, 2, (2,)), (0, 2, (2,)), (1, 7, (0, 2))]
    assert made.bytes == 11
    assert made.matrix.tolist() == [[0, 0, 4], [7, 0, 7], [0, 0, 0]]
    assert not made.is_unicast
    assert not made.is_uniform


def test_chunks_without_bytes_or_without_a_need_are_left_out() -> None:
    made = Demand.of_chunks(2, [(0, 0, [1]), (1, 4, [1]), (1, 3, [0])])
    assert [made.chunk(c) for c in range(made.num_chunks)] == [(1, 3, (0,))]


def test_equal_amounts_are_uniform() -> None:
    assert Demand.of_matrix(np.full((4, 4), 3)).is_uniform
    pairs = [(s, 3, [t]) for s in range(2) for t in range(2) if s != t]
    assert Demand.of_chunks(2, pairs).is_uniform
    assert not Demand.of_chunks(3, [(s, 3, [*range(3)]) for s in range(3)]).is_uniform


def test_demands_are_equal_by_their_chunks_not_by_their_name() -> None:
    one, same = Demand.of_matrix([[0, 1], [2, 0]], "a"), Demand.of_matrix([[5, 1.0], [2, 5]], "b")
    assert one == same
    assert hash(one) == hash(same)
    assert one != Demand.of_matrix([[0, 1], [3, 0]])
    assert one != Demand.of_matrix([[0, 1, 0], [2, 0, 0], [0, 0, 0]])
    assert one != Demand.of_chunks(2, [(0, 1, [1]), (1, 1, [0]), (1, 1, [0])])
    assert one != "a"


REFUSED: dict[str, tuple[Any, str]] = {
    "a row": ([1, 2], r"have shape \(2,\); give as many rows as columns"),
    "no square": ([[0, 1, 2], [0, 0, 0]], r"have shape \(2, 3\)"),
    "ragged": ([[0, 1], [1]], "are no table; give a row for each GPU, all of equal length"),
    "one GPU": ([[5]], "1 GPU has no other GPU to send to"),
    "no GPU": (np.zeros((0, 0)), "0 GPU has no other GPU"),
    "nothing": ([[7, 0], [0, 7]], "the demand is empty; give an amount above 0"),
    "negative": ([[0, -3], [0, 0]], "an amount is -3 bytes; amounts are from 0 up"),
    "a part of a byte": ([[0, 1.5], [0, 0]], "not a whole number of bytes; round it"),
    "not a number": ([[0, float("nan")], [0, 0]], "not a whole number of bytes"),
    "without end": ([[0, float("inf")], [0, 0]], "not a whole number of bytes"),
    "text": ([["0", "1"], ["1", "0"]], "an amount is not a number; give whole bytes"),
    "truth": ([[False, True], [True, False]], "an amount is not a number"),
    "None": ([[None, 1], [1, 0]], "an amount is not a number"),
    "a petabyte": ([[0, 10**15], [0, 0]], r"an amount is 10{15}; at most 1e\+14 bytes"),
    "many digits": ([[0, 10**5000], [0, 0]], "more than 1000 digits; at most"),
    "too much below 0": ([[0, -(10**30)], [0, 0]], "at most"),
    "too many in all": ([[0, MOST_BYTES], [1, 0]], r"10{13}1 bytes in all; at most 1e\+14"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_amounts_that_are_refused(name: str) -> None:
    amounts, message = REFUSED[name]
    with pytest.raises(InvalidParameterError, match=f"^layer 3: .*{message}") as caught:
        Demand.of_matrix(amounts, "layer 3")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([(0, 1, [2])], "names rank 2; ranks are 0 to 1"),
        ([(-1, 1, [0])], "names rank -1"),
        ([(0, -1, [1])], "an amount is -1 bytes"),
        ([(0, 10**15, [1])], "at most"),
        ([(0, 1.5, [1])], "not a whole number"),
        ([], "the demand is empty"),
    ],
)
def test_chunks_that_are_refused(chunks: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Demand.of_chunks(2, chunks)


def test_the_largest_demand_is_accepted() -> None:
    assert Demand.of_matrix([[0, MOST_BYTES - 1], [1, 0]]).bytes == MOST_BYTES


def test_more_chunks_than_pairs_of_the_largest_network_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("forestcoll.problem.demand.MOST_CHUNKS", 2)
    with pytest.raises(InvalidParameterError, match="has more than 2 chunks"):
        Demand.of_chunks(2, [(0, 1, [1])] * 3)
