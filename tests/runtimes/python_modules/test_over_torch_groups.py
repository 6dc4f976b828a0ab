"""Steps over torch.distributed: by a stand-in, and by torch itself.

`make test-torch` gets torch. Without it that test is skipped, unless FORESTCOLL_TORCH is set: then
it fails.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.execution.launching import Command, run_together
from forestcoll.runtimes.python_modules.over_torch_groups import TorchCommunicator
from forestcoll.runtimes.python_modules.python_module import TorchOptions, python_module


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What torch.distributed was called with; ranks of the group are 10 less than all ranks."""
    made: list[Any] = []
    dist, torch = ModuleType("torch.distributed"), ModuleType("torch")

    def batch(messages: list[Any]) -> list[Any]:
        made.append(messages)
        return [SimpleNamespace(wait=lambda: made.append("waited")) for _ in messages]

    names: dict[str, Any] = {
        "group": SimpleNamespace(WORLD="all"),
        "get_rank": lambda group: {"all": 12, "some": 2}[group],
        "get_global_rank": lambda group, rank: rank + 10,
        "P2POp": lambda how, array, peer, group: (how, array.tolist(), peer, group),
        "isend": "send",
        "irecv": "receive",
        "batch_isend_irecv": batch,
    }
    for name, value in names.items():
        setattr(dist, name, value)
    torch.distributed = dist  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.distributed", dist)
    return made


def test_a_step_is_one_batch(calls: list[Any]) -> None:
    communicator = TorchCommunicator("some")
    assert (communicator.rank, TorchCommunicator().rank) == (2, 12)
    communicator.exchange([(1, np.array([5]))], [(0, np.array([6]))])
    assert calls == [
        [("receive", [6], 10, "some"), ("send", [5], 11, "some")],
        *("waited", "waited"),
    ]


def test_arrays_are_made_like_the_given_one(calls: list[Any]) -> None:
    given = SimpleNamespace(new_empty=lambda length: [0] * length)
    assert TorchCommunicator().empty(given, 3) == [0, 0, 0]


@pytest.mark.skipif(
    find_spec("torch") is None and not os.environ.get("FORESTCOLL_TORCH"),
    reason="torch is not installed; make test-torch gets it",
)
def test_a_written_module_runs_over_gloo(tmp_path: Path) -> None:
    """Four processes, each of which checks its result by the definition."""
    program = compile_program(generate("ring:nodes=4", collective="allreduce").schedule)
    file = tmp_path / "ring.py"
    file.write_text(python_module(program, TorchOptions()).text, encoding="utf-8")
    home = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20_000 + os.getpid() % 20_000)}
    words = [sys.executable, str(file), "1000"]
    log = tmp_path / "log"
    run_together(
        [Command(words, {**home, "RANK": str(r), "WORLD_SIZE": "4"}) for r in range(4)], 120, log
    )
    assert log.read_text().count(": 0 wrong elements") == 4
