"""Tenants in text, as ``forestcoll baselines tenants`` takes them.

Problem: state a collective among some GPUs, with its priority, in one line.
Input:   ``train:collective=allgather,size=1GB,group=0/*,priority=1`` or
         ``serve:priority=0,demand=zipf:size=64MB``.
Output:  a tenant.
Cost:    linear in the text.
Source:  ours. A group is as for process groups, its names joined by ``+``; a demand is as for
         ``forestcoll generate --demand``, and comes last, since it may have commas.
"""

from __future__ import annotations

import re
from typing import Any

from baselines.synthesizers.teccl.tenants import Tenant
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.sizes import read_size
from forestcoll.topology.groups import members_from_text
from forestcoll.topology.model import Topology

__all__ = ["tenant_in"]

_KEYS = ("collective", "size", "chunks", "root", "priority", "group", "demand")
_NUMBERS = ("chunks", "priority")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def tenant_in(text: str, topology: Topology) -> Tenant:
    """Read a tenant.

    Raises
    ------
    InvalidParameterError
        If the text names no tenant, has an unknown or repeated key, or a value of another kind.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> tenant_in("train:size=4KB,group=gpu0+gpu2,priority=1", load_topology("ring:nodes=4"))
    Tenant(name='train', collective='allgather', size_bytes=4096, chunks=1, root=0, priority=1, \
group=('gpu0', 'gpu2'), demand=None)
    """
    name, _, rest = text.partition(":")
    if not _NAME.fullmatch(name):
        raise InvalidParameterError(
            f"tenant {text!r} has no name of letters, digits, '.', '_' and '-'; write NAME:KEY=..."
        )
    given = _pairs(name, rest)
    asked: dict[str, Any] = {key: _number(name, key, given) for key in _NUMBERS if key in given}
    asked |= {key: given[key] for key in ("collective", "demand") if key in given}
    for key in ("collective", "size", "root", "group"):
        if key in given and "demand" in given:
            raise InvalidParameterError(f"tenant {name!r}: {key} is given with a demand; leave it")
    if "size" in given:
        try:
            asked["size_bytes"] = read_size(given["size"])
        except ValueError as error:
            raise InvalidParameterError(f"tenant {name!r}: size {error}") from None
    if "root" in given:
        root = given["root"]
        asked["root"] = int(root) if root.isdecimal() and len(root) < 10 else root
    if "group" in given:
        asked["group"] = tuple(members_from_text(topology, given["group"].replace("+", ",")))
        if not given["group"]:
            raise InvalidParameterError(f"tenant {name!r}: group is empty; name some GPUs")
    return Tenant(name, **asked)


def _pairs(name: str, text: str) -> dict[str, str]:
    """Return the values by key; a demand takes the rest of the text."""
    given: dict[str, str] = {}
    while text:
        key, equals, value = text.partition("=")
        if not equals or key not in _KEYS or key in given:
            raise InvalidParameterError(
                f"tenant {name!r}: {key!r} is not a key, or is given twice; known are "
                f"{', '.join(_KEYS)}, each as KEY=VALUE"
            )
        given[key], _, text = (value, "", "") if key == "demand" else value.partition(",")
    return given


def _number(name: str, key: str, given: dict[str, str]) -> int:
    if not re.fullmatch(r"-?\d{1,6}", given[key]):
        raise InvalidParameterError(
            f"tenant {name!r}: {key} is {given[key]!r}; give a whole number of at most 6 digits"
        )
    return int(given[key])
