"""Packing of the page's data: texts that a script of the page unpacks.

Compressed, then in Ascii of 85 letters, which takes a quarter more room than bytes. No letter ends
a script or begins a comment of HTML.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

__all__ = ["packed", "packed_json", "unpacked"]

_LESS_THAN = (b"<", b"/")
"""A letter of base85 that HTML may take for a tag, and the one in its place."""


def packed(text: str) -> str:
    """Return a text in packed form; equal texts give equal forms.

    Examples
    --------
    >>> unpacked(packed("a < b")) == "a < b"
    True
    """
    compressed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    return base64.b85encode(compressed).replace(*_LESS_THAN).decode("ascii")


def packed_json(content: Any) -> str:
    """Return a JSON document in packed form."""
    return packed(json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def unpacked(form: str) -> str:
    """Return the text of a packed form."""
    return gzip.decompress(
        base64.b85decode(form.encode("ascii").replace(*_LESS_THAN[::-1]))
    ).decode()
