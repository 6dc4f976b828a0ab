"""Certificates of all-to-alls as files: what the schema says, and the same after reading."""

import json
from pathlib import Path

import jsonschema
import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.problem.all_to_all_certificate import AllToAllCertificate
from forestcoll.schedule import certificate_schema, read_certificate, write_certificate
from tests.command_line import DEMAND_SCRIPT, as_anybody_runs, document, invoke


@pytest.mark.parametrize("asked", [["--collective", "all-to-all"], ["--demand", "zipf:size=64KB"]])
def test_the_command_writes_files_of_the_schema(asked: list[str], tmp_path: Path) -> None:
    path, again = tmp_path / "certificate.json", tmp_path / "again.json"
    made = document("certificate", "dgx_a100:boxes=2", *asked, "-o", path)
    jsonschema.Draft202012Validator(certificate_schema()).validate(json.loads(path.read_text()))
    found = read_certificate(path)
    assert isinstance(found, AllToAllCertificate)
    write_certificate(found, again)
    assert path.read_bytes() == again.read_bytes()
    assert document("verify", path)["least_us"] == made["least_us"]
    assert as_anybody_runs(path, DEMAND_SCRIPT).stdout.startswith("true: ")
    best = document("optimum", "dgx_a100:boxes=2", *asked)
    assert best["algbw_gb_s"] == made["at_most_gb_s"]


def test_options_of_trees_are_refused(tmp_path: Path) -> None:
    asked = ["--collective", "all-to-all", "--k", "2", "-o", tmp_path / "c.json"]
    failed = invoke("certificate", "ring:nodes=4", *asked)
    assert (failed.exit_code, "--k is for trees" in failed.stderr) == (2, True)


def test_a_field_in_the_wrong_form_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    invoke("certificate", "ring:nodes=4", "--collective", "all-to-all", "-o", path)
    changed = json.loads(path.read_text())
    changed["links"][2]["price"] = "1/2"
    path.write_text(json.dumps(changed))
    with pytest.raises(InvalidScheduleError, match=r"price.*must be a whole number"):
        read_certificate(path)
