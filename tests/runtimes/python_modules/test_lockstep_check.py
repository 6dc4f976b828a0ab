"""All ranks in one process: what does not match is found."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import VerificationError
from forestcoll.runtimes.python_modules.lockstep_check import check_module, run_in_lockstep
from forestcoll.runtimes.python_modules.python_module import TorchOptions, python_module


def steps(*found: tuple[list[tuple[int, Any]], list[tuple[int, Any]]]) -> Iterator[Any]:
    yield from found


def test_messages_of_a_pair_match_in_order() -> None:
    """A rank that begins later receives what was sent to it before."""
    first, second = np.zeros(1), np.zeros(2)
    sends = steps(([(1, np.array([5.0]))], []), ([(1, np.array([6.0, 7.0]))], []))
    run_in_lockstep([sends, steps(([], [(0, first), (0, second)]))])
    assert (first.tolist(), second.tolist()) == ([5.0], [6.0, 7.0])


def test_two_that_wait_for_each_other_are_reported() -> None:
    """Both send only in their second steps."""
    one = steps(([], [(1, np.zeros(1))]), ([(1, np.zeros(1))], []))
    other = steps(([], [(0, np.zeros(1))]), ([(0, np.zeros(1))], []))
    with pytest.raises(VerificationError, match="rank 0 waits for a message of rank 1 that never"):
        run_in_lockstep([one, other])


def test_messages_of_other_lengths_and_for_nobody_are_reported() -> None:
    with pytest.raises(VerificationError, match="rank 1 receives 2 elements of rank 0, which send"):
        run_in_lockstep([steps(([(1, np.zeros(1))], [])), steps(([], [(0, np.zeros(2))]))])
    with pytest.raises(VerificationError, match="rank 0 sends to rank 1 what it does not receive"):
        run_in_lockstep([steps(([(1, np.zeros(1))], [])), steps()])


def test_a_wrong_result_is_reported() -> None:
    """One transfer that is kept beside the result."""
    text = python_module(compile_program(generate("ring:nodes=3").schedule), TorchOptions()).text
    assert check_module(text) == "3 ranks in one process, 12 elements each"
    with pytest.raises(VerificationError, match=r"rank \d has \d+ wrong elements of 36"):
        check_module(text.replace("place\n", "pass\n", 1))
