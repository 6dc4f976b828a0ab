"""Heads of schedule files: read as they were written, or refused by the field that is wrong."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule.files.fields import Record
from forestcoll.schedule.files.header import phase_document
from forestcoll.schedule.files.header_parsing import checked, parse_head, stepwise_form
from forestcoll.schedule.files.plain_data import full_document
from forestcoll.schedule.forest import Forest
from tests.schedule.files.malformed import HEADS, refused, spoil
from tests.schedule.made.hand import star3


@pytest.mark.parametrize("name", HEADS)
def test_malformed_heads_are_refused_by_field(name: str, tmp_path: Path) -> None:
    """The message names the file, the field, the value found and the values allowed."""
    change, message = HEADS[name]
    assert re.search(message, refused(spoil(tmp_path, change)))


def written(forest: Forest) -> Record:
    """The head of a forest as a reader of JSON sees it: decimals are text."""
    document: Record = full_document(json.dumps(phase_document(forest)))
    return document


def test_a_head_is_read_as_it_was_written() -> None:
    """All that a forest says of itself, the claim with its cut included."""
    forest = star3()
    head = parse_head(written(forest), forest.topology)
    assert (head.method, head.k, head.congestion) == ("by hand", 1, Fraction(1))
    assert (head.weights, head.reduction) == ((1, 1, 1), False)
    assert head.optimum == forest.optimum
    reduce = replace(forest, weights=(0, 1, 0), reduction=True, optimum=None)
    head = parse_head(written(reduce), forest.topology)
    assert (head.weights, head.reduction, head.optimum) == ((0, 1, 0), True, None)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "^not a schedule; a schedule is a JSON object"),
        ({"format": "forestcoll-certificate", "version": 1}, "^not a schedule"),
        ({"format": "forestcoll-schedule"}, "^version is None; it must be 1 or 2"),
        ({"format": "forestcoll-schedule", "version": "1"}, "^version is '1'"),
        ({"format": "forestcoll-schedule", "version": True}, "^version is True"),
    ],
)
def test_other_documents_are_refused(document: Any, message: str) -> None:
    with pytest.raises(InvalidScheduleError, match=message):
        checked(document)


def test_both_versions_are_known_and_forms_of_the_second() -> None:
    for version in (1, 2):
        document = {"format": "forestcoll-schedule", "version": version}
        assert checked(document) is document
    assert stepwise_form({"form": "flows"}) == "flows"
    with pytest.raises(InvalidScheduleError, match=r"^form is 'trees'; it must be 'steps' or"):
        stepwise_form({"form": "trees"})
