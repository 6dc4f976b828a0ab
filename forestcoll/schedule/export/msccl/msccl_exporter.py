"""Programs as algorithms of MSCCL.

Problem: a runtime of threadblocks that wait for each other is to do what a program says.
Input:   a program, and how it is to be run: protocol, channels, instances, in place or not.
Output:  an algorithm within the limits of the runtime; the data comes out right, nothing races and
         nothing deadlocks, whatever the depth of queues.
Cost:    that of the passes below, for each number of channels that is tried: with the load shared
         out, with few queues, and at last with few queues and nothing passed on at once.
Source:  ours; the passes are the modules of this package.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.schedule.export.msccl.buffer_operations import operations_of
from forestcoll.schedule.export.msccl.channels import Block, blocks_of, queues_of
from forestcoll.schedule.export.msccl.data_layout import Layout, layout_of
from forestcoll.schedule.export.msccl.executor_limits import CHANNELS, Excess, excess_of
from forestcoll.schedule.export.msccl.piece_order import chained
from forestcoll.schedule.export.msccl.piece_values import values_of
from forestcoll.schedule.export.msccl.threadblock_actions import LOCAL, Action, Spot, actions_of
from forestcoll.schedule.export.msccl.transfer_pieces import Piece, in_units, pieces_of
from forestcoll.schedule.export.msccl.waits import waits_of
from forestcoll.schedule.msccl.algorithm import (
    COLLECTIVES,
    PROTOCOLS,
    Algorithm,
    Gpu,
    Instruction,
    Threadblock,
)
from forestcoll.schedule.program import Program
from forestcoll.schedule.transform.between_gpus import between_gpus

__all__ = ["MscclOptions", "to_msccl"]

_TRIED = (8, 4, 2, 1, 16, 32)  # numbers of channels, of all instances together


@dataclass(frozen=True, slots=True)
class MscclOptions:
    """How an algorithm of MSCCL is to be run.

    Parameters
    ----------
    protocol : str
        One of :data:`forestcoll.schedule.msccl.PROTOCOLS`.
    channels : int, optional
        How many to spread what each instance sends over, at most; if not given, as many as the
        limits of the runtime allow, 8 in all or the number next to it.
    instances : int
        Every chunk is cut into so many, each sent by itself on channels of its own.
    in_place : bool
        Whether the input of a call is part of its output. Reductions may be called both ways
        always; other collectives then leave out copying a GPU's own part.
    min_bytes, max_bytes : int
        For which sizes of the data it is meant; 0 is no limit.
    """

    protocol: str = "Simple"
    channels: int | None = None
    instances: int = 1
    in_place: bool = False
    min_bytes: int = 0
    max_bytes: int = 0

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise InvalidParameterError(
                f"the protocol is {self.protocol!r}; it must be one of {', '.join(PROTOCOLS)}"
            )
        for name, least in (("channels", 1), ("instances", 1), ("min_bytes", 0), ("max_bytes", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InvalidParameterError(f"{name} is {value}; it must be {least} or more")
        if 0 < self.max_bytes < self.min_bytes:
            raise InvalidParameterError(
                f"max_bytes is {self.max_bytes}, less than min_bytes, {self.min_bytes}"
            )
        if self.instances * (self.channels or 1) > CHANNELS:
            raise InvalidParameterError(
                f"{self.instances} instances of {self.channels or 1} channels each are more than "
                f"the {CHANNELS} channels that the runtime has"
            )


def to_msccl(program: Program, options: MscclOptions | None = None) -> Algorithm:
    """Write a program as an algorithm of MSCCL.

    Parameters
    ----------
    program : Program
        Of a schedule that is right; :func:`forestcoll.schedule.verify` proves that.
    options : MscclOptions, optional

    Raises
    ------
    UnsupportedError
        If the runtime has no such transfers or shares, or the sums of this program do not come
        together in its buffers.
    ExportError
        If it breaks a limit of the runtime; the message says which and what it would need.
    """
    options = options or MscclOptions()
    if not program.num_transfers:
        raise ExportError("nothing moves in this schedule, so there is nothing to export")
    program = between_gpus(program)
    pieces = pieces_of(program)
    layout = layout_of(program, pieces, options.instances, options.in_place)
    pieces = in_units(pieces, layout.unit)
    draft = _Draft(program, options, layout, pieces, chained(pieces))
    broken: list[tuple[int, Excess]] = []
    tries = ((draft, False), (draft, True), (draft.unchained(), True))
    for (way, thrifty), channels in product(tries, _numbers(options)):
        algorithm = way.algorithm(channels, thrifty)
        excess = excess_of(algorithm)
        if excess is None:
            return algorithm
        broken.append((channels, excess))
    raise _too_much(algorithm, broken)


def _numbers(options: MscclOptions) -> list[int]:
    """How many channels an instance may have, in the order to try them."""
    if options.channels is not None:
        return [options.channels]
    shares = [max(1, many // options.instances) for many in _TRIED]
    return list(dict.fromkeys(shares))


def _too_much(algorithm: Algorithm, broken: Sequence[tuple[int, Excess]]) -> ExportError:
    channels, excess = min(broken, key=lambda one: one[1].needed / one[1].most)
    tried = ", ".join(str(many) for many in sorted({many for many, _ in broken}))
    return ExportError(
        f"{algorithm.name} does not fit the runtime of MSCCL: with {channels} channels for each "
        f"instance it needs {excess} (channels tried: {tried}); take fewer trees per GPU (generate "
        f"--k), fewer instances, or other channels"
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """All that does not depend on the number of channels."""

    program: Program
    options: MscclOptions
    layout: Layout
    pieces: list[Piece]
    chains: list[list[int]]

    def unchained(self) -> _Draft:
        """Return the same order, in which no step passes anything on."""
        return replace(self, chains=[[piece] for chain in self.chains for piece in chain])

    def algorithm(self, channels: int, thrifty: bool) -> Algorithm:
        """Write the program with so many channels for each instance."""
        layout, options = self.layout, self.options
        queues = queues_of(self.pieces, self.chains, channels, thrifty)
        values = values_of(self.pieces, layout)
        operations = operations_of(self.pieces, self.chains, values, layout)
        actions, scratch = actions_of(
            self.pieces, self.chains, operations, queues.channel, blocks_of(queues), layout
        )
        waits = waits_of(actions, layout)
        used = 1 + max(queues.channel)
        written = [
            Gpu(
                layout.chunks_in(gpu),
                layout.chunks_out(gpu),
                scratch[gpu] * options.instances,
                threadblocks,
            )
            for gpu, threadblocks in enumerate(_threadblocks(actions, waits, layout, used))
        ]
        spelt = {ours: theirs for theirs, ours in COLLECTIVES.items()}
        return Algorithm(
            name=f"{self.program.method}-{self.program.collective}-{self.program.topology.name}",
            protocol=options.protocol,
            channels=used * options.instances,
            chunks_per_loop=layout.whole * options.instances,
            collective=spelt[layout.collective],
            in_place=layout.aliased,
            out_of_place=layout.reduces or not layout.in_place,
            min_bytes=options.min_bytes,
            max_bytes=options.max_bytes,
            gpus=tuple(written),
        )


_At = tuple[int, int]
"""The number of a threadblock of a GPU, and of a step of it."""


def _threadblocks(
    actions: Sequence[Action], waits: Sequence[Sequence[int]], layout: Layout, channels: int
) -> list[tuple[Threadblock, ...]]:
    """Write actions as instructions, every instance on channels of its own."""
    doing = [defaultdict[Block, list[int]](list) for _ in range(layout.gpus)]
    for number, action in enumerate(actions):
        doing[action.gpu][action.block].append(number)
    waited = {one for each in waits for one in each}
    found = []
    for of_block in doing:
        blocks = sorted(of_block, key=lambda block: (block == LOCAL, block))
        at = _places(blocks, of_block, waits)
        threadblocks = []
        for instance in range(layout.instances):
            shift = len(blocks) * instance
            for block in blocks:
                steps: list[Instruction] = []
                for number in of_block[block]:
                    before = [(at[one][0] + shift, at[one][1]) for one in waits[number]]
                    steps += _steps(actions[number], before, number in waited, instance)
                channel = block.channel + channels * instance
                threadblocks.append(Threadblock(block.send, block.receive, channel, tuple(steps)))
        found.append(tuple(threadblocks))
    return found


def _places(
    blocks: Sequence[Block], of_block: dict[Block, list[int]], waits: Sequence[Sequence[int]]
) -> dict[int, _At]:
    """Number the step of each action; those that only wait come before it."""
    at: dict[int, _At] = {}
    for place, block in enumerate(blocks):
        step = -1
        for number in of_block[block]:
            step += max(1, len(waits[number]))
            at[number] = place, step
    return at


def _steps(
    action: Action, waits: Sequence[_At], is_waited_for: bool, instance: int
) -> list[Instruction]:
    """Write an action, with steps before it that wait for all but one of what it waits for."""
    source = action.source or action.target
    target = action.target or action.source
    if source is None or target is None:
        raise AssertionError("an action neither reads nor writes")
    nothing = [Instruction("nop", "i", 0, "o", 0, 0, *wait) for wait in waits[:-1]]
    return [
        *nothing,
        Instruction(
            action.kind,
            source.buffer,
            _offset(source, instance),
            target.buffer,
            _offset(target, instance),
            action.count,
            *(waits[-1] if waits else (-1, -1)),
            is_waited_for,
        ),
    ]


def _offset(spot: Spot, instance: int) -> int:
    return spot.offset + spot.stride * instance
