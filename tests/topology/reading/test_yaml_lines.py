"""YAML with an entry a line: the same values and lines as from the YAML parser, or none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import load_topology
from forestcoll.topology.files import topology_yaml
from forestcoll.topology.reading.yaml_lines import yaml_lines
from forestcoll.topology.reading.yaml_values import yaml_values
from tests.random_topologies import rounds
from tests.topology.texts import GOOD


def fault(line: int | None, problem: str) -> InvalidTopologyError:
    return InvalidTopologyError(f"{line}: {problem}")


PLACES = (
    *((), ("name",), ("nodes",), ("links",), ("nodes", 1), ("nodes", 1, "name"), ("other", 3)),
    *(("links", 0), ("links", 0, "from"), ("links", 0, "gone")),
)


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "ndv2:chassis=2", "torus:dims=3x3"])
def test_written_files_need_no_yaml_parser(spec: str) -> None:
    """Every family's file, with the same data and lines as from the YAML parser."""
    text = topology_yaml(load_topology(spec))
    quick = yaml_lines(text)
    assert quick is not None
    data, lines = yaml_values(text, fault)
    assert quick[0] == data
    assert lines is not None
    assert [quick[1](place) for place in PLACES] == [lines(place) for place in PLACES]


PIECES = st.sampled_from(
    [
        *("from", "to", "name", "kind", "a", "b", "null", "true", "no", "0x10", "1_0", "-5", "+5"),
        *('"a b"', '"', '"#"', '"\\\\"', "'a'", "~", "12.5", "25/2", "1:30", "a:", "é", "a#b"),
        *(
            ": ",
            ", ",
            " ",
            "  ",
            "{",
            "}",
            "[",
            "]",
            "\n",
            "  - {",
            "}\n",
            "#x",
            " #x",
            "&a ",
            "*a",
        ),
        *("links:\n", "nodes:\n", "!!int ", "9" * 20, "-", "|", "\t", "a-", "a.", "a/+"),
    ]
)


@settings(max_examples=rounds(400), derandomize=True, deadline=None)
@given(st.integers(0, len(GOOD)), st.integers(0, 12), st.lists(PIECES, max_size=4))
def test_both_readers_agree_on_mutated_files(at: int, cut: int, pieces: list[str]) -> None:
    """Where the quick one reads a text at all, the parser reads the same of it."""
    text = GOOD[:at] + "".join(pieces) + GOOD[at + cut :]
    quick = yaml_lines(text)
    if quick is not None:
        data, lines = yaml_values(text, fault)
        assert quick[0] == data
        assert lines is not None
        assert [quick[1](place) for place in PLACES[:-1]] == [lines(p) for p in PLACES[:-1]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: pair\n", "name: pair # ours\n"),
        ("kind: compute}\nl", "kind: compute, kind: compute}\nl"),
        ("from: a", "from: 'a'"),
        ("from: a", 'from: "\\x61"'),
        ("from: a", "null: a"),
        ("from: a", "from: {a: 1}"),
        ("  - {name: b", "\n  - {name: b"),
        ("links:\n", "links: # none yet\n"),
    ],
)
def test_all_else_is_left_to_the_parser(old: str, new: str) -> None:
    assert yaml_lines(GOOD) is not None
    assert GOOD.count(old) == 1
    assert yaml_lines(GOOD.replace(old, new)) is None
