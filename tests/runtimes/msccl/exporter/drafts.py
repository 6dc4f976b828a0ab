"""What the passes of an export make of a program, one after another."""

from dataclasses import dataclass

from forestcoll import Program, compile_program
from forestcoll.runtimes.data_layout import Layout, layout_of
from forestcoll.runtimes.msccl.exporter.buffer_operations import Operation, operations_of, values_of
from forestcoll.runtimes.msccl.exporter.channels import blocks_of, queues_of
from forestcoll.runtimes.msccl.exporter.piece_order import chained
from forestcoll.runtimes.msccl.exporter.threadblock_actions import Action, actions_of
from forestcoll.runtimes.transfer_pieces import Piece, in_units, pieces_of
from forestcoll.schedule import Chunks, Send
from tests.schedule.made.programs import by_hand, line


@dataclass(frozen=True)
class Draft:
    layout: Layout
    pieces: list[Piece]
    chains: list[list[int]]

    @classmethod
    def of(cls, program: Program) -> "Draft":
        pieces = pieces_of(program)
        layout = layout_of(program, pieces)
        pieces = in_units(pieces, layout.unit)
        return cls(layout, pieces, chained(pieces))

    def operations(self) -> list[list[Operation]]:
        values = values_of(self.pieces, self.layout)
        return operations_of(self.pieces, self.chains, values, self.layout)

    def actions(self, channels: int = 1) -> list[Action]:
        queues = queues_of(self.pieces, self.chains, channels)
        return actions_of(
            self.pieces,
            self.chains,
            self.operations(),
            queues.channel,
            blocks_of(queues),
            self.layout,
        )[0]


def swap() -> Draft:
    """Two GPUs send each other what they have, and add it."""
    sends = [Send(0, 0, 0, 1, True), Send(0, 0, 1, 0, True)]
    return Draft.of(compile_program(by_hand(line(2), "allreduce", Chunks.equal([-1], 1), sends)))


def there_and_back(units: int) -> Draft:
    """A GPU sends its part to the next, which sends the sum back."""
    sends = [Send(0, 0, 0, 1, True), Send(1, 0, 1, 0)]
    chunks = Chunks.equal([-1], units, units)
    return Draft.of(compile_program(by_hand(line(2), "allreduce", chunks, sends)))


def down_a_line(units: int = 1) -> Draft:
    """The first of three GPUs sends all it has to the others."""
    sends = [Send(0, 0, 0, 1), Send(1, 0, 1, 2)]
    return Draft.of(
        compile_program(by_hand(line(3), "broadcast", Chunks.equal([0], units, units), sends))
    )


def up_a_line() -> Draft:
    """Three GPUs add what they have, one after another, to the first."""
    sends = [Send(0, 0, 2, 1, True), Send(1, 0, 1, 0, True)]
    return Draft.of(compile_program(by_hand(line(3), "reduce", Chunks.equal([0], 1), sends)))
