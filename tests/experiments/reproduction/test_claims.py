"""Claims are decided by their numbers, within one model."""

from collections import Counter
from fractions import Fraction

import pytest
from pydantic import ValidationError

from experiments.reproduction.claims import Base, Claim, Kind, Papers, read_claims, verdict

BOUND = Fraction(8, 5)


@pytest.mark.parametrize(
    ("kind", "printed", "reached", "said"),
    [
        ("theory", "3/2", BOUND, "beaten"),
        ("formula", "8/5", BOUND, "reached"),
        ("theory", "2", BOUND, "cannot be, by this cut"),
        ("measured", "2", BOUND, "cannot be, by this cut"),
        ("measured", "3/2", BOUND, "below the bound"),
        ("simulated", "8/5", BOUND, "below the bound"),
        ("theory", "3/2", Fraction(7, 5), "not comparable"),
        ("none", "3/2", BOUND, "not comparable"),
    ],
)
def test_the_verdict_follows_from_the_numbers(
    kind: Kind, printed: str, reached: Fraction, said: str
) -> None:
    """A measured rate is never beaten; a schedule below the claim decides nothing."""
    assert verdict(kind, Fraction(printed), BOUND, reached) == said


def test_without_a_network_nothing_is_compared() -> None:
    assert verdict("theory", BOUND, None, None) == "not comparable"


def test_the_file_has_enough_claims_and_each_has_its_source() -> None:
    papers = read_claims()
    assert len(papers.claims) >= 40
    assert all(paper.title and paper.number and paper.read for paper in papers.sources.values())
    assert min(Counter(claim.source for claim in papers.claims).values()) >= 1
    with pytest.raises(ValidationError, match="OptCC"):
        Papers({}, tuple(claim for claim in papers.claims if claim.source == "OptCC"))


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"kind": "none"}, "only kind none needs a reason"),
        ({"rate": ""}, "kind theory, rate ''"),
        ({"kind": "formula"}, "a formula needs by_formula"),
        ({"collective": ""}, "a network needs its collective"),
        ({"beaten": True}, "Unexpected keyword argument"),
    ],
)
def test_a_claim_that_states_too_little_is_refused(changed: dict[str, str], fault: str) -> None:
    whole = {
        "source": "A", "place": "b", "said": "c", "printed": "2", "kind": "theory",
        "network": "ring:nodes=4", "collective": "allgather", "rate": "2",
    }  # fmt: skip
    Claim(**whole)
    with pytest.raises(ValidationError, match=fault):
        Claim(**(whole | changed))


def test_a_base_is_one_rate() -> None:
    with pytest.raises(ValidationError, match="one of method with network, optimum and rate"):
        Base(rate="2", optimum="ring:nodes=4")
