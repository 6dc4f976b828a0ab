"""The registry of families, and the decorator that fills it."""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology import FAMILIES, Topology, TopologyBuilder, load_topology, validate
from forestcoll.topology.families import family as entered
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Amount, Count

DOCS = Path(__file__).parents[3] / "docs"


def test_every_family_has_a_summary_and_helpful_parameters():
    for entry in FAMILIES.values():
        assert entry.summary.endswith(".")
        assert all(parameter.help and parameter.type for parameter in entry.parameters)


def test_the_name_is_the_shortest_specification():
    """Values that equal their default are left out, numbers written one way."""
    assert load_topology("dgx_a100:boxes=2,ib_switches=1").name == "dgx_a100:boxes=2"
    assert (
        load_topology("complete:nodes=3,bandwidth=25/2").name == "complete:nodes=3,bandwidth=12.5"
    )


def test_usage_and_defaults_can_be_shown():
    torus_family = FAMILIES["torus"]
    assert torus_family.usage == "torus:dims=..."
    shown = {p.name: (p.required, p.default_text) for p in torus_family.parameters}
    assert shown == {
        "dims": (True, ""), "bandwidth": (False, "1"), "wrap": (False, "true"),
        "host_bandwidth": (False, "as-links"),
    }  # fmt: skip
    assert FAMILIES["paper_example"].usage == "paper_example"


def test_the_families_of_the_docs_exist():
    """Every example specification in the table of families loads."""
    text = (DOCS / "networks" / "families.md").read_text()
    rows = [line.split("|")[2] for line in text.splitlines() if line.startswith("| ")]
    specs = [spec for row in rows for spec in re.findall(r"`([a-z0-9_]+:[^`]+)`", row)]
    assert len(specs) >= 11
    for spec in specs:
        validate(load_topology(spec))


@pytest.fixture
def star(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Topology]:
    """A family of this test alone: so many GPUs on one switch."""
    monkeypatch.setattr("forestcoll.topology.families.family.FAMILIES", {})

    @family
    def star(
        leaves: Annotated[int, Count("GPUs around the hub", minimum=2)],
        bandwidth: Annotated[Fraction, Amount("GB/s of a ray")] = Fraction(3),
    ) -> TopologyBuilder:
        """GPUs around a hub.

        What stands below the first line is no summary.
        """
        builder = TopologyBuilder()
        hub = builder.switch("hub")
        for i in range(leaves):
            builder.link(builder.gpu(f"gpu{i}"), hub, bandwidth)
        return builder

    return star


def test_a_decorated_function_is_entered_and_reads_text(star: Callable[..., Topology]) -> None:
    """Three leaves at 5/2 GB/s, as text, by place or by name: 7.5 GB/s into the hub."""
    entry = entered.FAMILIES["star"]
    assert (entry.name, entry.summary) == ("star", "GPUs around a hub.")
    assert [(p.name, p.required, p.help) for p in entry.parameters] == [
        ("leaves", True, "GPUs around the hub"),
        ("bandwidth", False, "GB/s of a ray"),
    ]
    made = star("3", bandwidth="2.5")
    assert made == star(3, Fraction(5, 2)) == entry.function(bandwidth="5/2", leaves=3)
    assert made.name == "star:leaves=3,bandwidth=2.5"
    assert made.ingress_gb_s[made.position_of["hub"]] == Fraction(15, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1,), "star: leaves is 1; it must be a whole number from 2 to 100000 (GPUs around the"),
        ((2, 1 / 3), "star: bandwidth is 0.3333333333333333; it must be a positive exact number"),
    ],
)
def test_a_bad_argument_is_reported_with_its_family_and_allowed_values(
    star: Callable[..., Topology], arguments: tuple[object, ...], message: str
) -> None:
    with pytest.raises(InvalidTopologyError) as caught:
        star(*arguments)
    assert str(caught.value).startswith(message)
