"""Phases A and B: sets of layers and their shapes."""

from baselines.synthesizers.syccl.layers import cluster_of
from baselines.synthesizers.syccl.shapes import Shape, layer_sets, shapes_of
from forestcoll.topology import load_topology

FOUR = cluster_of(load_topology("rail_optimized:boxes=2,gpus_per_box=2"), network=True)


def test_layers_join_all_gpus_by_a_single_group_or_by_crossing() -> None:
    """Boxes and rails cross; the network is one group. A layer more is chosen on request."""
    assert list(layer_sets(FOUR, 1)) == [(2,)]
    assert list(layer_sets(FOUR, 2)) == [(2,), (0, 1), (0, 2), (1, 2)]
    assert list(layer_sets(FOUR, 3))[-1] == (0, 1, 2)


def test_boxes_do_not_cross_themselves() -> None:
    """In one box there is nothing but the box."""
    assert list(layer_sets(cluster_of(load_topology("dgx_a100:boxes=1")), 2)) == [(0,)]


def test_shapes_of_two_boxes_of_two_by_hand() -> None:
    """3 destinations: 1 in a group at most. Both boxes and a rail, or a box and both rails."""
    made = list(shapes_of(FOUR, (0, 1)))
    assert (Shape(0, 1, 1, 1), Shape(1, 1, 0, 0)) in made
    assert (Shape(0, 1, 0, 0), Shape(1, 1, 1, 1)) in made
    assert all(sum(shape.total for shape in shapes) == 3 for shapes in made)
    assert len(set(made)) == len(made)


def test_a_shape_of_some_groups_needs_a_layer_that_uses_all() -> None:
    """Some layer uses all of its groups in every set of shapes of three boxes of two."""
    cluster = cluster_of(load_topology("rail_optimized:boxes=3,gpus_per_box=2"))
    made = list(shapes_of(cluster, (0, 1)))
    assert made
    for shapes in made:
        groups = [len(cluster.layers[shape.layer].members) - 1 for shape in shapes]
        assert any(s.others == most for s, most in zip(shapes, groups, strict=True))
