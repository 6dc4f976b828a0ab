"""Packed texts come out as they went in, and are harmless in HTML."""

import json
import random

from experiments.report.packed_text import packed, packed_json, unpacked


def test_texts_of_any_length_come_out_again() -> None:
    for length in range(12):
        text = "é<☃"[: length % 4] + "a" * length
        assert unpacked(packed(text)) == text


def test_equal_texts_have_equal_forms_without_angle_brackets_on_the_left() -> None:
    numbers = random.Random(7)
    text = "".join(chr(numbers.randrange(32, 1000)) for _ in range(20_000))
    assert packed(text) == packed(text)
    assert "<" not in packed(text)
    assert "/" in packed(text)  # the letter in its place occurs
    assert unpacked(packed(text)) == text


def test_repeated_texts_take_little_room() -> None:
    assert len(packed("the same row, " * 10_000)) < 1000


def test_documents_are_json() -> None:
    content = {"a": [1, None, "é"], "b": {"c": True}}
    assert json.loads(unpacked(packed_json(content))) == content
