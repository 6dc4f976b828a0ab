"""MSCCL interpreter: execute an algorithm on the CPU and report errors with their places.

Problem: does a program end, at any speeds of its threadblocks, with the data that its collective
         promises, and does the executor accept it?
Input:   an algorithm.
Output:  findings.
Cost:    a second or two for each hundred thousand steps.
Source:  the parser and the kernel of the current executor; docs/formats/runtime-files.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.interpretation.cells import MOST_CELLS, Cells
from forestcoll.runtimes.interpretation.collective_results import (
    Promise,
    find_changed_inputs,
    find_wrong_data,
    initial,
    root_of,
)
from forestcoll.runtimes.interpretation.findings import (
    Collected,
    Finding,
    Findings,
    Kind,
    first_of,
)
from forestcoll.runtimes.interpretation.multisets import Multisets
from forestcoll.runtimes.interpretation.one_run import MOST_ACTIONS, Units, execute
from forestcoll.runtimes.interpretation.precedence import Edges, levels_of
from forestcoll.runtimes.msccl.algorithm import CUSTOM, Algorithm
from forestcoll.runtimes.msccl.interpreter.actions import Actions, actions_of, how_many
from forestcoll.runtimes.msccl.interpreter.buffer_cells import (
    cells_of,
    check_bounds,
    check_copies,
    collective_of,
    copied,
    units_of,
)
from forestcoll.runtimes.msccl.interpreter.call_sizes import FIFO_DEPTH, MOST_COUNT, Cut, cuts_of
from forestcoll.runtimes.msccl.interpreter.deadlocks import find_deadlocks
from forestcoll.runtimes.msccl.interpreter.fifos import Pairs, check_pairs, pairs_of
from forestcoll.runtimes.msccl.interpreter.merged_steps import POPS, PUSHES, MergedSteps, merge
from forestcoll.runtimes.msccl.interpreter.races import find_overlaps, find_races
from forestcoll.runtimes.msccl.interpreter.runtime_limits import (
    check_connections,
    check_limits,
    check_steps,
)
from forestcoll.runtimes.msccl.interpreter.step_precedence import check_waits, edges_of

__all__ = ["interpret"]


def interpret(
    algorithm: Algorithm,
    *,
    root: int | None = None,
    most_blocks: int | None = None,
    pairs: tuple[tuple[int, ...], ...] | None = None,
) -> Findings:
    """Execute an algorithm as the runtime would, and report what is wrong with it.

    Parameters
    ----------
    root : int, optional
        Of a broadcast or reduce; by default, the only GPU that receives, or sends, nothing.
    most_blocks : int, optional
        Threadblocks that run at once on a GPU; by default, those of the largest machine, with a
        note if other machines have fewer.
    pairs : tuple of tuples of int, optional
        As of :func:`forestcoll.runtimes.data_layout.chunks_of_pairs`, in an all-to-all of different
        amounts.

    Raises
    ------
    InvalidParameterError
        If a root is needed but cannot be inferred, or the given one is impossible.
    InvalidScheduleError
        If the algorithm is too large to execute.
    """
    source = _root(algorithm, root)
    steps = merge(algorithm)
    report = Collected()
    report.take(_static(algorithm, steps, most_blocks))
    if not _can_be_executed(algorithm, steps, report):
        report.take([Finding(Kind.NOTE, "not executed, since its behaviour is undefined")])
        return report.findings((), 0)
    cuts = cuts_of(algorithm)
    for cut in cuts:
        _check_size(algorithm, steps, cut)
    if len(cuts) > 1:
        report.take(first_of(_unlike_counts(algorithm, steps)))
    runs = [_Run(algorithm, steps, cut, source, pairs) for cut in cuts]
    for run in runs:
        report.take(run.findings(with_races=run is runs[0]))
    return report.findings(tuple(cut.words for cut in cuts), int(runs[0].actions.pushes.sum()))


def _unlike_counts(algorithm: Algorithm, steps: MergedSteps) -> Iterator[Finding]:
    """Report matched steps with unequal counts, which calls of other sizes would split apart."""
    whole = actions_of(steps, Cut(MOST_COUNT, 1, "all at once"))
    return check_pairs(whole, pairs_of(whole, FIFO_DEPTH[algorithm.protocol]))


def _static(algorithm: Algorithm, steps: MergedSteps, most_blocks: int | None) -> Iterator[Finding]:
    yield from first_of(check_limits(algorithm, most_blocks))
    yield from first_of(check_connections(algorithm))
    yield from first_of(check_steps(steps))
    yield from first_of(iter(steps.findings))
    yield from first_of(check_bounds(algorithm, steps))
    yield from first_of(check_copies(algorithm))
    yield from first_of(check_waits(steps))
    if algorithm.collective == CUSTOM:
        yield Finding(
            Kind.NOTE,
            "a custom collective promises no result, so results and changed inputs are not "
            "checked; deadlocks, races, bounds and limits are",
        )
    if not (algorithm.in_place or algorithm.out_of_place):
        yield Finding(
            Kind.NOTE,
            "neither in place nor out of place, so the executor never takes it; checked "
            "out of place",
        )
    if 0 < algorithm.max_bytes < algorithm.min_bytes:
        yield Finding(
            Kind.NOTE,
            f"minBytes {algorithm.min_bytes} is above maxBytes {algorithm.max_bytes}, so the "
            "executor never takes it",
        )


def _can_be_executed(algorithm: Algorithm, steps: MergedSteps, report: Collected) -> bool:
    gpus = len(algorithm.gpus)
    peers = np.concatenate([steps.send, steps.receive])
    lacking = (PUSHES[steps.kind] & (steps.send[steps.block] < 0)) | (
        POPS[steps.kind] & (steps.receive[steps.block] < 0)
    )
    return (
        Kind.BOUNDS not in report.kinds
        and bool((steps.count <= MOST_COUNT).all())
        and bool(((peers >= -1) & (peers < gpus)).all())
        and not lacking.any()
    )


def _check_size(algorithm: Algorithm, steps: MergedSteps, cut: Cut) -> None:
    actions = max(how_many(steps, cut), int(steps.count.sum()) * cut.slices)
    if actions > MOST_ACTIONS:
        raise InvalidScheduleError(
            f"{algorithm.name}: {actions} chunks are moved or transferred; at most {MOST_ACTIONS} "
            "can be checked, so check one with fewer instances"
        )
    cells = cells_of(algorithm, steps, in_place=False).size * cut.slices
    if cells > MOST_CELLS:
        raise InvalidScheduleError(
            f"{algorithm.name}: its buffers have {cells} chunks in all; at most {MOST_CELLS} can "
            "be checked, so check one with fewer instances"
        )


class _Run:
    """One call: its precedence, then its data, in place and out of place as declared."""

    def __init__(
        self,
        algorithm: Algorithm,
        steps: MergedSteps,
        cut: Cut,
        root: int,
        pairs: tuple[tuple[int, ...], ...] | None,
    ) -> None:
        self._algorithm, self._root, self._words = algorithm, root, cut.words
        self._promised = pairs
        self.actions: Actions = actions_of(steps, cut)
        self._pairs: Pairs = pairs_of(self.actions, FIFO_DEPTH[algorithm.protocol])
        self._edges: Edges = edges_of(self.actions, self._pairs)
        self._levels = levels_of(self._edges, self.actions.each * cut.slices)

    def findings(self, *, with_races: bool) -> Iterator[Finding]:
        """Return all findings; on request, races that exist at all sizes, too."""
        yield from first_of(check_pairs(self.actions, self._pairs))
        for one in first_of(find_deadlocks(self.actions, self._edges, self._levels)):
            yield replace(one, message=f"{one.message} ({self._words})")
        modes = [
            mode
            for mode, meant in (
                (True, self._algorithm.in_place),
                (False, self._algorithm.out_of_place or not self._algorithm.in_place),
            )
            if meant
        ]
        for mode in modes:
            cells = cells_of(self._algorithm, self.actions.steps, in_place=mode)
            words = ("in place: " if mode else "out of place: ") if len(modes) > 1 else ""
            units = units_of(self.actions, self._pairs, cells)
            if with_races:
                for one in first_of(self._races(units)):
                    yield replace(one, message=words + one.message)
            for one in self._wrong_data(units, cells, in_place=mode):
                yield replace(one, message=words + one.message)

    def _races(self, units: Units) -> Iterator[Finding]:
        # In small calls a step makes one transfer, so full FIFOs make senders wait for less.
        at_any_size = replace(self._pairs, room=self._pairs.room_at_any_size)
        return find_races(self.actions, units, edges_of(self.actions, at_any_size), self._levels)

    def _wrong_data(self, units: Units, cells: Cells, *, in_place: bool) -> Iterator[Finding]:
        actions, levels = self.actions, self._levels
        promise = Promise(
            collective_of(self._algorithm),
            len(self._algorithm.gpus),
            self._root,
            cells,
            actions.slices,
            self._promised,
        )
        yield from first_of(find_overlaps(actions, units, levels))
        # After a deadlock the data is incomplete in any case.
        if (levels < 0).any() or promise.collective == CUSTOM:
            return
        multisets = Multisets(promise.gpus, max(1, promise.chunks))
        contents = copied(self._algorithm, cells, initial(promise, multisets), actions.slices)
        memory = execute(units, levels, contents, multisets)
        yield from first_of(find_wrong_data(promise, memory, multisets, actions, units))
        if not in_place:
            yield from first_of(find_changed_inputs(promise, memory, actions, units))


def _root(algorithm: Algorithm, given: int | None) -> int:
    def busy(arriving: bool) -> set[int]:
        steps = merge(algorithm)
        moving = POPS if arriving else PUSHES
        return set(steps.gpu[moving[steps.kind]].tolist())

    return root_of(collective_of(algorithm), len(algorithm.gpus), given, busy)
