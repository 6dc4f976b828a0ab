"""Phase C: sketches of given shapes."""

from collections import Counter

import pytest

from baselines.synthesizers.syccl.layers import Cluster, cluster_of
from baselines.synthesizers.syccl.sketch_search import MOST_STEPS, find_sketches
from baselines.synthesizers.syccl.symmetry_sketch import Sketch
from forestcoll.topology import load_topology

SPECS = ("dgx_a100:boxes=1", "dgx_a100:boxes=3", "rail_optimized:boxes=4,gpus_per_box=3")


def loads(sketch: Sketch) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(Counter(sketch.layer).items()))


@pytest.mark.parametrize("spec", SPECS)
def test_sketches_follow_the_rules_of_the_search(spec: str) -> None:
    """Everyone receives once, sends only in the next step, and over another layer."""
    cluster = cluster_of(load_topology(spec), network=True)
    found = find_sketches(cluster)
    assert found
    assert len(set(found)) == len(found)
    for sketch in found:
        assert sorted(sketch.head) == list(range(1, cluster.places))
        assert sketch.num_steps <= MOST_STEPS
        assert list(sketch.step) == sorted(sketch.step)
        came = {head: n for n, head in enumerate(sketch.head)}
        for step, layer, tail, head in zip(
            sketch.step, sketch.layer, sketch.tail, sketch.head, strict=True
        ):
            groups = cluster.layers[layer].group
            assert groups[tail] == groups[head]
            if tail == 0:
                assert step == 0
            else:
                assert sketch.step[came[tail]] == step - 1
                assert sketch.layer[came[tail]] != layer


def test_the_extremes_of_four_boxes_by_hand() -> None:
    """32 GPUs: every box by 3 rails, 28 inside; or every rail from one box, 7 inside."""
    found = {
        loads(sketch) for sketch in find_sketches(cluster_of(load_topology("hgx_a800:boxes=4")))
    }
    assert ((0, 28), (1, 3)) in found
    assert ((0, 7), (1, 24)) in found
    assert all(3 <= dict(one)[1] <= 24 for one in found)


def test_a_destination_shares_no_lower_layer_with_its_source() -> None:
    """Over the network, the box is not entered from itself."""
    cluster: Cluster = cluster_of(load_topology("paper_example"), network=True)
    for sketch in find_sketches(cluster):
        for layer, tail, head in zip(sketch.layer, sketch.tail, sketch.head, strict=True):
            if layer == 2 and 0 in sketch.layer:
                assert tail // 4 != head // 4
