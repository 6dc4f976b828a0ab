"""The release: its version is written alike everywhere, and each Python gets one wheel."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.release.interpreters import Interpreter, builders, found_interpreters, suits

ROOT = Path(__file__).parents[2]
PYTHONS = [Interpreter(Path("python"), (3, minor)) for minor in (13, 11, 12, 14)]
WHEELS = ("forestcoll-1-cp311-cp311-linux_x86_64.whl", "forestcoll-1-cp312-abi3-linux_x86_64.whl")


def test_the_version_is_the_same_everywhere() -> None:
    """In the package, the citation and the newest section of the changelog."""
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", changes, re.M)
    assert released[0] == (package["version"], str(citation["date-released"]))
    assert citation["version"] == package["version"]


def test_every_python_has_exactly_one_wheel() -> None:
    """3.11 builds its own, 3.12 that of the stable ABI, which 3.13 and 3.14 take."""
    assert [one.version for one in builders(PYTHONS)] == [(3, 11), (3, 12)]
    assert {one.version: [suits(name, one) for name in WHEELS] for one in PYTHONS} == {
        (3, 11): [True, False],
        **{(3, minor): [False, True] for minor in (12, 13, 14)},
    }
    assert [one.version for one in builders(PYTHONS[:1])] == [(3, 13)]


@pytest.mark.slow
def test_interpreters_are_found_and_named_ones_checked() -> None:
    """That of the tests is among them; what is no Python is refused."""
    found = [one.version for one in found_interpreters()]
    assert found == sorted(set(found))
    with pytest.raises(SystemExit, match="/bin/true: is no Python"):
        found_interpreters(["/bin/true"])
