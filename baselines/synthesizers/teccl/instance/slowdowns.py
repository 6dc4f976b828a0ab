"""Temporary slowdowns: link bandwidths that depend on the epoch.

Input:   ``"b0.gpu0 - b0.gpu1 x 1/2 from 3 to 5; gpu* -> switch x 0 from 0 to 1"``: both ways or
         one, names or patterns, a factor from 0 to 1, the first and the last epoch, from 0 up.
Output:  slowdowns; for a link the epochs in which it carries fewer chunks, and how many.
Cost:    links x statements x epochs.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 3.1: T may depend on k. By appendix F a chunk
         occupies its link for kappa epochs, so the capacity is the sum over these, rounded down.
         If several statements meet, the slowest counts.

The factor is at most 1, so a schedule within the slowed links is valid on the whole network.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction

from baselines.interface.parameters import exact_parameter
from forestcoll.errors import InvalidParameterError
from forestcoll.topology.model import Topology

__all__ = ["LATEST", "Slowdown", "limits_of", "slowdowns_of"]

LATEST = 10_000
"""The last epoch that a statement may name."""

_FORM = "'a - b x 1/2 from 3 to 5' (or 'a -> b' for one way), with ';' between several"

_STATEMENT = re.compile(
    r"(?P<tail>\S.*?)\s+(?P<way>->?)\s+(?P<head>\S.*?)\s+x\s+(?P<factor>\S+)"
    r"\s+from\s+(?P<first>\d{1,9})\s+to\s+(?P<last>\d{1,9})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Links that have ``factor`` of their bandwidth from one epoch to another, both included.

    Parameters
    ----------
    links : frozenset of int
        Numbers in the topology.

    Raises
    ------
    InvalidParameterError
        If the factor is not from 0 to 1, or the epochs do not go up.
    """

    links: frozenset[int]
    first_epoch: int
    last_epoch: int
    factor: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.factor <= 1:
            raise InvalidParameterError(
                f"slow: a link has {self.factor} of its bandwidth; it must be from 0 to 1"
            )
        if not 0 <= self.first_epoch <= self.last_epoch <= LATEST:
            raise InvalidParameterError(
                f"slow: from {self.first_epoch} to {self.last_epoch}; epochs must go up, from 0 "
                f"to at most {LATEST}"
            )


def slowdowns_of(text: str, topology: Topology) -> tuple[Slowdown, ...]:
    """Read statements of slow links; nothing from an empty text.

    Raises
    ------
    InvalidParameterError
        If a statement has another form, matches no link, or has a number out of its range.

    Examples
    --------
    >>> from forestcoll import load_topology
    >>> slowdowns_of("gpu0 -> gpu1 x 1/2 from 3 to 5", load_topology("ring:nodes=4"))[0].factor
    Fraction(1, 2)
    """
    statements = [part.strip() for part in text.split(";")]
    return tuple(_read(statement, topology) for statement in statements if statement)


def _read(statement: str, topology: Topology) -> Slowdown:
    found = _STATEMENT.fullmatch(statement)
    if found is None:
        raise InvalidParameterError(f"slow: {statement!r} is not of the form {_FORM}")
    tail, head = found["tail"], found["head"]
    ways = [(tail, head)] if found["way"] == "->" else [(tail, head), (head, tail)]
    names = [node.name for node in topology.nodes]
    links = frozenset(
        i
        for i, link in enumerate(topology.links)
        if any(_like(names[link.tail], a) and _like(names[link.head], b) for a, b in ways)
    )
    if not links:
        raise InvalidParameterError(
            f"slow: {topology.name} has no link {tail} {found['way']} {head}; its nodes are "
            f"{', '.join(names[:4])}{', ...' if len(names) > 4 else ''}"
        )
    factor = exact_parameter(f"slow: the factor of {tail} {found['way']} {head}", found["factor"])
    return Slowdown(links, int(found["first"]), int(found["last"]), factor)


def _like(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def limits_of(
    link: int, slowdowns: Sequence[Slowdown], per_epoch: Fraction, window: int
) -> tuple[tuple[int, int], ...]:
    """Return the epochs from which a window of a link carries fewer chunks, and how many.

    Parameters
    ----------
    per_epoch : Fraction
        T tau, the chunks that it carries in an epoch.
    window : int
        kappa, the epochs for which a chunk occupies it.
    """
    part: dict[int, Fraction] = {}
    for slow in slowdowns:
        if link in slow.links:
            for epoch in range(slow.first_epoch, slow.last_epoch + 1):
                part[epoch] = min(slow.factor, part.get(epoch, slow.factor))
    most = math.floor(window * per_epoch)
    begins = sorted({epoch - before for epoch in part for before in range(window)})
    limits = []
    for begin in begins:
        over = sum((part.get(begin + i, Fraction(1)) for i in range(window)), Fraction(0))
        if begin >= 0 and (capacity := math.floor(over * per_epoch)) < most:
            limits.append((begin, capacity))
    return tuple(limits)
