"""Actions of small schedules by hand."""

from collections.abc import Sequence

from forestcoll import Program, compile_program
from forestcoll.runtimes.data_layout import Layout, layout_of
from forestcoll.runtimes.mscclpp.exporter.data_actions import Action, actions_of
from forestcoll.runtimes.mscclpp.exporter.switch_pieces import through_switches
from forestcoll.runtimes.transfer_pieces import in_units, pieces_of
from forestcoll.schedule import Chunks, Send
from forestcoll.topology import Topology
from tests.hand_networks import network_of
from tests.schedule.made.programs import by_hand, line


def star(gpus: int, boxes: int = 1) -> Topology:
    """GPUs around a switch that multicasts and reduces."""
    places = " ".join(f"g{place}@{place % boxes}.{place // boxes}" for place in range(gpus))
    return network_of(f"[w*] {places}", f"g0..{gpus - 1} - w", "star")


def program(collective: str, gpus: int, sends: Sequence[Send], root: int = -1) -> Program:
    """A schedule of a chunk by hand, on a line of GPUs."""
    return compile_program(by_hand(line(gpus), collective, Chunks.equal([root], 1), list(sends)))


def actions(made: Program, *, in_place: bool = False) -> tuple[list[Action], Layout]:
    pieces = pieces_of(made)
    layout = layout_of(made, pieces, 1, in_place)
    ways = through_switches(in_units(pieces, layout.unit), made.topology)
    return actions_of(ways, layout), layout


def down() -> Program:
    """A broadcast from GPU 0 over 1 to 2."""
    return program("broadcast", 3, [Send(0, 0, 0, 1), Send(1, 0, 1, 2)], root=0)


def there_and_back() -> Program:
    """GPU 1 sends its part to 0, which sends the sum back."""
    return program("allreduce", 2, [Send(0, 0, 1, 0, True), Send(1, 0, 0, 1)])


def swap() -> Program:
    """Two GPUs send each other what they have, and add it."""
    return program("allreduce", 2, [Send(0, 0, 0, 1, True), Send(0, 0, 1, 0, True)])
