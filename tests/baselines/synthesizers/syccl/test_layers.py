"""Layers and rotations of equal boxes."""

import numpy as np
import pytest

from baselines.synthesizers.syccl.layers import cluster_of
from forestcoll.errors import UnsupportedError
from forestcoll.topology import load_topology
from tests.hand_networks import network_of


def test_boxes_and_rails_of_two_boxes_by_hand() -> None:
    """2 boxes of 4: place = 4 box + number; rails are the equal numbers."""
    cluster = cluster_of(load_topology("paper_example"))
    box, rail = cluster.layers
    assert box.members == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert rail.members == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert (box.size, rail.size, cluster.places) == (4, 2, 8)
    assert rail.group == (0, 1, 2, 3, 0, 1, 2, 3)


def test_a_layer_without_a_choice_is_left_out() -> None:
    """One box has no rails, boxes of one GPU have one rail and no boxes."""
    (alone,) = cluster_of(load_topology("dgx_a100:boxes=1"), network=True).layers
    assert (alone.name, alone.size) == ("box", 8)
    (spread,) = cluster_of(load_topology("fat_tree:leaves=3,hosts=1,spines=2")).layers
    assert (spread.name, spread.size) == ("rail", 3)
    names = [
        layer.name for layer in cluster_of(load_topology("paper_example"), network=True).layers
    ]
    assert names == ["box", "rail", "network"]


def test_rotations_move_the_root_to_every_place_and_preserve_the_layers() -> None:
    cluster = cluster_of(load_topology("rail_optimized:boxes=3,gpus_per_box=2"))
    image = cluster.rotations()
    assert image[:, 0].tolist() == list(range(6))
    for row in image.tolist():
        assert sorted(row) == list(range(6))
        for layer in cluster.layers:
            groups = {frozenset(row[place] for place in group) for group in layer.members}
            assert groups == {frozenset(group) for group in layer.members}


def test_pairs_of_one_shift_are_images_of_each_other() -> None:
    """From box 1, number 1 (place 3) to box 0, number 0: a box back of 3, a number back of 2."""
    cluster = cluster_of(load_topology("rail_optimized:boxes=3,gpus_per_box=2"))
    assert cluster.shifts([3], [0]) == [2 * 2 + 1]
    image = cluster.rotations()
    for shift in range(6):
        tails, heads = image[:, 0].tolist(), image[:, shift].tolist()
        assert set(cluster.shifts(tails, heads)) == {shift}
    assert len(np.unique(image * 6 + image[:, :1])) == 36


def test_boxes_without_a_common_rotation_are_refused() -> None:
    net = network_of("[s] b0.gpu0@0.0 b0.gpu1@0.1 b1.gpu0@1.0", "s - b0.gpu0 b0.gpu1 b1.gpu0")
    with pytest.raises(UnsupportedError, match="boxes of 1 and of 2 GPUs"):
        cluster_of(net)
    with pytest.raises(UnsupportedError, match="outside boxes"):
        cluster_of(load_topology("ring:nodes=4"))
