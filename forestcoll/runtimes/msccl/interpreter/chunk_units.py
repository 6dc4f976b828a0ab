"""The single chunks that the actions of a call move.

Input: actions, matched sends and receives, cells of buffers
Output: for each chunk that an action moves, the cells or payloads that are read and written
"""

from __future__ import annotations

import numpy as np

from forestcoll.runtimes.interpretation.cells import Cells, Ints
from forestcoll.runtimes.interpretation.one_run import Units
from forestcoll.runtimes.msccl.interpreter.actions import Actions
from forestcoll.runtimes.msccl.interpreter.fifos import Pairs
from forestcoll.runtimes.msccl.interpreter.merged_steps import ADDS, POPS, WRITES, MergedSteps

__all__ = ["units_of"]


def units_of(actions: Actions, pairs: Pairs, cells: Cells) -> Units:
    """Return the chunks that are moved, of all slices."""
    steps, each = actions.steps, actions.each
    count = np.tile(actions.count, actions.slices)
    action = np.repeat(np.arange(each * actions.slices), count)
    start = np.cumsum(count) - count
    nth = np.arange(action.size) - start[action]
    step = actions.step[action % each]
    chunk = actions.first_chunk[action % each] + nth
    all_cells = cells.size * actions.slices
    shift = action // each * cells.size
    kind = steps.kind[step]
    source = _cell(cells, steps, step, steps.source, steps.source_offset) + chunk + shift
    target = _cell(cells, steps, step, steps.target, steps.target_offset) + chunk + shift
    nowhere = all_cells + action.size
    push = pairs.push[action]
    carried = (push >= 0) & (nth < count[push])
    taken = np.where(carried, all_cells + start[push] + nth, nowhere)
    adds_source = ADDS[kind]
    own = np.where(adds_source, target, source)
    return Units(
        action,
        first=np.where(POPS[kind], taken, own),
        second=np.where(adds_source, source, -1),
        target=np.where(WRITES[kind], target, -1),
        cells=all_cells,
    )


def _cell(cells: Cells, steps: MergedSteps, step: Ints, buffer: Ints, offset: Ints) -> Ints:
    return cells.base[steps.gpu[step], buffer[step]] + offset[step]
