"""The registry of topology families, and the decorator that enters a function into it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, ParamSpec, get_args, get_origin, get_type_hints

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.values import Kind
from forestcoll.topology.model import Topology

__all__ = ["FAMILIES", "Family", "Parameter", "family"]

P = ParamSpec("P")

_REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a family, as its function's signature declares it."""

    name: str
    kind: Kind
    default: object = _REQUIRED

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is _REQUIRED

    @property
    def help(self) -> str:
        """The meaning of the parameter."""
        return self.kind.help

    @property
    def type(self) -> str:
        """The allowed values, in words."""
        return self.kind.allowed

    @property
    def default_text(self) -> str:
        """The default as it would be written in a specification; empty if there is none."""
        return "" if self.required else self.kind.show(self.default)

    def read(self, value: object, family: str) -> object:
        """Turn text or a value into the parameter's value, or say what is allowed."""
        try:
            return self.kind.read(value)
        except ValueError:
            raise InvalidTopologyError(
                f"{family}: {self.name} is {value!r}; it must be {self.kind.allowed} "
                f"({self.kind.help})"
            ) from None


@dataclass(frozen=True)
class Family:
    """A function that makes topologies, with what one needs to know to call it."""

    name: str
    summary: str
    function: Callable[..., Topology] = field(repr=False)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the function, read from its signature when they are asked for."""
        hints = get_type_hints(self.function, include_extras=True)
        return tuple(
            Parameter(name, _kind(hints[name]), argument.default)
            for name, argument in self.signature.parameters.items()
        )

    @cached_property
    def signature(self) -> inspect.Signature:
        """The names and defaults of the parameters."""
        return inspect.signature(self.function)

    @property
    def usage(self) -> str:
        """A specification with the required parameters only."""
        required = ",".join(f"{p.name}=..." for p in self.parameters if p.required)
        return f"{self.name}:{required}" if required else self.name

    def spec(self, values: Mapping[str, object]) -> str:
        """Write the family with these values, leaving out what equals its default."""
        given = [
            f"{p.name}={p.kind.show(values[p.name])}"
            for p in self.parameters
            if p.required or p.kind.show(values[p.name]) != p.default_text
        ]
        return f"{self.name}:{','.join(given)}" if given else self.name


FAMILIES: dict[str, Family] = {}
"""Every family by its name, in the order in which people should meet them."""


def family(build: Callable[P, TopologyBuilder | Topology]) -> Callable[P, Topology]:
    """Enter a function into FAMILIES and let it return the finished topology.

    Every argument must be annotated with a :class:`~forestcoll.topology.families.values.Kind`. The
    arguments are checked by it, so the function may trust them, and the topology is named by
    its own specification, such as ``dgx_a100:boxes=4``.
    """
    name = build.__name__

    @functools.wraps(build)
    def make(*args: P.args, **kwargs: P.kwargs) -> Topology:
        bound = entry.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = {p.name: p.read(bound.arguments[p.name], name) for p in entry.parameters}
        bound.arguments.update(values)
        made, spec = build(*bound.args, **bound.kwargs), entry.spec(values)
        if isinstance(made, TopologyBuilder):
            return made.build(spec)
        return Topology(spec, made.nodes, made.links, made.shared)

    summary = (inspect.getdoc(build) or name).splitlines()[0]
    entry = Family(name, summary, make)
    FAMILIES[name] = entry
    return make


def _kind(hint: object) -> Kind:
    assert get_origin(hint) is Annotated, "a family's arguments are annotated with their kind"
    kind: Kind = get_args(hint)[1]
    return kind
