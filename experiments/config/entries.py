"""Entries of an experiment file, and the values that they stand for."""

from __future__ import annotations

import itertools
import math
import reprlib
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from experiments.config.points import Value
from experiments.measures.simulated import BEST, Assumptions
from experiments.training.training_settings import TrainingSettings
from forestcoll.errors import ForestCollError
from forestcoll.problem.limits import MOST_SECONDS
from forestcoll.problem.sizes import MOST_BYTES, read_sizes
from forestcoll.schedule.simulate import MOST_PIPELINE_CHUNKS, UNLIMITED
from forestcoll.schedule.simulate.alpha_beta import DEFAULT_ALPHA_US, MOST_WINDOW

__all__ = [
    "Experiment", "LimitsEntry", "MethodEntry", "Parameters", "Range", "SimulateEntry", "Sweep",
    "TopologyEntry", "TrainEntry", "text_of", "values_of",
]  # fmt: skip

MOST_VALUES = 10_000
"""Limit of values in one range; more is a typing error."""

MOST_NUMBER = 10**18
"""Limit of any number without another bound; the method checks a parameter's own limit."""

MOST_REPETITIONS = 10_000

MOST_MEMORY_GB = 1_000_000

LEAST_MEMORY_GB = 0.1
"""Memory of a worker before it begins: Python and its imports, with a small margin."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Range(_Strict):
    """Whole numbers from one to another, by a step (1 unless given) or by a factor."""

    start: int = Field(
        alias="from", ge=-MOST_NUMBER, le=MOST_NUMBER, description="The first value."
    )
    to: int = Field(
        ge=-MOST_NUMBER,
        le=MOST_NUMBER,
        description="The last value, if the steps meet it; no value is greater.",
    )
    step: int | None = Field(
        default=None, ge=1, le=MOST_NUMBER, description="What to add for the next."
    )
    factor: int | None = Field(
        default=None, ge=2, le=MOST_NUMBER, description="What to multiply by for the next value."
    )

    @model_validator(mode="after")
    def _runs(self) -> Range:
        if self.step is not None and self.factor is not None:
            raise ValueError('has both "step" and "factor"; keep one')
        if self.to < self.start:
            raise ValueError(
                f'runs from {self.start} to {self.to}; "to" must not be less than "from"'
            )
        if self.factor is not None and self.start < 1:
            raise ValueError(f"runs by a factor from {self.start}; it must start from 1 or more")
        if self.factor is None and (self.to - self.start) // (self.step or 1) >= MOST_VALUES:
            raise ValueError(f"has over {MOST_VALUES} values; take a larger step")
        return self

    def values(self) -> list[int]:
        """Return the values in order.

        Examples
        --------
        >>> Range.model_validate({"from": 1, "to": 20, "factor": 2}).values()
        [1, 2, 4, 8, 16]
        """
        if self.factor is None:
            return list(range(self.start, self.to + 1, self.step or 1))
        values = [self.start]
        while values[-1] * self.factor <= self.to:
            values.append(values[-1] * self.factor)
        return values


def _form(given: object) -> str:
    if isinstance(given, dict | Range):
        return "range"
    return "list" if isinstance(given, list) else "one"


_Value = (
    str
    | Annotated[int, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)]
    | Annotated[float, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)]
    | bool
)

Sweep = Annotated[
    Annotated[_Value, Tag("one")]
    | Annotated[list[_Value], Tag("list")]
    | Annotated[Range, Tag("range")],
    Discriminator(_form),
]
"""A value, or several: a list or a range makes one point for each of its values."""

Parameters = dict[str, Sweep]


def values_of(sweep: Value | list[Value] | Range) -> list[Value]:
    """Return the values that a parameter takes."""
    if isinstance(sweep, Range):
        return list(sweep.values())
    return sweep if isinstance(sweep, list) else [sweep]


def text_of(value: object) -> str:
    """Return a value as text, as in a file."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(given: object) -> object:
    return text_of(given) if isinstance(given, bool | int) else given


def _number(given: object) -> object:
    """Convert decimals, which files give as text, to numbers for limits."""
    if not isinstance(given, str):
        return given
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"is {reprlib.repr(given)}; it should be a finite number")
    return number


_Number = Annotated[int, Field(ge=0, le=MOST_NUMBER)] | str
"""An exact number: a whole one, or text such as 12.5 and 25/2."""


class TopologyEntry(_Strict):
    """A family with its parameters, or a file; an entry is a panel of the figures."""

    family: str | None = Field(default=None, description="As `forestcoll topology list` says.")
    file: str | None = Field(default=None, description="A topology file, relative to this file.")
    parameters: Parameters = Field(
        default={}, description="Of the family; a list or a range is a sweep."
    )
    links: dict[str, _Number] = Field(
        default={}, alias="with", description="New links, such as `b0.gpu0 - b1.gpu0: 25`, in GB/s."
    )
    scale: dict[str, _Number] = Field(
        default={}, description="Parts and the factors of their bandwidths: `b3.* - ib: 1/2`."
    )
    without: list[str] = Field(
        default=[], description="Parts that are not there: `b3.gpu2`, `b3.gpu2 - ib`, `b3.* -> ib`."
    )

    @property
    def changes(self) -> dict[str, Any]:
        """The changes to the network, as plain data; empty if there are none."""
        every = {"with": self.links, "scale": self.scale, "without": self.without}
        return {name: given for name, given in every.items() if given}

    @model_validator(mode="after")
    def _one_source(self) -> TopologyEntry:
        if (self.family is None) == (self.file is None):
            raise ValueError('needs either "family" or "file"')
        if self.file is not None and self.parameters:
            raise ValueError('has "parameters", which a file does not take; remove them')
        return self


class MethodEntry(_Strict):
    """A method with its parameters."""

    name: str = Field(description="forestcoll, a baseline, or module:function of your own.")
    parameters: Parameters = Field(
        default={}, description="Of the method; a list or a range is a sweep."
    )


class LimitsEntry(_Strict):
    """What each point may use."""

    seconds: Annotated[float, BeforeValidator(_number)] = Field(
        default=60.0, gt=0, le=MOST_SECONDS, description="Wall-clock time of the generation."
    )
    memory_gb: Annotated[float, BeforeValidator(_number)] = Field(
        default=4.0,
        ge=LEAST_MEMORY_GB,
        le=MOST_MEMORY_GB,
        description="Resident memory of the worker and its children, in GB (1e9 bytes).",
    )
    once: bool = Field(
        default=False,
        description="Spare a method that ran into a limit larger networks of the same cluster.",
    )


def _pipeline_chunks(given: object) -> object:
    whole = isinstance(given, int) and not isinstance(given, bool)
    if given != BEST and not (whole and 1 <= int(str(given)) <= MOST_PIPELINE_CHUNKS):
        raise ValueError(
            f"is {reprlib.repr(given)}; it must be a whole number from 1 to "
            f"{MOST_PIPELINE_CHUNKS}, or "
            f'"{BEST}"'
        )
    return given


def _window(given: object) -> object:
    whole = isinstance(given, int) and not isinstance(given, bool)
    if given != UNLIMITED and not (whole and 1 <= int(str(given)) <= MOST_WINDOW):
        raise ValueError(
            f"is {reprlib.repr(given)}; it must be a whole number from 1 to {MOST_WINDOW}, or "
            f'"{UNLIMITED}"'
        )
    return given


class SimulateEntry(_Strict):
    """What simulations assume; they are made for each of the sizes."""

    alpha_us: _Number = Field(
        default=str(DEFAULT_ALPHA_US), description="Latency of every hop from GPU to GPU, in us."
    )
    gamma_s_per_gb: _Number = Field(
        default=0, description="What a GPU takes to add a GB to what it has, in s."
    )
    constant_us: _Number = Field(
        default=0, description="What every run takes besides, such as the start of kernels, in us."
    )
    window: Annotated[
        Annotated[int, Field(ge=1, le=MOST_WINDOW)] | Literal["unlimited"], BeforeValidator(_window)
    ] = Field(
        default=1, description="Pipeline chunks of a transfer on the way at once, or unlimited."
    )
    chunk_cost_us: _Number = Field(
        default=0, description="What a pipeline chunk occupies its sender for besides, in us."
    )
    message_cost_us: _Number = Field(
        default=0, description="What the start of a transfer does in addition, in us."
    )
    sharing: Literal["fair", "fifo"] = Field(
        default="fair", description="Of links: by max-min fairness, or first in, first out."
    )
    lockstep: bool = Field(
        default=False, description="Whether each step waits for all of the one before it."
    )
    pipeline_chunks: Annotated[
        Annotated[int, Field(ge=1, le=MOST_PIPELINE_CHUNKS)] | Literal["best"],
        BeforeValidator(_pipeline_chunks),
    ] = Field(
        default="best",
        description="Into how many pipeline chunks the data is cut; the best of those tried.",
    )

    @field_validator(
        "alpha_us", "gamma_s_per_gb", "constant_us", "chunk_cost_us", "message_cost_us"
    )
    @classmethod
    def _in_range(cls, given: str | int, about: ValidationInfo) -> str | int:
        try:
            Assumptions.of({str(about.field_name): given})
        except ForestCollError as error:
            raise ValueError(f"cannot be: {error}") from None
        return given


class TrainEntry(_Strict):
    """A model of training; a list or a range makes one point for each of its values."""

    model: Sweep = Field(description="A known model, such as switch-base-256.")
    parallel: Sweep = Field(default="data", description="data, expert or sharded.")
    tokens: Sweep = Field(default=8192, description="Tokens of one GPU in an iteration.")
    context: Sweep = Field(default=2048, description="Tokens of a sequence.")
    utilisation: Sweep = Field(default="0.5", description="Share of the peak that is reached.")
    flops: Sweep = Field(default="312e12", description="Peak of a GPU, per second.")
    bytes_each: Sweep = Field(default=2, description="Bytes of a parameter as sent.")
    recompute: Sweep = Field(
        default=False, description="Whether the backward pass computes the forward pass again."
    )
    bucket: Sweep = Field(default="best", description="Bytes of a bucket, or best.")
    alpha_us: Sweep = Field(default=str(DEFAULT_ALPHA_US), description="Latency of a hop, in us.")
    lockstep: Sweep = Field(
        default=False, description="Whether a schedule takes T_L and T_B, without pipeline chunks."
    )

    @model_validator(mode="after")
    def _possible(self) -> TrainEntry:
        if math.prod(len(values_of(sweep)) for _, sweep in self) > MOST_VALUES:
            raise ValueError(f"has over {MOST_VALUES} combinations; take fewer values")
        for given in self.every():
            try:
                TrainingSettings.of(given)
            except (ForestCollError, ValueError) as error:
                raise ValueError(f"cannot be: {error}") from None
        return self

    @property
    def swept(self) -> tuple[str, ...]:
        """Names of the fields with several values."""
        return tuple(name for name, sweep in self if not isinstance(sweep, str | int | float))

    def every(self) -> list[dict[str, Value]]:
        """Return every combination of one value from each field; the last varies fastest."""
        names = [name for name, _ in self]
        choices = itertools.product(*(values_of(sweep) for _, sweep in self))
        return [dict(zip(names, values, strict=True)) for values in choices]


class Experiment(_Strict):
    """An experiment of the ForestColl toolkit: which methods meet which topologies."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="Also the name of the results' folder."
    )
    title: Annotated[str, BeforeValidator(_text)] = Field(default="", description="For people.")
    collective: Literal[
        "allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"
    ] = "allgather"
    root: str | Annotated[int, Field(ge=0, le=MOST_NUMBER)] | None = Field(
        default=None, description="Of a broadcast or reduce: name or rank of a GPU, 0 if not given."
    )
    weights: list[_Number] | dict[str, _Number] | None = Field(
        default=None, description="How much data each GPU has: by rank, or a mapping by name."
    )
    group: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Who takes part: names, or BOXES/INDICES as 0-3/* and */0."
    )
    k: Sweep | None = Field(
        default=None, description="Trees per GPU, for every method; a list or a range is a sweep."
    )
    sizes: Annotated[
        list[Annotated[int, Field(ge=1, le=MOST_BYTES)]], BeforeValidator(read_sizes)
    ] = Field(
        default=[],
        description="Of the data: bytes, 64MB, 1KB..1GB, {from: 1KB, to: 1GB, factor: 4}.",
    )
    simulate: SimulateEntry | None = Field(
        default=None, description="Simulate each schedule for each of the sizes, with latencies."
    )
    train: TrainEntry | None = Field(
        default=None, description="Model an iteration of training with each schedule."
    )
    topologies: list[TopologyEntry] = Field(min_length=1)
    methods: list[MethodEntry] = Field(min_length=1)
    limits: LimitsEntry = LimitsEntry()
    repetitions: int = Field(
        default=1,
        ge=1,
        le=MOST_REPETITIONS,
        description="Runs of each point; figures show medians.",
    )
    figures: list[str] = Field(
        default=[], description="What to draw: a kind, or kind:option=column."
    )
