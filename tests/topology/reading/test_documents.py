"""Text to plain data: YAML's and JSON's traps."""

import re
from collections.abc import Callable
from fractions import Fraction

import pytest

from forestcoll.errors import ForestCollError, InvalidTopologyError
from forestcoll.topology.files import topology_json
from forestcoll.topology.reading.documents import Document, parse_json, parse_yaml
from tests.topology.texts import GOOD, fault, read


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("12.5", Fraction(25, 2)),
        ('"12.5"', Fraction(25, 2)),
        ("25/2", Fraction(25, 2)),
        ("0.1", Fraction(1, 10)),
        ("1e3", Fraction(1000)),
        ("1.5e+2", Fraction(150)),
        ("010", Fraction(10)),
        ("1_000", Fraction(1000)),
        ("0.30000000000000004", Fraction(30000000000000004, 10**17)),
    ],
)
def test_yaml_numbers_are_exact(tmp_path, written, value):
    """Also where YAML 1.1 would read a binary float, octal eight, or text."""
    topology = read(tmp_path, GOOD.replace("bandwidth_gb_s: 1,", f"bandwidth_gb_s: {written},"))
    assert topology.links[0].bandwidth_gb_s == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("12.5", Fraction(25, 2)),
        ("0.1", Fraction(1, 10)),
        ("1e3", 1000),
        ('"25/2"', Fraction(25, 2)),
    ],
)
def test_json_numbers_are_exact(tmp_path, written, value):
    text = topology_json(read(tmp_path, GOOD)).replace('_gb_s": 1', f'_gb_s": {written}')
    assert read(tmp_path, text, "net.json").links[0].bandwidth_gb_s == value


@pytest.mark.parametrize("name", ["no", "on", "y", "1:30", "2024-01-01", "0x10", "010", "1.5"])
def test_unquoted_yaml_words_stay_names(tmp_path, name):
    """YAML 1.1 would read false, true, ninety, a date, sixteen, eight and a float."""
    topology = read(
        tmp_path, GOOD.replace("name: b", f"name: {name}").replace("to: b", f"to: {name}")
    )
    assert topology.nodes[1].name == name


def test_aliases_and_a_byte_order_mark_are_read(tmp_path):
    text = GOOD.replace("bandwidth_gb_s: 1", "bandwidth_gb_s: &speed 7")
    text += "  - {from: b, to: a, bandwidth_gb_s: *speed}\n"
    assert [e.bandwidth_gb_s for e in read(tmp_path, "\ufeff" + text).links] == [7, 14]


def test_aliases_cannot_blow_a_file_up(tmp_path):
    """Twelve levels of nine aliases each would be 9^12 items, if they were copied."""
    lines = ["a0: &a0 [x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 13)]
    assert "a0 is not a field" in fault(tmp_path, "\n".join(lines))


class OtherError(ForestCollError):
    """Of another format."""


@pytest.mark.parametrize("parse", [parse_yaml, parse_json])
def test_only_booleans_null_and_integers_are_typed(parse: Callable[[str, str], Document]) -> None:
    """JSON is YAML too; 0.1 keeps its digits, and so does a number beyond 18 digits."""
    text = '{"a": [true, false, null, -12, 0.10, 1e3, 1234567890123456789], "b": "7"}'
    assert parse(text, "x").data == {
        "a": [True, False, None, -12, "0.10", "1e3", "1234567890123456789"],
        "b": "7",
    }


def test_a_fault_names_source_line_and_field() -> None:
    """The innermost line that exists; in JSON none; a key that would break the line is quoted."""
    text = "top:\n  - a: 1\n  - b:\n      c: 2\n"
    yaml = parse_yaml(text, "net", OtherError)
    fault = yaml.fault(("top", 1, "b", "c"), "is odd")
    assert isinstance(fault, OtherError)
    assert str(fault) == "net, line 4: top[1].b.c is odd"
    assert (
        str(yaml.fault(("top", 0, "gone"), "is missing")) == "net, line 2: top[0].gone is missing"
    )
    assert str(yaml.fault(("top", 7), "is missing")) == "net, line 1: top[7] is missing"
    json = parse_json('{"a\\nb": 1}', "net")
    assert str(json.fault(("a\nb",), "is odd")) == "net: 'a\\nb' is odd"
    assert str(json.fault((), "the file is empty")) == "net: the file is empty"


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_yaml, "a: 1\nb: {c: 1, c: 2}", "net, line 2: the key 'c' is given twice"),
        (parse_json, '{"b": {"c": 1, "c": 2}}', "net: the key 'c' is given twice"),
        (parse_yaml, "a: b: c", "net, line 1: not valid YAML"),
        (parse_json, "[1,\n", "net, line 2: not valid JSON"),
        (parse_yaml, "[" * 30, "net: nested too deeply"),
    ],
)
def test_faults_have_a_given_class(parse: Callable[..., Document], text: str, message: str) -> None:
    with pytest.raises(OtherError, match=f"^{re.escape(message)}"):
        parse(text, "net", OtherError)


@pytest.mark.parametrize("value", ["!!set {a, b}", "!!omap [a]", "!mine 3", "!!int 1.5"])
def test_tags_of_no_plain_value_are_refused(value: str) -> None:
    """Sets, ordered maps and types of one's own are no JSON."""
    with pytest.raises(InvalidTopologyError, match=r"net, line 2: the tag !\S+ is not used"):
        parse_yaml(f"a: 1\nb: {value}", "net")
