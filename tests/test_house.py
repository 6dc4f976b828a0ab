"""The house: packages say what they hold, no folder is too full, tests stand beside sources."""

import ast
import re
import subprocess
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("forestcoll", "lp", "baselines", "experiments")
SOURCES = sorted(
    path for name in PACKAGES for path in (ROOT / name).rglob("*.py") if path.stem[0] != "_"
)
ROOMS = sorted(path.parent for name in PACKAGES for path in (ROOT / name).rglob("__init__.py"))
MOST_FILES = 20
TOP_ENTRIES = {
    *("baselines", "benchmarks", "docs", "experiments", "forestcoll", "lp", "notebooks"),
    *("results", "tests", "CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "CONTRIBUTING.md"),
    *("LICENSE", "Makefile", "README.md", "conftest.py", "pyproject.toml"),
}

SAME_THING = {
    # What a schedule is, and the proof of it.
    *("allreduce", "factored", "flows", "forest", "multicast", "steps", "clock"),
    # A bound, a certificate, and the proof of it.
    *("optimum", "certificate", "allreduce_certificate"),
    # Schedules made, their options, and the commands that make them.
    *("generation", "options"),
    # The same of two programs.
    *("linear_optimum", "result", "rounding"),
    # The same of two formats.
    *("reading", "writing", "deadlocks", "races", "runtime_limits", "buffer_cells"),
    "cli",
}
"""Names that several modules have, of the same thing."""

ACROSS = {
    "test_glossary": "names in all of the code",
    "test_generation": "all of forestcoll from outside",
    "test_house": "this",
    "test_import_order": "solvers in one process",
    "test_native": "the native modules: stubs, callers, errors",
    "test_import_circles": "imports between all modules",
    "test_names": "what packages offer, by name and by dotted path",
    "test_notebooks": "the notebooks",
    "test_random_topologies": "tests/random_topologies.py",
    "test_first_rows": "tests/selection/first_rows.py",
    "test_value_cover": "tests/selection/value_cover.py",
    "test_random_demands": "baselines for demands, the best paths and their bound",
    "test_prose": "pages and rows",
    "test_pictures": "the pictures of the docs",
    "test_dumps_to_schedule": "a page of docs/how-to as one path",
    "test_docs": "the blocks and commands of all pages",
    "test_links": "the links of all pages",
    "test_faults_of_our_own": "what a page says of kept rows",
    "test_worked_examples": "what papers work out by hand",
    "test_base_networks": "table 9 of the BFB paper, of families and schedules",
    "test_three_users": "what new users do, from end to end",
    "test_simulated_times": "simulations against other simulators and bounds",
    "test_cli": "the command as a whole",
    "test_static_steps": "what all methods that go in steps have in common",
    "test_published": "the package published",
    "test_in_browser": "the page that experiments/report makes, in Chromium",
    "test_sized_experiments": "sizes from the file to the figure",
    "test_measures": "an experiment that is kept",
    "test_sharp": "an experiment that is kept",
    "test_tori": "an experiment that is kept",
    "test_durability": "whatever ends a run",
    "test_fuzz": "tests/fuzz itself",
    "test_shared_capacities": "shared capacities in schedules of every type",
    "test_shared_programs": "common limits of links, in every linear program",
    "test_contest": "tests/fuzz/contest.py",
    "test_any_network": "tests/fuzz/any_network.py",
    "test_all_to_alls": "tests/fuzz/all_to_alls.py",
    "test_time_bounds": "tests/fuzz/over_time/time_bounds.py",
    "test_registered_everywhere": "all places that name the baselines",
    "test_release": "tests/release, and the version wherever it is written",
    "test_registered": "tests/fuzz/registered.py",
    "test_reference": "tests/reference itself",
    "test_literals": "schedules of baselines by hand",
    "test_operations": "every operation on every type",
    "test_step_weights": "weighted steps, through all operations",
    "test_step_limits": "the largest and the oddest step schedules",
    "test_switch_feeding": "when switches pass on, by clocks, paths and units",
    "test_claims_by_hand": "all certificates, small enough to add up by hand",
    "test_collective_files": "files of every collective",
    "test_trimming": "the native trimming",
    "test_hostile_files": "all readers",
    "test_spoilt_files": "all importers of other tools' files",
    "test_reported_machines": "networks that people reported",
}
"""Tests of no single module, and what they are of."""

NOTHING_TO_RUN = {
    "forestcoll/runtimes/execution/rank_plan.py": "types only",
    "forestcoll/runtimes/interpretation/cells.py": "types only",
    "forestcoll/schedule/protocols.py": "types only",
    "forestcoll/solver/backends/answer.py": "types only",
    "forestcoll/solver/backends/gurobi.py": "needs a licence; test_solve covers it with one",
}
"""Modules without tests, and why."""


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(ROOT)))
def test_packages_name_their_modules(room: Path) -> None:
    """In at most ten lines; where there is more than one module, each is named."""
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert 1 <= len(text.splitlines()) <= 10
    modules = {path.stem for path in room.glob("[!_]*.py")}
    if room.parent != ROOT and len(modules) > 1:
        unnamed = {stem for stem in modules if not re.search(rf"``{stem}``", text)}
        assert not unnamed, "say what they are"


def folders() -> list[Path]:
    found = {
        path.parent
        for name in (*PACKAGES, "benchmarks", "docs", "notebooks", "tests")
        for path in (ROOT / name).rglob("*")
        if path.is_file() and not {"__pycache__", "generated"} & set(path.parts)
    }
    return sorted(found)


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
def test_no_folder_is_too_full(folder: Path) -> None:
    files = [path for path in folder.iterdir() if path.is_file() and path.suffix != ".so"]
    assert len(files) <= MOST_FILES


def test_the_top_folder_has_no_stray_entry() -> None:
    """What a command wrote there by mistake is easily committed."""
    listed = subprocess.run(
        ("git", "ls-files"), cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    entries = {line.split("/")[0] for line in listed}
    assert {entry for entry in entries if not entry.startswith(".")} == TOP_ENTRIES


def test_modules_of_one_name_are_of_one_thing() -> None:
    places = defaultdict(list)
    for path in SOURCES:
        places[path.stem].append(str(path.relative_to(ROOT)))
    assert {stem for stem, paths in places.items() if len(paths) > 1} <= SAME_THING


def test_tests_mirror_the_places_of_their_sources() -> None:
    """At the same place below tests, named after the module or its package; others say why not."""
    lost = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        stem = path.stem.removeprefix("test_")
        place = path.parent.relative_to(ROOT / "tests")
        homes = [ROOT / "forestcoll" / place, ROOT / place]
        found = any((home / f"{stem}.py").exists() or (home / stem).is_dir() for home in homes) or (
            any(home.joinpath(stem, f"{stem}.py").exists() for home in homes)
        )
        within = any(list(home.rglob(f"{stem}.py")) for home in homes if home.is_dir())
        if not found and not within and path.stem not in ACROSS:
            lost.append(str(path.relative_to(ROOT)))
    assert not lost


def test_every_module_has_its_tests() -> None:
    """At the same place below tests, under the same name; those of forestcoll in tests itself."""
    for name in NOTHING_TO_RUN:
        assert ROOT / name in SOURCES, name
    missing, needless = [], []
    for path in SOURCES:
        name = str(path.relative_to(ROOT))
        place = path.parent.relative_to(ROOT)
        home = place.relative_to("forestcoll") if place.parts[0] == "forestcoll" else place
        tested = (ROOT / "tests" / home / f"test_{path.stem}.py").is_file()
        missing += [] if tested or name in NOTHING_TO_RUN else [name]
        needless += [name] if tested and name in NOTHING_TO_RUN else []
    assert not missing, "give them tests"
    assert not needless, "take them off the list"


def test_exclusions_of_a_release_match_nothing_inside_packages() -> None:
    """A pattern without a slash holds at any depth: "results" would drop experiments/results."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    build = project["tool"]["scikit-build"]
    assert set(build["wheel"]["packages"]) == set(PACKAGES)
    for pattern in (*build["sdist"]["exclude"], *build["wheel"]["exclude"]):
        inside = ("forestcoll/native/", "baselines/native/")
        assert pattern.startswith(("/", *inside, "**.")), pattern


def test_every_target_of_the_makefile_that_is_reported_of_has_a_rule() -> None:
    """A phony target without one does nothing, and succeeds."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", "")
    phony = {name for line in re.findall(r"^\.PHONY:(.*)$", text, re.M) for name in line.split()}
    assert {"demo", "test", "test-web", "figures", "figures-quick"} <= phony
    assert [name for name in phony if not re.search(rf"^{name}:[^\n]*\n\t", text, re.M)] == []


def test_git_ignores_what_make_writes() -> None:
    """After ``make demo``, ``test``, ``wheel`` and ``coverage``, ``git status`` shows nothing."""
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "quickstart.yaml --fresh --results recomputed" in recipes
    written = ["recomputed/quickstart/rows.jsonl", "dist/a.whl", "build/coverage", ".venv/ready"]
    asked = ["git", "check-ignore", *written]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == written
