"""XML of dumps: elements with their lines, and hostile documents in one line and little time."""

import re
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.xml_elements import Element, parse_elements

TEXT = """

<!-- from a terminal -->
<system version="1">
  <cpu a="1.5"><gpu dev="3"/><net/></cpu>
  <gpu/>
</system>
"""


def test_elements_keep_order_attributes_and_lines() -> None:
    """Two empty lines before the text are counted."""
    top = parse_elements(TEXT, "f.xml")
    assert (top.tag, top.line) == ("system", 4)
    assert [(one.tag, one.line) for one in top.walk()] == [
        ("system", 4), ("cpu", 5), ("gpu", 5), ("net", 5), ("gpu", 6),
    ]  # fmt: skip
    assert len(top.named("gpu")) == 1
    assert top.children[0].number("a", "") == Fraction(3, 2)
    assert top.children[0].children[0].whole("dev", "") == 3


def one(**attributes: str) -> Element:
    return Element("gpu", attributes, "f.xml", 7)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "f.xml, line 7: gpu has no dev; dump it"),
        ({"dev": ""}, "f.xml, line 7: gpu has no dev; dump it"),
        ({"dev": "x"}, "gpu has dev='x'; it must be a number from 0 to 8"),
        ({"dev": "9"}, "gpu has dev='9'; it must be a number from 0 to 8"),
        ({"dev": "-1"}, "gpu has dev='-1'; it must be a number from 0 to 8"),
        ({"dev": "1.5"}, "gpu has dev='1.5'; it must be a whole number"),
        ({"dev": "9" * 5000}, "it must be a number from 0 to 8"),
    ],
)
def test_numbers_within_their_limits(attributes: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)) as refused:
        one(**attributes).whole("dev", "dump it", 8)
    assert len(str(refused.value)) < 200


BOMB = '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;&b;">]><a>&d;</a>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: not XML: no element found"),
        ("no", "not XML: syntax error; write the file again, it may be cut off"),
        ("<a><b></a>", "line 1: not XML: mismatched tag"),
        ("\n\n<a>", "line 3: not XML: no element found"),
        (BOMB, "line 1: declares an entity; write its text out"),
        ("<a>" * 65, "elements within elements, over 64 deep"),
        ("<a>" + "<b/>" * 200_000 + "</a>", "over 200000 elements"),
        (f"<{'a' * 2000}/>", "a name or value of over 1024 characters"),
        (f"<a b='{'c' * 2000}'/>", "a name or value of over 1024 characters"),
    ],
)
def test_hostile_documents_are_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InvalidTopologyError, match=re.escape(message)) as refused:
        parse_elements(text, "f.xml")
    assert str(refused.value).startswith("f.xml, line ")
    assert "\n" not in str(refused.value)
