"""Every place that a new baseline goes to, in one message that names those still missing."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml

from baselines import METHODS
from baselines.registry import MODULES
from experiments.figures.styles import STYLES
from tests.baselines.claims import CLAIMS

ROOT = Path(__file__).parents[2]
PAGE = "docs/baselines.md"
SCHEMA = "docs/schemas/experiment.schema.json"


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def measured(collective: str) -> set[str]:
    file = text(f"experiments/own/measures-{collective}.yaml")
    return {method["name"] for method in yaml.safe_load(file)["methods"]}


def with_a_page() -> set[str]:
    """Methods in the first column of the page's table of networks."""
    rows = re.findall(r"^\| (`[^|]*`) \| [^|]+ \| [^|]+ \|$", text(PAGE), re.M)
    return {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}


def in_the_schema() -> set[str]:
    return set(re.findall(r'"([\w-]+)"', json.dumps(json.loads(text(SCHEMA)))))


PLACES: Mapping[str, Callable[[], set[str]]] = {
    "CLAIMS of tests/baselines/claims.py": lambda: set(CLAIMS),
    "_STYLES of experiments/figures/styles.py": lambda: set(STYLES),
    "experiments/own/measures-allgather.yaml": lambda: measured("allgather"),
    "experiments/own/measures-allreduce.yaml": lambda: measured("allreduce"),
    f"the table of methods in {PAGE}": with_a_page,
    f"{SCHEMA} (python -m experiments.config.schema > {SCHEMA})": in_the_schema,
}
"""Places beside the one line in ``MODULES``, with the methods that each names."""


def missing(name: str, places: Mapping[str, set[str]]) -> str:
    """Return what is left to do for a method, in one line; empty if nothing."""
    left = [place for place, names in places.items() if name not in names]
    return f"{name} is missing in: {'; '.join(left)}" if left else ""


def test_every_baseline_is_in_every_place() -> None:
    """How to add a baseline, of CONTRIBUTING.md, as a list of what is left."""
    places = {place: find() for place, find in PLACES.items()}
    assert [line for line in (missing(name, places) for name in METHODS) if line] == []


def test_every_module_of_methods_has_its_tests() -> None:
    """A file of its name in the same folder below tests/."""
    stems = {path.stem for path in (ROOT / "tests" / "baselines").rglob("test_*.py")}
    lost = [name for name in MODULES if f"test_{name.rpartition('.')[2]}" not in stems]
    assert lost == []


def test_the_count_of_the_readme_is_that_of_the_registry() -> None:
    """Wherever it counts them: "34 [baselines]"."""
    counts = set(re.findall(r"\b(\d+)\s+\[?baselines", text("README.md")))
    assert counts <= {str(len(METHODS))}


def test_a_new_method_gets_one_message_with_all_places() -> None:
    places = {place: find() for place, find in PLACES.items()}
    said = missing("never-heard-of", places)
    assert said.startswith("never-heard-of is missing in: CLAIMS of tests/baselines/claims.py; ")
    assert all(place in said for place in PLACES)
