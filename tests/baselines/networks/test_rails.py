"""Where the rails of trees begin: at GPUs with a NIC, at the same place in every box."""

from fractions import Fraction

import pytest

from baselines.networks.nic_attachment import NicAttachment
from baselines.networks.rails import rails_of
from forestcoll.errors import UnsupportedError

BOXES = [[0, 1, 2, 3], [4, 5, 6, 7]]


def attachments(size: int, own: list[int], reached: int | None = None) -> NicAttachment:
    """A box of which so many GPUs are reached and reach, these by links of their own."""
    open_to = tuple(range(size if reached is None else reached))
    widths = (Fraction(1),) * len(own)
    return NicAttachment(size, open_to, open_to, tuple(own), widths, widths)


def test_every_gpu_with_a_nic_begins_a_rail() -> None:
    whole = [attachments(4, BOXES[0]), attachments(4, BOXES[1])]
    assert rails_of(BOXES, whole, None) == [((0, 0), (1, 1), (2, 2), (3, 3))]
    assert rails_of(BOXES, whole, 6) == [((0, 0), (1, 1), (2, 2), (3, 3), (0, 0), (1, 1))]


def test_few_rails_keep_apart() -> None:
    """Two of four: GPUs 0 and 2."""
    whole = [attachments(4, BOXES[0]), attachments(4, BOXES[1])]
    assert rails_of(BOXES, whole, 2) == [((0, 0), (2, 2))]


def test_boxes_of_unequal_size_have_as_many_rails_as_the_largest() -> None:
    boxes = [[0, 1], [2, 3, 4]]
    whole = [attachments(2, boxes[0]), attachments(3, boxes[1])]
    assert rails_of(boxes, whole, None) == [((0, 0), (1, 1), (0, 2))]


def test_a_single_box_needs_no_nics() -> None:
    assert rails_of(BOXES[:1], [attachments(4, [], reached=0)], None) == [((0,), (1,), (2,), (3,))]


def test_a_dead_nic_costs_a_rail_or_two_places_are_paired() -> None:
    """GPU 1 of box 0 has none, GPU 6 of box 1, its third, neither: 0 and 3 are common.

    Two rails there; or three, the third from place 2 of box 0 to place 1 of box 1; or the usual
    four, for which these are paired again.
    """
    some = [attachments(4, [0, 2, 3], reached=3), attachments(4, [4, 5, 7], reached=3)]
    assert rails_of(BOXES, some, None) == [
        ((0, 0), (3, 3)),
        ((0, 0), (3, 3), (2, 1)),
        ((0, 0), (3, 3), (2, 1), (2, 1)),
    ]
    assert rails_of(BOXES, some, 1) == [((0, 0),)]


def test_gpus_that_share_nics_may_all_begin_rails() -> None:
    """That is tried first; then as many as there are NICs."""
    shared = [attachments(4, [0, 2]), attachments(4, [4, 6])]
    assert rails_of(BOXES, shared, None) == [
        ((0, 0), (1, 1), (2, 2), (3, 3)),
        ((0, 0), (2, 2)),
        ((0, 0), (2, 2), (0, 0), (2, 2)),
    ]


def test_a_box_without_any_is_refused() -> None:
    none = [attachments(4, BOXES[0]), attachments(4, [], reached=0)]
    with pytest.raises(UnsupportedError, match=r"^unsupported: a tree has to enter and leave each"):
        rails_of(BOXES, none, None)
