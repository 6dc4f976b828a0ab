"""Checks of parameter values against the type hints and limits of a method.

Problem: parameters come from command lines and experiment files; refuse values of a wrong type
         before the method fails on them.
Output:  the reason why the value is refused, or a typed error.
Cost:    one reading of the hints of a function.
Source:  none. ``bool`` counts as separate from ``int``, although Python makes it a subclass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from forestcoll.errors import InvalidParameterError, InvalidTopologyError
from forestcoll.problem.demand import Demand
from forestcoll.topology.numbers import exact, in_short

__all__ = [
    "MOST", "MOST_OF", "as_taken", "check_choice", "complaint", "exact_parameter", "setting",
    "settings_for",
]  # fmt: skip

MOST = 100_000
"""Default limit of a numeric parameter, such as rings or epochs."""

MOST_OF = dict.fromkeys(("chunk_bytes", "num_bytes", "seed", "size_bytes", "work"), 10**18)
"""Limits of single parameters."""

_KINDS: dict[object, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Demand: "a demand",
    str: "text",
}
_DECIMAL = re.compile(r"[+-]?\d{1,18}\.\d{1,18}")
_EXACT = "a number: a whole one, or text as '12.5' or '25/2'"


def complaint(function: Callable[..., Any], parameter: str, value: object) -> str:
    """Return why a function cannot take a value, according to its type hints; empty if it can.

    A hint of int, Fraction and text means an exact number, and the text must parse. A parameter
    without a hint, or with any other hint, takes any value.

    Examples
    --------
    >>> def lay(rings: int | None = None) -> None: ...
    >>> complaint(lay, "rings", "abc"), complaint(lay, "rings", 4)
    ("is 'abc'; it must be a whole number", '')
    """
    kinds = _kinds(_hints(function).get(parameter))
    if value is None and NoneType in kinds:
        return ""
    kinds -= {NoneType}
    value = _as_taken(kinds, value)
    if Fraction in kinds:
        return "" if _is_exact(value) else _must_be(value, _EXACT)
    if not kinds <= _KINDS.keys() or _is_of(value, kinds):
        return _too_large(parameter, value)
    return _must_be(value, " or ".join(words for kind, words in _KINDS.items() if kind in kinds))


def as_taken(function: Callable[..., Any], parameter: str, value: Any) -> Any:
    """Convert a text to a float, where a function takes floats and no text.

    Experiment files and command lines leave decimals as text, so that exact methods lose no digit.

    Examples
    --------
    >>> def search(gap: float = 0.0) -> None: ...
    >>> as_taken(search, "gap", "0.3"), as_taken(search, "gap", "third")
    (0.3, 'third')
    """
    return _as_taken(_kinds(_hints(function).get(parameter)), value)


@lru_cache(maxsize=1024)  # text of hints is evaluated, for each parameter of each point
def _hints(function: Callable[..., Any]) -> Mapping[str, object]:
    return get_type_hints(function)


def _as_taken(kinds: Collection[object], value: Any) -> Any:
    takes = float in kinds and not {str, Fraction} & set(kinds)
    return float(value) if takes and isinstance(value, str) and _DECIMAL.fullmatch(value) else value


def _too_large(parameter: str, value: object) -> str:
    """Return a complaint about a number above its limit: huge values would never finish."""
    most = MOST_OF.get(parameter, MOST)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > most:
        return _must_be(value, f"at most {most}")
    return ""


def _must_be(value: object, allowed: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        allowed = allowed.replace("a number", "a finite number")
    return f"is {in_short(value)}; it must be {allowed}"


def _kinds(hint: object) -> set[object]:
    """Return the types that a hint allows; all without a hint."""
    if hint is None:
        return {object}
    return set(get_args(hint)) if get_origin(hint) in (Union, UnionType) else {hint}


def _is_of(value: object, kinds: Collection[object]) -> bool:
    if isinstance(value, bool):
        return bool in kinds
    if isinstance(value, int):
        return int in kinds or float in kinds
    if isinstance(value, float):
        return float in kinds and math.isfinite(value)
    if isinstance(value, Demand):
        return Demand in kinds
    return isinstance(value, str) and str in kinds


def _is_exact(value: object) -> bool:
    try:
        exact(value, "")
    except InvalidTopologyError:
        return False
    return True


def exact_parameter(parameter: str, value: object) -> Fraction:
    """Parse a parameter as an exact number.

    Raises
    ------
    InvalidParameterError
        If it is not an exact number.

    Examples
    --------
    >>> exact_parameter("unit", "12.5")
    Fraction(25, 2)
    """
    try:
        return exact(value, parameter)
    except InvalidTopologyError as error:
        raise InvalidParameterError(str(error)) from None


def check_choice(parameter: str, value: object, choices: Collection[str]) -> None:
    """Refuse a value outside a set of choices.

    Raises
    ------
    InvalidParameterError
        The message lists the choices.
    """
    if value not in tuple(choices):
        raise InvalidParameterError(
            f"{parameter} is {value!r}; it must be one of {', '.join(choices)}"
        )


def setting(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; a value may be a whole number, true or false in any case, or text.

    Raises
    ------
    InvalidParameterError
        If the name or the sign is missing.

    Examples
    --------
    >>> setting("rings=4"), setting("unit=25/2"), setting("double=False")
    (('rings', 4), ('unit', '25/2'), ('double', False))
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise InvalidParameterError(f"--set {text}: it must be NAME=VALUE")
    if re.fullmatch(r"[+-]?\d{1,18}", value):
        return name, int(value)
    return name, {"true": True, "false": False}.get(value.lower(), value)


def settings_for(
    function: Callable[..., Any], settings: Iterable[str], known: Collection[str], subject: str
) -> dict[str, Any]:
    """Read each NAME=VALUE, and refuse what a function does not take.

    Parameters
    ----------
    function : callable
        Its type hints and limits decide about the values.
    settings : iterable of str
        As given on the command line.
    known : collection of str
        The names that may be given.
    subject : str
        Subject and verb of the message about an unknown name.

    Raises
    ------
    InvalidParameterError
        If a name is unknown or a value of the wrong type.

    Examples
    --------
    >>> def search(epochs: int = 1) -> None: ...
    >>> settings_for(search, ["epochs=4"], ["epochs"], "a search has")
    {'epochs': 4}
    """
    asked = dict(map(setting, settings))
    for name, value in asked.items():
        if name not in known:
            raise InvalidParameterError(
                f"{subject} no parameter {name!r}; known: {', '.join(known)}"
            )
        if problem := complaint(function, name, value):
            raise InvalidParameterError(f"{name} {problem}")
    return {name: as_taken(function, name, value) for name, value in asked.items()}
