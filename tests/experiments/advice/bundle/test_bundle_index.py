"""The index of a bundle, and its schema."""

import json
from pathlib import Path

import jsonschema
import pytest

from experiments.advice.bundle.bundle_index import bundle_schema, read_bundle
from experiments.advice.bundle.bundling import Bundling
from forestcoll.errors import InvalidScheduleError
from forestcoll.runtimes.msccl.exporter import MscclOptions
from tests.experiments.advice.bundle.tuned_ring import rewritten, tuned

DOCS = Path(__file__).parents[4] / "docs"


def test_the_schema_in_the_docs_is_current() -> None:
    """Write it with python -m experiments.advice.bundle.bundle_index."""
    kept = json.loads((DOCS / "schemas" / "bundle.schema.json").read_text())
    assert kept == bundle_schema()


def test_written_indices_fit_the_schema_and_are_read_back(tmp_path: Path) -> None:
    place = tmp_path / "bundle"
    made = Bundling(tuned(tmp_path / "tuned"), place, MscclOptions(protocol="LL")).run()
    found = json.loads((place / "index.json").read_text())
    jsonschema.Draft202012Validator(bundle_schema()).validate(found)
    assert read_bundle(place) == made
    rewritten(place, lambda index: index["ranges"][0].update(last_bytes="all"))
    with pytest.raises(InvalidScheduleError, match=r"a bundle: ranges.0.last_bytes: input should"):
        read_bundle(place)


def test_a_folder_without_one_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidScheduleError, match=r"has no index\.json; give a folder"):
        read_bundle(tmp_path)
