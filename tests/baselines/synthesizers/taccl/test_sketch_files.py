"""Sketches by name, by file and drawn; those that are shipped fit what they are for."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from baselines.synthesizers.taccl.exchange import exchange_of
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.sketch import Sketch
from baselines.synthesizers.taccl.sketch_files import SHIPPED, drawn, find_sketch
from baselines.synthesizers.taccl.sketch_symmetry import classes_of
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.baselines.dead_nics import without
from tests.hand_networks import network_of

TEXTS = {
    ".yaml": """\
nnodes: 1
intranode_sketch: {strategy: minmax}
symmetry_offsets: [[1, all]]
hyperparameters: {input_chunkup: 2}
""",
    ".json": """\
{
    "nnodes": 1,
    "intranode_sketch": {"strategy": "minmax"},
    "symmetry_offsets": [[1, "all"]],
    "hyperparameters": {"input_chunkup": 2}
}
""",
}

MADE_FOR = {
    "dgx1": ["dgx1"],
    "ndv2": ["ndv2:chassis=2", "ndv2:chassis=4", "ndv2:chassis=2,between=direct"],
    "dgx2": ["dgx2:chassis=1", "dgx2:chassis=2"],
    "dgx-uc-min": [f"dgx_a100:boxes={boxes}" for boxes in (1, 2, 4)],
    "dgx-uc-max": [f"dgx_h100:boxes={boxes}" for boxes in (1, 2, 4)],
    "mi250": ["mi250:boxes=1", "mi250:boxes=2"],
}


def ring() -> Topology:
    return load_topology("ring:nodes=4")


def leads_in(network: LogicalNetwork) -> bool:
    """Whether links lead from the first GPU to all others."""
    seen, todo = {0}, [0]
    for place in todo:  # grows on the way
        heads = {network.links[i].head for i in network.out[place]} - seen
        seen |= heads
        todo += sorted(heads)
    return len(seen) == network.gpus


def test_every_sketch_that_is_shipped_is_for_something() -> None:
    assert sorted(MADE_FOR) == list(SHIPPED)


@pytest.mark.parametrize(
    ("name", "spec"), [(name, spec) for name, specs in MADE_FOR.items() for spec in specs]
)
def test_shipped_sketches_fit_their_networks(name: str, spec: str) -> None:
    """Links lead to all GPUs, and have the symmetry."""
    topology = load_topology(spec)
    sketch = find_sketch(name, topology)
    assert sketch.source.endswith(f"{name}.yaml")
    network = LogicalNetwork.of(topology, sketch, Fraction(1))
    assert leads_in(network)
    exchange = exchange_of("allgather", network.gpus, sketch.chunks)
    classes = classes_of(network, exchange, sketch)
    assert classes.sent.shape == (len(exchange), len(network.links))


@pytest.mark.parametrize("name", ["mine.yaml", "mine.yml", "mine.JSON"])
def test_a_file_is_read_by_its_ending(tmp_path: Path, name: str) -> None:
    """A byte-order mark does not matter."""
    path = tmp_path / name
    path.write_text(TEXTS[".json" if name == "mine.JSON" else ".yaml"], encoding="utf-8-sig")
    assert find_sketch(str(path), ring()) == Sketch(
        str(path), (1,), "minmax", symmetry=((1, 0),), chunks=2
    )


@pytest.mark.parametrize(
    ("suffix", "old", "new", "message"),
    [
        (".yaml", "nnodes: 1", "nnodes: 0", ", line 1: nnodes is 0; it must be a whole number, 1"),
        (".yaml", "nnodes", "[", ", line 1: not valid YAML"),
        (".json", '"nnodes": 1', '"nnodes": 0', ": nnodes is 0; it must be a whole number, 1 or"),
        (".json", "{", "", ", line 2: not valid JSON"),
    ],
)
def test_faults_name_files(tmp_path: Path, suffix: str, old: str, new: str, message: str) -> None:
    path = tmp_path / f"mine{suffix}"
    path.write_text(TEXTS[suffix].replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InvalidParameterError) as caught:
        find_sketch(str(path), ring())
    assert str(caught.value).startswith(f"{path}{message}")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("dgx", "did you mean dgx2?"),
        ("mi300", "did you mean mi250?"),
        ("Auto", "did you mean auto?"),
        ("quux", "they are auto, dgx-uc-max, dgx-uc-min, dgx1, dgx2, mi250, ndv2"),
        ("", "they are auto, dgx-uc-max, dgx-uc-min, dgx1, dgx2, mi250, ndv2"),
    ],
)
def test_a_name_that_is_none_is_refused(word: str, hint: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        find_sketch(word, ring())
    assert str(caught.value) == (
        f"sketch is {word!r}, neither a file (.yaml, .yml, .json) nor a sketch of ours; {hint}"
    )


def test_a_file_that_is_not_there_a_folder_and_other_text_are_refused(tmp_path: Path) -> None:
    missing, folder, other = (tmp_path / name for name in ("no.yaml", "folder.json", "latin.yaml"))
    folder.mkdir()
    other.write_bytes("description: schön".encode("latin-1"))
    for path, message in (
        (missing, "cannot be read: no such file or directory"),
        (folder, "cannot be read: is a directory"),
        (other, "not text in UTF-8; save it as such"),
    ):
        with pytest.raises(InvalidParameterError) as caught:
            find_sketch(str(path), ring())
        assert str(caught.value) == f"{path}: {message}"


EIGHT, SIXTEEN = tuple(range(8)), tuple(range(16))


@pytest.mark.parametrize(
    ("spec", "switches", "pattern", "connections", "symmetry"),
    [
        ("dgx_a100:boxes=1", (EIGHT,), "", {}, ((1, 8),)),
        ("dgx_a100:boxes=2", (EIGHT,), "direct-map", {}, ((1, 8), (8, 0))),
        ("dgx_h100:boxes=4", (EIGHT,), "direct-map", {}, ((1, 8), (8, 0))),
        ("dgx_a100:boxes=2,nics=nodes", (EIGHT,), "direct-map", {}, ((1, 8), (8, 0))),
        ("paper_example", ((0, 1, 2, 3),), "direct-map", {}, ((1, 4), (4, 0))),
        ("mi250:boxes=2", (), "direct-map", {}, ((8, 16), (16, 0))),
        ("dgx1", (), "", {}, ((4, 8), (2, 4))),
        ("ndv2:chassis=2", (), "", {0: (1,)}, ((8, 0),)),
        ("ndv2:chassis=3", (), "", {0: (1,)}, ((8, 0),)),
        (
            "dgx2:chassis=2",
            (SIXTEEN,),
            "",
            {odd: (odd - 1,) for odd in range(1, 16, 2)},
            ((2, 16), (16, 0)),
        ),
        ("torus:dims=3x3", (), "", {}, ((3, 9), (1, 3))),
        ("hypercube:dimension=3", (), "", {}, ((4, 8), (2, 4), (1, 2))),
        ("ring:nodes=5", (), "", {}, ((1, 5),)),
        ("ring:nodes=5,bidirectional=false", (), "", {}, ((1, 5),)),
    ],
)
def test_drawn_sketches_have_the_expected_links_and_symmetry(
    spec: str,
    switches: tuple[tuple[int, ...], ...],
    pattern: str,
    connections: Mapping[int, tuple[int, ...]],
    symmetry: tuple[tuple[int, int], ...],
) -> None:
    """An offset within boxes keeps senders senders: of DGX-2 it is that of the published sketch.

    Of NDv2 there is none: what is turned by 4 would have to come in by GPU 5.
    """
    topology = load_topology(spec)
    sketch = find_sketch("auto", topology)
    assert sketch == Sketch(
        source=f"the sketch drawn of {topology.name}",
        boxes=(len({topology.nodes[gpu].box for gpu in topology.compute}),),
        local="switch" if switches else "none",
        switches=switches,
        connections=connections,
        pattern=pattern,
        symmetry=symmetry,
    )
    network = LogicalNetwork.of(topology, sketch, Fraction(1))
    assert leads_in(network)
    ends = {(link.tail, link.head, link.cost_us) for link in network.links}
    for offset, stated in symmetry:
        size = stated or network.gpus
        turned = [v - v % size + (v % size + offset) % size for v in range(network.gpus)]
        assert {(turned[u], turned[v], cost) for u, v, cost in ends} == ends


@pytest.mark.parametrize(
    ("slow", "symmetry"),
    [
        (("1.0", "1.1"), ((1, 2),)),
        (("0.1", "1.1"), ((2, 0),)),
        (("0.0", "0.1"), ((1, 2),)),
        ((), ((1, 2), (2, 0))),
    ],
)
def test_images_are_as_fast(slow: tuple[str, ...], symmetry: tuple[tuple[int, int], ...]) -> None:
    """A square of two boxes: its boxes differ, or what its numbers have between boxes."""
    builder = TopologyBuilder()
    for box in (0, 1):
        for i in (0, 1):
            builder.gpu(f"{box}.{i}", box, i)
    for ends in (("0.0", "0.1"), ("1.0", "1.1"), ("0.0", "1.0"), ("0.1", "1.1")):
        builder.link(*ends, 1 if ends == slow else 2)
    assert drawn(builder.build("square")).symmetry == symmetry


def test_only_gpus_that_reach_a_peer_are_senders() -> None:
    """All reach GPUs 0 and 1 of the other box; the third is left out, as nobody reaches it."""
    sketch = drawn(
        network_of(
            "[net] [switch0] 0.0@0.0 0.1@0.1 0.2@0.2 [switch1] 1.0@1.0 1.1@1.1 1.2@1.2",
            "0.0..2 - switch0: 10, 1.0..2 - switch1: 10, 0.0..2 1.0..2 > net, net > 0.0..1 1.0..1",
            "two receivers",
        )
    )
    assert sketch.connections == {0: (0,), 1: (1,)}


def test_boxes_joined_by_neither_links_nor_switches_are_unsupported() -> None:
    """A line from GPU 0 to 2, one way, and a switch for two of them."""
    with pytest.raises(UnsupportedError) as caught:
        drawn(
            network_of(
                "gpu0@0.0 gpu1@0.1 gpu2@0.2 [switch]",
                "gpu0 > gpu1, gpu1 > gpu2, gpu0 gpu2 - switch",
                "half a ring",
            )
        )
    assert str(caught.value) == (
        "unsupported: half a ring: neither do links join all GPUs of a box nor switches any two of "
        "them, so taccl draws no sketch of it; write one"
    )


def test_a_dead_nic_of_one_box_keeps_its_number_from_sending_in_all() -> None:
    """A sketch has the same for every box."""
    sketch = drawn(without("dgx_a100:boxes=2", "b0.gpu2 - ib"))
    assert sketch.connections == {i: (i,) for i in range(8) if i != 2}
    assert sketch.symmetry == ((8, 0),)


def test_boxes_that_reach_no_others_have_no_sketch() -> None:
    """A chain of three boxes: the ends do not reach each other by links."""
    with pytest.raises(UnsupportedError, match="no GPU of a box reaches the same GPU"):
        drawn(network_of("0.0@0.0 1.0@1.0 2.0@2.0", "0.0 - 1.0, 1.0 - 2.0", "chain"))


def test_links_that_differ_by_less_than_a_tick_are_no_symmetry() -> None:
    """Costs are rounded for 1 KB, but not for all sizes: there an offset would be refused."""
    links = f"g0 - g1 g2: 10 1/10007, g1 - g2: {10 + Fraction(1, 10**9)} 1/10007"
    assert drawn(network_of("g0..2", links, "nearly a ring")).symmetry == ()
