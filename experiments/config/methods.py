"""Methods that an experiment can name, behind one call.

``forestcoll`` is the core, ``forestcoll-paper`` the paper's own algorithms, other plain names are
the baselines, and ``module:function`` is any importable function
``function(topology, **parameters) -> Forest`` or ``StepSchedule``. It is called with
``collective=`` if it has that parameter, and with ``root=`` or ``weights=`` where an experiment has
these. So a user's own method needs no change of the package.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from baselines.interface.method import Schedule
from baselines.interface.own_function import is_reference
from baselines.interface.parameters import complaint
from baselines.interface.search import Report
from baselines.interface.supported import GATHERING, check_supported
from baselines.registry import METHODS
from forestcoll.errors import InvalidExperimentError, UnsupportedError, did_you_mean
from forestcoll.generation import Options, Progress, generate
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import Weights
from forestcoll.topology import Topology

__all__ = [
    "OnStage", "claims", "find_method", "is_reference", "method_names", "parameters_of", "refusal",
    "run_method",
]  # fmt: skip

_OF_THE_CALL = ("root", "weights")
"""Options of our own methods that a method entry cannot set."""

_SHARE_OF_TIME = 0.95
"""Share of a point's time limit that a search may use."""

_NOT_FINITE = re.compile(r"[-+]?\.(inf|nan)", re.IGNORECASE)  # YAML's spelling

OnStage = Callable[[str], None]
"""Called with the name of each stage as it begins."""


def method_names() -> tuple[str, ...]:
    """Return the plain names, the core first."""
    return (*OURS, *METHODS)


def claims(name: str) -> tuple[str, ...] | None:
    """Return the collectives that a method claims; None if only a run can show it."""
    if name in METHODS:
        return METHODS[name].collectives
    return _OURS_DO.get(name)


def find_method(name: str) -> Callable[..., Schedule]:
    """Return the baseline or the function behind a name, called as ``(topology, **parameters)``.

    Raises
    ------
    InvalidExperimentError
        If there is none.
    """
    if name in METHODS:
        return METHODS[name].generate
    if is_reference(name):
        module, _, attribute = name.partition(":")
        function: Callable[..., Schedule] = getattr(importlib.import_module(module), attribute)
        return function
    known = method_names()
    hint = did_you_mean(name, known, f"known: {', '.join(known)}")
    raise InvalidExperimentError(f"there is no method {name!r}; {hint}")


def parameters_of(name: str) -> tuple[str, ...]:
    """Return the parameters of a built-in method, without those of the call."""
    if name in METHODS:
        return METHODS[name].parameters
    return tuple(option for option in _OPTIONS[name] if option not in _OF_THE_CALL)


def refusal(name: str, parameter: str, value: object) -> str:
    """Return why a method cannot take a value, according to its signature; empty if it can.

    Examples
    --------
    >>> refusal("ring", "rings", "abc"), refusal("ring", "rings", 4)
    ("is 'abc'; it must be a whole number", '')
    """
    if isinstance(value, str) and _NOT_FINITE.fullmatch(value):
        return f"is {value}; it must be a finite number"
    if is_reference(name):
        return ""  # imported where it runs
    return complaint(_function(name), parameter, value)


def _function(name: str) -> Callable[..., Any]:
    return Options if name in OURS else find_method(name)


def _core(
    topology: Topology, options: Options, progress: Progress
) -> tuple[Schedule, Mapping[str, float]]:
    """Run the core, or the paper's own algorithms, and find the paths too."""
    made = generate(topology, replace(options, routed=True), progress=progress)
    return made.schedule, made.seconds


OURS = {"forestcoll": "forestcoll", "forestcoll-paper": "paper"}
"""Our own methods: their names in forests, and in options."""

_OPTIONS = {
    "forestcoll": (
        *(
            "k",
            "max_depth",
            "sparse_exchange",
            "threads",
            "lp_time_limit_s",
            "multicast",
            "factored",
        ),
        *("root", "weights"),
    ),
    "forestcoll-paper": ("threads", "root"),
}
"""Options that an experiment may set."""

_OURS_DO = {"forestcoll": (*GATHERING, "broadcast", "reduce"), "forestcoll-paper": GATHERING}


def run_method(
    name: str,
    topology: Topology,
    collective: str,
    parameters: Mapping[str, Any],
    seconds: float,
    on_stage: OnStage,
    root: str | int | None = None,
    weights: Weights | None = None,
    report: Report | None = None,
) -> tuple[Schedule, Mapping[str, float]]:
    """Run a method.

    Parameters
    ----------
    seconds : float
        Limit of the point. A search gets a little less, so that it can return its best result.
    root : str or int, optional
        Name or rank of the root of a broadcast, reduce or allreduce.
    weights : list or mapping, optional
        Relative shard sizes, by rank or by name.
    report : callable, optional
        Called with the state of a baseline's search.

    Returns
    -------
    Forest, MulticastForest, Allreduce or StepSchedule
    mapping
        Seconds of each stage; empty if the method does not report them.

    Raises
    ------
    UnsupportedError
        If the method does not support the root, weights, k or collective.
    """
    options = {"root": root, "weights": weights}
    asked = {**parameters, **{key: value for key, value in options.items() if value is not None}}
    _check_takes(name, collective, asked)
    if name in OURS:
        ours = Options(collective=collective, method=OURS[name], **asked)
        return _core(topology, ours, _stages_only(on_stage))
    if name in METHODS:
        limits = Limits(seconds=_SHARE_OF_TIME * seconds)
        return METHODS[name].run(topology, collective, asked, limits, report), {}
    call = {"collective": collective} if _takes(name, "collective") else {}
    return find_method(name)(topology, **call, **asked), {}


def _check_takes(name: str, collective: str, asked: Collection[str]) -> None:
    """Refuse a root, weights or k of the experiment that this method does not take."""
    if name in METHODS:
        check_supported(name, collective, METHODS[name].collectives)
    if is_reference(name) and collective != "allgather" and not _takes(name, "collective"):
        raise UnsupportedError(f"unsupported: {name} takes no collective: it is for allgathers")
    for option in ("root", "weights", "k"):
        if option in asked and not _takes(name, option):
            raise UnsupportedError(f"unsupported: {name} takes no {option}")


def _takes(name: str, parameter: str) -> bool:
    """Whether a method has a parameter of that name, according to its signature."""
    if name in OURS:
        return parameter in _OPTIONS[name]
    try:
        parameters = inspect.signature(_function(name)).parameters
    except ValueError:  # some functions in C have none
        return True
    anything = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    return anything or parameter in parameters


def _stages_only(on_stage: OnStage) -> Callable[[str, int, int], None]:
    """Pass on a stage's name when it changes, and drop the other progress."""
    current = ""

    def progress(stage: str, done: int, total: int) -> None:
        nonlocal current
        if stage != current:
            current = stage
            on_stage(stage)

    return progress
