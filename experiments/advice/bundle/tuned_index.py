"""Reader of the folder that ``forestcoll tune`` writes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiments.advice.tuning.records import INDEX, MOST_BYTES
from forestcoll.bounded_read import expect_few_objects, read_at_most
from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule.simulate import AlphaBeta, Sharing

__all__ = ["TunedCandidate", "TunedIndex", "TunedRange", "TunedSize", "first_fault", "read_tuned"]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Exact(_Entry):
    """An exact number; the index has its decimal, too."""

    exact: str = Field(pattern=r"^-?[0-9]+(/[0-9]+)?$")

    @property
    def number(self) -> Fraction:
        """The number."""
        return Fraction(self.exact)


class TunedRange(_Entry):
    """Sizes with one schedule to use."""

    first_bytes: int = Field(ge=1)
    last_bytes: int = Field(ge=1)
    use: str
    file: str = Field(pattern=r"^[A-Za-z0-9_.-]+$")
    slower_than_the_best_by: float = Field(ge=0)
    by_plan: bool = False


class TunedSize(_Entry):
    """A size that was tried."""

    size_bytes: int = Field(ge=1)
    time_us: float = Field(gt=0)
    by_plan: bool = False


class TunedCandidate(_Entry):
    """A requested candidate."""

    name: str
    method: str
    parameters: dict[str, Any]


class TunedIndex(_Entry):
    """The index that ``forestcoll tune`` writes beside its schedules."""

    format: Literal["forestcoll-tuning"]
    version: Literal[1]
    complete: bool
    topology: str
    collective: str
    gpus: int
    root: int | None
    alpha_us: Exact
    gamma_s_per_gb: Exact
    sharing: Literal["fair", "fifo"]
    window: Annotated[int, Field(ge=1)] | Literal["unlimited"] = 1
    chunk_cost_us: Exact = Exact(exact="0")
    message_cost_us: Exact = Exact(exact="0")
    ranges: tuple[TunedRange, ...] = Field(min_length=1)
    sizes: tuple[TunedSize, ...] = Field(min_length=1)
    candidates: tuple[TunedCandidate, ...]

    @property
    def model(self) -> AlphaBeta:
        """The model of the simulations."""
        return AlphaBeta(
            alpha_us=self.alpha_us.number,
            gamma_s_per_gb=self.gamma_s_per_gb.number,
            sharing=Sharing(self.sharing),
            window=self.window,
            chunk_cost_us=self.chunk_cost_us.number,
            message_cost_us=self.message_cost_us.number,
        )

    @property
    def methods(self) -> list[str]:
        """Names of the requested methods, as ``tune`` accepts them."""
        return list(dict.fromkeys(one.method for one in self.candidates))

    def method_of(self, name: str) -> str:
        """Return the method of a candidate."""
        return next(one.method for one in self.candidates if one.name == name)


def read_tuned(folder: Path) -> TunedIndex:
    """Read the index of a folder of ``forestcoll tune``.

    Raises
    ------
    InvalidScheduleError
        If there is none, it is invalid, or times in it are of time plans: no runtime keeps to
        them, so other schedules may be the best.
    """
    path = folder / INDEX
    if not path.exists():
        raise InvalidScheduleError(
            f"{folder}: has no {INDEX}; name a folder that forestcoll tune -o has written"
        )
    content = read_at_most(path, MOST_BYTES, InvalidScheduleError)
    expect_few_objects(content, str(path), InvalidScheduleError)
    try:
        found = TunedIndex.model_validate_json(content)
    except ValidationError as error:
        raise InvalidScheduleError(
            f"{path}: is not an index of forestcoll tune: {first_fault(error)}"
        ) from None
    ends = [end for one in found.ranges for end in (one.first_bytes, one.last_bytes)]
    if ends != sorted(ends):
        raise InvalidScheduleError(f"{path}: its ranges are not in order; tune again")
    unknown = {one.use for one in found.ranges} - {one.name for one in found.candidates}
    if unknown:
        raise InvalidScheduleError(
            f"{path}: a range uses {min(unknown)!r}, which is not a candidate; tune again"
        )
    if any(part.by_plan for part in found.ranges) or any(at.by_plan for at in found.sizes):
        raise InvalidScheduleError(
            f"{path}: its times are those of time plans, to which no runtime keeps; tune again "
            "with --no-plans"
        )
    return found


def first_fault(error: ValidationError) -> str:
    """Return the place of the first fault, and the fault."""
    fault = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(map(str, fault["loc"]))
    return f"{place}: {fault['msg'].lower()}" if place else fault["msg"].lower()
