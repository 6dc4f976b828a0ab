"""MSCCL exporter: compile a program to an algorithm within the executor's limits.

Problem: execute a program on threadblocks that wait for each other.
Input:   a program and its options: protocol, channels, instances, in place or not.
Output:  an algorithm within the limits of the runtime. Its result is correct, without races, and
         without deadlocks at any depth of the queues.
Cost:    that of the passes, for each number of channels tried: with balanced load, with few queues,
         and finally with few queues and without forwarding steps. Most tries break a limit, so each
         ends at the first one: too many threadblocks are known from the assignment of chains, too
         many steps from the actions without their waits.
Source:  ours; the passes are the modules of this package.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from forestcoll.errors import ExportError, InvalidParameterError, RuntimeLimitError
from forestcoll.runtimes.between_gpus import between_gpus
from forestcoll.runtimes.data_layout import Layout, layout_of
from forestcoll.runtimes.export_limits import Excess, check_options
from forestcoll.runtimes.msccl.algorithm import (
    COLLECTIVES,
    PROTOCOLS,
    Algorithm,
    Gpu,
    Instruction,
    Threadblock,
)
from forestcoll.runtimes.msccl.exporter.buffer_operations import operations_of, values_of
from forestcoll.runtimes.msccl.exporter.channels import Block, Queues, blocks_of, queues_of
from forestcoll.runtimes.msccl.exporter.executor_limits import (
    CHANNELS,
    STEP_CHUNKS,
    Needs,
    excess_of,
)
from forestcoll.runtimes.msccl.exporter.piece_order import chained
from forestcoll.runtimes.msccl.exporter.threadblock_actions import (
    LOCAL,
    Action,
    Spot,
    actions_of,
    copying_gpus,
)
from forestcoll.runtimes.msccl.exporter.waits import waits_of
from forestcoll.runtimes.transfer_pieces import Piece, in_units, pieces_of
from forestcoll.schedule.program import Program

__all__ = ["Draft", "MscclOptions", "to_msccl"]


@dataclass(frozen=True, slots=True)
class MscclOptions:
    """Options of an MSCCL algorithm.

    Parameters
    ----------
    protocol : str
        One of :data:`forestcoll.runtimes.msccl.PROTOCOLS`.
    channels : int, optional
        The most channels of each instance. By default, as many as the limits of the runtime allow:
        8 in all, or the nearest number that fits.
    instances : int
        Parts of every chunk; each part has its own channels.
    in_place : bool
        Whether the input of a call is part of its output. Reductions support both kinds of calls
        in any case; other collectives then omit the copy of a GPU's own part.
    min_bytes, max_bytes : int
        The sizes of the data for which the algorithm is meant; 0 is no limit.
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
        check_options(self, "channels", "instances")
        if self.instances * (self.channels or 1) > CHANNELS:
            raise InvalidParameterError(
                f"instances {self.instances} x channels {self.channels or 1} is more than the "
                f"{CHANNELS} channels of the runtime; give fewer of either"
            )


@dataclass(frozen=True, slots=True)
class Draft:
    """The part of an export that does not depend on the number of channels.

    Parameters
    ----------
    chains : list of list of int
        Pieces that are forwarded without a break.
    """

    program: Program
    options: MscclOptions
    layout: Layout
    pieces: list[Piece]
    chains: list[list[int]]

    @classmethod
    def of(cls, program: Program, options: MscclOptions) -> Draft:
        """Cut a program into pieces and lay its data out."""
        pieces = pieces_of(program)
        layout = layout_of(program, pieces, options.instances, options.in_place)
        pieces = in_units(pieces, layout.unit)
        return cls(program, options, layout, pieces, chained(pieces))

    def unchained(self) -> Draft:
        """Return the same order with chains of one piece, so that no step forwards."""
        return replace(self, chains=[[piece] for chain in self.chains for piece in chain])

    def excess_of_data(self) -> Excess | None:
        """Return the limit that the data breaks with any number of channels."""
        layout = self.layout
        buffers = [max(layout.chunks_in(gpu), layout.chunks_out(gpu)) for gpu in range(layout.gpus)]
        return Needs(chunks=max(buffers)).excess()

    def attempt(self, channels: int, thrifty: bool) -> Algorithm | Excess:
        """Write the program with this many channels for each instance, or return the broken limit.

        An excess of steps is a lower bound: the waits may add more.
        """
        queues = queues_of(self.pieces, self.chains, channels, thrifty)
        blocks = self._needs_of_blocks(queues)
        if (excess := blocks.excess()) is not None:
            return excess
        actions, scratch = self._actions(queues)
        if (excess := self._needs_of_actions(actions, scratch).excess()) is not None:
            return excess
        algorithm = self._written(queues, actions, scratch)
        return excess_of(algorithm) or algorithm

    def exact_excess(self, channels: int, thrifty: bool) -> Excess | None:
        """Return the limit that this many channels break, with the exact amount needed."""
        queues = queues_of(self.pieces, self.chains, channels, thrifty)
        return excess_of(self._written(queues, *self._actions(queues)))

    def _needs_of_blocks(self, queues: Queues) -> Needs:
        """Count threadblocks, channels, and the minimum of steps of a queue."""
        sends, receives = blocks_of(queues)
        at: list[set[Block]] = [set() for _ in range(self.layout.gpus)]
        for queue in queues.load:
            at[queue.tail].add(sends[queue])
            at[queue.head].add(receives[queue])
        on_channel = [many for blocks in at for many in Counter(b.channel for b in blocks).values()]
        for gpu in copying_gpus(self.layout):
            at[gpu].add(LOCAL)
        instances = self.layout.instances
        return Needs(
            channels=(1 + max(queues.channel)) * instances,
            channel_threadblocks=max(on_channel),
            threadblocks=max(map(len, at)) * instances,
            steps=max(-(-chunks // STEP_CHUNKS) for chunks in queues.load.values()),
        )

    def _actions(self, queues: Queues) -> tuple[list[Action], list[int]]:
        values = values_of(self.pieces, self.layout)
        operations = operations_of(self.pieces, self.chains, values, self.layout)
        return actions_of(
            self.pieces, self.chains, operations, queues.channel, blocks_of(queues), self.layout
        )

    def _needs_of_actions(self, actions: Sequence[Action], scratch: Sequence[int]) -> Needs:
        """Count the steps other than waits, and the chunks of scratch."""
        steps = Counter((action.gpu, action.block) for action in actions)
        chunks = max(scratch) * self.layout.instances
        return Needs(chunks=chunks, steps=max(steps.values()))

    def _written(
        self, queues: Queues, actions: Sequence[Action], scratch: Sequence[int]
    ) -> Algorithm:
        layout, options = self.layout, self.options
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
    """Write actions as instructions; every instance has its own channels."""
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
    """Number the step of each action; steps that only wait come before it."""
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
    """Write an action, after extra steps for all of its waits but one.

    A step of MSCCL has room for a single wait.
    """
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


_TRIED = (8, 4, 2, 1, 16, 32)  # numbers of channels, of all instances together


def to_msccl(program: Program, options: MscclOptions | None = None) -> Algorithm:
    """Write a program as an algorithm of MSCCL.

    Parameters
    ----------
    program : Program
        Of a correct schedule; :func:`forestcoll.schedule.verify` proves that.

    Raises
    ------
    UnsupportedError
        If the runtime has no such transfers or shares, or a sum of this program never forms in its
        buffers.
    ExportError
        If nothing moves, or the chunks do not cover the data.
    RuntimeLimitError
        If it breaks a limit of the runtime. The message names the limit, the need of the try that
        came closest, and the numbers of channels tried.
    """
    options = options or MscclOptions()
    if not program.num_transfers:
        raise ExportError("nothing moves in this schedule, so there is nothing to export")
    program = between_gpus(program)
    draft = Draft.of(program, options)
    if (excess := draft.excess_of_data()) is not None:
        raise _too_much(program, excess, "whatever the channels")
    ways = ((draft, False), (draft, True), (draft.unchained(), True))
    nearest: tuple[float, Draft, bool, int, Excess] | None = None
    for (way, thrifty), channels in product(ways, _numbers(options)):
        found = way.attempt(channels, thrifty)
        if isinstance(found, Algorithm):
            return found
        if nearest is None or found.share < nearest[0]:
            nearest = found.share, way, thrifty, channels, found
    assert nearest is not None  # some number of channels is tried
    raise _nearest(program, options, *nearest[1:])


def _numbers(options: MscclOptions) -> list[int]:
    """Numbers of channels of an instance, in the order of the tries."""
    if options.channels is not None:
        return [options.channels]
    shares = [max(1, many // options.instances) for many in _TRIED]
    return list(dict.fromkeys(shares))


def _nearest(
    program: Program,
    options: MscclOptions,
    way: Draft,
    thrifty: bool,
    channels: int,
    excess: Excess,
) -> RuntimeLimitError:
    """Return the broken limit of the closest try, with its exact need."""
    exact = way.exact_excess(channels, thrifty) or excess
    tried = ", ".join(str(many) for many in sorted(_numbers(options)))
    each = " for each instance" if options.instances > 1 else ""
    with_so_many = f"with {channels} channel{'s' * (channels != 1)}{each} (tried: {tried})"
    return _too_much(program, exact, with_so_many)


def _too_much(program: Program, excess: Excess, when: str) -> RuntimeLimitError:
    return RuntimeLimitError(
        f"{program.method}-{program.collective}-{program.topology.name} does not fit the runtime "
        f"of MSCCL: it needs {excess}, {when}"
    )
