"""Every path of the core both ways: with a shortcut and without it, with few links and with all.

The forest that is examined took whatever path was open to it. Here each is forced the other way:

- the shortcuts of the native core (:mod:`tests.fuzz.shortcuts`) are blocked one by one, and all at
  once: flows from both ends, one node for all and one root's trees for all where a network looks
  alike from everywhere, one sink of each orbit, trees of plain sets copied, those of one box moved
  to equal ones, one node of a tree that sends to all others;
- equal boxes exchange with few others (``sparse_exchange``);
- trees of equal parts are kept as rotations from two parts on, not from hundreds;
- the explicit form is made by ``generate`` instead of by expanding the factored one.

Each must come to the same time with as many trees, and be proved optimal.
"""

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from forestcoll import FactoredForest, Forest, expand, generate, verify
from tests.fuzz.shortcuts import SHORTCUTS, blocked
from tests.schedule.made.rotated import rotations_of_few

SLOW_S = 10.0
"""No generation may take longer, of the clock or of the processor, whichever says less.

Others may hold up the clock, and threads multiply what the processor counts.
"""

MOST_GPUS = 160
"""Larger networks are forced off one path each, not off all."""

Remake = Callable[[FactoredForest], FactoredForest | Forest]


def refuse_slow(seconds: float, path: str = "usual") -> None:
    """Fail if a generation took too long."""
    assert seconds < SLOW_S, f"slow: {seconds:.1f} s on the path {path!r}, over {SLOW_S:g} s"


def asked_again(factored: FactoredForest, options: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the options that ask for what a forest is of."""
    if factored.collective in ("broadcast", "reduce"):
        return {"root": factored.weights.index(1), **(options or {})}
    return {"weights": factored.weights, **(options or {})}


def _made(factored: FactoredForest, options: dict[str, Any] | None = None) -> FactoredForest:
    again = generate(
        factored.topology,
        collective=factored.collective,
        **asked_again(factored, options),
        factored=True,
    ).schedule
    assert isinstance(again, FactoredForest), "two phases where one was asked for"
    return again


def _without(*names: str) -> Remake:
    def remake(factored: FactoredForest) -> FactoredForest:
        with blocked(*names):
            return _made(factored)

    return remake


def _rotations(factored: FactoredForest) -> FactoredForest:
    with rotations_of_few():
        return _made(factored)


def _explicit_without(*names: str) -> Remake:
    def remake(factored: FactoredForest) -> Forest:
        with blocked(*names):
            return _explicit(factored)

    return remake


def _explicit(factored: FactoredForest) -> Forest:
    forest = generate(
        factored.topology, collective=factored.collective, **asked_again(factored)
    ).schedule
    assert isinstance(forest, Forest), "two phases where one was asked for"
    return forest


PATHS: dict[str, Remake] = {
    **{f"without {name}": _without(name) for name in SHORTCUTS},
    "without rotated boxes": _explicit_without("rotated boxes"),
    "without any shortcut": _without(*SHORTCUTS),
    "explicit without any shortcut": _explicit_without(*SHORTCUTS),
    "few links": lambda factored: _made(factored, {"sparse_exchange": True}),
    "rotations": _rotations,
    "explicit": _explicit,
}
"""How to make the same forest on another path, by name."""


def each_path_both_ways(forest: Forest, factored: FactoredForest) -> None:
    """As fast with as many trees, and proved, on every other path; none of them is slow."""
    the_same_trees(forest, factored)
    for name in _paths_for(forest):
        wall, processor = time.perf_counter(), time.process_time()
        again = PATHS[name](factored)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        refuse_slow(min(wall, processor), name)
        assert again.k == forest.k, f"{again.k} trees on the path {name!r}, {forest.k} else"
        found, before = again.time_s_per_gb, forest.time_s_per_gb
        assert found == before, f"{found} s per GB on the path {name!r}, {before} else"
        assert verify(again).optimal, f"no optimum is proved on the path {name!r}"
        if isinstance(again, FactoredForest):
            assert verify(expand(again)).optimal, f"trees on the path {name!r} are not optimal"


def _paths_for(forest: Forest) -> list[str]:
    gpus = forest.topology.num_compute
    if gpus <= MOST_GPUS:
        return list(PATHS)
    return [random.Random(f"path of {forest.topology.name} {gpus}").choice(list(PATHS))]


def the_same_trees(forest: Forest, factored: FactoredForest) -> None:
    """Trees of plain sets copied are those that are put together link by link."""
    with blocked("plain copies"):
        other = expand(factored)
    for name in ("root", "multiplicity", "parent"):
        same = np.array_equal(getattr(forest, name), getattr(other, name))
        assert same, f"other trees are put together than copied: {name} differs"
