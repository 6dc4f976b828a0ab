"""Pictures of the stages of the core."""

import itertools
from collections import Counter

import pytest
from matplotlib.patches import Circle, FancyArrowPatch

from forestcoll.cli.inspection import Stage
from forestcoll.draw import core_stages as drawings
from forestcoll.draw.canvas import CROSSING
from forestcoll.draw.core_stages import STAGES, draw_stage
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import load_topology
from tests.draw.figures import arrows, patches, texts

SMALL = ["paper_example", "fat_tree:leaves=3,hosts=2,spines=2", "mi250:boxes=2,gpus_per_box=8"]


def stages_of(spec: str) -> drawings._Stages:
    return drawings._Stages(load_topology(spec))


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("spec", SMALL)
def test_every_split_takes_the_least_of_its_links_and_the_tightest_cut(spec: str) -> None:
    """Theorem 6, with max-flows of networkx on the auxiliary networks, split by split."""
    stages = stages_of(spec)
    assert stages.splits
    for step in stages.splits:
        first, second = step.split.links
        limit = drawings._tightest(stages, step)
        assert step.split.amount == min(step.before[first], step.before[second], limit.spare)


@pytest.mark.parametrize("spec", SMALL)
def test_splits_lead_from_the_scaled_network_to_the_logical_links(spec: str) -> None:
    stages = stages_of(spec)
    left = dict(stages.splits[-1].before)
    stages.splits[-1].split.apply(left)
    logical, gpus = stages.logical, stages.topology.compute
    rows = zip(logical.tail, logical.head, logical.capacity.tolist(), strict=True)
    expected = {(gpus[tail], gpus[head]): trees for tail, head, trees in rows}
    switches = set(stages.topology.switches)
    assert {pair: n for pair, n in left.items() if not switches & set(pair)} == expected


def test_a_limit_by_a_cut_is_drawn_with_its_side_shaded() -> None:
    """Split 1 of this fat tree: its links carry 2 trees, a cut spares 1."""
    spec = "fat_tree:leaves=3,hosts=2,spines=2"
    stages = stages_of(spec)
    limit = drawings._tightest(stages, stages.splits[1])
    assert limit.spare == 1
    figure = draw_stage(spec, "auxiliary", 1)
    written = "\n".join(texts(figure))
    due = stages.best.k * 6
    assert f"has {due + 1} for {due} trees, so it spares 1" in written
    assert "the least of these is split off: 1" in written
    shaded = Counter(disc.get_facecolor() for disc in patches(figure, Circle))
    gpus = set(stages.topology.compute)
    assert sorted(shaded.values()) == sorted([len(limit.side & gpus), len(gpus - limit.side)])


def test_the_scaled_network_has_trees_for_bandwidths() -> None:
    written = texts(draw_stage("paper_example:bandwidth=3", "scaled"))
    assert written[:2] == ["10 trees each direction", "1 tree each direction"]
    assert "1 tree of each GPU; a link carries 1/3 for each GB/s" in written


def test_a_split_marks_its_links_and_the_logical_link() -> None:
    figure = draw_stage("paper_example", "split")
    assert len(patches(figure, FancyArrowPatch, CROSSING)) == 2
    written = texts(figure)
    assert "c1.2 -> w1 and w1 -> c1.1: 6 less" in written
    assert "c1.2 -> c1.1: 6 more" in written


def test_the_logical_network_has_no_switches() -> None:
    figure = draw_stage("paper_example", "logical")
    assert len(patches(figure, Circle)) == 8
    assert not {"w0", "w1", "w2"} & set(texts(figure))
    assert len(patches(figure, FancyArrowPatch)) == 3 + 3 + 4  # pairs of equal opposite links


def test_a_tree_reaches_every_gpu_over_physical_links() -> None:
    """Into each of the other seven GPUs leads a marked link, and none into the root."""
    figure = draw_stage("paper_example", "tree", 1)
    assert "root c1.2; 1 tree" in texts(figure)
    stages = stages_of("paper_example")
    parents = stages.batches.parent[1].tolist()
    hops = {
        pair
        for rank, parent in enumerate(parents)
        if parent >= 0
        for path in [stages.paths[parent, rank][0].nodes]
        for pair in itertools.pairwise(path)
    }
    assert len(patches(figure, FancyArrowPatch, CROSSING)) == len(hops)
    gpus = set(stages.topology.compute)
    assert {head for _, head in hops} & gpus == gpus - {int(stages.batches.root[1])}


def test_paths_of_a_logical_link_are_written_with_their_trees() -> None:
    figure = draw_stage("paper_example", "paths", 1)
    assert "1 tree: c1.1 -> w0 -> c2.1" in texts(figure)
    assert len(patches(figure, FancyArrowPatch, CROSSING)) == 2
    assert len(arrows(figure)) == 3


def test_a_network_without_switches_has_trees_and_no_splits() -> None:
    assert draw_stage("ring:nodes=4", "tree").axes
    with pytest.raises(InvalidParameterError, match=r"has no split 0; there are none"):
        draw_stage("ring:nodes=4", "split")


def test_the_numbers_of_splits_trees_and_logical_links_are_checked() -> None:
    for stage, last in [("split", 19), ("auxiliary", 19), ("tree", 7), ("paths", 19)]:
        with pytest.raises(InvalidParameterError, match=f"{last + 1}; they are 0 to {last}"):
            draw_stage("paper_example", stage, last + 1)


def test_unknown_stages_and_large_networks_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="no stage 'trees'; the stages are scaled"):
        draw_stage("paper_example", "trees")
    with pytest.raises(UnsupportedError, match="has 901 nodes; stages are drawn on networks of at"):
        draw_stage("dgx_a100:boxes=100", "scaled")


def test_the_command_knows_every_stage() -> None:
    assert [stage.value for stage in Stage] == list(STAGES)
