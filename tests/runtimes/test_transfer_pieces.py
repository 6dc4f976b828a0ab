"""Transfers cut where any of the same chunk begins or ends."""

from forestcoll import compile_program
from forestcoll.runtimes.transfer_pieces import in_units, pieces_of
from forestcoll.schedule import Chunks, Send
from tests.baselines.claims import make
from tests.schedule.made.programs import by_hand, line


def test_overlapping_transfers_are_cut_at_all_borders() -> None:
    """Two of three units to the middle, then one; then all on: in the pieces that came."""
    sends = [
        Send(0, 0, 0, 1, False, 0, 2),
        Send(1, 0, 0, 1, False, 2, 1),
        Send(2, 0, 1, 2, False, 0, 3),
    ]
    program = compile_program(by_hand(line(3), "broadcast", Chunks.equal([0], 3, 3), sends))
    found = [(p.tail, p.head, p.first, p.size, p.needs) for p in pieces_of(program)]
    assert found == [(0, 1, 0, 2, ()), (0, 1, 2, 1, ()), (1, 2, 0, 2, (0,)), (1, 2, 2, 1, (1,))]


def test_transfers_that_differ_by_path_only_are_one_piece() -> None:
    """Across an 8x8 torus data takes up to 30 ways; the runtime takes its own."""
    program = compile_program(make("direct", "allgather", "torus:dims=8x8"))
    pieces = pieces_of(program)
    assert len(pieces) == 64 * 63 < program.num_transfers
    sizes = {piece.size for piece in pieces}
    assert len(sizes) == 1
    assert {piece.size for piece in in_units(pieces, sizes.pop())} == {1}


def test_every_piece_comes_after_its_dependencies() -> None:
    """Of the same place, brought to where it is sent from."""
    pieces = pieces_of(compile_program(make("bruck", "allgather", "complete:nodes=6")))
    for number, piece in enumerate(pieces):
        for need in piece.needs:
            assert need < number
            assert pieces[need].place == piece.place
            assert pieces[need].head == piece.tail
