"""Kinds of GPUs by the names of their models, and how many direct links a kind has."""

from __future__ import annotations

import re
from collections.abc import Mapping

from forestcoll.errors import InvalidParameterError, did_you_mean

__all__ = ["LINKS", "gpu_kind", "kind_of_model"]

LINKS: Mapping[str, int] = {
    "sm_60": 4,
    "sm_70": 6,
    "sm_80": 12,
    "sm_86": 4,
    "sm_90": 18,
    "sm_100": 18,
    "sm_103": 18,
    "gfx906": 2,
    "gfx908": 3,
    "gfx90a": 8,
    "gfx942": 7,
    "gfx950": 7,
}
"""NVLinks or xGMI links of a GPU, at most (data sheets, as for the rates of links)."""

_MODELS = (
    (r"G?B300", "sm_103"),
    (r"G?B200|B100", "sm_100"),
    (r"G?H200|H100|H800|H20|GH200", "sm_90"),
    (r"A100|A800|A30", "sm_80"),
    (r"A40|A6000|A5000|3090", "sm_86"),
    (r"V100", "sm_70"),
    (r"P100", "sm_60"),
    (r"MI35[05]X?", "gfx950"),
    (r"MI3(?:00|08|25)[AX]?", "gfx942"),
    (r"MI2[15]0X?", "gfx90a"),
    (r"MI100", "gfx908"),
    (r"MI[56]0", "gfx906"),
)


def kind_of_model(name: str) -> str | None:
    """Return the kind of a model such as "NVIDIA H100 80GB HBM3"; None if it is not known.

    Examples
    --------
    >>> kind_of_model("Tesla V100-SXM2-32GB"), kind_of_model("AMD Instinct MI300X VF")
    ('sm_70', 'gfx942')
    """
    for pattern, kind in _MODELS:
        if re.search(rf"(?<![A-Z0-9])(?:{pattern})(?![A-Z0-9])", name[:200].upper()):
            return kind
    return None


def gpu_kind(text: str) -> str:
    """Return the kind that a user names, by itself or by the model.

    Raises
    ------
    InvalidParameterError
        If there is no such kind or model.

    Examples
    --------
    >>> gpu_kind("sm_90"), gpu_kind("h100")
    ('sm_90', 'sm_90')
    """
    kind = text.lower() if text.lower() in LINKS else kind_of_model(text)
    if kind is None:
        hint = did_you_mean(text, LINKS, f"write one of {', '.join(LINKS)} or a model such as H100")
        raise InvalidParameterError(f"{text[:60]!r} is not a kind of GPU; {hint}")
    return kind
