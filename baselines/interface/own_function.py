"""A reader's own method, ``module:function``, as a Method.

The module is imported from the current folder, too: a command of an installed package would not
look there. The current folder comes last, so that a file in it shadows no installed module.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

from baselines.interface.method import Method, Schedule
from forestcoll.errors import UnknownMethodError, did_you_mean
from forestcoll.schedule.steps import COLLECTIVES

__all__ = ["is_reference", "own_method", "own_name"]


def is_reference(name: str) -> bool:
    """Whether a name is a ``module:function``."""
    module, _, function = name.partition(":")
    return bool(module and function)


def own_method(name: str) -> Method:
    """Return the method behind ``module:function``; it is asked for any collective.

    Raises
    ------
    UnknownMethodError
        If there is no such module or function.
    """
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        where = "run from its folder, or set PYTHONPATH to that"
        raise UnknownMethodError(
            f"there is no method {name!r}: there is no module {error.name!r}; {where}"
        ) from None
    function = getattr(found, attribute, None)
    if not callable(function):
        hint = did_you_mean(attribute, dir(found), "name one of its functions", repr)
        raise UnknownMethodError(
            f"there is no method {name!r}: the module {module!r} has no function {attribute!r}; "
            f"{hint}"
        )
    return Method(name, f"{attribute} of {module}", "your own", _called(function), COLLECTIVES)


def own_name(function: Callable[..., Schedule]) -> str:
    """Return the name of a function; of a ``generate`` with its module, since many have that name.

    Examples
    --------
    >>> from baselines.libraries.ring import generate
    >>> own_name(generate), own_name(len)
    ('baselines.libraries.ring:generate', 'len')
    """
    name: str = getattr(function, "__name__", type(function).__name__)
    return f"{function.__module__}:{name}" if name == "generate" else name


def _called(function: Callable[..., Schedule]) -> Callable[..., Schedule]:
    """Return the function, called with a collective; its own signature need not have one."""
    if "collective" in inspect.signature(function).parameters:
        return function

    @functools.wraps(function)
    def without_collective(topology: Any, _: str, **parameters: Any) -> Schedule:
        return function(topology, **parameters)

    return without_collective
