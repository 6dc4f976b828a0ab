"""Puts and signals of written modules, between threads; and their mutants."""

from functools import cache
from threading import BrokenBarrierError
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.runtimes.python_modules.python_module import Nccl4pyOptions, python_module
from tests.runtimes.python_modules.in_process import due, executed, random_given
from tests.runtimes.python_modules.nccl_in_threads import run_with_signals

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce")


@cache
def written(collective: str, chunks: int = 1, network: str = "dgx_a100:boxes=1") -> str:
    root = {"root": 3} if collective in ("broadcast", "reduce") else {}
    program = compile_program(generate(network, collective=collective, **root).schedule)
    return python_module(program, Nccl4pyOptions(chunks, puts=True)).text


def is_right(text: str, lengths: list[int], ranks: int = 8, seed: int = 0) -> bool:
    """Whether calls of these lengths, one after another, have the results that are due."""
    module = executed(text)
    schedule = module["SCHEDULE"]
    calls = [random_given(ranks, length, seed=place) for place, length in enumerate(lengths)]
    found = run_with_signals(module, calls, seed)
    return all(
        np.array_equal(one, other)
        for given, results in zip(calls, found, strict=True)
        for one, other in zip(results, due(schedule.collective, given, schedule.root), strict=True)
    )


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("chunks", [1, 3])
@pytest.mark.each_value_once
def test_calls_one_after_another_are_right(collective: str, chunks: int) -> None:
    """The second takes the first one's window, the third a larger one; lengths do not divide."""
    assert is_right(written(collective, chunks), [5 * 8, 3 * 8, 37 * 8])


def test_ranks_on_the_way_send_on_what_came() -> None:
    """A ring, where most data pass ranks that only forward them."""
    for collective in ("allgather", "allreduce"):
        text = written(collective, 2, "ring:nodes=5")
        assert is_right(text, [35, 35, 40], ranks=5)


CHANGES = {
    "no wait before the first put": (
        "self._wait(Counter(peer for peer in ranks",
        "(Counter(peer for peer in ranks",
    ),
    "no wait for messages": ("self._wait(Counter(peer for peer, _", "(Counter(peer for peer, _"),
    "receivers are always free": ("self._signal_free([peer for", "([peer for"),
    "all messages at one place": ("self._sent[peer] += len(array)", "pass"),
    "all messages from one place": ("self._place[peer] += len(array)", "pass"),
    "all senders at one place": ("for a in range(self.rank))", "for a in range(0))"),
    "all of a rank's own at one place": ("self._used += len(array)", "pass"),
    "both parts of the window at one place": ("self._out = max(incoming)", "self._out = 0"),
    "a window without room for its own": ("self._out + max(outgoing)", "self._out"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_mutant_is_found_wrong(change: tuple[str, str]) -> None:
    """In one of a few runs of three calls each."""
    text = written("allreduce", 2, "ring:nodes=5")
    assert text.count(change[0]) == 1
    mutant = text.replace(*change)
    assert not all(_is_accepted(mutant, seed) for seed in range(6))


def _is_accepted(text: str, seed: int) -> bool:
    try:
        return is_right(text, [35, 35, 35], ranks=5, seed=seed)
    except (AssertionError, BrokenBarrierError, IndexError, TimeoutError, ValueError):
        return False


def test_a_window_is_kept_while_it_fits() -> None:
    module: dict[str, Any] = executed(written("allgather", 1, "ring:nodes=3"))
    registered = []
    hold = module["NcclPutCommunicator"]._hold

    def held(self: Any, given: Any, length: int) -> None:
        before = self._window
        hold(self, given, length)
        registered.append(self._window is not before)

    module["NcclPutCommunicator"]._hold = held
    calls = [
        random_given(3, 6),
        random_given(3, 5),
        [one.astype(np.int32) for one in random_given(3, 5)],
    ]
    run_with_signals(module, calls)
    assert sorted(registered) == [False] * 3 + [True] * 6
