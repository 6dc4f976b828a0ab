"""The root of a broadcast or reduce whose file does not name it."""

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
        What the caller says.
    busy : callable
        Told whether data arrive, those of a broadcast, or leave, those of a reduce: the GPUs at
        which they do, asked for only if no root is given.

    Raises
    ------
    InvalidParameterError
        If a root is given that cannot be one, or none is and not just one GPU is idle.
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
