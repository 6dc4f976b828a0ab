"""Formats of files, printed or found, whether the toolkit is installed or a clone."""

import json
import re
from pathlib import Path

import pytest

from forestcoll.cli import schemas
from tests.command_line import document, invoke

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["bundle", "certificate", "experiment", "schedule", "topology"])
def test_a_schema_is_printed_as_it_is_kept(name: str) -> None:
    """Ready to be redirected into a file."""
    done = invoke("schema", name)
    assert done.stdout == (DOCS / "schemas" / f"{name}.schema.json").read_text()
    assert json.loads(done.stdout)["$schema"].startswith("https://json-schema.org/")


def test_the_list_names_files_that_are_there() -> None:
    """All schemas, the examples, both checks of certificates, an experiment."""
    lines = invoke("schema").stdout.splitlines()
    assert len(lines) == len(list((DOCS / "schemas").iterdir())) + 4
    assert all(Path(line.rpartition("  ")[2]).exists() for line in lines)
    assert [*document("schema").values()] == [line.rpartition("  ")[2] for line in lines]


def test_an_unknown_one_is_a_line() -> None:
    done = invoke("schema", "topologie")
    assert done.exit_code == 2
    known = "bundle, certificate, experiment, schedule, topology"
    assert f"no schema 'topologie'; known: {known}" in done.stderr


def test_the_installed_ones_are_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone has none inside the package; an installation has nothing but these."""
    monkeypatch.setattr(schemas, "_HERE", tmp_path)
    assert schemas.shipped() == tmp_path.parent / "docs"
    (tmp_path / "shipped").mkdir()
    assert schemas.shipped() == tmp_path / "shipped"


def test_releases_contain_the_listed_documents() -> None:
    """CMake installs the same files of docs/ into the package."""
    text = (DOCS.parent / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.findall(r"install\((?:DIRECTORY|FILES) (.*?) DESTINATION forestcoll/shipped\)", text)
    assert sorted(" ".join(found).split()) == [
        "docs/check_certificate.py",
        "docs/check_demand_certificate.py",
        "docs/examples",
        "docs/schemas",
    ]
