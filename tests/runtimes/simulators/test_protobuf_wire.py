"""The wire format, by the examples of protobuf's guide."""

import pytest

from forestcoll.runtimes.simulators.protobuf_wire import block, delimited, number, packed, varint


@pytest.mark.parametrize(
    ("value", "raw"), [(0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (150, "9601")]
)
def test_varints_have_seven_bits_a_byte(value: int, raw: str) -> None:
    """150 is 1 0010110 in binary: the low group 0010110 with a mark is 96, then 01."""
    assert varint(value).hex() == raw


def test_a_number_has_its_field_in_front() -> None:
    """Field 1, type 0: 08."""
    assert number(1, 150).hex() == "089601"
    assert number(29, 0).hex() == "e80100"


def test_texts_and_messages_have_their_length_in_front() -> None:
    """Field 2, type 2: 12; "testing" has 7 bytes; é has 2."""
    assert block(2, "testing").hex() == "120774657374696e67"
    assert block(2, "é") == b"\x12\x02\xc3\xa9"
    assert block(3, number(1, 150)).hex() == "1a03089601"
    assert delimited(b"ab") == b"\x02ab"


def test_repeated_numbers_are_packed() -> None:
    """The guide's 3, 270 and 86942 in field 6: 32 06 03 8e02 9ea705."""
    assert packed(6, [3, 270, 86942]).hex() == "3206038e029ea705"
    assert packed(6, []) == b""
