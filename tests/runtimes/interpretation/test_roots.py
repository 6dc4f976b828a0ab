"""Roots that are given, or plain."""

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.interpretation.roots import root_of


def nobody(arriving: bool) -> set[int]:
    raise AssertionError("is not asked for")


def test_only_a_broadcast_and_a_reduce_have_one() -> None:
    assert root_of("allgather", 4, None, nobody) == -1
    assert root_of("reduce", 4, 3, nobody) == 3
    with pytest.raises(InvalidParameterError, match="this is an allgather"):
        root_of("allgather", 4, 0, nobody)
    with pytest.raises(InvalidParameterError, match="the root is 4; it must be from 0 to 3"):
        root_of("broadcast", 4, 4, nobody)


def test_nothing_comes_to_a_root_or_leaves_it() -> None:
    """At the one end of a broadcast, or the other of a reduce."""
    ends = {True: {1, 2}, False: {0, 1}}
    assert root_of("broadcast", 3, None, ends.__getitem__) == 0
    assert root_of("reduce", 3, None, ends.__getitem__) == 2


def test_a_root_that_is_not_plain_is_asked_for() -> None:
    with pytest.raises(InvalidParameterError, match=r"2 of 4 GPUs receive nothing.*give it"):
        root_of("broadcast", 4, None, lambda arriving: {1, 2})
