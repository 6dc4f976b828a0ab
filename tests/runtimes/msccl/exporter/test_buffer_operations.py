"""What GPUs read and write, and where."""

import pytest

from forestcoll.errors import ExportError, UnsupportedError
from forestcoll.runtimes.msccl.exporter.buffer_operations import NOTHING, operations_of, values_of
from forestcoll.runtimes.transfer_pieces import Piece
from tests.runtimes.msccl.exporter.drafts import Draft, down_a_line, swap, up_a_line


def described(draft: Draft) -> list[tuple[int, str, str | None, str | None]]:
    """Who does what, and the buffers."""
    return [
        (
            each.gpu,
            each.kind,
            each.source and each.source.place.buffer,
            each.target and each.target.place.buffer,
        )
        for chain in draft.operations()
        for each in chain
    ]


def test_early_arrivals_are_kept_in_scratch() -> None:
    """Rank 1 gets a part before it has sent its own, which may be where the result is due."""
    assert described(swap()) == [
        (0, "s", "i", None),
        (1, "rrc", "i", "s0"),
        (1, "s", "i", None),
        (0, "rrc", "i", "o"),
        (1, "cpy", "s0", "o"),
    ]


def test_intermediate_sums_arrive_in_scratch() -> None:
    """The sum on its way up; what goes down is due everywhere."""
    assert described(up_a_line())[1:4] == [
        (1, "rrc", "i", "s0"),
        (1, "s", "s0", None),
        (0, "rrc", "i", "o"),
    ]
    assert described(down_a_line())[1:3] == [(1, "r", None, "o"), (1, "s", "o", None)]


def test_a_sum_that_does_not_come_together_is_refused() -> None:
    """Rank 1 sends on the second of two parts without the first, which has come before it."""
    layout = up_a_line().layout
    pieces = [
        Piece(0, 0, 0, 1, 0, 1, True, ()),
        Piece(1, 0, 0, 1, 2, 1, True, ()),
        Piece(2, 0, 0, 1, 1, 0, True, (1,)),
    ]
    values = values_of(pieces, layout)
    with pytest.raises(UnsupportedError, match="rank 1 sends rank 0 a sum of chunk 0 that is none"):
        operations_of(pieces, [[0], [1], [2]], values, layout)


def test_a_copy_has_the_value_of_its_source() -> None:
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


def test_a_gpu_that_sends_nothing_is_reported() -> None:
    """Rank 1 has nothing of what rank 0 broadcasts before it gets it."""
    with pytest.raises(ExportError, match=r"^rank 1 sends what it does not have, of chunk 0"):
        values_of([Piece(0, 0, 0, 1, 1, 2, False, ())], down_a_line().layout)
