"""Kinds of parallelism: equal process groups, a collective and a size, as axes of a grid of ranks.

Problem: state which ranks communicate, apart from which GPUs they are.
Input:   texts such as ``tensor=8:allreduce:64MB``; the number of GPUs.
Output:  kinds, and the ranks of all groups of each.
Cost:    linear in the ranks.
Source:  the order of ranks in training frameworks: the first kind varies fastest, so its groups are
         consecutive ranks. Sizes are those of nccl-tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.sizes import read_sizes

__all__ = ["COLLECTIVES", "Kind", "check_divides", "grid_groups", "kinds_of"]

Ints = npt.NDArray[np.int64]

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "all-to-all")
"""What the groups of a kind may run."""

REST = "rest"


@dataclass(frozen=True, slots=True)
class Kind:
    """Groups of equal size that run one collective at once.

    Parameters
    ----------
    name : str
    size : int
        GPUs in a group, at least two.
    collective : str
        One of :data:`COLLECTIVES`.
    size_bytes : int
        The buffer of nccl-tests: all data of an allgather, what a GPU has of the others.

    Raises
    ------
    InvalidParameterError
        For another collective, or a number that is too small.
    """

    name: str
    size: int
    collective: str
    size_bytes: int

    def __post_init__(self) -> None:
        if self.size < 2:
            raise InvalidParameterError(
                f"kind {self.name!r} has groups of {self.size}; a group needs at least two GPUs"
            )
        if self.collective not in COLLECTIVES:
            raise InvalidParameterError(
                f"kind {self.name!r}: the collective is {self.collective!r}; it must be "
                f"{', '.join(COLLECTIVES[:-1])} or {COLLECTIVES[-1]}"
            )
        if self.size_bytes < 1:
            raise InvalidParameterError(
                f"kind {self.name!r}: the size is {self.size_bytes} bytes; it must be positive"
            )


def kinds_of(texts: Sequence[str], gpus: int) -> tuple[Kind, ...]:
    """Read kinds from the command line.

    Parameters
    ----------
    texts : sequence of str
        ``NAME=GPUS:COLLECTIVE:SIZE``; GPUS of one kind may be ``rest``, for all that is left.
    gpus : int
        In the network; a multiple of the product of all sizes.

    Raises
    ------
    InvalidParameterError
        If a text is no kind, a name is repeated, or the sizes do not divide the GPUs.

    Examples
    --------
    >>> [kind.size for kind in kinds_of(["t=8:allreduce:64MB", "d=rest:allgather:1GB"], 32)]
    [8, 4]
    """
    if not texts:
        raise InvalidParameterError("there is no --kind; give one, as tensor=8:allreduce:64MB")
    parts = [_parts(text) for text in texts]
    names = [name for name, *_ in parts]
    for name in names:
        if names.count(name) > 1:
            raise InvalidParameterError(f"kind {name!r} is given twice; name each kind once")
    if sum(size == REST for _, size, *_ in parts) > 1:
        raise InvalidParameterError("two kinds have the size rest; give one of them a number")
    product = math.prod(_whole(name, size) for name, size, *_ in parts if size != REST)
    _check_product(product, gpus)
    return tuple(
        Kind(
            name,
            gpus // product if size == REST else _whole(name, size),
            collective,
            _bytes(name, amount),
        )
        for name, size, collective, amount in parts
    )


def check_divides(kinds: Sequence[Kind], gpus: int) -> None:
    """Raise InvalidParameterError unless groups of these kinds fill the GPUs."""
    _check_product(math.prod(kind.size for kind in kinds), gpus)


def _check_product(product: int, gpus: int) -> None:
    if product < 1 or gpus % product:
        raise InvalidParameterError(
            f"the product of the sizes of all kinds is {product}; it must divide {gpus} GPUs"
        )


def grid_groups(kinds: Sequence[Kind], gpus: int) -> tuple[Ints, ...]:
    """Return the ranks of all groups of each kind, of shape (groups, size).

    Ranks fill a grid with one axis a kind; the first varies fastest. Ranks that no axis explains
    form a last axis without traffic.

    Examples
    --------
    >>> pairs = [Kind("t", 2, "allreduce", 8), Kind("d", 2, "allreduce", 8)]
    >>> [groups.tolist() for groups in grid_groups(pairs, 4)]
    [[[0, 1], [2, 3]], [[0, 2], [1, 3]]]
    """
    shape = [kind.size for kind in kinds]
    ranks = np.arange(gpus, dtype=np.int64).reshape(-1, *reversed(shape))
    last = len(kinds)
    return tuple(
        np.moveaxis(ranks, last - place, -1).reshape(-1, kind.size)
        for place, kind in enumerate(kinds)
    )


def _parts(text: str) -> tuple[str, str, str, str]:
    name, equals, rest = text.partition("=")
    fields = rest.split(":")
    if not name or not equals or len(fields) != 3:
        raise InvalidParameterError(
            f"--kind is {text!r}; it must be NAME=GPUS:COLLECTIVE:SIZE, as tensor=8:allreduce:64MB"
        )
    return name, fields[0], fields[1], fields[2]


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidParameterError(
            f"kind {name!r} has groups of {text!r}; it must be a number of GPUs or rest"
        )
    return int(text)


def _bytes(name: str, text: str) -> int:
    try:
        sizes = read_sizes([text])
    except ValueError as error:
        raise InvalidParameterError(f"kind {name!r}: {error}") from None
    if len(sizes) != 1:
        raise InvalidParameterError(f"kind {name!r}: {text!r} is several sizes; give one")
    return sizes[0]
