"""Files of certificates: their form, errors in one line, and the same bytes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forestcoll import certify, read_certificate, verify_certificate
from forestcoll import write_certificate as write
from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule import certificate_schema, is_certificate
from forestcoll.topology import group, load_topology
from tests.command_line import ROOT, assert_refused, by_the_script
from tests.hand_networks import network_of


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (("version",), 2, "version is 2: Input should be 1"),
        (("k",), "many", "k is 'many': it must be a whole number from 0 up"),
        (("k",), -1, "k is -1: it must be a whole number from 0 up"),
        (("k",), True, "k is True: it must be a whole number"),
        (("congestion",), 1, "congestion is 1: it must be a positive exact number as text"),
        (("congestion",), "1/0", "congestion is '1/0': it must be a positive exact number"),
        (("congestion",), "0", "congestion is '0': it must be positive"),
        (("links", 0, "trees"), None, "links[0].trees is None: it must be a whole number"),
        (("links", 0, "cost"), 1, "links[0].cost is not a field of this format"),
        (("gpus",), 3, "gpus is 3: Input should be a valid list"),
    ],
)
def test_no_certificates(where: Sequence[Any], value: object, message: str, tmp_path: Path) -> None:
    """Exit code 2, the field, the value found and what is allowed."""
    path = tmp_path / "certificate.json"
    write(certify(load_topology("ring:nodes=3")), path)
    changed = place = json.loads(path.read_text())
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    path.write_text(json.dumps(changed))
    assert_refused(f"{path}: {message}", "verify", path)


def test_broken_files_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    write(certify(load_topology("ring:nodes=3")), path)
    text = path.read_text()
    for broken, message in (
        (text[:-20], "not valid JSON"),
        (text.replace('"k":', '"K":'), "k is missing; add it"),
        (text.replace("{\n", '{\n"k": 1,\n', 1), "the key 'k' is given twice"),
    ):
        path.write_text(broken)
        assert_refused(message, "verify", path)
    assert not is_certificate(tmp_path / "nothing.json")


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Equal certificates, equal bytes; numbers of any length."""
    path, again = tmp_path / "one.json", tmp_path / "two.json"
    for certificate in (
        certify(group(load_topology("dgx_a100:boxes=2"), ["b0.gpu0", "b1.gpu7"])),
        certify(load_topology("ring:nodes=3"), weights=[10**14, 1, 10**15 + 7], k=60),
        certify(load_topology("mi250:boxes=2"), k=2),
    ):
        write(certificate, path)
        assert is_certificate(path)
        assert read_certificate(path) == certificate
        verify_certificate(read_certificate(path))
        write(read_certificate(path), again)
        assert path.read_bytes() == again.read_bytes()
        assert by_the_script(path).returncode == 0


def test_the_schema_is_current() -> None:
    """If this fails: write json.dumps(certificate_schema(), indent=2) to that file."""
    text = (ROOT / "docs" / "schemas" / "certificate.schema.json").read_text(encoding="utf-8")
    assert json.loads(text) == certificate_schema()


def test_the_mark_of_a_certificate_is_looked_for(tmp_path: Path) -> None:
    """In JSON files only; what is written names its format first."""
    path = tmp_path / "certificate.json"
    write(certify(load_topology("ring:nodes=3")), path)
    lines = path.read_text().splitlines()
    assert lines[:2] == ["{", '  "format": "forestcoll-certificate",']
    assert sum('"from"' in line for line in lines) == 6
    assert is_certificate(path)
    path.rename(tmp_path / "certificate.npz")
    assert not is_certificate(tmp_path / "certificate.npz")
    (tmp_path / "other.json").write_text('{"format": "forestcoll-schedule"}')
    assert not is_certificate(tmp_path / "other.json")


def test_a_certificate_of_an_allreduce_is_reported_by_its_collective(tmp_path: Path) -> None:
    """Two kinds of files, one mark."""
    path = tmp_path / "certificate.json"
    one = certify(load_topology("ring:nodes=3"))
    both = certify(load_topology("ring:nodes=3"), collective="allreduce")
    for certificate in (one, both):
        write(certificate, path)
        assert read_certificate(path) == certificate
    assert type(one) is not type(both)
    path.write_bytes(b"\xff")
    with pytest.raises(InvalidScheduleError, match="not text in UTF-8; save it as such"):
        read_certificate(path)
    with pytest.raises(InvalidScheduleError, match="cannot be read: no such file"):
        read_certificate(tmp_path / "none.json")


def test_a_file_has_a_line_for_each_field_and_each_record(tmp_path: Path) -> None:
    """From a by s to b: s could send 2 GB/s and gets 1. Lists of names stay on one line."""
    net = network_of("a b [s]", "a > s, s > b: 2, b > a", "triangle")
    path = tmp_path / "certificate.json"
    write(certify(net, collective="broadcast", root="a"), path)
    assert (
        path.read_text()
        == """{
  "format": "forestcoll-certificate",
  "version": 1,
  "network": "triangle",
  "collective": "broadcast",
  "k": 1,
  "congestion": "1",
  "time_s_per_gb": "1",
  "optimum": {
    "cuts": [
      {"nodes": ["a", "s"], "price": "1"}
    ],
    "switches": [
      {"switch": "s", "price": "1"}
    ],
    "shared": [],
    "inverse_rate": "1"
  },
  "fixed_k": null,
  "gpus": [
    {"name": "a", "weight": 1, "trees": 1},
    {"name": "b", "weight": 0, "trees": 0}
  ],
  "forwarding": ["s"],
  "links": [
    {"from": "a", "to": "s", "bandwidth_gb_s": "1", "trees": 1},
    {"from": "b", "to": "a", "bandwidth_gb_s": "1", "trees": 0},
    {"from": "s", "to": "b", "bandwidth_gb_s": "2", "trees": 1}
  ],
  "shared": []
}
"""
    )
    write(certify(load_topology("ring:nodes=3")), path)
    assert '  "optimum": {\n    "cut": ["gpu1", "gpu2"],\n' in path.read_text()
