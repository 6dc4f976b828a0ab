"""Pieces of hops: trees, paths and latencies."""

from fractions import Fraction

from forestcoll.forest_over_time.hop_pieces import HopPieces
from tests.schedule.made.planned import path_forest, slotted_sum, two_ways


def rows(pieces: HopPieces) -> list[tuple[int, int, int, int]]:
    columns = (pieces.batch, pieces.child, pieces.amount, pieces.path)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_a_hop_over_two_paths_is_two_pieces():
    """Both of b's, one tree each; paths of two links."""
    pieces = HopPieces.of(two_ways())
    assert rows(pieces) == [(0, 1, 1, 0), (0, 1, 1, 1)]
    piece, place = pieces.on_links()
    assert (piece.tolist(), place.tolist()) == ([0, 0, 1, 1], [0, 1, 2, 3])


def test_batches_are_those_of_the_forest():
    """Paths by (tail, head): a -> b, b -> a, b -> c, c -> b."""
    due = [(0, 1, 1, 0), (0, 2, 1, 2), (1, 0, 1, 1), (1, 2, 1, 2), (2, 0, 1, 1), (2, 1, 1, 3)]
    assert rows(HopPieces.of(path_forest())) == due


def test_in_a_reduction_hops_lead_from_ranks():
    """To a: b -> a and c -> b."""
    assert rows(HopPieces.of(slotted_sum()))[:2] == [(0, 1, 1, 1), (0, 2, 1, 3)]


def test_latencies_add_up_along_paths():
    """1 us a link, and 1/2 us for the GPU that sends; in ticks of half a us."""
    late, before, ticks = HopPieces.of(two_ways()).latencies(Fraction(1, 2))
    assert (late.tolist(), before.tolist(), ticks) == ([5, 5], [0, 3, 0, 3], 2)
