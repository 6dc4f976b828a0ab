"""Shared capacities in files: read in every form, written and read back equal, faults named."""

from dataclasses import replace
from fractions import Fraction

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import SharedCapacity, Topology, TopologyBuilder, load_topology
from forestcoll.topology.files import read_topology, topology_json, topology_yaml
from forestcoll.topology.format import topology_document, topology_from_document, topology_schema
from forestcoll.topology.reading.documents import Document, parse_json, parse_yaml
from forestcoll.topology.reading.yaml_lines import yaml_lines
from tests.random_topologies import rounds

SCHEMA = jsonschema.Draft202012Validator(topology_schema())

BOX = """\
name: box
nodes:
  - {name: host, kind: switch}
  - {name: gpu0, kind: compute}
  - {name: gpu1, kind: compute}
links:
  - {from: gpu0, to: host, bandwidth_gb_s: 64, both: true}
  - {from: gpu1, to: host, bandwidth_gb_s: 64, both: true}
shared:
  - {name: host memory, links: ["gpu* -> host"], bandwidth_gb_s: 100}
  - {name: bus, links: [{from: host, to: gpu0, both: true}, host -> gpu1], bandwidth_gb_s: 800 Gb/s}
"""


def read(text: str) -> Topology:
    return topology_from_document(parse_yaml(text, "box.yaml"))


def test_patterns_and_names_in_a_file():
    """800 Gb/s are 100 GB/s; "gpu* -> host" is both GPUs; names with ``both`` are two links."""
    assert [(g.name, g.links, g.bandwidth_gb_s) for g in read(BOX).shared] == [
        ("bus", ((0, 1), (0, 2), (1, 0)), 100),
        ("host memory", ((1, 0), (2, 0)), 100),
    ]


def test_a_half_duplex_link_is_a_shared_capacity_of_both_directions():
    text = BOX[: BOX.index("shared:")].replace("both: true", "both: true, half_duplex: true", 1)
    (group,) = read(text).shared
    assert (group.name, group.links) == ("gpu0 - host", ((0, 1), (1, 0)))
    assert group.bandwidth_gb_s == 64
    assert "both: true, half_duplex: true" in topology_yaml(
        load_topology("ring:nodes=2").with_shared("gpu0 - gpu1", "gpu0 - gpu1", 1)
    )


def test_parallel_half_duplex_links_add_up():
    """Half-duplex 64 and 32 and full-duplex 10: 96 + 2 * 10 = 116 GB/s for both directions.

    Either direction alone may have 106, all three; both together no more than 116.
    """
    links = (
        "  - {from: gpu0, to: host, bandwidth_gb_s: 32, both: true, half_duplex: true}\n"
        "  - {from: host, to: gpu0, bandwidth_gb_s: 10, both: true}\n"
    )
    text = BOX[: BOX.index("shared:")].replace("both: true", "both: true, half_duplex: true", 1)
    made = read(text + links)
    assert made.shared[0].bandwidth_gb_s == 116
    assert made.link_between[0, 1].bandwidth_gb_s == 106


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        (
            "gpu* -> host",
            "gpu9 -> host",
            "line 10: shared[0].links is wrong: shared capacity 'host ",
        ),
        ("gpu* -> host", "gpu0 -> gpu1", "names no link of box"),
        ('["gpu* -> host"]', "[]", "line 10: shared[0].links is []; write a list of links"),
        ('["gpu* -> host"]', "gpu0", "shared[0].links is 'gpu0'; write a list of links"),
        ('["gpu* -> host"]', "[3]", "shared[0].links holds 3; write text such as"),
        ("to: gpu0, both", "at: gpu0, both", "line 11: shared[1].links holds {"),
        ("to: gpu0, both: true}", "to: gpu0, both: 1}", "shared[1].links holds {"),
        (
            "to: gpu0, both",
            "to: gpu9, both",
            "shared[1].links is wrong: shared capacity 'bus': 'gpu9",
        ),
        (
            "from: host, to: gpu0, both: true",
            "from: gpu0, to: gpu1",
            "gpu0 -> gpu1, which is not th",
        ),
        ("_gb_s: 100", "_gb_s: 0", "line 10: shared[0].bandwidth_gb_s is 0; it must be positive"),
        ("_gb_s: 100", "_gb: 100", "shared[0].bandwidth_gb is not a field of this format; did you"),
        ("name: host memory", "name: gpu0", "shared is wrong: shared capacity 'gpu0' has the name"),
        ("name: host memory", "name: bus", "two shared capacities are named 'bus'; rename one"),
        ("name: host memory, ", "", "shared[0].name is missing"),
        ("shared:", "share:", "share is not a field of this format; did you mean shared?"),
        ("true}\n  - {from: gpu1", "true}\n  - {half_duplex: true, from: gpu1", None),
        ("64, both: true}\nsh", "64, half_duplex: true}\nsh", "links[1].half_duplex is true on a"),
    ],
)
def test_faults_name_the_line_the_field_and_the_remedy(old, new, shown):
    text = BOX.replace(old, new)
    assert text != BOX
    if shown is None:
        assert len(read(text).shared) == 3
        return
    with pytest.raises(InvalidTopologyError) as error:
        read(text)
    assert shown in str(error.value)
    assert "\n" not in str(error.value)


def test_one_of_many_faults_is_reported():
    """A list of 300,000 wrong links: one line, at once."""
    document = parse_yaml(BOX, "box.yaml").data
    assert isinstance(document, dict)
    document["shared"] = [{"name": "x", "links": [7] * 300_000, "bandwidth_gb_s": 1}]
    with pytest.raises(InvalidTopologyError, match=r"shared\[0\].links holds 7; write text"):
        topology_from_document(Document(document, "x"))


def test_more_than_a_thousand_groups():
    """Fields are checked by the thousand; no group is lost or read twice."""
    wires = (SharedCapacity(f"wire {i}", ((0, 1),), Fraction(i + 1)) for i in range(1002))
    ring = replace(load_topology("ring:nodes=2"), shared=tuple(wires))
    assert topology_from_document(Document(topology_document(ring), "x")) == ring


NAMES = ["a", "b - c", "x -> y", "*", "gpu[0]", "b", "c", "no", 'q"']


@settings(max_examples=rounds(60), derandomize=True, deadline=None)
@given(st.data())
def test_round_trips_are_exact_for_any_names(data):
    """Written and read back equal in YAML and JSON, and the schema agrees.

    Names with arrows, stars and brackets in them are no patterns then.
    """
    builder = TopologyBuilder()
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=3, max_size=6, unique=True))
    for name in names:
        builder.gpu(name)
    for i, name in enumerate(names):
        builder.link(name, names[i - 1], 2)
    made = builder.build("odd")
    ends = [(link.tail, link.head) for link in made.links]
    groups = data.draw(st.lists(st.lists(st.sampled_from(ends), min_size=1), max_size=3))
    called = st.sampled_from(["host memory", "s", "a - b", "b - a", "yes", "1"])
    titles = data.draw(st.lists(called, min_size=3, max_size=3, unique=True))
    limits = st.sampled_from([Fraction(2), Fraction(1, 3), Fraction(9)])
    made = replace(
        made,
        shared=tuple(
            SharedCapacity(title, tuple(group), data.draw(limits))
            for title, group in zip(titles, groups, strict=False)
        ),
    )
    assert topology_from_document(parse_yaml(topology_yaml(made), "x")) == made
    assert topology_from_document(parse_json(topology_json(made), "x")) == made
    SCHEMA.validate(topology_document(made))


def test_half_duplex_is_written_in_short_if_nothing_is_lost(tmp_path):
    """Another name, limit or latency is written under ``shared``."""
    ring = load_topology("ring:nodes=3,bandwidth=2")
    short = topology_document(ring.with_shared("gpu0 - gpu1", "gpu0 - gpu1", 2))
    assert [link.get("half_duplex") for link in short["links"]] == [True, None, None]
    assert "shared" not in short
    for name, limit in (("gpu1 - gpu0", 2), ("wire", 2), ("gpu0 - gpu1", 3)):
        long = topology_document(ring.with_shared(name, "gpu0 - gpu1", limit))
        assert long["shared"] == [{"name": name, "links": ["gpu0 - gpu1"], "bandwidth_gb_s": limit}]
    one_way = topology_document(ring.with_shared("gpu0 - gpu1", "gpu0 -> gpu1", 2))
    assert one_way["shared"][0]["links"] == ["gpu0 -> gpu1"]


def test_a_file_in_lines_needs_the_yaml_parser_for_its_groups_only():
    """Same data and lines as from the YAML parser; 500 nodes, and one group behind them."""
    made = load_topology("ring:nodes=500").with_shared("wire", "gpu0 - gpu1", 1)
    text = topology_yaml(made.with_shared("a", "gpu7 -> gpu8", 3))
    quick = yaml_lines(text)
    assert quick is not None
    data, lines = quick
    assert data == parse_yaml(text.replace("name:", " # \nname:", 1), "x").data
    assert lines(("shared", 1, "name")) == len(text.splitlines())
    assert lines(("links", 3)) == 507
    assert lines(("shared",)) == len(text.splitlines()) - 2
    assert yaml_lines(text + "more: 1\n") is None
    assert yaml_lines(text + "  - {\n") is None


CHANGED = 'base: ring:nodes=4\nshared: [{name: w, links: ["gpu0 - gpu1"], bandwidth_gb_s: 1}]\n'


def test_a_changed_network_may_have_more_limits(tmp_path):
    path = tmp_path / "net.yaml"
    path.write_text(CHANGED + "scale: {w: 1/2}\nname: ours\n")
    due = load_topology("ring:nodes=4").with_shared("w", "gpu0 - gpu1", "1/2")
    made = read_topology(path)
    assert (made.shared, made.links, made.name) == (due.shared, due.links, "ours")
    SCHEMA.validate(parse_yaml(CHANGED, "x").data)
    path.write_text(f"base: {path.with_name('base.yaml').name}\nwithout: [w]\n")
    path.with_name("base.yaml").write_text(CHANGED)
    assert read_topology(path).shared == ()


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        (CHANGED, "base: ring:nodes=4\nshared: {w: 1}\n", "shared is {"),
        ("name: w", "name: 3", "shared[0] is {"),
        ("name: w, ", "", "shared[0] is {"),
        ('["gpu0 - gpu1"]', "gpu0", "shared[0] is {"),
        ("_gb_s: 1}", "_gb_s: x}", "shared[0].bandwidth_gb_s is 'x'"),
        ("_gb_s: 1}", "_gb_s: 0}", "shared capacity 'w': bandwidth is 0 GB/s"),
        ("gpu1", "gpu2", "names no link of ring:nodes=4"),
        ("1}]", "1}, {name: w, links: [gpu0], bandwidth_gb_s: 1}]", "shared[1].name is 'w' again"),
        ('["gpu0 - gpu1"]', "[]", "'w' has no links"),
    ],
)
def test_faults_of_limits_in_a_changed_network(tmp_path, old, new, shown):
    path = tmp_path / "net.yaml"
    path.write_text(CHANGED.replace(old, new))
    with pytest.raises(InvalidTopologyError) as error:
        read_topology(path)
    assert shown in str(error.value)
