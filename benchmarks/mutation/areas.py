"""Areas of mutation testing: groups of modules with the tests that should kill their mutants."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["AREAS", "Area"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Area:
    """Some modules and their suite."""

    name: str
    pattern: str  # of paths from the root of the project
    # what pytest is given: the mirrored tests, and those across modules that belong to them
    tests: tuple[str, ...]
    goal: int  # per cent of the non-equivalent mutants that should be killed

    def modules(self) -> list[Path]:
        """Return the sources, in the order of their paths."""
        return sorted(path for path in ROOT.glob(self.pattern) if path.stem != "__init__")


ACROSS = ("tests/across/test_operations.py", "tests/across/test_step_weights.py")

AREAS = {
    area.name: area
    for area in (
        Area(
            "verify",
            "forestcoll/schedule/verification/**/*.py",
            ("tests/schedule/verification", *ACROSS),
            95,
        ),
        Area("problem", "forestcoll/problem/**/*.py", ("tests/problem",), 95),
        Area("core", "forestcoll/core/**/*.py", ("tests/core",), 85),
        Area("what_if", "forestcoll/what_if/*.py", ("tests/what_if",), 85),
        Area(
            "bounds",
            "experiments/measures/bounds.py",
            ("tests/experiments/measures/test_bounds.py",),
            85,
        ),
        Area(
            "expected",
            "experiments/advice/expected.py",
            (
                "tests/experiments/advice/test_expected.py",
                "tests/experiments/advice/test_expected_cli.py",
            ),
            85,
        ),
        Area("all_to_all", "forestcoll/all_to_all/*.py", ("tests/all_to_all",), 85),
        Area("placement", "lp/placement/*.py", ("tests/lp/placement",), 85),
    )
}
