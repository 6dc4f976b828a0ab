"""Steps over nccl4py, by a stand-in with the calls of its documentation."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from forestcoll.runtimes.python_modules.over_nccl_groups import NcclCommunicator


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What nccl.core was called with, one after another."""
    made: list[Any] = []
    core, package = ModuleType("nccl.core"), ModuleType("nccl")
    core.group_start = lambda: made.append("start")  # type: ignore[attr-defined]
    core.group_end = lambda: made.append("end")  # type: ignore[attr-defined]
    package.core = core  # type: ignore[attr-defined]
    torch = ModuleType("torch")
    stream = SimpleNamespace(cuda_stream=77)
    torch.cuda = SimpleNamespace(current_stream=lambda: stream)  # type: ignore[attr-defined]
    for name, module in (("nccl", package), ("nccl.core", core), ("torch", torch)):
        monkeypatch.setitem(sys.modules, name, module)
    return made


class Recorded:
    """An nccl.core.Communicator that only says what it is asked."""

    rank = 2

    def __init__(self, calls: list[Any]) -> None:
        self._calls = calls

    def send(self, sendbuf: Any, peer: int, *, stream: Any = None) -> None:
        self._calls.append(("send", sendbuf.tolist(), peer, stream))

    def recv(self, recvbuf: Any, peer: int, *, stream: Any = None) -> None:
        self._calls.append(("recv", recvbuf.tolist(), peer, stream))


def test_a_step_is_one_group_in_the_current_stream(calls: list[Any]) -> None:
    communicator = NcclCommunicator(Recorded(calls))
    assert communicator.rank == 2
    communicator.exchange([(1, np.array([5]))], [(0, np.array([6])), (1, np.array([7]))])
    between = [("send", [5], 1, 77), ("recv", [6], 0, 77), ("recv", [7], 1, 77)]
    assert calls == ["start", *between, "end"]


def test_arrays_are_made_like_the_given_one(calls: list[Any]) -> None:
    given = SimpleNamespace(new_empty=lambda length: [0] * length)
    assert NcclCommunicator(Recorded(calls)).empty(given, 3) == [0, 0, 0]
