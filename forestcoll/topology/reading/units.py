"""Numbers with a unit, as data sheets give them: 400 Gb/s, 50 GB/s, 500 ns.

Numbers without a unit are in GB/s or us, like the fields' names. Units of bandwidth differ by a
factor of eight between bits (b) and bytes (B), so ambiguous spellings are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.numbers import exact, exact_text

__all__ = ["BANDWIDTHS", "LATENCIES", "bandwidth_gb_s", "latency_us"]

_PREFIXES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}

BANDWIDTHS: dict[str, Fraction] = {
    **{f"{p}B/s": Fraction(n, 10**9) for p, n in {**_PREFIXES, **_BINARY}.items()},
    **{f"{p}b/s": Fraction(n, 8 * 10**9) for p, n in _PREFIXES.items()},
    **{f"{p}bit/s": Fraction(n, 8 * 10**9) for p, n in _PREFIXES.items()},
}
"""In GB/s."""

LATENCIES: dict[str, Fraction] = {
    "ns": Fraction(1, 1000),
    "us": Fraction(1),
    "µs": Fraction(1),
    "μs": Fraction(1),
    "ms": Fraction(1000),
    "s": Fraction(10**6),
}
"""In us; both signs of micro that keyboards have."""

_WITH_UNIT = re.compile(r"(.*[0-9.])\s*([A-Za-zµμ][A-Za-zµμ/]*)", re.DOTALL)
_OF_A_RATE = re.compile(r"([kmgt]i?)(?:b|bit|bits|byte|bytes)?(?:ps|/s|/sec)?", re.IGNORECASE)


def bandwidth_gb_s(value: object) -> Fraction:
    """Return a bandwidth in GB/s, exactly.

    Parameters
    ----------
    value : int, Fraction or str
        In GB/s, or text with one of BANDWIDTHS.

    Raises
    ------
    InvalidTopologyError
        If it is not a number, or the unit is unknown or leaves bits or bytes open.

    Examples
    --------
    >>> bandwidth_gb_s("400 Gb/s"), bandwidth_gb_s("12.5")
    (Fraction(50, 1), Fraction(25, 2))
    """
    return _in_units(value, BANDWIDTHS, "GB/s (bytes), Gb/s (bits), or a number, which is in GB/s")


def latency_us(value: object) -> Fraction:
    """Return a latency in microseconds, exactly.

    Raises
    ------
    InvalidTopologyError
        If it is not a number, or the unit is unknown.

    Examples
    --------
    >>> latency_us("500 ns"), latency_us(2)
    (Fraction(1, 2), Fraction(2, 1))
    """
    return _in_units(value, LATENCIES, "ns, us, ms, or a number, which is in us")


def _in_units(value: object, units: Mapping[str, Fraction], known: str) -> Fraction:
    found = _WITH_UNIT.fullmatch(value.strip()) if isinstance(value, str) else None
    number = None if found is None else _number(found[1])
    if found is None or number is None:
        return exact(value, "")
    unit = found[2]
    if unit in units:
        return exact(number * units[unit], "")
    rate = _OF_A_RATE.fullmatch(unit)
    if rate and units is BANDWIDTHS:
        raise InvalidTopologyError(_two_spellings(str(value), found[1].strip(), rate[1], number))
    raise InvalidTopologyError(f"is {value!r}, whose unit {unit!r} is not known; write {known}")


def _two_spellings(value: str, digits: str, prefix: str, number: Fraction) -> str:
    """Return the two possible meanings: this number of bits, or of bytes."""
    letter = prefix[0].lower() if prefix[0] in "kK" else prefix[0].upper()
    bits, count = f"{letter}b/s", f"{letter}B/s"
    meant = exact_text(number * BANDWIDTHS[bits])
    return (
        f"is {value!r}, which may be bits or bytes; write {digits} {bits} for bits "
        f"({meant} GB/s) or {digits} {count} for bytes"
    )


def _number(text: str) -> Fraction | None:
    try:
        return exact(text, "")
    except InvalidTopologyError:
        return None
