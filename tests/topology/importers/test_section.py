"""Fields of other tools' files, read one by one."""

from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.families.values import Amount, Count
from forestcoll.topology.importers.section import Section
from forestcoll.topology.reading.documents import parse_json, parse_yaml

GPUS = Count("GPUs of a box")
BANDWIDTH = Amount("GB/s of a link")


def section(text: str) -> Section:
    document = parse_json(text, "net.json")
    assert isinstance(document.data, dict)
    return Section(document, ("box",), document.data["box"])


def test_values_read_to_the_type_of_their_kind():
    found = section('{"box": {"gpus": 8, "rows": [["1", 0.1]]}}')
    assert found.read(GPUS, "gpus") == 8
    assert found.read(BANDWIDTH, "rows", 0, 1) == Fraction(1, 10)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (("gpus",), "net.json: box.gpus is missing; add it (GPUs of a box)"),
        (
            ("rows", 0, 1),
            "net.json: box.rows[0][1] is 0; it must be a whole number from 1 to 100000 "
            "(GPUs of a box)",
        ),
    ],
)
def test_unreadable_fields_are_reported_with_their_place(where, message):
    with pytest.raises(InvalidTopologyError) as caught:
        section('{"box": {"rows": [[1, 0]]}}').read(GPUS, *where)
    assert str(caught.value) == message


def test_fields_that_the_tool_has_and_others():
    found = section('{"box": {"gpus": 8}}')
    found.refuse_unknown(("gpus", "nics"), "Tool")
    with pytest.raises(InvalidTopologyError, match=r"gpus is not a field of Tool's; did you mean "):
        found.refuse_unknown(("gpu", "nics"), "Tool")
    with pytest.raises(InvalidTopologyError, match=r"Tool's; the fields are side, nics$"):
        found.refuse_unknown(("side", "nics"), "Tool")


def test_fields_without_a_place():
    found = section('{"box": {"gpus": 8}}')
    found.refuse("nics", "but boxes have none; remove it")
    with pytest.raises(InvalidTopologyError, match=r"box\.gpus is given, but boxes have none; rem"):
        found.refuse("gpus", "but boxes have none; remove it")


def test_faults_of_yaml_files_name_the_line():
    document = parse_yaml("box:\n  gpus: 8\n", "net.yaml")
    error = Section(document, ("box",), {"gpus": 8}).fault("is too many", "gpus")
    assert str(error) == "net.yaml, line 2: box.gpus is too many"
