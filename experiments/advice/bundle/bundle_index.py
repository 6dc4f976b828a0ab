"""Index of a bundle, ``index.json``: the range of sizes of each file.

``python -m experiments.advice.bundle.bundle_index`` prints the JSON schema, which
docs/schemas/bundle.schema.json keeps.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiments.advice.bundle.tuned_index import first_fault
from forestcoll.bounded_read import expect_few_objects, read_at_most
from forestcoll.errors import InvalidScheduleError

__all__ = [
    "FORMAT", "INDEX", "MOST_BYTES", "MOST_FILE_BYTES", "Bundle", "BundledRange", "bundle_schema",
    "read_bundle",
]  # fmt: skip

MOST_BYTES = 4_000_000
"""Size limit of an index: a dozen ranges of 500 bytes each."""

MOST_FILE_BYTES = 64_000_000
"""Size limit of a runtime file, as in the readers of the runtimes' formats."""

INDEX = "index.json"

FORMAT: Final = "forestcoll-bundle"


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class BundledRange(_Entry):
    """Sizes of the data, with the file for them."""

    first_bytes: int = Field(ge=1, description="The smallest size, of the data as algbw has it.")
    last_bytes: int = Field(ge=1, description="The largest size.")
    use: str = Field(description="The schedule, as forestcoll tune names it; the best if open.")
    method: str = Field(description="Who made it: forestcoll, or a method of baselines list.")
    file: str | None = Field(
        pattern=r"^[a-z]+/[A-Za-z0-9_.-]+$", description="Beside the index; null: none fits."
    )
    sha256: str | None = Field(pattern=r"^[0-9a-f]{64}$", description="Of the file.")
    name: str | None = Field(description="That the file bears in the runtime.")
    protocol: str | None = Field(description="Of the runtime, if it has several.")
    chunks: int | None = Field(
        description="A call is taken if its elements are a multiple of these."
    )
    sizes_in_file: bool = Field(description="Whether the file itself bears the range.")
    executed: tuple[str, ...] | None = Field(
        description="How it was executed on the CPU and found right; null if nothing executes it."
    )
    slower_than_the_best_by: float = Field(
        ge=0, description="Than the best schedule for these sizes in simulation, at most."
    )
    instead_of: str | None = Field(description="The best one, if that cannot be exported.")
    why: str | None = Field(description="Why it cannot.")


class Bundle(_Entry):
    """A bundle: runtime files that together are for all sizes that were tuned."""

    format: Literal["forestcoll-bundle"]
    version: Literal[1]
    runtime: str = Field(description="The format of the files, and the folder that they are in.")
    topology: str
    collective: str
    gpus: int = Field(ge=2)
    root: int | None = Field(description="The rank of the root, of a broadcast or reduce.")
    options: dict[str, str | int | bool] = Field(description="Of the export.")
    multiple_of: int | None = Field(
        description="Files take all calls whose elements are a multiple of this, if it was asked."
    )
    alpha_us: str = Field(description="Of the simulation that chose: exact.")
    gamma_s_per_gb: str
    sharing: str
    tuning_complete: bool = Field(description="Whether the tuning had tried all its sizes.")
    first_bytes: int = Field(ge=1)
    last_bytes: int = Field(ge=1)
    ranges: tuple[BundledRange, ...] = Field(
        min_length=1, description="In order; each begins a byte after the one before ends."
    )


def read_bundle(folder: Path) -> Bundle:
    """Read the index of a bundle.

    Raises
    ------
    InvalidScheduleError
        If there is no index, or it is invalid.
    """
    path = folder / INDEX
    if not path.exists():
        raise InvalidScheduleError(
            f"{folder}: has no {INDEX}; give a folder that `bundle export` wrote"
        )
    content = read_at_most(path, MOST_BYTES, InvalidScheduleError)
    expect_few_objects(content, str(path), InvalidScheduleError)
    try:
        return Bundle.model_validate_json(content)
    except ValidationError as error:
        raise InvalidScheduleError(
            f"{path}: is not an index of a bundle: {first_fault(error)}"
        ) from None


def bundle_schema() -> dict[str, Any]:
    """Return the JSON schema of an index."""
    schema = Bundle.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def main() -> None:
    """Print the schema."""
    sys.stdout.write(json.dumps(bundle_schema(), indent=2) + "\n")


if __name__ == "__main__":
    main()
