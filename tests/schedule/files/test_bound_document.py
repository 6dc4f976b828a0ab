"""Bounds of allreduces, and prices of optima, in files."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from forestcoll import generate, load_topology, verify
from forestcoll.errors import InvalidScheduleError
from forestcoll.problem.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.schedule import read_schedule, write_schedule
from forestcoll.schedule.files.bound_document import bound_document, parse_bound
from forestcoll.topology import Topology
from tests.command_line import ROOT
from tests.core.any_network.networks import fan, half_duplex


def schedule() -> Any:
    """Sixteen A100s: 16 sets of a GPU each, and three switches with potentials."""
    return generate(load_topology("dgx_a100:boxes=2"), collective="allreduce").schedule


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_the_bound_goes_with_the_file(suffix: str, tmp_path: Path) -> None:
    made, path = schedule(), tmp_path / f"schedule.{suffix}"
    write_schedule(made, path)
    found: Any = read_schedule(path)
    assert found.bound == made.bound
    assert verify(found) == verify(made)
    write_schedule(replace(made, bound=None), path)
    found = read_schedule(path)
    assert found.bound is None
    verdict = verify(found)
    assert (verdict.bound_gb_s, verdict.model, verdict.optimal) == (None, None, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b.pop("copying"), "bound.copying is missing"),
        (lambda b: b.update(copying=1), "bound.copying is 1; it must be true or false"),
        (lambda b: b.update(extra=1), "bound.'extra' is not in the format"),
        (lambda b: b.update(algbw_gb_s=3), "bound.algbw_gb_s is 3; it must be text"),
        (lambda b: b.update(weights=[0.5]), r"bound.weights\[0\] is"),
        (lambda b: b["sets"][0].pop("nodes"), r"bound.sets\[0\].nodes is missing"),
        (lambda b: b["sets"][1].update(nodes=["z"]), r"bound.sets\[1\].nodes is 'z'"),
        (lambda b: b["sets"][1].update(gather="-1"), r"bound.sets\[1\].gather is '-1'"),
        (lambda b: b["potentials"][0].update(switch="z"), r"bound.potentials\[0\].switch is 'z'"),
        (lambda b: b["potentials"][0].update(reduce=None), r"bound.potentials\[0\].reduce is"),
    ],
)
def test_faults_are_named(change: Callable[[Any], Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    write_schedule(schedule(), path)
    document = json.loads(path.read_text())
    schema = json.loads(
        (ROOT / "docs" / "schemas" / "schedule.schema.json").read_text(encoding="utf-8")
    )
    jsonschema.Draft202012Validator(schema).validate(document)
    change(document["bound"])
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidScheduleError, match=message):
        read_schedule(path)


def test_a_bound_is_read_as_it_is_written() -> None:
    """Sets and switches by name, prices as text; weights where there are any."""
    net = load_topology("paper_example")
    names = [node.name for node in net.nodes]
    bound = AllreduceBound(
        topology=net,
        algbw_gb_s=Fraction(7, 3),
        sets=(PricedSet((2, 9), Fraction(1, 2), Fraction(0)),),
        potentials=(Potential(10, Fraction(0), Fraction(5)),),
        multicast=True,
        weights=(1, 0, 0, 0, 2, 0, 0, 0),
    )
    document = bound_document(bound)
    assert document == {
        "algbw_gb_s": "7/3",
        "copying": True,
        "weights": [1, 0, 0, 0, 2, 0, 0, 0],
        "sets": [{"nodes": [names[2], names[9]], "gather": "1/2", "reduce": "0"}],
        "potentials": [{"switch": names[10], "gather": "0", "reduce": "5"}],
    }
    assert parse_bound(document, net) == bound
    anywhere = replace(bound, weights=())
    assert "weights" not in bound_document(anywhere)
    assert parse_bound(bound_document(anywhere), net) == anywhere


# --- prices of an optimum ------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize(
    ("network", "options"),
    [(fan(), {"collective": "broadcast", "root": "r"}), (half_duplex(), {})],
)
def test_files_keep_prices(network: Topology, options: Any, ending: str, tmp_path: Path):
    forest, path = generate(network, **options).schedule, tmp_path / f"schedule{ending}"
    write_schedule(forest, path)
    known = read_schedule(path)
    assert known.optimum == forest.optimum
    assert known.optimum is not None
    assert known.optimum.prices == forest.optimum.prices
    assert verify(known).optimal


def test_the_schema_knows_prices(tmp_path: Path):
    path = tmp_path / "schedule.json"
    write_schedule(generate(half_duplex()).schedule, path)
    document = json.loads(path.read_text())
    assert set(document["optimum"]["prices"]) == {"cuts", "switches", "shared"}
    jsonschema.Draft202012Validator(
        json.loads((ROOT / "docs/schemas/schedule.schema.json").read_text())
    ).validate(document)


PRICE_FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
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


@pytest.mark.parametrize("name", PRICE_FAULTS)
def test_faults_of_prices_are_named_by_their_field(name: str, tmp_path: Path):
    change, message = PRICE_FAULTS[name]
    path = tmp_path / "schedule.json"
    write_schedule(generate(half_duplex()).schedule, path)
    document = json.loads(path.read_text())
    document["optimum"]["prices"] = change(document["optimum"]["prices"])
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidScheduleError, match=message) as caught:
        read_schedule(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_prices_of_shared_capacities_go_with_a_bound(suffix: str, tmp_path: Path) -> None:
    """And the schema takes them; in a bound without any they are left out."""
    made = generate(load_topology("pcie_box:gpus=4"), collective="allreduce").schedule
    path = tmp_path / f"schedule.{suffix}"
    write_schedule(made, path)
    found: Any = read_schedule(path)
    assert found.bound == made.bound
    assert found.bound.shared
    assert "shared" not in bound_document(replace(made.bound, shared=()))
    if suffix == "json":
        document = json.loads(path.read_text())
        schema = json.loads((ROOT / "docs" / "schemas" / "schedule.schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(document)
        document["bound"]["shared"][0]["price"] = 3
        with pytest.raises(InvalidScheduleError, match=r"bound.shared\[0\].price is 3"):
            parse_bound(document["bound"], made.topology)
        document["bound"]["shared"] = [{"name": "x"}]
        with pytest.raises(InvalidScheduleError, match=r"bound.shared\[0\].price is missing"):
            parse_bound(document["bound"], made.topology)
