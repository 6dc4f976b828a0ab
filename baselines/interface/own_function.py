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
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from baselines.interface.method import Method, Schedule
from forestcoll.errors import ForestCollError, MethodError, UnknownMethodError, did_you_mean
from forestcoll.schedule.steps import COLLECTIVES

__all__ = ["called", "is_reference", "own_method", "own_name", "told"]


def is_reference(name: str) -> bool:
    """Whether a name is a ``module:function``."""
    module, _, function = name.partition(":")
    return bool(module and function)


def own_method(name: str) -> Method:
    """Return the method behind ``module:function``; it is asked for any collective.

    Without one it is asked for the default of its parameter ``collective``, or an allgather.

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
    summary = f"{attribute} of {module}"
    return Method(name, summary, "your own", called(name, function), _collectives(function))


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


def called(name: str, function: Callable[..., Schedule]) -> Callable[..., Schedule]:
    """Return the function, called with a collective; its own signature need not have one.

    An exception that is no error of the toolkit becomes a MethodError of one line.
    """
    takes = "collective" in inspect.signature(function).parameters

    @functools.wraps(function)
    def run(topology: Any, collective: str, **parameters: Any) -> Schedule:
        asked = {"collective": collective, **parameters} if takes else parameters
        try:
            return function(topology, **asked)
        except (ForestCollError, MemoryError):
            raise
        except Exception as error:
            raise MethodError(told(name, error, function)) from error

    return run


def told(name: str, error: Exception, function: Callable[..., Any]) -> str:
    """Return in one line what a function raised, "mine:trees raised KeyError: 3 (mine.py, line 7)".

    The line number is the last one of the function's own file.
    """
    raised = f"{name} raised {type(error).__name__}: {error}"
    own = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == own]
    return f"{raised} ({Path(own).name}, line {lines[-1].lineno})" if own and lines else raised


def _collectives(function: Callable[..., Schedule]) -> tuple[str, ...]:
    """Return all collectives, the function's default first."""
    takes = inspect.signature(function).parameters.get("collective")
    first = [one for one in COLLECTIVES if takes is not None and one == takes.default]
    return (*first, *(one for one in COLLECTIVES if one not in first))
