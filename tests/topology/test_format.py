"""The format of a topology: what fits it, and faults reported in one line."""

import json
import re
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.topology import Link, Node, NodeKind, Topology, read_topology, validate
from forestcoll.topology.files import topology_json, topology_yaml
from forestcoll.topology.format import topology_document, topology_from_document, topology_schema
from forestcoll.topology.reading.documents import Document, parse_json, parse_yaml
from tests.random_topologies import rounds
from tests.topology.texts import GOOD, fault, read

DOCS = Path(__file__).parents[2] / "docs"


SCHEMA = jsonschema.Draft202012Validator(topology_schema())


# Names that YAML 1.1 would take for something else, and any printable text.
names = st.one_of(
    st.sampled_from(["no", "on", "Y", "null", "~", "true", "1:30", "010", "12.5", "3", "-", "#x"]),
    st.sampled_from(["a: b", "{a}", "[a]", "&a", "*a", "!a", '"', "\\", "'", "é", "🌲", "a  b"]),
    st.text(min_size=1, max_size=6).filter(lambda s: s.isprintable() and s == s.strip()),
)


numbers = st.fractions(min_value=Fraction(1, 1000), max_value=10**6, max_denominator=10**4)


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    node_names = draw(st.lists(names, min_size=2, max_size=5, unique=True))
    small = st.none() | st.integers(0, 3)
    nodes = []
    for name in node_names:
        switch = draw(st.booleans())
        kind = NodeKind.SWITCH if switch else NodeKind.COMPUTE
        multicast = switch and draw(st.booleans())
        nodes.append(Node(name, kind, draw(small), draw(small), multicast))
    pairs = [(a, b) for a in range(len(nodes)) for b in range(len(nodes)) if a != b]
    links = []
    for tail, head in draw(st.lists(st.sampled_from(pairs), max_size=6)):
        bandwidth, latency = draw(numbers), draw(st.just(Fraction(0)) | numbers)
        links.append(Link(tail, head, bandwidth, latency))
        if draw(st.booleans()):
            links.append(Link(head, tail, bandwidth, latency))
    return Topology(draw(names), tuple(nodes), tuple(links))


@settings(max_examples=rounds(100, 15), derandomize=True, deadline=None)
@given(topologies())
def test_round_trip_is_exact(topology):
    """What is written reads back equal, in YAML and in JSON, and fits the schema."""
    assert topology_from_document(parse_yaml(topology_yaml(topology), "x")) == topology
    assert topology_from_document(parse_json(topology_json(topology), "x")) == topology
    assert topology_from_document(Document(topology_document(topology), "x")) == topology
    SCHEMA.validate(topology_document(topology))


def test_a_link_runs_one_way_unless_it_says_both(tmp_path):
    assert len(read(tmp_path, GOOD).links) == 2
    assert len(read(tmp_path, GOOD.replace(", both: true", "")).links) == 1


def test_parallel_links_in_a_file_add_up(tmp_path):
    text = GOOD + "  - {from: b, to: a, bandwidth_gb_s: 0.5}\n"
    assert [e.bandwidth_gb_s for e in read(tmp_path, text).links] == [1, Fraction(3, 2)]


BANDWIDTH = "links[0].bandwidth_gb_s"


NUMBER = 'which is not a number; write an integer, "12.5" or "25/2"'


# What is changed in GOOD, into what; the line and field the message must name; and the remedy.
MALFORMED = [
    ("bandwidth_gb_s: 1,", "", f", line 6: {BANDWIDTH} is missing", "add it"),
    (
        "_gb_s: 1,",
        "_gbps: 1,",
        ", line 6: links[0].bandwidth_gbps is not a field",
        "bandwidth_gb_s?",
    ),
    ("_gb_s: 1,", "_gb_s: fast,", f", line 6: {BANDWIDTH} is 'fast'", NUMBER),
    ("_gb_s: 1,", "_gb_s: true,", f", line 6: {BANDWIDTH} is True", NUMBER),
    ("_gb_s: 1,", "_gb_s: yes,", f", line 6: {BANDWIDTH} is 'yes'", NUMBER),
    ("_gb_s: 1,", "_gb_s: 1:30,", f", line 6: {BANDWIDTH} is '1:30'", NUMBER),
    ("_gb_s: 1,", "_gb_s: .inf,", f", line 6: {BANDWIDTH} is '.inf'", NUMBER),
    ("_gb_s: 1,", "_gb_s: .nan,", f", line 6: {BANDWIDTH} is '.nan'", NUMBER),
    ("_gb_s: 1,", "_gb_s: 1/0,", f", line 6: {BANDWIDTH} is '1/0'", NUMBER),
    ("_gb_s: 1,", "_gb_s: ,", f", line 6: {BANDWIDTH} is None", NUMBER),
    ("_gb_s: 1,", "_gb_s: [1],", f", line 6: {BANDWIDTH} is [1]", NUMBER),
    ("_gb_s: 1,", f"_gb_s: {'9' * 6000},", f", line 6: {BANDWIDTH} is '999", NUMBER),
    ("_gb_s: 1,", "_gb_s: 1e999999999,", f", line 6: {BANDWIDTH} is '1e999999999'", NUMBER),
    ("_gb_s: 1,", "_gb_s: -1,", f", line 6: {BANDWIDTH} is -1", "must be positive"),
    ("_gb_s: 1,", "_gb_s: 0.0,", f", line 6: {BANDWIDTH} is 0.0", "leave a dead link out"),
    ("_gb_s: 1,", "_gb_s: 1, latency_us: -1,", "links[0].latency_us is -1", "cannot be negative"),
    ("_gb_s: 1,", "_gb_s: !!float 1,", ", line 6: the tag !!float", "leave it out"),
    ("both: true", "both: yes", ", line 6: links[0].both is 'yes'", "write true or false"),
    ("to: b", "to: bb", ", line 6: links[0].to is 'bb', which is not a node", "did you mean 'b'?"),
    ("to: b", "to: zz", ", line 6: links[0].to is 'zz', which is not a node", "add it under nodes"),
    ("to: b", "to: a", ", line 6: links[0].to is 'a', where the link comes", "remove the link"),
    ("name: b", "name: a", ", line 4: nodes[1].name is 'a', as is nodes[0].name", "rename one"),
    ("name: b", "name: 3", ", line 4: nodes[1].name is 3, not text", "in quotes"),
    ("name: b", 'name: ""', ", line 4: nodes[1].name is empty", "give it a name"),
    ("name: b", 'name: "b\\n"', ": links[0].to is 'b', which is not a node", "did you mean"),
    ("name: pair", 'name: "a\\nb"', "the topology is named 'a\\nb'", "use printable characters"),
    (
        "kind: compute}\nl",
        "kind: gpu}\nl",
        "nodes[1].kind is 'gpu'",
        "'compute', 'switch' or 'relay'",
    ),
    ("kind: compute}\nl", "kind: compute, box: 1.0}\nl", "nodes[1].box is '1.0'", "a whole number"),
    ("kind: compute}\nl", "kind: compute, box: -1}\nl", "nodes[1].box is -1", "from 0 up"),
    ("kind: compute}\nl", "kind: compute, multicast: true}\nl", "].multicast is", "only a switch"),
    ("kind: compute}\nl", "kind: compute, kind: switch}\nl", ", line 4: the key 'kind'", "remove"),
    ("kind: compute}\nl", "kind: compute, hue: 1}\nl", "nodes[1].hue is not", "name, kind, box"),
    (
        "name: pair",
        "name: pair\nname: two",
        ", line 2: the key 'name' is given twice",
        "rename one",
    ),
    ("name: pair", '? "a\\nb"\n: 1\nname: pair', r"'a\nb' is not a field", "name, nodes, links"),
    ("name: pair", "1: x\nname: pair", ", line 1: the key 1 is not text", "put it in quotes"),
    ("name: pair\n", "", ": name is missing", "add it"),
    ("links:", "links: {}\nlinkz:", ", line 6: linkz is not a field", "did you mean links?"),
]


@pytest.mark.parametrize(("old", "new", "where", "remedy"), MALFORMED)
def test_a_malformed_file_is_reported_in_one_line(tmp_path, old, new, where, remedy):
    """File, line, field, value and remedy."""
    assert GOOD.count(old) == 1
    message = fault(tmp_path, GOOD.replace(old, new))
    assert where in message
    assert remedy in message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty; see docs/formats/topology.md"),
        ("# only a comment\n", "the file is empty"),
        (
            "just words",
            "the file is 'just words'; it must be a mapping with the fields name, nodes",
        ),
        ("- a\n", "it must be a mapping"),
        ("name: n\nnodes: {a: 1}\nlinks: []\n", "line 2: nodes is {'a': 1}; it must be a list"),
        ("name: n\nnodes: [a]\nlinks: []\n", "nodes[0] is 'a'; it must be a mapping with the"),
        ("name: [", ": not valid YAML"),
        ("name: n\n\tnodes: []", "line 2: not valid YAML"),
        ("name: \x01", "not valid YAML"),
        (GOOD + "---\n" + GOOD, "not valid YAML: but found another document"),
        ("[" * 100_000, "nested too deeply"),
        ("- " * 50 + "a", "nested too deeply"),
        ("&a [*a]", "nested too deeply"),
    ],
)
def test_yaml_that_is_no_topology_is_reported_in_one_line(tmp_path, text, problem):
    assert problem in fault(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "line 1: not valid JSON"),
        ("3", "the file is 3; it must be a mapping"),
        ('{"name": "a", "name": "b"}', "the key 'name' is given twice"),
        ('{"name": "a", "nodes": [], "links": [], "x": NaN}', "x is not a field"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_json_that_is_no_topology_is_reported_in_one_line(tmp_path, text, problem):
    assert problem in fault(tmp_path, text, "net.json")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "true", "null", "-2", '"fast"'])
def test_json_bandwidths_that_are_no_positive_numbers(tmp_path, value):
    text = topology_json(read(tmp_path, GOOD)).replace('_gb_s": 1', f'_gb_s": {value}')
    assert BANDWIDTH in fault(tmp_path, text, "net.json")


def test_the_schema_in_the_docs_is_current():
    """If this fails: write json.dumps(topology_schema(), indent=2) there."""
    assert json.loads((DOCS / "schemas" / "topology.schema.json").read_text()) == topology_schema()


def test_the_blocks_of_the_docs_are_the_minimal_example():
    """The page's YAML and its first JSON say the same as docs/examples/minimal.yaml."""
    text = (DOCS / "formats" / "topology.md").read_text()
    minimal = read_topology(DOCS / "examples" / "minimal.yaml")
    yaml_block, *_ = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    json_block, *_ = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert topology_from_document(parse_yaml(yaml_block, "docs")) == minimal
    assert topology_from_document(parse_json(json_block, "docs")) == minimal


def test_the_schema_refuses_the_files_that_the_reader_refuses():
    """An unknown field, a bandwidth of zero, a missing kind."""
    good = topology_document(read_topology(DOCS / "examples" / "minimal.yaml"))
    for change in ({"hue": 1}, {"nodes": [{"name": "a"}]}):
        assert not SCHEMA.is_valid({**good, **change})
    link = {"from": "left", "to": "right", "bandwidth_gb_s": 0}
    assert not SCHEMA.is_valid({**good, "links": [link]})
    assert SCHEMA.is_valid({**good, "links": [{**link, "bandwidth_gb_s": "25/2"}]})


EXAMPLES = sorted((DOCS / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_load_validate_and_fit_the_schema(path):
    topology = read_topology(path)
    validate(topology)
    SCHEMA.validate(topology_document(topology))
    assert topology_from_document(parse_yaml(topology_yaml(topology), "x")) == topology


def test_the_examples_are_the_ones_the_docs_name():
    page = (DOCS / "formats" / "topology.md").read_text()
    named = re.findall(r"\(\.\./examples/([a-z-]+)\.yaml\)", page)
    assert sorted(named) == [path.stem for path in EXAMPLES]


def test_the_page_changes_a_cluster_as_it_says(tmp_path):
    text = (DOCS / "formats" / "topology.md").read_text()
    *_, changed = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "net.yaml").write_text(changed)
    made = read_topology(tmp_path / "net.yaml")
    assert made.num_compute == 127
    assert (made.shared[0].bandwidth_gb_s, len(made.shared[0].links)) == (2000, 126)


def test_the_page_shares_host_memory_as_it_says():
    """64 GB/s of gpu1 both ways together, named by its ends; 100 of what enters the host."""
    text = (DOCS / "formats" / "topology.md").read_text()
    _, block, _ = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    made = topology_from_document(parse_yaml(block, "docs"))
    assert [(one.name, one.bandwidth_gb_s) for one in made.shared] == [
        ("gpu1 - host", 64),
        ("host memory", 100),
    ]
