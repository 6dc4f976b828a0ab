"""Stored results of mutation testing (JSON), and the reasons that excuse survivors.

A file holds one run of one area. ``reasons.json`` is written by hand: for each module, the names
of mutants that no test can notice, with why.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = [
    "KILLED", "REASONS", "Reasons", "Run", "Score", "Tried", "load_reasons", "load_run", "merged",
    "save_run",
]  # fmt: skip

KILLED = frozenset({"killed", "timeout"})
REASONS = Path(__file__).with_name("reasons.json")

Reasons = Mapping[str, Mapping[str, str]]
"""Why a mutant is equivalent, by module and name."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant and its outcome; ``by`` is the test that killed it."""

    module: str
    name: str
    kind: str
    line: int
    status: str
    by: str = ""

    @property
    def killed(self) -> bool:
        """Whether a test failed, or did not end in time."""
        return self.status in KILLED


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one area: how many mutants each module has, and those that were tried."""

    area: str
    seed: int
    most: int
    made: dict[str, int]
    tried: tuple[Tried, ...]

    def score(self, module: str, reasons: Reasons) -> Score:
        """Count the outcomes of a module's mutants."""
        known = reasons.get(module, {})
        tried = [one for one in self.tried if one.module == module]
        left = [one for one in tried if not one.killed]
        return Score(
            made=self.made[module],
            tried=len(tried),
            equivalent=sum(one.name in known for one in left),
            killed=len(tried) - len(left),
        )

    def survivors(self, reasons: Reasons) -> list[Tried]:
        """Return the mutants that no test killed and no reason excuses."""
        left = (one for one in self.tried if not one.killed)
        return [one for one in left if one.name not in reasons.get(one.module, {})]


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of a module's mutants: made, tried, equivalent, killed."""

    made: int = 0
    tried: int = 0
    equivalent: int = 0
    killed: int = 0

    @property
    def percent(self) -> float:
        """Killed ones among those that are not equivalent; 100 if there is none."""
        real = self.tried - self.equivalent
        return 100 * self.killed / real if real else 100.0

    @classmethod
    def total(cls, scores: Iterable[Score]) -> Score:
        """Add up several modules."""
        listed = list(scores)
        return cls(
            sum(one.made for one in listed),
            sum(one.tried for one in listed),
            sum(one.equivalent for one in listed),
            sum(one.killed for one in listed),
        )


def merged(runs: Sequence[Run]) -> Run:
    """Join runs of one area; of a mutant tried twice, what the later run says.

    Raises
    ------
    ValueError
        If they are of several areas.
    """
    if len({run.area for run in runs}) != 1:
        raise ValueError(f"runs of {', '.join(run.area for run in runs)}: they must be of one area")
    made = {name: count for run in runs for name, count in run.made.items()}
    tried = {(one.module, one.name): one for run in runs for one in run.tried}
    return replace(runs[0], made=made, tried=tuple(tried.values()))


def save_run(path: Path, run: Run) -> None:
    """Write one line for each mutant, so that two runs can be compared line by line."""
    head = {"area": run.area, "seed": run.seed, "most": run.most, "made": run.made}
    rows = [
        [one.module, one.name, one.kind, one.line, one.status, one.by]
        for one in sorted(run.tried, key=lambda one: (one.module, one.line, one.name))
    ]
    lines = [json.dumps(head), *(json.dumps(row, ensure_ascii=False) for row in rows)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def load_run(path: Path) -> Run:
    """Read what ``save_run`` wrote."""
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    return Run(**json.loads(head), tried=tuple(Tried(*json.loads(row)) for row in rows))


def load_reasons(path: Path = REASONS) -> Reasons:
    """Read the mutants that are equivalent."""
    reasons: Reasons = json.loads(path.read_text(encoding="utf-8"))
    return reasons
