"""Kinds of parallelism and their groups in a grid of ranks."""

import pytest

from forestcoll.errors import InvalidParameterError
from lp.placement.parallel_kinds import Kind, grid_groups, kinds_of


def test_rest_takes_the_remaining_gpus() -> None:
    found = kinds_of(["tensor=4:allreduce:64MB", "data=rest:all-to-all:1KB"], 24)
    assert found == (
        Kind("tensor", 4, "allreduce", 64 * 2**20),
        Kind("data", 6, "all-to-all", 1024),
    )


def test_the_first_kind_has_consecutive_ranks() -> None:
    kinds = [Kind("a", 2, "allgather", 8), Kind("b", 3, "allgather", 8)]
    first, second = (groups.tolist() for groups in grid_groups(kinds, 6))
    assert first == [[0, 1], [2, 3], [4, 5]]
    assert second == [[0, 2, 4], [1, 3, 5]]


def test_ranks_without_a_kind_form_an_axis_without_traffic() -> None:
    (groups,) = grid_groups([Kind("a", 2, "allgather", 8)], 6)
    assert groups.tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "there is no --kind"),
        (["tensor"], "it must be NAME=GPUS:COLLECTIVE:SIZE"),
        (["t=2:allreduce"], "it must be NAME=GPUS:COLLECTIVE:SIZE"),
        (["t=x:allreduce:1MB"], "a number of GPUs or rest"),
        (["t=-2:allreduce:1MB"], "a number of GPUs or rest"),
        (["t=1000000000:allreduce:1MB"], "a number of GPUs or rest"),
        (["t=0:allreduce:1MB"], "is 0; it must divide"),
        (["t=1:allreduce:1MB"], "at least two GPUs"),
        (["t=3:allreduce:1MB"], "it must divide 8 GPUs"),
        (["t=8:allreduce:1MB", "d=rest:allreduce:1MB"], "'d' has groups of 1"),
        (["t=2:broadcast:1MB"], "the collective is 'broadcast'"),
        (["t=2:allreduce:much"], "kind 't'"),
        (["t=2:allreduce:1MB..4MB"], "several sizes"),
        (["t=2:allreduce:1MB", "t=2:allreduce:1MB"], "given twice"),
        (["t=rest:allreduce:1MB", "d=rest:allreduce:1MB"], "two kinds"),
    ],
)
def test_invalid_kinds_are_refused(texts: list[str], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message.replace("(", r"\(")):
        kinds_of(texts, 8)


def test_a_size_is_positive() -> None:
    with pytest.raises(InvalidParameterError, match="it must be positive"):
        Kind("t", 2, "allreduce", 0)
