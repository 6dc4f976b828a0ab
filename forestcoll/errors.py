"""Exception hierarchy of the toolkit, with the exit codes of the command line.

A message says what is wrong, where (file, node or link), the value found, the values allowed,
and what to do. The command line returns ``exit_code``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

__all__ = [
    "CapacityOverflowError", "DisconnectedError", "ExecutionError", "ExportError",
    "ForestCollError", "InfeasibleError", "InvalidExperimentError", "InvalidParameterError",
    "InvalidScheduleError", "InvalidTopologyError", "MethodError", "MissingPackageError",
    "RuntimeLimitError", "SolverError", "TimeLimitError", "UnbalancedError",
    "UnknownMethodError", "UnsupportedError", "VerificationError", "did_you_mean",
]  # fmt: skip


class ForestCollError(Exception):
    """Base class; catch it to catch every error of the toolkit."""

    exit_code = 2


class InvalidTopologyError(ForestCollError):
    """A topology, or the file or family specification it comes from, is malformed."""


class DisconnectedError(InvalidTopologyError):
    """Some compute node cannot be reached from another."""


class UnbalancedError(InvalidTopologyError):
    """A switch sends more than it can receive (or receives more than it can send)."""


class MissingPackageError(ForestCollError):
    """A package of an optional extra is not installed."""


class CapacityOverflowError(ForestCollError):
    """The exact integers of this input do not fit the 64-bit core."""


class InvalidScheduleError(ForestCollError):
    """A schedule file is missing or malformed."""


class InvalidExperimentError(ForestCollError):
    """An experiment file has an unknown key, a bad value or an impossible combination."""


class InvalidParameterError(ForestCollError):
    """A parameter of a method is out of its range."""


class UnknownMethodError(ForestCollError):
    """No method has this name; the message lists the methods."""


class MethodError(ForestCollError):
    """A method of the reader raised another exception; the message has its file and line."""


class UnsupportedError(ForestCollError):
    """A method does not support this topology or collective; the message says why."""


class ExportError(ForestCollError):
    """A schedule cannot be written in the format asked for."""


class RuntimeLimitError(ExportError):
    """A schedule exceeds a limit of the runtime that it is exported for."""

    exit_code = 3


class InfeasibleError(ForestCollError):
    """Provably no solution exists."""

    exit_code = 3


class SolverError(ForestCollError):
    """A solver stopped without a usable answer."""

    exit_code = 3


class ExecutionError(ForestCollError):
    """A process that executes a schedule has failed."""

    exit_code = 3


class TimeLimitError(ForestCollError):
    """A limit was reached; the error has the best answer, bound and proof, where known."""

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        incumbent: object | None = None,
        bound: object | None = None,
        proof: object | None = None,
    ) -> None:
        super().__init__(message)
        self.incumbent = incumbent
        self.bound = bound
        self.proof = proof


class VerificationError(ForestCollError):
    """A schedule does not do what it claims; the message is the counter-example."""

    exit_code = 1


def did_you_mean(
    word: object, known: Iterable[str], otherwise: str, form: Callable[[str], str] = str
) -> str:
    """Return the remedy for a misspelt word: the known word nearest to it.

    Parameters
    ----------
    otherwise : str
        The remedy if no known word is near.
    form : callable
        Formats the known word.

    Examples
    --------
    >>> did_you_mean("rnig", ["ring", "torus"], "take ring or torus")
    'did you mean ring?'
    >>> did_you_mean("NCCL NVLS", ["nccl-nvls", "ring"], "")
    'did you mean nccl-nvls?'
    """
    words = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(str(word).casefold(), words, n=1)
    return f"did you mean {form(words[near[0]])}?" if near else otherwise
