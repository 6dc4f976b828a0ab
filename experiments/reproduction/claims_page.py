"""Tables of docs/papers/claims*.md: each printed claim beside the proven optimum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from experiments.measures.docs import piped, with_tables
from experiments.reproduction.claim_rates import base_rate, decided, printed_rate
from experiments.reproduction.claims import Claim, Papers, Verdict, verdict

__all__ = ["Judged", "claim_tables", "judge", "updated"]

_HEADS = (
    "claim", "said", "place", "network", "collective", "printed", "kind", "optimum",
    "our schedule", "verdict",
)  # fmt: skip

_OF_CLUSTERS = {"PCCL", "SyCCL", "HeteCCL", "HetCCL", "FAST", "RailS"}
"""Methods for clusters of boxes, whose claims have a page of their own."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its number, its rates in its own unit, and the verdict."""

    number: str
    claim: Claim
    printed: Fraction | None
    bound: Fraction | None
    reached: Fraction | None
    binds: str
    verdict: Verdict


def judge(number: str, claim: Claim) -> Judged:
    """Compute the optimum of a claim's network, and decide the claim."""
    printed = printed_rate(claim)
    if not claim.network:
        return Judged(number, claim, printed, None, None, "", "not comparable")
    found, base = decided(claim), base_rate(claim.of, claim.collective)
    bound, reached = found.bound / base, found.reached / base
    said = verdict(claim.kind, printed, bound, reached)
    return Judged(number, claim, printed, bound, reached, found.binds, said)


def claim_tables(papers: Papers) -> dict[str, list[str]]:
    """Return the tables of the page, by the names of their marks."""
    judged = [judge(f"C{i}", claim) for i, claim in enumerate(papers.claims, start=1)]
    first = [name for name in papers.sources if name not in _OF_CLUSTERS]
    return {
        "summary": _summary(papers, judged),
        "claims": _claims(papers, first, judged),
        "claims-of-clusters": _claims(papers, _OF_CLUSTERS & papers.sources.keys(), judged),
    }


def _summary(papers: Papers, judged: Sequence[Judged]) -> list[str]:
    counts = Counter(one.verdict for one in judged)
    said = ", ".join(f"{counts[name]} {name}" for name in get_args(Verdict) if counts[name])
    return [f"{len(judged)} claims of {len(papers.sources)} methods: {said}."]


def _claims(papers: Papers, names: Collection[str], judged: Sequence[Judged]) -> list[str]:
    lines = []
    for name in (one for one in papers.sources if one in names):
        paper = papers.sources[name]
        its = [one for one in judged if one.claim.source == name]
        lines += [f"### {name}", "", f"{paper.title} ({paper.number}). Read: {paper.read}.", ""]
        lines += [piped(_HEADS), piped(["---"] * len(_HEADS)), *map(_line, its), ""]
        notes = [f"- **{one.number}**: {note}" for one in its if (note := _note(one))]
        lines += [*notes, ""] if notes else []
    return lines[:-1]


def _line(one: Judged) -> str:
    claim = one.claim
    network = f"`{claim.network}`" if claim.network else ""
    changed = [f"`{links}` x {factor}" for links, factor in (claim.scale or {}).items()]
    changed += [f"`{gpu}` forwards" for gpu in claim.left_out]
    of = f" = {_number(one.printed)}" if one.printed is not None else ""
    decided_as = f"{one.verdict}: {claim.why}" if claim.why else one.verdict
    return piped(
        [
            one.number, claim.said, claim.place, "<br>".join([network, *changed]),
            claim.collective, f"{claim.printed}{of}", claim.kind if claim.kind != "none" else "",
            _with_unit(one.bound, claim.unit), _with_unit(one.reached, claim.unit), decided_as,
        ]
    )  # fmt: skip


def _note(one: Judged) -> str:
    """Return what binds, how the claim compares, and the claim's own note."""
    said = []
    if one.binds:
        said.append(f"{one.binds[0].upper()}{one.binds[1:]}.")
    if one.printed is not None and one.bound is not None:
        said.append(f"The claim is {float(one.printed / one.bound):.1%} of the optimum.")
    return " ".join([*said, one.claim.note]).strip()


def _with_unit(rate: Fraction | None, unit: str) -> str:
    return "" if rate is None else f"{_number(rate)} {unit}"


def _number(rate: Fraction) -> str:
    """Return a fraction, and its value where it is not a whole number."""
    if rate.denominator == 1:
        return str(rate)
    return f"{rate} = {float(rate):.4g}" if rate.denominator < 10_000 else f"{float(rate):.5g}"


def updated(page: str, tables: dict[str, list[str]]) -> str:
    """Return the page with these tables between its marks."""
    texts = {name: "\n".join(lines) for name, lines in tables.items()}
    return with_tables(page, texts, "forestcoll reproduction claims")
