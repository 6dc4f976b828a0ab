"""Topology files that say what is other than in a network that is known."""

from pathlib import Path

import jsonschema
import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology, read_topology
from forestcoll.topology.format import topology_schema
from forestcoll.topology.reading.documents import parse_yaml

SCHEMA = jsonschema.Draft202012Validator(topology_schema())

DAMAGED = """\
base: dgx_a100:boxes=2
without: [b1.gpu0, "b0.gpu2 - ib"]
scale: {"b1.* - ib": 1/2}
with: {"b0.gpu0 - b1.gpu1": 200 Gb/s}
"""


def written(folder: Path, text: str, name: str = "cluster.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_lists_changes_of_its_base(tmp_path: Path) -> None:
    """Added, scaled (what was added, too), left out."""
    base = load_topology("dgx_a100:boxes=2")
    changed = base.with_links({"b0.gpu0 - b1.gpu1": 25}).scaled("b1.* - ib", "1/2")
    due = changed.without("b1.gpu0", "b0.gpu2 - ib")
    assert read_topology(written(tmp_path, DAMAGED)) == due
    named = read_topology(written(tmp_path, f"name: ours\n{DAMAGED}"))
    assert (named.name, named.links) == ("ours", due.links)
    json_ = '{"base": "dgx_a100:boxes=2", "without": ["b1.gpu0"]}'
    assert read_topology(written(tmp_path, json_, "c.json")) == base.without("b1.gpu0")


def test_a_base_may_be_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    written(tmp_path / "inner", "base: ring:nodes=4\nscale: {gpu0 - gpu1: 2}\n", "one.yaml")
    path = written(tmp_path, "base: inner/one.yaml\nwithout: [gpu3]\n")
    due = load_topology("ring:nodes=4").scaled("gpu0 - gpu1", 2).without("gpu3")
    assert read_topology(path) == due


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "base: ring:nodes=4\nwithou: [gpu0]\n",
            "withou is not a field beside base; did you mean without?",
        ),
        ("base: 5\n", "base is 5, not a short printable text"),
        ("base: ring:nodes=4\nname: 3\n", "name is 3, not a short printable text"),
        ("base: ring:nodes=4\nwithout: gpu0\n", "without is 'gpu0'; write a list of parts"),
        ("base: ring:nodes=4\nwithout: [1]\n", "without is [1]; write a list of parts"),
        ("base: ring:nodes=4\nscale: [1]\n", "scale is [1]; write a mapping"),
        ("base: ring:nodes=4\nscale: {gpu0: x}\n", "scale.gpu0 is 'x', which is not a number"),
        ("base: ring:nodes=4\nwith: {gpu0 - gpu2: 5 gbps}\n", "with.gpu0 - gpu2"),
        ("base: ring:nodes=4\nwithout: [gpu9]\n", "'gpu9' is not a node of ring:nodes=4"),
        ("base: ring:nodes=4\nscale: {gpu0: 0}\n", "the factor is 0; it must be positive"),
        ("base: nothing.yaml\n", "nothing.yaml: cannot be read"),
        ("base: ring:nodes=0\n", "nodes is"),
        ("base: cluster.yaml\n", "base leads back to this file"),
        (f"base: {'x' * 500}.yaml\n", "cannot be read: file name too long"),
        (f"base: {'x' * 5000}.yaml\n", "not a short printable text"),
        ("base: dgx_a100:boxes=x\n", "line 1: base is 'dgx_a100:boxes=x': dgx_a100: boxes is 'x'"),
    ],
)
def test_invalid_changes_are_reported_in_one_line(tmp_path: Path, text: str, shown: str) -> None:
    with pytest.raises(InvalidTopologyError) as error:
        read_topology(written(tmp_path, text))
    assert shown in str(error.value)
    assert "\n" not in str(error.value)


def test_the_schema_knows_both_kinds_of_files() -> None:
    SCHEMA.validate(parse_yaml(DAMAGED, "x").data)
    for bad in ({"base": "ring:nodes=4", "withou": []}, {"without": []}, {"base": 3}):
        with pytest.raises(jsonschema.ValidationError):
            SCHEMA.validate(bad)


def test_a_long_chain_of_files_is_refused(tmp_path: Path) -> None:
    for i in range(30):
        written(tmp_path, f"base: n{i + 1}.yaml\n", f"n{i}.yaml")
    with pytest.raises(InvalidTopologyError, match="is file 21 in a row"):
        read_topology(tmp_path / "n0.yaml")


def test_bases_that_no_file_is_called_are_refused(tmp_path: Path) -> None:
    for name in ("a\\u0000.yaml", "a\\ud800.yaml"):
        path = written(tmp_path, f'{{"base": "{name}"}}', "b.json")
        with pytest.raises(InvalidTopologyError, match="not a short printable text"):
            read_topology(path)
