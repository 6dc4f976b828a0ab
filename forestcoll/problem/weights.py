"""Weights of the GPUs in a collective: the relative sizes of their shards.

Problem: express a collective as whole numbers without a common divisor, one for each rank.
Input:   a collective with its root or its weights, as users give them.
Output:  the weights; rank r will root k w(r) trees.
Cost:    linear in the GPUs.
Source:  ForestColl section 5.7 and the collectives of MPI.
"""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from forestcoll.bounded_read import read_text_at_most
from forestcoll.errors import (
    InvalidParameterError,
    InvalidTopologyError,
    did_you_mean,
)
from forestcoll.topology.model import NodeKind, Topology
from forestcoll.topology.numbers import Exact, exact
from forestcoll.topology.reading.documents import parse_json, parse_yaml
from forestcoll.topology.validation import check_collective

__all__ = [
    "MOST_BYTES", "Weights", "rank_of_root", "read_weights", "weights_for", "whole_weights",
]  # fmt: skip

MOST_BYTES = 16_000_000
"""Size limit of a file of weights: some hundred thousand GPUs by name."""

Weights = Mapping[str, Exact] | Mapping[str, float] | Sequence[Exact | float]
"""Weights by name or in the order of the ranks; only the proportions matter."""

_ROOTED = ("broadcast", "reduce")


def weights_for(
    topology: Topology,
    collective: str,
    *,
    root: str | int | None = None,
    weights: Weights | None = None,
) -> tuple[int, ...]:
    """Return the weights of a collective on a network.

    Parameters
    ----------
    collective : str
        "allgather" and "reduce-scatter" accept weights; "broadcast" and "reduce" need a root;
        "allreduce" accepts either: weights for a reduce-scatter and an allgather, or a root for a
        reduce and a broadcast.
    root : str or int, optional
        Name or rank of a GPU.
    weights : mapping or sequence, optional
        As for :func:`whole_weights`; all equal if not given.

    Raises
    ------
    UnsupportedError
        If there is no such collective.
    InvalidParameterError
        If the root or the weights are wrong, missing, or not for this collective.
    """
    check_collective(collective)
    if collective in _ROOTED and root is None:
        raise InvalidParameterError(f"{collective} needs a root; give the name of a GPU")
    if collective in _ROOTED and weights is not None:
        raise InvalidParameterError(f"{collective} takes a root, no weights")
    if root is not None and collective not in (*_ROOTED, "allreduce"):
        raise InvalidParameterError(
            f"{collective} takes no root, since every GPU is one; use broadcast or reduce"
        )
    if root is not None and weights is not None:
        raise InvalidParameterError("allreduce takes a root or weights, not both")
    if root is not None:
        rank = rank_of_root(topology, root)
        return tuple(int(other == rank) for other in range(topology.num_compute))
    return whole_weights(topology, weights)


def whole_weights(topology: Topology, weights: Weights | None) -> tuple[int, ...]:
    """Return weights as whole numbers without a common divisor, in proportion to those given.

    Raises InvalidParameterError if a weight is negative or no exact number, all are 0, or not every
    GPU has one.

    Parameters
    ----------
    weights : mapping or sequence, optional
        For every GPU a number from 0 up: an int, a Fraction, or text such as "12.5" or "25/2"; a
        mapping by the names of all GPUs, or a sequence in the order of the ranks. All equal if
        not given. A GPU of weight 0 receives but has nothing to send.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> whole_weights(load_topology("ring:nodes=3"), ["1/2", 0, "0.75"])
    (2, 0, 3)
    """
    if weights is None:
        return (1,) * topology.num_compute
    given = _in_order(topology, weights)
    if all(type(value) is int and 0 <= value < 2**63 for value in given):
        whole = [int(value) for value in given]  # most calls: fractions take many times as long
    else:
        whole = _in_proportion(topology, given)
    if not any(whole):
        raise InvalidParameterError("all weights are 0; some GPU must have data")
    divisor = math.gcd(*whole)
    return tuple(weight // divisor for weight in whole)


def _in_proportion(topology: Topology, given: Sequence[Exact | float]) -> list[int]:
    """Return whole numbers in proportion to some numbers of any type."""
    numbers = [
        _weight(f"the weight of {name!r}", value)
        for name, value in zip(_names(topology), given, strict=True)
    ]
    denominator = math.lcm(*(number.denominator for number in numbers))
    return [int(number * denominator) for number in numbers]


def read_weights(path: str | os.PathLike[str]) -> Weights:
    """Read weights from a file, YAML or JSON by its suffix: a mapping by names, or a list.

    :func:`whole_weights` checks the values. Raises InvalidParameterError if the file cannot be read
    or holds neither.
    """
    path = Path(path)
    text = read_text_at_most(path, MOST_BYTES, InvalidParameterError)
    parse = parse_json if path.suffix.lower() == ".json" else parse_yaml
    data = parse(text, str(path), InvalidParameterError).data
    if not isinstance(data, dict | list):
        raise InvalidParameterError(
            f"{path}: holds {reprlib.repr(data)}; it must hold a mapping, GPU: weight, or a list"
        )
    return data


def _names(topology: Topology) -> list[str]:
    return [topology.nodes[position].name for position in topology.compute]


def _in_order(topology: Topology, weights: Weights) -> list[Exact | float]:
    if isinstance(weights, Mapping):
        return _by_name(topology, weights)
    if isinstance(weights, str) or not isinstance(weights, Sequence):
        raise InvalidParameterError(
            f"weights are {type(weights).__name__}; they must be a list or a mapping by names"
        )
    if len(weights) != topology.num_compute:
        raise InvalidParameterError(
            f"{len(weights)} weights are given; {topology.name} has {topology.num_compute} GPUs"
        )
    return list(weights)


def _by_name(
    topology: Topology, weights: Mapping[str, Exact] | Mapping[str, float]
) -> list[Exact | float]:
    names = _names(topology)
    for name in weights:
        if name not in topology.position_of:
            hint = did_you_mean(name, names, f"a GPU is {names[0]!r}", repr)
            raise InvalidParameterError(f"weights name {name!r}, which is not a node; {hint}")
        kind = topology.nodes[topology.position_of[name]].kind
        if kind is not NodeKind.COMPUTE:
            raise InvalidParameterError(
                f"weights name {name!r}, which is a {kind}; only compute nodes have weights"
            )
    missing = [name for name in names if name not in weights]
    if missing:
        raise InvalidParameterError(
            f"weights do not name {missing[0]!r} ({len(missing)} of {len(names)} GPUs are "
            f"missing); give every GPU one, 0 if it has no data"
        )
    return [weights[name] for name in names]


def _weight(what: str, value: object) -> Fraction:
    try:
        number = exact(value, what)
    except InvalidTopologyError as error:
        raise InvalidParameterError(str(error)) from None
    if number < 0:
        raise InvalidParameterError(f"{what} is {value}; it cannot be negative")
    return number


def rank_of_root(topology: Topology, root: str | int) -> int:
    """Return the rank of a root given by name or rank.

    Raises InvalidParameterError if there is no such GPU.
    """
    if isinstance(root, int) and not isinstance(root, bool):
        if not 0 <= root < topology.num_compute:
            raise InvalidParameterError(
                f"the root is rank {root}; ranks are 0 to {topology.num_compute - 1}"
            )
        return root
    if root not in topology.position_of:
        names = _names(topology)
        hint = did_you_mean(root, names, f"a GPU is {names[0]!r}", repr)
        raise InvalidParameterError(f"the root is {root!r}, which is not a node; {hint}")
    node = topology.nodes[topology.position_of[str(root)]]
    if node.kind is not NodeKind.COMPUTE:
        raise InvalidParameterError(
            f"the root is {root!r}, which is a {node.kind}; only a compute node can be one"
        )
    return topology.rank_of[topology.position_of[str(root)]]
