"""Messages in protobuf's wire format, as far as Chakra's traces need them.

Problem: Chakra's traces are protobuf messages; the protobuf package would be a dependency for them.
Input:   numbers of fields and their values.
Output:  bytes of a field or of a message.
Cost:    linear in the bytes.
Source:  protobuf.dev/programming-guides/encoding. Traces use two of its six wire types: varints,
         and blocks with their length in front.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["block", "delimited", "number", "packed", "varint"]

_VARINT, _BLOCK = 0, 2


def varint(value: int) -> bytes:
    """Return a number from 0 up in groups of seven bits, the lowest first.

    Examples
    --------
    >>> varint(300).hex()
    'ac02'
    """
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def number(field: int, value: int) -> bytes:
    """Return a field with an integer from 0 up, a bool or an enum."""
    return varint(field << 3 | _VARINT) + varint(value)


def block(field: int, content: bytes | str) -> bytes:
    """Return a field with a text, bytes or a message."""
    raw = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | _BLOCK) + varint(len(raw)) + raw


def packed(field: int, values: Iterable[int]) -> bytes:
    """Return a repeated field of integers from 0 up; nothing without values."""
    content = b"".join(map(varint, values))
    return block(field, content) if content else b""


def delimited(message: bytes) -> bytes:
    """Return a message behind its length, as files with several messages have it."""
    return varint(len(message)) + message
