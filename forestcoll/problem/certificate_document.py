"""File format of certificates: proofs of an optimum, which addition alone checks.

Problem: prove an optimum without the program, the schedule or the theory that found it.
Input:   the numbers: links, a cut of the network, trees over every link.
Output:  a JSON file whose format docs/formats/certificates.md explains, and the way back.
Cost:    a line for each GPU and link.
Source:  ForestColl sections 2, 4 and 5.5: the cut bound and the congestion of a forest.

Reading checks the form only; :func:`forestcoll.schedule.verify_certificate` judges the content.
"""

from __future__ import annotations

import json
import os
import re
import reprlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    Field,
    TypeAdapter,
    ValidationError,
)

from forestcoll.atomic_write import write_text
from forestcoll.bounded_read import contains, open_regular, read_text_at_most
from forestcoll.errors import InvalidScheduleError
from forestcoll.problem.all_to_all_certificate import AllToAllCertificate
from forestcoll.problem.allreduce_certificate import AllreduceCertificate
from forestcoll.problem.certificate_entries import (
    Count,
    CutPrice,
    Entry,
    Exact,
    ForwardingPrice,
    LimitPrice,
    Name,
    Prices,
    SharedLink,
)
from forestcoll.problem.over_time.time_certificate import TimeCertificate
from forestcoll.topology.reading.documents import parse_json

__all__ = [
    "MOST_BYTES", "AnyCertificate", "Certificate", "CertifiedGpu", "CertifiedLink", "CutPrice",
    "ForwardingPrice", "LimitOfK", "LimitPrice", "OptimumCut", "OptimumPrices", "PricedLimitOfK",
    "Prices", "SharedLimit", "SharedLink", "certificate_schema", "is_certificate",
    "read_certificate", "write_certificate",
]  # fmt: skip

MOST_BYTES = 64_000_000
"""Size limit of a certificate: half a million links, as many as a topology file holds."""

_MARK = re.compile(rb'"format"\s*:\s*"forestcoll-certificate"')


class CertifiedGpu(Entry):
    """A GPU that takes part."""

    name: Name
    weight: Count = Field(description="Its part of the data, in parts of the sum of all weights.")
    trees: Count = Field(description="Trees that it roots: k times its weight.")


class CertifiedLink(Entry):
    """A link, in one direction, with what the forest puts on it."""

    tail: Name = Field(description="Name of the node it leaves.")
    head: Name = Field(description="Name of the node it enters.")
    bandwidth_gb_s: Exact = Field(description="In GB/s (1e9 bytes per second).")
    trees: Count = Field(description="Trees of the forest that run over it.")


class OptimumCut(Entry):
    """A cut of the network, and how long it makes any schedule take."""

    cut: list[Name] = Field(description="Nodes inside; a GPU is outside.")
    gpus: list[Name] = Field(description="The GPUs among them.")
    weight: Count = Field(description="Of these GPUs, in all.")
    bandwidth_gb_s: Exact = Field(
        description="Of the links out of the cut, in all; in a reduction of those into it."
    )
    inverse_rate: Exact = Field(
        description="weight / bandwidth_gb_s = 1/x*, in seconds per GB: M GB in all take at least "
        "(M / W) (1/x*), W the sum of all weights."
    )


class LimitOfK(Entry):
    """A cut of the network, and why k trees a weight cannot be less congested."""

    cut: list[Name] = Field(description="Nodes inside.")
    gpus: list[Name] = Field(description="The GPUs among them.")
    weight: Count = Field(description="Of these GPUs, in all.")
    congestion: Exact = Field(description="U, the least congestion possible, in trees per GB/s.")
    trees_lacking: Count = Field(
        description="Trees that must cross, k weight, less those that the links out of the cut (in "
        "a reduction: into it) carry at the most below U, ceil(U b) - 1 each; positive."
    )


class OptimumPrices(Prices):
    """Prices, and how long they make any schedule take."""

    inverse_rate: Exact = Field(
        description="(sum over cuts of price times weight inside) / (sum over links of what it "
        "needs times bandwidth, plus the same of shared capacities by their prices) = 1/x*."
    )


class PricedLimitOfK(Prices):
    """Prices, and why k trees a weight cannot be less congested."""

    congestion: Exact = Field(description="U, the least congestion possible, in trees per GB/s.")
    lacking: Exact = Field(
        description="k times the sum of price times weight inside, less what links and shared "
        "capacities carry at the most below U, ceil(U b) - 1 each, times what they need; positive."
    )


class SharedLimit(Entry):
    """Links that together carry no more than a limit, with what the forest puts on them."""

    name: Name
    links: list[SharedLink]
    bandwidth_gb_s: Exact = Field(description="Of all of them together, in GB/s.")
    trees: Count = Field(description="Trees of the forest that run over them, in all.")


class Certificate(Entry):
    """An optimum of a network, with the numbers that prove it; for the ForestColl toolkit."""

    format: Literal["forestcoll-certificate"] = "forestcoll-certificate"
    version: Literal[1] = 1
    network: Name = Field(description="What the network is called.")
    collective: Literal["allgather", "reduce-scatter", "broadcast", "reduce"]
    k: Count = Field(description="Trees per unit of weight.")
    congestion: Exact = Field(
        description="U, the most trees per GB/s of bandwidth on any link or shared capacity."
    )
    time_s_per_gb: Exact = Field(description="Seconds per GB of data in all: U / (W k).")
    optimum: OptimumCut | OptimumPrices = Field(description="The bound for schedules of any k.")
    fixed_k: LimitOfK | PricedLimitOfK | None = Field(
        description="The bound for schedules of this k; null if they attain the optimum."
    )
    gpus: list[CertifiedGpu] = Field(description="In the order of their ranks.")
    forwarding: list[Name] = Field(
        description="Nodes that only forward: switches, and GPUs outside the group."
    )
    links: list[CertifiedLink] = Field(description="All links of the network.")
    shared: list[SharedLimit] = Field(default=[], description="All shared capacities.")

    @property
    def is_reduction(self) -> bool:
        """Whether data runs towards the roots."""
        return self.collective in ("reduce-scatter", "reduce")


AnyCertificate = Certificate | AllreduceCertificate | AllToAllCertificate | TimeCertificate
"""The certificates that a file can hold."""


def certificate_schema() -> dict[str, Any]:
    """Return the JSON schema of the format."""
    schema = TypeAdapter(AnyCertificate).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def is_certificate(path: str | os.PathLike[str]) -> bool:
    """Whether a file claims to be a certificate; False if it cannot be read."""
    if Path(path).suffix.lower() == ".npz":
        return False
    try:
        with open_regular(Path(path), MOST_BYTES, InvalidScheduleError) as file:
            return contains(file, _MARK, MOST_BYTES)
    except InvalidScheduleError:
        return False


def read_certificate(path: str | os.PathLike[str]) -> AnyCertificate:
    """Read a certificate and check its form only; none of its numbers is verified.

    Raises
    ------
    InvalidScheduleError
        If the file cannot be read or is not in the format; in one line, with the file, the field,
        the value found and the values allowed.
    """
    text = read_text_at_most(Path(path), MOST_BYTES, InvalidScheduleError)
    document = parse_json(text, str(path), InvalidScheduleError)
    data = document.data
    try:
        return _kind(data).model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        problem = _PROBLEMS.get(first["type"], "is {value}: {message}").format(
            value=reprlib.repr(first["input"]),
            message=str(first.get("ctx", {}).get("error", first["msg"])),
        )
        raise document.fault(first["loc"], problem) from None


def _kind(data: object) -> type[AnyCertificate]:
    """Return the form of the file: one with a size is of a least time."""
    if not isinstance(data, dict):
        return Certificate
    if "size_bytes" in data:
        return TimeCertificate
    collective = data.get("collective")
    return _KINDS.get(collective, Certificate) if isinstance(collective, str) else Certificate


_KINDS: dict[str, type[AnyCertificate]] = {
    "allreduce": AllreduceCertificate,
    "all-to-all": AllToAllCertificate,
}

_PROBLEMS = {
    "missing": "is missing; add it",
    "extra_forbidden": "is not a field of this format; leave it out",
}


def write_certificate(certificate: AnyCertificate, path: str | os.PathLike[str]) -> None:
    """Write a certificate: one field, GPU or link a line; the same bytes for the same content.

    Raises
    ------
    ExportError
        If the directory does not exist or cannot be written to.
    """
    text = "".join(_lines(certificate.model_dump(mode="json", by_alias=True)))
    write_text(Path(path), text)


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield "{\n"
    for i, (key, value) in enumerate(document.items()):
        comma = "," if i + 1 < len(document) else ""
        yield f'  "{key}": {_value(key, value)}{comma}\n'
    yield "}\n"


def _value(key: str, value: Any) -> str:
    if key in ("gpus", "links", "shared") or (key == "chunks" and value is not None):
        return _listed(value, "    ")
    if isinstance(value, dict):
        fields = (
            f'    "{name}": {_listed(item, "      ") if _is_records(item) else json.dumps(item)}'
            for name, item in value.items()
        )
        return "{\n" + ",\n".join(fields) + "\n  }"
    return json.dumps(value)


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _listed(entries: list[Any], indent: str) -> str:
    lines = ",\n".join(f"{indent}{json.dumps(entry)}" for entry in entries)
    return f"[\n{lines}\n{indent[2:]}]" if lines else "[]"
