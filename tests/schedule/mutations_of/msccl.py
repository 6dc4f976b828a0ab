"""Algorithms of MSCCL with one thing wrong: what people who write them by hand get wrong."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from forestcoll.runtimes.msccl import Algorithm, Instruction, Threadblock

Rows = tuple[Instruction, ...]


def mutants(algorithm: Algorithm, count: int, seed: int) -> Iterator[tuple[str, Algorithm]]:
    """Yield so many of each kind, each with its kind; fewer where there is nothing of a kind."""
    rng = random.Random(seed)
    for kind, change in MSCCL_MUTATIONS.items():
        for _ in range(count):
            if (changed := change(algorithm, rng)) is not None:
                yield kind, changed


def _offset(algorithm: Algorithm, rng: random.Random) -> Algorithm | None:
    """A step that reads or writes the chunk before or behind."""
    name, shift = rng.choice(("source_offset", "target_offset")), rng.choice((-1, 1))

    def shifted(step: Instruction) -> Instruction:
        return replace(step, **{name: max(0, getattr(step, name) + shift)})

    return _step_changed(algorithm, rng, lambda step: step.kind != "nop", shifted)


def _dropped_step(algorithm: Algorithm, rng: random.Random) -> Algorithm | None:
    """A step that is missing; waits for those behind it go on to mean them."""
    gpu, block, place = _any_step(algorithm, rng, lambda _: True)

    def renumbered(step: Instruction) -> Instruction:
        behind = step.waits_for == block and step.waits_step > place
        return replace(step, waits_step=step.waits_step - 1) if behind else step

    def without(number: int, work: Threadblock) -> Threadblock:
        rows = tuple(map(renumbered, work.instructions))
        return replace(
            work, instructions=rows[:place] + rows[place + 1 :] if number == block else rows
        )

    its = algorithm.gpus[gpu]
    blocks = tuple(without(number, work) for number, work in enumerate(its.threadblocks))
    gpus = list(algorithm.gpus)
    gpus[gpu] = replace(its, threadblocks=blocks)
    return replace(algorithm, gpus=tuple(gpus))


def _dropped_wait(algorithm: Algorithm, rng: random.Random) -> Algorithm | None:
    return _step_changed(
        algorithm,
        rng,
        lambda step: step.waits_for >= 0,
        lambda step: replace(step, waits_for=-1, waits_step=-1),
    )


def _silent(algorithm: Algorithm, rng: random.Random) -> Algorithm | None:
    """A step that sets no flag (``hasdep="0"``)."""
    return _step_changed(
        algorithm,
        rng,
        lambda step: step.is_waited_for,
        lambda step: replace(step, is_waited_for=False),
    )


def _swapped_steps(algorithm: Algorithm, rng: random.Random) -> Algorithm | None:
    """Two steps of a threadblock in each other's place."""
    gpu, block, place = _any_step(algorithm, rng, lambda _: True)
    rows = list(algorithm.gpus[gpu].threadblocks[block].instructions)
    other = rng.randrange(len(rows))
    if other == place:
        return None
    rows[place], rows[other] = rows[other], rows[place]
    return _with_rows(algorithm, gpu, block, tuple(rows))


def _channel(algorithm: Algorithm, rng: random.Random) -> Algorithm | None:
    """A threadblock on another channel."""
    if algorithm.channels < 2:
        return None
    gpu, block, _ = _any_step(algorithm, rng, lambda _: True)
    work = algorithm.gpus[gpu].threadblocks[block]
    channel = (work.channel + rng.randrange(1, algorithm.channels)) % algorithm.channels
    return _with_block(algorithm, gpu, block, replace(work, channel=channel))


MSCCL_MUTATIONS: dict[str, Callable[[Algorithm, random.Random], Algorithm | None]] = {
    "offset": _offset,
    "dropped step": _dropped_step,
    "dropped wait": _dropped_wait,
    "hasdep=0": _silent,
    "swapped steps": _swapped_steps,
    "swapped channel": _channel,
}


def _any_step(
    algorithm: Algorithm, rng: random.Random, wanted: Callable[[Instruction], bool]
) -> tuple[int, int, int]:
    return rng.choice(_steps(algorithm, wanted))


def _steps(
    algorithm: Algorithm, wanted: Callable[[Instruction], bool]
) -> list[tuple[int, int, int]]:
    return [
        (rank, number, place)
        for rank, gpu in enumerate(algorithm.gpus)
        for number, work in enumerate(gpu.threadblocks)
        for place, step in enumerate(work.instructions)
        if wanted(step)
    ]


def _step_changed(
    algorithm: Algorithm,
    rng: random.Random,
    wanted: Callable[[Instruction], bool],
    change: Callable[[Instruction], Instruction],
) -> Algorithm | None:
    if not _steps(algorithm, wanted):
        return None
    gpu, block, place = _any_step(algorithm, rng, wanted)
    rows = list(algorithm.gpus[gpu].threadblocks[block].instructions)
    rows[place] = change(rows[place])
    return _with_rows(algorithm, gpu, block, tuple(rows))


def _with_rows(algorithm: Algorithm, gpu: int, block: int, rows: Rows) -> Algorithm:
    work = algorithm.gpus[gpu].threadblocks[block]
    return _with_block(algorithm, gpu, block, replace(work, instructions=rows))


def _with_block(algorithm: Algorithm, gpu: int, block: int, work: Threadblock) -> Algorithm:
    gpus = list(algorithm.gpus)
    blocks = list(gpus[gpu].threadblocks)
    blocks[block] = work
    gpus[gpu] = replace(gpus[gpu], threadblocks=tuple(blocks))
    return replace(algorithm, gpus=tuple(gpus))
