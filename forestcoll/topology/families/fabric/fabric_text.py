"""Parser of the words that name a network between boxes: ``leaf-spine:leaves=4,spines=2``.

A kind of network, then ``option=value`` with commas between. Every kind takes ``planes`` (the
network that many times, NICs dealt out in turn) and ``sharp`` (its switches multicast and reduce).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.families.values import Amount, Count, Flag, Flags, Kind, Sizes

__all__ = ["FABRICS", "Fabric", "FabricKind", "FabricText", "parse_fabric"]

MOST_SWITCHES = 16_384
"""Largest number of switches in one layer or of one kind."""


@dataclass(frozen=True, slots=True)
class FabricKind:
    """One kind of network between boxes, and the options that it takes."""

    name: str
    meaning: str
    options: Mapping[str, Kind] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """The kind with its required options."""
        asked = ",".join(f"{name}=..." for name in self.required)
        return f"{self.name}:{asked}" if asked else self.name


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network between boxes, as its words name it."""

    kind: str
    options: Mapping[str, Any]
    planes: int = 1
    sharp: bool = False

    def __str__(self) -> str:
        """Write the words, without options that equal their default."""
        given = dict(self.options)
        given |= {"planes": self.planes} if self.planes > 1 else {}
        given |= {"sharp": True} if self.sharp else {}
        kinds = {**FABRICS[self.kind].options, **_COMMON}
        shown = ",".join(f"{n}={kinds[n].show(given[n])}" for n in kinds if n in given)
        return f"{self.kind}:{shown}" if shown else self.kind


def _switches(what: str) -> Count:
    return Count(what, maximum=MOST_SWITCHES)


_COMMON: Mapping[str, Kind] = MappingProxyType(
    {
        "planes": Count("networks side by side; NIC i of a box is in plane i modulo them"),
        "sharp": Flag("the switches can multicast and aggregate"),
    }
)
_OVERSUBSCRIPTION = Amount("bandwidth from a leaf down over bandwidth up")
_LINK = Amount("GB/s of the link between two switches; by default that of a NIC")
_UP: Mapping[str, Kind] = {
    "uplinks": _switches("cables from a leaf to each spine"),
    "uplink_bandwidth": Amount("GB/s of one such cable; by default that of a NIC"),
    "oversubscription": _OVERSUBSCRIPTION,
}

FABRICS: Mapping[str, FabricKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            FabricKind("single", "all NICs on one switch"),
            FabricKind(
                "rails",
                "NIC i of every box on rail switch i; spines join the rails",
                {"spines": _switches("switches that join the rails"), **_UP},
            ),
            FabricKind(
                "leaf-spine",
                "boxes spread evenly over leaves, every leaf on every spine",
                {"leaves": _switches("leaf switches"), "spines": _switches("spines"), **_UP},
                ("leaves", "spines"),
            ),
            FabricKind(
                "clos",
                "pods of leaves and spines; spine j of every pod on the cores of its plane j",
                {
                    "pods": _switches("pods"),
                    "leaves": _switches("leaf switches of a pod"),
                    "spines": _switches("spines of a pod"),
                    "cores": _switches("core switches, shared out among the spines"),
                    **_UP,
                    "core_oversubscription": Amount("bandwidth up to a spine over up to cores"),
                },
                ("pods", "leaves", "spines", "cores"),
            ),
            FabricKind(
                "dragonfly",
                "groups of routers, each linked to each, and links between all groups",
                {
                    "groups": _switches("groups"),
                    "routers": _switches("routers of a group"),
                    "globals": _switches("links of a router to other groups"),
                    "local_bandwidth": _LINK,
                    "global_bandwidth": _LINK,
                },
                ("groups", "routers"),
            ),
            FabricKind(
                "dragonfly-plus",
                "groups of leaves and spines, and links between the spines of all groups",
                {
                    "groups": _switches("groups"),
                    "leaves": _switches("leaf switches of a group"),
                    "spines": _switches("spines of a group"),
                    "globals": _switches("links of a spine to other groups"),
                    "global_bandwidth": _LINK,
                    **_UP,
                },
                ("groups", "leaves", "spines"),
            ),
            FabricKind(
                "hyperx",
                "routers in a grid, linked to all others in line with them",
                {
                    "dims": Sizes("routers in each dimension", MOST_SWITCHES),
                    "link_bandwidth": _LINK,
                },
                ("dims",),
            ),
            FabricKind(
                "slim-fly",
                "the McKay-Miller-Siran graph of 2 q^2 routers: diameter 2",
                {"q": Count("a prime power, not 2", 3, 89), "link_bandwidth": _LINK},
                ("q",),
            ),
            FabricKind(
                "torus",
                "routers in a torus, or a mesh",
                {
                    "dims": Sizes("routers in each dimension", MOST_SWITCHES),
                    "wrap": Flags("close each dimension into a ring, or those that are true"),
                    "link_bandwidth": _LINK,
                },
                ("dims",),
            ),
        )
    }
)
"""Every kind of network between boxes, by its name."""


def parse_fabric(text: str) -> Fabric:
    """Read the words that name a network between boxes; parentheses around them are dropped.

    Raises
    ------
    InvalidTopologyError
        For an unknown kind, option or value.

    Examples
    --------
    >>> fabric = parse_fabric("(leaf-spine:leaves=4,spines=2,sharp=true)")
    >>> fabric.kind, fabric.options, fabric.sharp
    ('leaf-spine', {'leaves': 4, 'spines': 2}, True)
    """
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    name, _, rest = text.strip().partition(":")
    if name not in FABRICS:
        hint = did_you_mean(name, FABRICS, f"the kinds are {', '.join(FABRICS)}")
        if name.partition("=")[0] in _COMMON:
            hint = f"name the kind before its options, such as single:{text}"
        raise InvalidTopologyError(f"fabric {text!r}: {name!r} is no kind of network; {hint}")
    values = dict(_values(text, FABRICS[name], rest))
    missing = [option for option in FABRICS[name].required if option not in values]
    if missing:
        raise InvalidTopologyError(
            f"fabric {text!r} needs {', '.join(missing)}; write {FABRICS[name].usage}"
        )
    planes, sharp = values.pop("planes", 1), values.pop("sharp", False)
    return Fabric(name, values, planes, sharp)


def _values(text: str, kind: FabricKind, rest: str) -> Iterator[tuple[str, Any]]:
    known = {**kind.options, **_COMMON}
    seen: set[str] = set()
    for part in _parts(rest):
        option, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InvalidTopologyError(f"fabric {text!r}: {part!r} is not option=value")
        if option not in known:
            hint = did_you_mean(option, known, f"it takes {', '.join(known)}")
            raise InvalidTopologyError(f"fabric {text!r}: no option {option!r}; {hint}")
        if option in seen:
            raise InvalidTopologyError(f"fabric {text!r}: {option} is given twice; remove one")
        seen.add(option)
        try:
            yield option, known[option].read(value)
        except ValueError:
            raise InvalidTopologyError(
                f"fabric {text!r}: {option} is {value!r}; it must be {known[option].allowed} "
                f"({known[option].help})"
            ) from None


def _parts(rest: str) -> list[str]:
    """Split at commas; true and false continue the list of values before them."""
    parts: list[str] = []
    for part in rest.split(",") if rest.strip() else ():
        if parts and part.strip() in ("true", "false"):
            parts[-1] += f",{part.strip()}"
        else:
            parts.append(part)
    return parts


@dataclass(frozen=True, slots=True)
class FabricText:
    """The network between boxes, as a parameter of a family."""

    help: str = "network between boxes"

    @property
    def allowed(self) -> str:
        """The kinds."""
        return f"{', '.join(FABRICS)}, with options such as (leaf-spine:leaves=4,spines=2)"

    def read(self, value: object) -> str:
        """Read the words, with or without parentheses, and write them one way."""
        if not isinstance(value, str):
            raise ValueError
        return str(parse_fabric(value))

    def show(self, value: object) -> str:
        """Write the words, in parentheses if they have commas."""
        text = self.read(value)
        return f"({text})" if "," in text else text
