"""MSCCL++ exporter: compile a program to an execution plan within the runtime's limits.

Problem: execute a program in a runtime whose GPUs write into each other's buffers.
Input:   a program and its options: instances, in place or not, available threadblocks.
Output:  a plan within the limits of the runtime. Its result is correct, without races or deadlocks.
         No buffer is touched outside its GPU's launch, and every launch balances signals and waits.
Cost:    that of the passes, for each number of teams tried.
Source:  ours; the passes are the modules of this package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from forestcoll.errors import (
    ExportError,
    InvalidParameterError,
    RuntimeLimitError,
    UnsupportedError,
)
from forestcoll.runtimes.data_layout import Layout, layout_of, with_own_parts
from forestcoll.runtimes.export_limits import Excess, check_options
from forestcoll.runtimes.mscclpp.execution_plan import COLLECTIVES, Plan
from forestcoll.runtimes.mscclpp.exporter.block_links import phases_of, wired
from forestcoll.runtimes.mscclpp.exporter.block_programs import Place, gpus_of
from forestcoll.runtimes.mscclpp.exporter.data_actions import DUE, OWN, Action, Slot, actions_of
from forestcoll.runtimes.mscclpp.exporter.loader_limits import (
    GPU_THREADBLOCKS,
    MOST_BUFFER_BYTES,
    excess_of,
)
from forestcoll.runtimes.mscclpp.exporter.packet_transfers import PacketTransfers, in_packets
from forestcoll.runtimes.mscclpp.exporter.port_transfers import (
    Boxes,
    PortTransfers,
    with_arrivals,
)
from forestcoll.runtimes.mscclpp.exporter.switch_pieces import Ways, through_switches
from forestcoll.runtimes.mscclpp.exporter.teams import Fullness, blocks_of
from forestcoll.runtimes.mscclpp.writing import written_plan
from forestcoll.runtimes.transfer_pieces import in_units, pieces_of
from forestcoll.schedule.program import Program

__all__ = ["BETWEEN_BOXES", "PROTOCOLS", "MscclppOptions", "to_mscclpp"]

BETWEEN_BOXES = ("port", "memory")
"""Types of channels between GPUs of two boxes."""

PROTOCOLS = ("Simple", "LL")
"""Signals behind transfers; packets."""

_TEAMS = (16, 8, 32, 4, 64, 2, 1, 128)  # of all instances together, in the order to try them
# Fuller threadblocks first: fewer of them must run at once.
_FULLNESS = (Fullness(14, 56), Fullness(10, 40), Fullness(6, 25))
_ALIGNMENT = 16
_LETTERS, _DIGITS = 200, 8  # of a name, and of the hash that makes it unique


@dataclass(frozen=True, slots=True)
class MscclppOptions:
    """Options of an MSCCL++ plan.

    Parameters
    ----------
    threadblocks : int
        Threadblocks that run at once on a GPU: its multiprocessors, if nothing else runs there.
    instances : int
        Parts of every chunk; each part has its own threadblocks.
    in_place : bool
        Whether the input of a call is part of its output. Reductions support both kinds of calls
        in any case; other collectives then omit the copy of a GPU's own part.
    min_bytes, max_bytes : int
        The sizes for which the plan is meant; 0 is no limit except that of the runtime's offsets,
        some 4 GB in each buffer.
    between_boxes : str
        The channels between GPUs of two boxes: "port", of which a proxy on the CPU has the NIC move
        data; or "memory", where NVLink joins the boxes.
    protocol : str
        "Simple", with signals behind transfers; or "LL" for small messages, in packets with flags.
    """

    threadblocks: int = GPU_THREADBLOCKS
    instances: int = 1
    in_place: bool = False
    min_bytes: int = 0
    max_bytes: int = 0
    between_boxes: str = "port"
    protocol: str = "Simple"

    def __post_init__(self) -> None:
        check_options(self, "threadblocks", "instances")
        if self.between_boxes not in BETWEEN_BOXES:
            raise InvalidParameterError(
                f"between_boxes is {self.between_boxes!r}; it must be one of "
                f"{', '.join(BETWEEN_BOXES)}"
            )
        if self.protocol not in PROTOCOLS:
            raise InvalidParameterError(
                f"the protocol is {self.protocol!r}; plans of MSCCL++ have {', '.join(PROTOCOLS)}"
            )
        if self.min_bytes >= 2**31:
            raise InvalidParameterError(
                f"min_bytes is {self.min_bytes}; the runtime reads 31 bits, so at most 2^31 - 1"
            )


def to_mscclpp(program: Program, options: MscclppOptions | None = None) -> Plan:
    """Write a program as a plan of MSCCL++.

    Parameters
    ----------
    program : Program
        Of a correct schedule; :func:`forestcoll.schedule.verify` proves that.

    Raises
    ------
    UnsupportedError
        If the runtime has no such transfers or shares.
    ExportError
        If nothing moves.
    RuntimeLimitError
        If it breaks a limit of the runtime; the message names the limit and the need.
    """
    options = options or MscclppOptions()
    if not program.num_transfers:
        raise ExportError("nothing moves in this schedule, so there is nothing to export")
    program = with_own_parts(program)
    pieces = pieces_of(program)
    layout = layout_of(program, pieces, options.instances, options.in_place)
    ways = through_switches(in_units(pieces, layout.unit), program.topology)
    transfers = _transfers(ways, layout, _boxes(program, options), options.protocol)
    draft = _Draft(program, options, layout, transfers)
    broken: list[Excess] = []
    for teams, most in _tries(options):
        found = draft.plan(teams, most)
        if isinstance(found, Plan):
            return _named(found)
        broken.append(found)
    raise _too_much(draft.name, broken)


def _transfers(
    ways: Ways, layout: Layout, boxes: Boxes, protocol: str
) -> PortTransfers | PacketTransfers:
    if protocol == "Simple":
        return with_arrivals(actions_of(ways, layout), boxes)
    if ways.copies or ways.sums:
        raise UnsupportedError(
            "unsupported: packets (LL) with switches that multicast or reduce; take the protocol "
            "Simple, or a schedule without multicast"
        )
    return in_packets(actions_of(ways, layout, packets=True), boxes)


def _boxes(program: Program, options: MscclppOptions) -> Boxes:
    topology = program.topology
    if options.between_boxes == "memory":
        return Boxes()
    return Boxes(tuple(topology.nodes[position].box for position in topology.compute))


def _named(plan: Plan) -> Plan:
    """Give plans that differ different names: the runtime identifies plans by name."""
    digest = sha256(written_plan(plan).encode()).hexdigest()[:_DIGITS]
    return replace(plan, name=f"{plan.name[:_LETTERS]}-{digest}")


def _tries(options: MscclppOptions) -> Iterator[tuple[int, Fullness]]:
    """Yield numbers of teams of an instance, with limits on the load of threadblocks."""
    shares = dict.fromkeys(max(1, many // options.instances) for many in _TEAMS)
    return ((teams, most) for most in _FULLNESS for teams in shares)


def _too_much(name: str, broken: Sequence[Excess]) -> RuntimeLimitError:
    excess = min(broken, key=lambda one: one.share)
    return RuntimeLimitError(
        f"{name} does not fit the runtime of MSCCL++: it needs {excess}, in the best of "
        f"{len(broken)} ways tried; let more threadblocks run at once if the GPUs have room for "
        f"them (--threadblocks)"
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """The part of an export that does not depend on the number of teams."""

    program: Program
    options: MscclppOptions
    layout: Layout
    transfers: PortTransfers | PacketTransfers

    @property
    def name(self) -> str:
        program = self.program
        return f"{program.method}-{program.collective}-{program.topology.name}"

    def plan(self, teams: int, most: Fullness) -> Plan | Excess:
        """Write the program with this many teams of each instance, or return the broken limit."""
        layout, options = self.layout, self.options
        actions = self.transfers.actions
        blocks = blocks_of(actions, teams, most)
        wiring = wired(phases_of(actions, blocks), self.transfers, blocks)
        excess = wiring.excess(options.instances, options.threadblocks)
        if excess is not None:
            return excess
        in_packets = options.protocol == "LL"
        scratch = _Scratch(actions, layout, self.transfers.slots)
        buffers = [(*self._chunks, scratch.chunks(gpu)) for gpu in range(layout.gpus)]
        gpus = gpus_of(wiring, buffers, options.instances, scratch.where)
        spelt = {ours: theirs for theirs, ours in COLLECTIVES.items()}
        plan = Plan(
            name=self.name,
            collective=spelt[layout.collective],
            protocol=options.protocol,
            in_place=options.in_place,
            gpus=tuple(gpus),
            double_scratch=in_packets,  # a launch ahead writes to the other half
            buffer_alignment=_ALIGNMENT,
            min_bytes=options.min_bytes,
            max_bytes=self._most_bytes(
                max(max(*own, scratch * (4 if in_packets else 1)) for *own, scratch in buffers)
            ),
        )
        return excess_of(plan, options.threadblocks) or plan

    @property
    def _chunks(self) -> tuple[int, int]:
        """The chunks of input and output, which the runtime wants to be equal at all GPUs."""
        layout = self.layout
        whole, share = layout.whole * layout.instances, layout.shard * layout.instances
        return {"allgather": (share, whole), "reduce-scatter": (whole, share)}.get(
            layout.collective, (whole, whole)
        )

    def _most_bytes(self, chunks: int) -> int:
        """Return the requested largest size, or else the largest with offsets within 32 bits."""
        chunk = MOST_BUFFER_BYTES // chunks // _ALIGNMENT * _ALIGNMENT
        possible = chunk * max(self._chunks)
        asked = max(self.options.max_bytes, self.options.min_bytes)
        if asked > possible:
            raise RuntimeLimitError(
                f"{self.name} does not fit the runtime of MSCCL++: offsets have 32 bits, so that "
                f"{possible} bytes are the largest size of its data, and {asked} are asked for"
            )
        return self.options.max_bytes or possible


class _Scratch:
    """Places of slots in buffers.

    Packets come first; they take the room of two chunks each, which only the protocol LL adds.
    """

    def __init__(self, actions: Sequence[Action], layout: Layout, packets: set[Slot]) -> None:
        self._layout = layout
        size, of_packets = dict[tuple[int, ...], int](), set[tuple[int, ...]]()
        for action in actions:
            for slot in (*action.sources, *action.targets):
                if slot.peer >= 0:
                    key = _key(slot)
                    size[key] = slot.size
                    if slot in packets:
                        of_packets.add(key)
        self._packets, self._plain = [0] * layout.gpus, [0] * layout.gpus
        self._offset: dict[tuple[int, ...], int] = {}
        self._of_packets = of_packets
        for key in sorted(size):
            many = self._packets if key in of_packets else self._plain
            self._offset[key] = many[key[0]]
            many[key[0]] += size[key]

    def chunks(self, gpu: int) -> int:
        """Return the chunks of a GPU's scratch."""
        packets, plain = self._packets[gpu], self._plain[gpu]
        return (2 * packets + plain if plain else packets) * self._layout.instances

    def where(self, slot: Slot, instance: int) -> Place:
        layout = self._layout
        if slot.peer >= 0:
            key, gpu = _key(slot), slot.gpu
            if key in self._of_packets:
                return "s", self._offset[key] + self._packets[gpu] * instance
            first = 2 * self._packets[gpu] * layout.instances
            return "s", first + self._offset[key] + self._plain[gpu] * instance
        base = (layout.own if slot.peer == OWN else layout.result)(slot.gpu, slot.chunk)
        if base is None:
            raise AssertionError(f"rank {slot.gpu} has no place for chunk {slot.chunk}")
        buffer = {OWN: "i", DUE: "o"}[slot.peer]
        offset = base + layout.size[slot.chunk] * instance + slot.first
        return (
            layout.in_one_space(slot.gpu, buffer, offset) if layout.in_place else (buffer, offset)
        )


def _key(slot: Slot) -> tuple[int, ...]:
    return slot.gpu, slot.peer, slot.layer, slot.chunk, slot.first
