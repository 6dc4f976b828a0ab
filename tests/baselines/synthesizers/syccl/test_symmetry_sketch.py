"""A sketch and what its transfers carry."""

from baselines.synthesizers.syccl.symmetry_sketch import Sketch

CHAIN = Sketch(step=(0, 0, 1), layer=(0, 1, 1), tail=(0, 0, 1), head=(1, 2, 3))
"""0 to 1 and to 2, then 1 to 3."""


def test_a_broadcast_carries_one_shard_and_a_scatter_all_behind() -> None:
    """Behind 0 -> 1 are places 1 and 3."""
    assert CHAIN.carried(scatter=False).tolist() == [1, 1, 1]
    assert CHAIN.carried(scatter=True).tolist() == [2, 1, 1]
    assert CHAIN.num_steps == 2


def test_every_place_but_the_root_is_entered_once() -> None:
    assert CHAIN.entry().tolist() == [-1, 0, 1, 2]
