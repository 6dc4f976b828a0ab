"""Prices of an optimum in schedule files: the same when read, and faults named by field."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from forestcoll import generate, read_schedule, verify, write_schedule
from forestcoll.errors import InvalidScheduleError
from forestcoll.topology import Topology
from tests.core.any_network.networks import fan, half_duplex

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "schedule.schema.json"


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize(
    ("network", "options"),
    [(fan(), {"collective": "broadcast", "root": "r"}), (half_duplex(), {})],
)
def test_a_file_keeps_them(network: Topology, options: Any, ending: str, tmp_path: Path):
    forest, path = generate(network, **options), tmp_path / f"schedule{ending}"
    write_schedule(forest, path)
    known = read_schedule(path)
    assert known.optimum == forest.optimum
    assert known.optimum is not None
    assert known.optimum.prices == forest.optimum.prices
    assert verify(known).optimal


def test_the_schema_knows_them(tmp_path: Path):
    path = tmp_path / "schedule.json"
    write_schedule(generate(half_duplex()), path)
    document = json.loads(path.read_text())
    assert set(document["optimum"]["prices"]) == {"cuts", "switches", "shared"}
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)


FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no list": (lambda p: {**p, "cuts": {}}, "optimum.prices.cuts"),
    "a field away": (lambda p: {"cuts": p["cuts"], "shared": []}, "optimum.prices.switches"),
    "a field more": (lambda p: {**p, "more": []}, "'more' is not in the format"),
    "no price": (
        lambda p: {**p, "cuts": [{"nodes": p["cuts"][0]["nodes"]}]},
        r"optimum.prices.cuts\[0\].price is missing",
    ),
    "a stranger": (
        lambda p: {**p, "cuts": [{"nodes": ["x"], "price": "1"}]},
        r"optimum.prices.cuts\[0\].nodes",
    ),
    "a switch that is none": (
        lambda p: {**p, "switches": [{"switch": "x", "price": "1"}]},
        r"optimum.prices.switches\[0\].switch",
    ),
    "a number": (
        lambda p: {**p, "switches": [{"switch": 1, "price": "1"}]},
        r"optimum.prices.switches\[0\].switch",
    ),
    "a price that is no fraction": (
        lambda p: {**p, "shared": [{"name": "wire 0", "price": "x"}]},
        r"optimum.prices.shared\[0\].price",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named_by_their_field(name: str, tmp_path: Path):
    change, message = FAULTS[name]
    path = tmp_path / "schedule.json"
    write_schedule(generate(half_duplex()), path)
    document = json.loads(path.read_text())
    document["optimum"]["prices"] = change(document["optimum"]["prices"])
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidScheduleError, match=message) as caught:
        read_schedule(path)
    assert "\n" not in str(caught.value)
