"""Certificates of least times as files: what the schema says, and the same after reading."""

import json
from pathlib import Path

import jsonschema
import pytest

from forestcoll.errors import InvalidScheduleError
from forestcoll.problem.over_time.time_certificate import TimeCertificate
from forestcoll.schedule import certificate_schema, read_certificate, write_certificate
from tests.command_line import by_the_script, document


@pytest.mark.parametrize(
    "asked",
    [
        ["dgx_a100:boxes=2", "--size", "4MB"],
        ["torus:dims=3x3", "--size", "1GB", "--collective", "all-to-all"],
        ["torus:dims=3x3", "--size", "1GB", "--collective", "allreduce", "--alpha", "2.5us"],
        ["ring:nodes=4", "--size", "1GB", "--collective", "reduce", "--root", "gpu1"],
    ],
)
def test_the_command_writes_what_the_schema_says(asked: list[str], tmp_path: Path) -> None:
    path, again = tmp_path / "certificate.json", tmp_path / "again.json"
    made = document("optimum", *asked, "-o", path)
    assert made["certificate"] == str(path)
    jsonschema.Draft202012Validator(certificate_schema()).validate(json.loads(path.read_text()))
    found = read_certificate(path)
    assert isinstance(found, TimeCertificate)
    write_certificate(found, again)
    assert path.read_bytes() == again.read_bytes()
    assert document("verify", path)["at_least_us"] == made["at_least_us"]
    assert by_the_script(path).stdout.startswith("true: ")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("alpha_us", "-1", "alpha_us is '-1': it must be a positive exact number"),
        ("time_us", "0", "time_us is '0': it must be positive"),
        ("size_bytes", "many", "size_bytes is 'many': it must be a whole number"),
        ("relays", None, "relays is None"),
        ("collective", "gossip", "collective is 'gossip'"),
        ("proof", {"labels": "all"}, "proof"),
    ],
)
def test_a_field_in_the_wrong_form_is_named(
    field: str, value: object, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "c.json"
    document("optimum", "ring:nodes=4", "--size", "1MB", "-o", path)
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(InvalidScheduleError) as refusal:
        read_certificate(path)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)
