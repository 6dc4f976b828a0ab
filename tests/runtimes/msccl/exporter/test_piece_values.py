"""Equal names are equal sums."""

import pytest

from forestcoll.errors import ExportError
from forestcoll.runtimes.msccl.exporter.piece_values import NOTHING, values_of
from forestcoll.runtimes.transfer_pieces import Piece
from tests.runtimes.msccl.exporter.drafts import down_a_line, swap, up_a_line


def test_a_copy_bears_the_name_of_what_it_copies() -> None:
    """All that goes down a line is the root's."""
    draft = down_a_line()
    values = values_of(draft.pieces, draft.layout)
    assert set(values.brought) == {values.own(0, 0)}
    assert values.own(1, 0) == NOTHING


def test_a_sum_is_none_of_its_parts() -> None:
    """The second transfer up a line brings two parts; in a swap each brings its own."""
    draft = up_a_line()
    values = values_of(draft.pieces, draft.layout)
    assert values.brought[0] == values.own(2, 0)
    assert values.brought[1] not in {values.own(gpu, 0) for gpu in range(3)}
    both = swap()
    values = values_of(both.pieces, both.layout)
    assert values.brought == [values.own(0, 0), values.own(1, 0)]


def test_the_order_of_a_sum_does_not_matter() -> None:
    layout = up_a_line().layout
    pieces = [Piece(0, 0, 0, 1, gpu, 0, True, ()) for gpu in (1, 2)]
    values = values_of(pieces, layout)
    one = values.applied(values.applied(values.own(0, 0), 0), 1)
    assert one == values.applied(values.applied(values.own(0, 0), 1), 0)
    assert one != values.applied(values.own(0, 0), 1)


def test_who_sends_nothing_is_reported_of() -> None:
    """Rank 1 has nothing of what rank 0 broadcasts before it gets it."""
    with pytest.raises(ExportError, match=r"^rank 1 sends what it does not have, of chunk 0"):
        values_of([Piece(0, 0, 0, 1, 1, 2, False, ())], down_a_line().layout)
