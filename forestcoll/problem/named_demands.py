"""Demands by name: all-to-all, sendrecv, gather, scatter, groups, skewed amounts and so on.

Problem: state a usual demand in a line, such as ``scatter:root=gpu3,size=64MB``.
Input:   a specification and the network.
Output:  the demand.
Cost:    linear in the pairs of GPUs.
Source:  the programs of nccl-tests (https://github.com/NVIDIA/nccl-tests); for pipeline parallelism
         neighbouring stages; skewed amounts by Zipf's law, as tokens for experts have them.

``size`` is what nccl-tests calls it: what one GPU sends in all, for itself too; for ``gather`` and
``scatter`` the buffer of the root; for ``sendrecv`` and ``pipeline`` the message.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forestcoll.errors import InvalidParameterError, did_you_mean
from forestcoll.problem.demand import MOST_BYTES, MOST_CHUNKS, Demand
from forestcoll.problem.sizes import read_size
from forestcoll.problem.weights import rank_of_root
from forestcoll.topology.groups import members_from_text
from forestcoll.topology.model import Topology

__all__ = ["DEMANDS", "NamedDemand", "named_demand", "rank_of_gpu"]

_DEFAULT_SIZE = "64MB"
_MOST_EXPONENT = 10.0
_MOST_DIGITS = 20
_LONG = 200
"""Letters of a name beyond which it is not printed in full."""


@dataclass(frozen=True, slots=True)
class NamedDemand:
    """A demand that has a name.

    Parameters
    ----------
    summary : str
    parameters : tuple of str
        Those that it has besides ``size`` and ``group``.
    make : callable
        Makes the matrix of the group's GPUs in their order from the size and the parameters.
    """

    summary: str
    parameters: tuple[str, ...]
    make: Callable[[int, int, dict[str, int | float]], np.ndarray]


def _all_to_all(gpus: int, size: int, _: dict[str, int | float]) -> np.ndarray:
    return np.full((gpus, gpus), _part(size, gpus), dtype=np.int64)


def _send_recv(gpus: int, size: int, _: dict[str, int | float]) -> np.ndarray:
    amounts = np.zeros((gpus, gpus), dtype=np.int64)
    amounts[np.arange(gpus), (np.arange(gpus) + 1) % gpus] = size
    return amounts


def _pipeline(gpus: int, size: int, given: dict[str, int | float]) -> np.ndarray:
    stages = int(given.get("stages", gpus))
    if stages < 2 or gpus % stages:
        raise InvalidParameterError(
            f"pipeline: stages is {stages}; it must be 2 or more and divide the {gpus} GPUs"
        )
    amounts, width = np.zeros((gpus, gpus), dtype=np.int64), gpus // stages
    earlier = np.arange(gpus - width)
    amounts[earlier, earlier + width] = size
    return amounts


def _gather(gpus: int, size: int, given: dict[str, int | float]) -> np.ndarray:
    amounts = np.zeros((gpus, gpus), dtype=np.int64)
    amounts[:, int(given.get("root", 0))] = _part(size, gpus)
    return amounts


def _scatter(gpus: int, size: int, given: dict[str, int | float]) -> np.ndarray:
    return _gather(gpus, size, given).T.copy()


def _zipf(gpus: int, size: int, given: dict[str, int | float]) -> np.ndarray:
    """Share each GPU's data over the GPUs by Zipf's law, in an order of its own."""
    exponent = float(given.get("exponent", 1.0))
    if not 0 <= exponent <= _MOST_EXPONENT:
        raise InvalidParameterError(
            f"zipf: exponent is {exponent:g}; it must be from 0 to {_MOST_EXPONENT:g}"
        )
    share = np.arange(1, gpus + 1, dtype=np.float64) ** -exponent
    bytes_of = np.maximum(np.floor(size * share / share.sum()), 0).astype(np.int64)
    draw = np.random.Generator(np.random.PCG64(int(given.get("seed", 0))))
    return np.stack([bytes_of[draw.permutation(gpus)] for _ in range(gpus)])


def _part(size: int, gpus: int) -> int:
    """Return the bytes of each pair; none is lost: the last bytes of a size do not divide."""
    return max(size // gpus, 1)


DEMANDS = {
    "all-to-all": NamedDemand("every GPU has a part for every other", (), _all_to_all),
    "sendrecv": NamedDemand("every GPU sends to the next one", (), _send_recv),
    "gather": NamedDemand("every GPU sends its part to the root", ("root",), _gather),
    "scatter": NamedDemand("the root sends every GPU its part", ("root",), _scatter),
    "pipeline": NamedDemand("every stage sends to the next", ("stages",), _pipeline),
    "zipf": NamedDemand("parts by Zipf's law, in a random order", ("exponent", "seed"), _zipf),
}
"""All demands by name."""

_NUMBERS = {"stages": int, "exponent": float, "seed": int}


def named_demand(spec: str, topology: Topology) -> Demand:
    """Read a demand such as ``all-to-all``, ``scatter:root=gpu3`` or ``zipf:exponent=1.2,seed=7``.

    Parameters
    ----------
    spec : str
        A name of :data:`DEMANDS`, and then parameters. ``group`` names the GPUs that take part,
        as for process groups: names joined by ``+``, or boxes and indices such as ``0-3/*``.
        Several groups are separated by ``|``; each exchanges on its own.

    Raises
    ------
    InvalidParameterError
        If the name, a parameter or its value is wrong.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> ring = load_topology("ring:nodes=4")
    >>> named_demand("scatter:root=gpu1,size=4KB", ring).matrix[1].tolist()
    [1024, 0, 1024, 1024]
    """
    name, _, rest = spec.partition(":")
    if name not in DEMANDS:
        hint = did_you_mean(name, [*DEMANDS], f"known: {', '.join(DEMANDS)}", repr)
        raise InvalidParameterError(f"there is no demand {reprlib.repr(name)}; {hint}")
    given = _parameters(name, rest)
    try:
        size = read_size(given.pop("size", _DEFAULT_SIZE))
    except ValueError as error:
        raise InvalidParameterError(f"{name}: size {error}") from None
    if size > MOST_BYTES:
        raise InvalidParameterError(
            f"{name}: size is {size} bytes; at most {MOST_BYTES:.0e} are possible"
        )
    groups = _groups(name, topology, given.pop("group", None))
    if sum(len(ranks) ** 2 for ranks in groups) > MOST_CHUNKS:
        raise InvalidParameterError(
            f"{name}: {topology.name} has {topology.num_compute} GPUs; a demand has at most "
            f"{MOST_CHUNKS} pairs"
        )
    amounts = np.zeros((topology.num_compute, topology.num_compute), dtype=np.int64)
    for ranks in groups:
        values = _values(name, given, topology, ranks)
        amounts[np.ix_(ranks, ranks)] += DEMANDS[name].make(len(ranks), size, values)
    return Demand.of_matrix(amounts, spec)


def _parameters(name: str, text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    allowed = ("size", "group", *DEMANDS[name].parameters)
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or key not in allowed or key in given:
            raise InvalidParameterError(
                f"{name}: {reprlib.repr(part)} is not a parameter, or is given twice; it has "
                f"{', '.join(f'{one}=...' for one in allowed)}"
            )
        given[key] = value
    return given


def rank_of_gpu(topology: Topology, name: str | int, where: str) -> int:
    """Return the rank of a GPU given by name or rank.

    Raises
    ------
    InvalidParameterError
        If there is no such GPU; the message begins with ``where``.
    """
    if isinstance(name, str) and len(name) > _LONG and name not in topology.position_of:
        raise InvalidParameterError(f"{where}: names {reprlib.repr(name)}, which is not a node")
    try:
        return rank_of_root(topology, name)
    except InvalidParameterError as error:
        raise InvalidParameterError(
            f"{where}: {str(error).replace('the root is', 'names', 1)}"
        ) from None


def _groups(name: str, topology: Topology, text: str | None) -> list[list[int]]:
    if text is None:
        return [[*range(topology.num_compute)]]
    found = []
    for part in text.split("|"):
        members = members_from_text(topology, part.replace("+", ","))
        ranks = sorted(rank_of_gpu(topology, one, f"{name}: group") for one in members)
        if len(ranks) < 2 or len({*ranks}) < len(ranks):
            raise InvalidParameterError(
                f"{name}: group {reprlib.repr(part)} must name two GPUs or more, each once"
            )
        found.append(ranks)
    return found


def _values(
    name: str, given: dict[str, str], topology: Topology, ranks: list[int]
) -> dict[str, int | float]:
    values: dict[str, int | float] = {}
    for key, text in given.items():
        if key == "root":
            number = text.isdecimal() and len(text) < _MOST_DIGITS
            rank = rank_of_gpu(topology, int(text) if number else text, f"{name}: root")
            if rank not in ranks:
                raise InvalidParameterError(
                    f"{name}: root {text!r} is outside a group; name one that all groups have"
                )
            values[key] = ranks.index(rank)
            continue
        try:
            values[key] = _NUMBERS[key](text)
        except ValueError:
            raise InvalidParameterError(
                f"{name}: {key} is {reprlib.repr(text)}; give a number"
            ) from None
        if not 0 <= values[key] <= 2**32:
            raise InvalidParameterError(
                f"{name}: {key} is {reprlib.repr(text)}; it must be from 0 to 2^32"
            )
    return values
