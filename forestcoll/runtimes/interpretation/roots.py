"""Infer the root of a broadcast or reduce whose file does not name it."""

from __future__ import annotations

from collections.abc import Callable

from forestcoll.errors import InvalidParameterError

__all__ = ["root_of"]


def root_of(collective: str, gpus: int, given: int | None, busy: Callable[[bool], set[int]]) -> int:
    """Return the root of a broadcast or reduce, -1 for others.

    Parameters
    ----------
    collective : str
    gpus : int
    given : int, optional
        The caller's root.
    busy : callable
        Takes whether to look for arriving data (broadcast) or leaving data (reduce); returns the
        GPUs that have some. Called only without a given root.

    Raises
    ------
    InvalidParameterError
        If the given root is impossible, or none is given and the idle GPU is not unique.
    """
    if collective not in ("broadcast", "reduce"):
        if given is not None:
            raise InvalidParameterError(
                f"a root is given, but this is an {collective}; leave it out"
            )
        return -1
    if given is not None:
        if not 0 <= given < gpus:
            raise InvalidParameterError(f"the root is {given}; it must be from 0 to {gpus - 1}")
        return given
    arriving = collective == "broadcast"
    found = sorted(set(range(gpus)) - busy(arriving))
    if len(found) != 1:
        word = "receive" if arriving else "send"
        raise InvalidParameterError(
            f"{len(found)} of {gpus} GPUs {word} nothing, so the root of this {collective} is not "
            "plain; give it"
        )
    return found[0]
